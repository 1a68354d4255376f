"""Makes data like those that others publish: linear operators, coarse grids, jumps, few samples.

    python bench/public/make.py FOLDER [--only NAME,NAME]

Each data set is a function of the numbers of training and test samples; seeds are fixed. Time stands
for the second coordinate of outputs that depend on it.
"""

import argparse
import pathlib

import numpy as np
from scipy.integrate import cumulative_trapezoid, solve_ivp
from scipy.sparse import coo_array, eye_array, kron
from scipy.sparse.linalg import splu

PROBLEMS = {}


def problem(name, n_train, n_test):
    """Registers a function of a random generator and a number of samples that returns x, f, y, u."""

    def register(make):
        def data(train=n_train, test=n_test):
            x, f, y, u = make(np.random.default_rng(len(name) + sum(name.encode())), train + test)
            return {"x": x, "f": f, "y": y, "u": u, "n_train": train}

        PROBLEMS[name] = data
        return data

    return register


def gaussian_process(rng, count, points, length, periodic=False):
    """`count` draws at `points` (n,) or (n, d) with a squared-exponential covariance of variance 1."""
    points = points.reshape(len(points), -1)
    difference = points[:, None, :] - points[None, :, :]
    if periodic:
        difference = np.sin(np.pi * difference) / np.pi
    covariance = np.exp(-(difference**2).sum(axis=2) / (2 * length**2))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return rng.normal(size=(count, len(points))) @ root.T


def tensor_grid(*axes):
    """Points of a grid, the last axis fastest."""
    return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)


def column(x):
    return x.reshape(-1, 1)


def laplacian(count):
    """-u'' on `count` equally spaced inner points of (0, 1), u = 0 at both ends."""
    i = np.arange(count)
    entries = np.concatenate([np.full(count, 2.0), np.full(2 * (count - 1), -1.0)]) * (count + 1) ** 2
    rows = np.concatenate([i, i[:-1], i[1:]])
    columns = np.concatenate([i, i[1:], i[:-1]])
    return coo_array((entries, (rows, columns)), shape=(count, count)).tocsc()


# Linear operators.


def antiderivative_of(f, x):
    return cumulative_trapezoid(f, x, initial=0, axis=-1)


@problem("antiderivative", 150, 1000)
def antiderivative(rng, count):
    x = np.linspace(0, 1, 100)
    fine = np.linspace(0, 1, 991)
    f = gaussian_process(rng, count, fine, 0.2)
    u = antiderivative_of(f, fine)
    return column(x), f[:, ::10], column(x), u[:, ::10]


@problem("advection", 1000, 200)
def advection(rng, count):
    """u_t + u_x = 0 of period 1, on 40 x 40 points in (x, t)."""
    x, t = np.linspace(0, 1, 40), np.linspace(0, 1, 40)
    # Spacings of x and t agree: every foot is a point of x.
    f = gaussian_process(rng, count, x, 0.3, periodic=True)
    f[:, -1] = f[:, 0]
    foot = (np.arange(40)[:, None] - np.arange(40)[None, :]) % 39
    return column(x), f, tensor_grid(x, t), f[:, foot.ravel()]


def poisson1d_operator(count):
    operator = np.zeros((count, count))
    operator[1:-1, 1:-1] = splu(laplacian(count - 2)).solve(np.eye(count - 2))
    return operator


@problem("poisson1d", 100, 100)
def poisson1d(rng, count):
    """-u'' = f, u = 0 at both ends."""
    x = np.linspace(0, 1, 101)
    f = gaussian_process(rng, count, x, 0.1)
    return column(x), f, column(x), f @ poisson1d_operator(101).T


def poisson2d_operator(side):
    """The solution at all points of a grid from the source there."""
    inner = laplacian(side - 2)
    one = eye_array(side - 2)
    solution = splu((kron(inner, one) + kron(one, inner)).tocsc()).solve(np.eye((side - 2) ** 2))
    places = np.arange(side * side).reshape(side, side)[1:-1, 1:-1].ravel()
    operator = np.zeros((side * side, side * side))
    operator[np.ix_(places, places)] = solution
    return operator


@problem("poisson2d", 500, 100)
def poisson2d(rng, count):
    """-lap u = f on 29 x 29 points of the unit square, u = 0 around."""
    axis = np.linspace(0, 1, 29)
    grid = tensor_grid(axis, axis)
    f = gaussian_process(rng, count, grid, 0.2)
    return grid, f, grid, f @ poisson2d_operator(29).T


@problem("heat30", 30, 100)
def heat30(rng, count):
    """u_t = 0.01 u_xx with u = 0 at both ends, from t = 0 to 0.5, with 30 training samples."""
    x = np.linspace(0, 1, 65)
    modes = np.arange(1, 41)
    sines = np.sin(np.pi * np.outer(modes, x))
    start = rng.normal(size=(count, 40)) / modes**1.5
    later = start * np.exp(-0.01 * (np.pi * modes) ** 2 * 0.5)
    return column(x), start @ sines, column(x), later @ sines


@problem("scattered", 300, 100)
def scattered(rng, count):
    """A smoothing integral operator from 200 random points of the square to 200 others."""
    x, y = rng.uniform(size=(200, 2)), rng.uniform(size=(200, 2))
    centres = tensor_grid(np.linspace(0.05, 0.95, 10), np.linspace(0.05, 0.95, 10))

    def bumps(points, width):
        return np.exp(-((points[:, None, :] - centres) ** 2).sum(axis=2) / (2 * width**2))

    # Gaussians of width 0.12, convolved with one of width 0.09.
    weights = rng.normal(size=(count, 100))
    return x, weights @ bumps(x, 0.12).T, y, 0.64 * weights @ bumps(y, 0.15).T


@problem("sizes", 200, 100)
def sizes(rng, count):
    """Two components of outputs, of size 1 and of size 100: the antiderivative and a quadratic response."""
    x = np.linspace(0, 1, 100)
    f = gaussian_process(rng, count, x, 0.2)
    first = antiderivative_of(f, x)
    second = 100 * (1 + 0.3 * antiderivative_of(f**2, x))
    return column(x), f, column(x), np.stack([first, second], axis=2)


# Jumps.


@problem("advected_square", 800, 200)
def advected_square(rng, count):
    """u_t + u_x = 0 of period 1 up to t = 0.5, exactly: a square wave on a smooth background."""
    x = np.arange(100) / 100
    start, width, height = rng.uniform([[[0]], [[0.1]], [[0.5]]], [[[1]], [[0.4]], [[1.5]]], size=(3, count, 1))
    f = height * (((x - start) % 1) < width) + 0.25 * gaussian_process(rng, count, x, 0.2, periodic=True)
    return column(x), f, column(x), np.roll(f, 50, axis=1)


@problem("advected_steps", 1000, 200)
def advected_steps(rng, count):
    """The same of square waves alone on 40 x 40 points in (x, t): values of low rank, in which many rows are equal."""
    x = np.linspace(0, 1, 40)
    centre, width, height = rng.uniform([[[0.3]], [[0.3]], [[1]]], [[[0.7]], [[0.6]], [[2]]], size=(3, count, 1))
    f = height * (np.abs(x - centre) < width / 2)
    f[:, -1] = f[:, 0]
    foot = (np.arange(40)[:, None] - np.arange(40)[None, :]) % 39
    return column(x), f, tensor_grid(x, x), f[:, foot.ravel()]


@problem("wave_jump", 500, 100)
def wave_jump(rng, count):
    """u_tt = u_xx of period 1 from rest, the start with a jump up and a jump down: half of it goes each way."""
    x = np.arange(64) / 64
    t = np.arange(17) / 32
    start, width = rng.uniform(size=(2, count, 1))
    height = rng.uniform(0.5, 1.5, size=(count, 1))
    inside = ((x - start) % 1) < 0.1 + 0.3 * width
    f = height * inside + 0.3 * gaussian_process(rng, count, x, 0.2, periodic=True)
    shift = 2 * np.arange(17)
    left = (np.arange(64)[:, None] + shift) % 64
    right = (np.arange(64)[:, None] - shift) % 64
    return column(x), f, tensor_grid(x, t), (f[:, left.ravel()] + f[:, right.ravel()]) / 2


def darcy_solution(coefficient):
    """-div(a grad u) = 1 at the middles of cells of the unit square, u = 0 around; harmonic means at faces."""
    side = len(coefficient)
    number = np.arange(side * side).reshape(side, side)
    rows, columns, entries = [], [], []
    diagonal = np.zeros((side, side))
    for axis in (0, 1):
        a, n = np.moveaxis(coefficient, axis, 0), np.moveaxis(number, axis, 0)
        d = np.moveaxis(diagonal, axis, 0)
        face = 2 / (1 / a[1:] + 1 / a[:-1])
        d[1:] += face
        d[:-1] += face
        # The wall is half a cell away.
        d[0] += 2 * a[0]
        d[-1] += 2 * a[-1]
        rows += [n[1:].ravel(), n[:-1].ravel()]
        columns += [n[:-1].ravel(), n[1:].ravel()]
        entries += [-face.ravel()] * 2
    rows.append(number.ravel())
    columns.append(number.ravel())
    entries.append(diagonal.ravel())
    triplets = np.concatenate(entries) * side**2, (np.concatenate(rows), np.concatenate(columns))
    return splu(coo_array(triplets).tocsc()).solve(np.ones(side * side)).reshape(side, side)


@problem("darcy_binary", 1000, 200)
def darcy_binary(rng, count):
    """Darcy flow with a coefficient that is 12 or 3, on 16 x 16 cells."""
    axis = (np.arange(16) + 0.5) / 16
    grid = tensor_grid(axis, axis)
    f = np.where(gaussian_process(rng, count, grid, 0.15) > 0, 12.0, 3.0)
    u = np.stack([darcy_solution(a.reshape(16, 16)).ravel() for a in f])
    return grid, f, grid, u


# Nonlinear operators.


def burgers_states(start, viscosity, times, fine):
    """u_t + u u_x = viscosity u_xx of period 1 at `times`, spectrally on `fine` points; `start` is band-limited."""
    frequency = 2j * np.pi * np.fft.rfftfreq(fine, 1 / fine)
    spectrum = np.zeros(fine // 2 + 1, dtype=complex)
    half = len(start) // 2
    spectrum[:half] = np.fft.rfft(start)[:half] * fine / len(start)
    kept = np.arange(fine // 2 + 1) < fine / 3

    def slope(_, state):
        hat = np.fft.rfft(state)
        square = np.fft.rfft(state**2) * kept
        return np.fft.irfft(viscosity * frequency**2 * hat - frequency * square / 2, fine)

    state = np.fft.irfft(spectrum, fine)
    answer = solve_ivp(slope, (0, times[-1]), state, t_eval=times, rtol=1e-7, atol=1e-9, method="LSODA")
    return answer.y.T[:, :: fine // len(start)]


def burgers(rng, count, amplitude):
    """Burgers' equation of period 1 with viscosity 0.02, on 24 points and 11 times up to 0.5."""
    x, t = np.arange(24) / 24, np.linspace(0, 0.5, 11)
    f = amplitude * gaussian_process(rng, count, x, 0.25, periodic=True)
    # What 24 points cannot tell from other frequencies is taken out.
    spectrum = np.fft.rfft(f)
    spectrum[:, -1] = 0
    f = np.fft.irfft(spectrum, 24)
    u = np.stack([burgers_states(start, 0.02, t, 96) for start in f])
    return column(x), f, tensor_grid(x, t), u.transpose(0, 2, 1).reshape(count, -1)


@problem("burgers24", 400, 100)
def burgers24(rng, count):
    """Steep fronts, which 24 points barely resolve."""
    return burgers(rng, count, 1.0)


@problem("burgers24_mild", 400, 100)
def burgers24_mild(rng, count):
    return burgers(rng, count, 0.5)


def pendulum_angle(force, t, stiffness):
    """a'' = -stiffness sin a + force, from rest; the force is linear between the points of `t`."""
    steps = 4
    fine = np.linspace(t[0], t[-1], steps * (len(t) - 1) * 2 + 1)
    forces = np.interp(fine, t, force)
    step = 2 * (fine[1] - fine[0])
    state, angles = np.zeros(2), [0.0]

    def slope(state, force):
        return np.array([state[1], force - stiffness * np.sin(state[0])])

    for i in range(0, len(fine) - 1, 2):
        k1 = slope(state, forces[i])
        k2 = slope(state + step / 2 * k1, forces[i + 1])
        k3 = slope(state + step / 2 * k2, forces[i + 1])
        k4 = slope(state + step * k3, forces[i + 2])
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        angles.append(state[0])
    return np.array(angles[::steps])


@problem("pendulum", 200, 100)
def pendulum(rng, count):
    """The angle of a pendulum under a random force, up to t = 3."""
    t = np.linspace(0, 3, 100)
    f = 2 * gaussian_process(rng, count, t, 0.6)
    u = np.stack([pendulum_angle(force, t, 4.0) for force in f])
    return column(t), f, column(t), u


@problem("interior_layer", 80, 20)
def interior_layer(rng, count):
    """0.01 u'' + x u' + 2 u = f on (-1, 1), u = 0 at both ends: from 200 points to 100, nearly singular."""
    inner = np.linspace(-1, 1, 1002)[1:-1]
    step = inner[1] - inner[0]
    f = gaussian_process(rng, count, inner[::5], 0.06)
    f = np.stack([np.interp(inner, inner[::5], values) for values in f])
    above, below = np.eye(1000, k=1), np.eye(1000, k=-1)
    second = (above + below - 2 * np.eye(1000)) / step**2
    first = (above - below) / (2 * step)
    u = np.linalg.solve(0.01 * second + inner[:, None] * first + 2 * np.eye(1000), f.T).T
    x, y = np.linspace(-1, 1, 200), np.linspace(-1, 1, 100)
    f, u = (np.stack([np.interp(points, inner, field) for field in fields]) for points, fields in [(x, f), (y, u)])
    return column(x), f, column(y), u


@problem("moving_bump", 100, 200)
def moving_bump(rng, count):
    """One number, given at two points, and a narrow bump at the place that it names."""
    place = rng.uniform(0, 1, count)
    y = np.linspace(0, 1, 64)
    u = np.exp(-(((y - place[:, None]) / 0.05) ** 2))
    return column(np.array([0.0, 1.0])), np.stack([place, place], axis=1), column(y), u


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(PROBLEMS), help="names, separated by commas")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    names = arguments.only.split(",")
    if unknown := [name for name in names if name not in PROBLEMS]:
        parser.error(f"unknown: {', '.join(unknown)}; known are {', '.join(PROBLEMS)}")
    for name in names:
        data = PROBLEMS[name]()
        np.savez(arguments.folder / f"{name}.npz", **data)
        print(f"{name}: {len(data['f'])} samples, {data['f'][0].size} -> {data['u'][0].size} values", flush=True)


if __name__ == "__main__":
    main()

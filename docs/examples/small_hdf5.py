"""Writes two small HDF5 files: one in the layout of The Well, one in PDEBench's.

    python docs/examples/small_hdf5.py [FOLDER]

`well.hdf5`: a tracer c in a steady flow v on the torus, c_t + v . grad c = D lap c + r c (1 - c), 24 x 24 points,
30 trajectories of 21 states. `pdebench.hdf5`: Burgers' equation of period 1, 64 points, 60 trajectories of 21 states. Both are
solved by Fourier series and the classical Runge-Kutta method. Needs NumPy and h5py.
"""

import sys
from pathlib import Path

import h5py
import numpy as np


def runge_kutta(slope, state, time, steps):
    h = time / steps
    for _ in range(steps):
        a = slope(state)
        b = slope(state + h / 2 * a)
        c = slope(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + slope(state + h * c))
    return state


def trajectories(slope, state, times, steps):
    states = [state]
    for before, after in zip(times, times[1:]):
        states.append(runge_kutta(slope, states[-1], after - before, steps))
    return np.stack(states, axis=1)


def smooth(rng, count, n, dim):
    """Random periodic functions of frequencies up to 3, of size one."""
    k = np.fft.fftfreq(n, 1 / n)
    square = sum(a**2 for a in np.meshgrid(*[k] * dim, indexing="ij"))
    axes = tuple(range(1, dim + 1))
    noise = np.fft.fftn(rng.normal(size=(count, *[n] * dim)), axes=axes)
    f = np.fft.ifftn(noise * (square <= 9) * np.exp(-square / 8), axes=axes).real
    return f / f.std(axis=axes, keepdims=True)


def tracer(rng, count=30, n=24, diffusion=0.004, rate=0.5):
    x = np.arange(n) / n
    k = 2j * np.pi * np.fft.fftfreq(n, 1 / n)
    sin, cos = np.sin(2 * np.pi * x), np.cos(2 * np.pi * x)
    velocity = 0.5 * np.stack([np.outer(sin, cos), -np.outer(cos, sin)], axis=-1)

    def slope(c):
        spectrum = np.fft.fft2(c)
        along = [np.fft.ifft2(spectrum * k[:, None]).real, np.fft.ifft2(spectrum * k).real]
        spread = np.fft.ifft2(spectrum * (k[:, None] ** 2 + k**2)).real
        return diffusion * spread - velocity[..., 0] * along[0] - velocity[..., 1] * along[1] + rate * c * (1 - c)

    times = np.linspace(0, 2, 21)
    start = 1 / (1 + np.exp(-smooth(rng, count, n, 2)))
    return x, times, trajectories(slope, start, times, 10), velocity


def burgers(rng, count=60, n=64, viscosity=0.02):
    x = np.arange(n) / n
    k = 2j * np.pi * np.fft.fftfreq(n, 1 / n)
    keep = np.abs(np.fft.fftfreq(n, 1 / n)) < n / 3  # no aliasing

    def slope(u):
        spectrum = np.fft.fft(u)
        return np.fft.ifft(viscosity * k**2 * spectrum - k / 2 * keep * np.fft.fft(u * u)).real

    times = np.linspace(0, 1, 21)
    return x, times, trajectories(slope, 0.3 * smooth(rng, count, n, 1), times, 20)


def write_well(path, rng):
    x, times, c, velocity = tracer(rng)
    with h5py.File(path, "w") as file:
        file.attrs.update(dataset_name="tracer", grid_type="cartesian", n_spatial_dims=2, n_trajectories=len(c))
        dimensions = file.create_group("dimensions")
        dimensions.attrs["spatial_dims"] = ["x", "y"]
        dimensions["time"], dimensions["x"], dimensions["y"] = times, x, x
        for group, names in [("t0_fields", ["tracer"]), ("t1_fields", ["velocity"]), ("t2_fields", [])]:
            file.create_group(group).attrs["field_names"] = names
        scalar = file["t0_fields"].create_dataset("tracer", data=c.astype("f4"))
        scalar.attrs.update(dim_varying=[True, True], sample_varying=True, time_varying=True)
        vector = file["t1_fields"].create_dataset("velocity", data=velocity.astype("f4"))
        vector.attrs.update(dim_varying=[True, True], sample_varying=False, time_varying=False)


def write_pdebench(path, rng):
    x, times, u = burgers(rng)
    with h5py.File(path, "w") as file:
        file["tensor"] = u.astype("f4")
        file["x-coordinate"], file["t-coordinate"] = x.astype("f4"), times.astype("f4")


def main(folder="."):
    rng = np.random.default_rng(0)
    write_well(Path(folder) / "well.hdf5", rng)
    write_pdebench(Path(folder) / "pdebench.hdf5", rng)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Twelve kinds of data as people bring them, made with NumPy in a moment.

Each function returns the arrays of a data file, as ``np.savez`` takes them: the training samples first, `n_train` of
them. Grids are in their natural shape.
"""

from __future__ import annotations

import numpy as np


def smooth(rng, samples, shape, decay=4.0, modes=6):
    """Random periodic fields on a grid of `arange(n) / n`, by a few Fourier modes."""
    axes = np.meshgrid(*(np.arange(n) / n for n in shape), indexing="ij")
    fields = np.zeros((samples, *shape))
    waves = [k for k in np.ndindex(*(2 * modes + 1,) * len(shape))]
    for k in (np.array(w) - modes for w in waves):
        size = (1 + decay * (k @ k)) ** -1.0
        phase = sum(2 * np.pi * ki * axis for ki, axis in zip(k, axes))
        a, b = size * rng.standard_normal((2, samples) + (1,) * len(shape))
        fields += a * np.cos(phase) + b * np.sin(phase)
    return fields


def rough_line(rng, samples, x, modes=8):
    """Random functions on [0, 1] that are not periodic."""
    k = np.arange(1, modes + 1)
    a = rng.standard_normal((samples, modes)) / k**1.5
    b = rng.standard_normal((samples, 1))
    return a @ np.cos(np.pi * np.outer(k, x)) + b * x


def pendulum(samples=250, n_train=200, points=101):
    """A driving torque, and the angle of a pendulum under it."""
    rng = np.random.default_rng(1)
    t = np.linspace(0, 5, points)
    torque = rough_line(rng, samples, t / 5)
    h = t[1] - t[0]
    angle = np.zeros((samples, points))
    a, w = np.zeros(samples), np.zeros(samples)
    for i in range(points - 1):
        forces = torque[:, i], 0.5 * (torque[:, i] + torque[:, i + 1]), torque[:, i + 1]

        def rate(a, w, force):
            return w, force - np.sin(a) - 0.1 * w

        k1 = rate(a, w, forces[0])
        k2 = rate(a + h / 2 * k1[0], w + h / 2 * k1[1], forces[1])
        k3 = rate(a + h / 2 * k2[0], w + h / 2 * k2[1], forces[1])
        k4 = rate(a + h * k3[0], w + h * k3[1], forces[2])
        a = a + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        w = w + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        angle[:, i + 1] = a
    return {"x": t, "f": torque, "y": t, "u": angle, "n_train": n_train}


def heat(samples=250, n_train=200, n=64):
    """Heat in a periodic square whose conductivity grows with temperature, on a grid in its natural shape."""
    rng = np.random.default_rng(2)
    start = smooth(rng, samples, (n, n), modes=3)
    k = 2 * np.pi * np.fft.fftfreq(n, 1 / n)
    decay = np.exp(-0.002 * (k[:, None] ** 2 + k[None] ** 2))
    end = np.fft.ifft2(decay * np.fft.fft2(start + 0.2 * start**2)).real
    axis = np.arange(n) / n
    return {"x0": axis, "x1": axis, "f": start, "y0": axis, "y1": axis, "u": end, "n_train": n_train}


def sensors(samples=400, n_train=300):
    """Noisy readings at places that differ from sample to sample; the field between them."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, (samples, 40, 1))
    y = np.linspace(0, 1, 81)
    k = np.arange(1, 6)
    a = rng.standard_normal((samples, 5)) / k**2
    f = np.einsum("sk,skp->sp", a, np.sin(np.pi * k[:, None] * x[:, None, :, 0]))
    f += 0.01 * rng.standard_normal(f.shape)
    u = a @ np.sin(np.pi * np.outer(k, y))
    return {"x": x, "f": f, "y": y, "u": u, "n_train": n_train}


def parameters(samples=300, n_train=240, units=(1.0, 1.0)):
    """Two parameters, in any units, and the bending of a beam with them."""
    rng = np.random.default_rng(4)
    p = rng.uniform(0.5, 1.5, (samples, 2))
    y = np.linspace(0, 1, 64)
    u = np.sin(np.pi * y) / p[:, :1] + 0.3 * p[:, 1:] ** 2 * np.sin(2 * np.pi * y * p[:, :1])
    return {"p": p * np.array(units), "y": y, "u": u, "n_train": n_train}


def vectors(samples=300, n_train=240, units=(1.0, 1.0)):
    """An input of two components, in any units: the product of their integrals matters."""
    rng = np.random.default_rng(5)
    x = np.linspace(0, 1, 65)
    f = np.stack([rough_line(rng, samples, x, 4), 1 + 0.3 * rough_line(rng, samples, x, 4)], -1)
    integral = np.cumsum(f, axis=1) / len(x)
    u = np.sin(integral[..., 0]) * integral[..., 1]
    return {"x": x, "f": f * np.array(units), "y": x, "u": u, "n_train": n_train}


def two_inputs(samples=300, n_train=240, units=(1.0, 1.0)):
    """The same components as two named inputs."""
    data = vectors(samples, n_train, units)
    f = data.pop("f")
    return {**data, "f.load": f[..., 0], "f.stiffness": f[..., 1]}


def cube(samples=150, n_train=120, n=24):
    """A source in a cube and what it heats, on 24 x 24 x 24 points."""
    rng = np.random.default_rng(6)
    axis = np.linspace(0, 1, n)
    s = np.sin(np.pi * np.outer(np.arange(1, 4), axis))
    a = rng.standard_normal((samples, 3, 3, 3))
    k = np.arange(1, 4) ** 2
    inverse = 1 / (k[:, None, None] + k[None, :, None] + k)
    field = lambda a: np.einsum("sabc,ax,by,cz->sxyz", a, s, s, s, optimize=True)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    return {"x": grid, "f": field(a), "y": grid, "u": field(a * inverse), "n_train": n_train}


def quantities(samples=300, n_train=240):
    """A load, and two numbers of very different size that result from it."""
    rng = np.random.default_rng(7)
    x = np.linspace(0, 1, 65)
    f = rough_line(rng, samples, x, 5)
    q = np.stack([1e6 * (f**2).mean(1), 1e-3 * np.tanh(f[:, -1] + f.mean(1))], -1)
    return {"x": x, "f": f, "q": q, "n_train": n_train}


def mesh(samples=250, n_train=200, n=17):
    """Values at the nodes of a triangle mesh of the quarter of a ring."""
    rng = np.random.default_rng(8)
    r, angle = np.meshgrid(np.linspace(1, 2, n), np.linspace(0, np.pi / 2, n), indexing="ij")
    nodes = np.stack([r * np.cos(angle), r * np.sin(angle)], -1).reshape(-1, 2)
    i = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    triangles = np.concatenate([np.stack([i, i + n, i + 1], 1), np.stack([i + n, i + n + 1, i + 1], 1)])
    a = rng.standard_normal((samples, 6))
    shapes = np.stack([np.cos(k * angle.ravel()) * r.ravel() ** -k for k in range(6)])
    f = a @ shapes
    u = np.tanh(0.5 * f) * (r.ravel() - 1)
    return {"x": nodes, "f": f, "y": nodes, "u": u, "triangles": triangles, "n_train": n_train}


def waves(samples=250, n_train=200, imaginary=1.0):
    """A complex amplitude and the wave that it becomes; the imaginary part may come in another unit."""
    rng = np.random.default_rng(9)
    x = np.linspace(0, 1, 65)
    f = rough_line(rng, samples, x, 5) + 1j * rough_line(rng, samples, x, 5)
    u = np.cumsum(f * np.exp(2j * np.pi * x), axis=1) / len(x)
    u = u / (1 + 0.3 * np.abs(u) ** 2)
    return {"x": x, "f": f, "y": x, "u": u.real + 1j * imaginary * u.imag, "n_train": n_train}


def two_parts(samples=250, n_train=200, imaginary=1.0):
    """The same with two components in place of complex numbers."""
    data = waves(samples, n_train, imaginary)
    parts = lambda v: np.stack([v.real, v.imag], -1)
    return {**data, "f": parts(data["f"]), "u": parts(data["u"])}


def two_outputs(samples=250, n_train=200, imaginary=1.0):
    """The same as two named outputs."""
    data = two_parts(samples, n_train, imaginary)
    u = data.pop("u")
    return {**data, "u.re": u[..., 0], "u.im": u[..., 1]}


def gaps(samples=250, n_train=200):
    """The pendulum with a tenth of the readings of its torque missing."""
    data = pendulum(samples, n_train, 61)
    rng = np.random.default_rng(10)
    torque = data["f"].copy()
    torque[rng.random(torque.shape) < 0.1] = np.nan
    return {**data, "f": torque}


def few(samples=40, n_train=30):
    """Thirty samples."""
    return pendulum(samples, n_train, 61)


def many(samples=21_000, n_train=20_000):
    """Twenty thousand samples."""
    rng = np.random.default_rng(12)
    x = np.linspace(0, 1, 33)
    f = rough_line(rng, samples, x, 5)
    u = np.sin(np.cumsum(f, axis=1) / len(x)) * (1 + f[:, :1] ** 2 / 4)
    return {"x": x, "f": f, "y": x, "u": u, "n_train": n_train}


def burgers(samples=300, n_train=240, n=64, between=False):
    """A wave on a ring, whose grid ends one step before it begins again; its values there or half-way `between`."""
    rng = np.random.default_rng(13)
    f = 0.5 * smooth(rng, samples, (2 * n,), decay=1.0, modes=2)
    k = 2j * np.pi * np.fft.fftfreq(2 * n, 0.5 / n)
    u, steps, time = f.copy(), 400, 0.1
    half = np.exp(0.5 * 0.01 * k**2 * time / steps)
    for _ in range(steps):
        u = np.fft.ifft(half * np.fft.fft(u)).real
        slope = np.fft.ifft(k * np.fft.fft(u)).real
        middle = u - 0.5 * time / steps * u * slope
        u = u - time / steps * middle * np.fft.ifft(k * np.fft.fft(middle)).real
        u = np.fft.ifft(half * np.fft.fft(u)).real
    x = np.arange(2 * n) / (2 * n)
    at = slice(1, None, 2) if between else slice(0, None, 2)
    return {"x": x[::2], "f": f[:, ::2], "y": x[at], "u": u[:, at], "n_train": n_train}


KINDS = [
    pendulum, heat, sensors, parameters, vectors, cube, quantities, mesh, waves, gaps, few, many,
]

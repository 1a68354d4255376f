"""The same encodings with NumPy: `peer.py TASK DIR`, prints JSON, writes the coefficients."""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import scipy.fft
import scipy.linalg

COSINES = 1024
RIDGE = 1e-8  # as in bench_encoding.rs
CUT = 0.1
SCATTERED_CUT = 1e-3


def memory():
    """Peak and present resident memory in MiB."""
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return [int(status[key].split()[0]) / 1024 for key in ("VmHWM", "VmRSS")]


def reset_peak():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # then the peak includes reading the data


def window(x, lower, half_width, patch, patches):
    """The window of one patch along one axis, 1 up to the boundary."""
    t = (x - lower) / half_width - (2 * patch + 1)
    w = np.where(np.abs(t) <= 0.75, 1.0, 0.0)
    left = (t > -1.25) & (t < -0.75)
    right = (t > 0.75) & (t < 1.25)
    w[left] = 0.5 * (1 + np.sin(2 * np.pi * t[left]))
    w[right] = 0.5 * (1 - np.sin(2 * np.pi * t[right]))
    if patch == 0:
        w[t < 0] = 1.0
    if patch == patches - 1:
        w[t > 0] = 1.0
    return w


def random_features(basis, points):
    """Every entry of the design matrix, patch after patch."""
    record = json.loads(str(basis["record"]))
    weights, biases = basis["weights"], basis["biases"]
    domain = np.array(record["domain"])
    partitions = record["spec"]["partitions"]
    half = (domain[:, 1] - domain[:, 0]) / (2 * np.array(partitions))
    each = len(biases) // np.prod(partitions)
    phi = np.empty((len(points), len(biases)))
    for n, patch in enumerate(np.ndindex(*partitions)):
        columns = slice(n * each, (n + 1) * each)
        centre = domain[:, 0] + (2 * np.array(patch) + 1) * half
        w = np.prod(
            [
                window(points[:, k], domain[k, 0], half[k], patch[k], partitions[k])
                for k in range(len(patch))
            ],
            axis=0,
        )
        local = (points - centre) / half
        phi[:, columns] = np.tanh(local @ weights[columns].T + biases[columns]) * w[:, None]
    return phi


def features(directory):
    data, basis = np.load(directory / "grid.npz"), np.load(directory / "features-basis.npz")
    x, f = data["x"], data["f"]

    def work(clock):
        phi = random_features(basis, x)
        clock("evaluate")
        u, s, vt = np.linalg.svd(phi, full_matrices=False)
        clock("factor")
        r = np.count_nonzero(s >= CUT)
        coefficients = ((f @ u[:, :r]) / s[:r]) @ vt[:r]
        clock("encode")
        return coefficients

    return work


def elements(directory):
    f = np.load(directory / "grid.npz")["f"]
    phi = np.load(directory / "elements-basis.npz")["phi"].T.copy()

    def work(clock):
        coefficients = np.linalg.lstsq(phi, f.T, rcond=None)[0].T
        clock("lstsq")
        return coefficients

    return work


def smallest_frequencies():
    """Pairs of frequencies in our order."""
    pairs = [(k, l) for k in range(COSINES) for l in range(COSINES) if k * k + l * l < 4 * COSINES]
    return np.array(sorted(pairs, key=lambda p: (p[0] ** 2 + p[1] ** 2, p))[:COSINES])


def cosines(directory):
    data = np.load(directory / "grid.npz")
    x, f = data["x"], data["f"]

    def work(clock):
        k = smallest_frequencies()
        phi = np.cos(np.pi * np.outer(x[:, 0], k[:, 0])) * np.cos(np.pi * np.outer(x[:, 1], k[:, 1]))
        clock("evaluate")
        q, r = np.linalg.qr(phi)
        clock("factor")
        coefficients = scipy.linalg.solve_triangular(r, (f @ q).T).T
        clock("encode")
        return coefficients

    return work


def cosines_dct(directory):
    """Fields that the cosines represent exactly have the same coefficients under any weights of the points."""
    f = np.load(directory / "grid.npz")["f"]
    side = round(f.shape[1] ** 0.5)

    def work(clock):
        k = smallest_frequencies()
        workers = int(os.environ.get("OMP_NUM_THREADS", "1"))
        all_modes = scipy.fft.dctn(f.reshape(-1, side, side), type=1, axes=(1, 2), workers=workers)
        halves = np.where((k == 0) | (k == side - 1), 0.5, 1.0).prod(axis=1)
        coefficients = all_modes[:, k[:, 0], k[:, 1]] * (halves / (side - 1) ** 2)
        clock("encode")
        return coefficients

    return work


def scattered_with(directory, solve):
    data, basis = np.load(directory / "scattered.npz"), np.load(directory / "scattered-basis.npz")
    x, f = data["x"], data["f"]
    n = x.shape[1]

    def work(clock):
        # All points at once, which is fast in NumPy.
        phi = random_features(basis, x.reshape(-1, 2)).reshape(len(x), n, -1)
        clock("evaluate")
        coefficients = np.empty((len(x), 2 * phi.shape[2]))
        for k in range(len(x)):
            coefficients[k] = solve(phi[k], f[k]).T.ravel()
        clock("lstsq")
        return coefficients

    return work


def scattered(directory):
    def solve(phi, f):
        n, m = phi.shape
        stacked = np.vstack([phi, np.sqrt(n * RIDGE) * np.eye(m)])
        return np.linalg.lstsq(stacked, np.vstack([f, np.zeros((m, 2))]), rcond=None)[0]

    return scattered_with(directory, solve)


def scattered_cut(directory):
    def solve(phi, f):
        # rcond is relative; the largest singular value is needed for an absolute cut.
        u, s, vt = np.linalg.svd(phi, full_matrices=False)
        r = np.count_nonzero(s >= SCATTERED_CUT)
        return vt[:r].T @ ((u[:, :r].T @ f) / s[:r, None])

    return scattered_with(directory, solve)


def main():
    task, directory = sys.argv[1], Path(sys.argv[2])
    work = {
        "features": features,
        "elements": elements,
        "cosines": cosines,
        "cosines-dct": cosines_dct,
        "scattered": scattered,
        "scattered-cut": scattered_cut,
    }[task](directory)
    reset_peak()
    before = memory()[1]
    phases = {}
    cpu = time.process_time()
    start = last = time.perf_counter()

    def clock(name):
        nonlocal last
        now = time.perf_counter()
        phases[name] = now - last
        last = now

    coefficients = work(clock)
    seconds = time.perf_counter() - start
    cpu = time.process_time() - cpu
    np.savez(directory / f"{task}-numpy.npz", coefficients=coefficients)
    record = {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "phases": phases,
        "data_mib": before,
        "peak_mib": memory()[0],
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()

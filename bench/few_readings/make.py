"""Antiderivatives of Gaussian random functions, read at few points that differ from sample to sample.

usage: python bench/few_readings/make.py READINGS SAMPLES DATA.npz

Inputs are functions of correlation length 0.2 at 100 shared sensors, outputs their antiderivatives at READINGS random
points of each sample; SAMPLES of them train, 200 more test. Needs NumPy and SciPy.
"""

import sys

import numpy as np
from scipy.interpolate import CubicSpline

TEST = 200


def main(readings: int, training: int, path: str) -> None:
    rng = np.random.default_rng(0)
    samples = training + TEST
    x = np.linspace(0, 1, 100)
    covariance = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.2**2)) + 1e-10 * np.eye(100)
    f = (np.linalg.cholesky(covariance) @ rng.normal(size=(100, samples))).T
    y = np.sort(rng.uniform(size=(samples, readings, 1)), axis=1)
    u = np.array([CubicSpline(x, f[k]).antiderivative()(y[k, :, 0]) for k in range(samples)])
    np.savez(path, x=x, f=f, y=y, u=u, n_train=training)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

"""Small data and models that many tests use."""

import numpy as np
import pytest

import c2cnet


@pytest.fixture(scope="session")
def darcy():
    return c2cnet.generate("darcy1d", n_train=60, n_test=20, points=100)


@pytest.fixture(scope="session")
def bases():
    return {
        "input": c2cnet.Fourier("cosine", functions=30),
        "output": c2cnet.Fourier("sine", functions=30),
    }


@pytest.fixture(scope="session")
def fitted(darcy, bases):
    model = c2cnet.C2CNet(**bases, map="kernel")
    return model.fit(darcy.train.f, darcy.train.u, darcy.x, darcy.y)


@pytest.fixture(scope="session")
def waves():
    """Sines to cosines at each sample's own sensors, as many as it likes."""
    rng = np.random.default_rng(0)
    x = [np.sort(rng.uniform(0, 1, rng.integers(20, 30))) for _ in range(40)]
    phase = rng.uniform(0, 6, 40)
    f = [np.sin(3 * points + p) for points, p in zip(x, phase)]
    y = np.linspace(0, 1, 50)
    u = np.cos(3 * y + phase[:, None])
    return x, f, y, u, phase

"""python -m pytest bench/public"""

import numpy as np
import pytest

import baselines
import datafile
import make


def outcomes(x, y, n_train):
    return {o.name: o for o in baselines.measure_all(x, y, n_train)}


def test_an_exact_linear_operator_is_recovered():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 20)) * np.logspace(0, -3, 20)
    y = x @ rng.normal(size=(20, 40)) + rng.normal(size=40)
    found = outcomes(x, y, 100)
    assert found["ridge, point values"].test < 1e-12
    assert found["ridge, 200 components"].test < 1e-12
    assert found["RBF, point values"].test < 1e-4
    for outcome in found.values():
        assert outcome.validation < 1e-4


def test_a_smooth_nonlinear_function_is_the_kernels():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(300, 2))
    y = np.stack([np.sin(2 * x[:, 0]) * x[:, 1], np.exp(x[:, 1]) + 1], axis=1)
    found = outcomes(x, y, 200)
    assert found["ridge, point values"].test > 0.03
    assert found["RBF, point values"].test < 1e-5
    assert found["RBF, 200 components"].test < 1e-5


def test_fewer_coordinates_keep_the_norms():
    y = np.random.default_rng(2).normal(size=(7, 50))
    small = baselines.compact(y)
    assert small.shape == (7, 7)
    np.testing.assert_allclose(np.linalg.norm(small, axis=1), np.linalg.norm(y, axis=1))


def test_noise_is_not_interpolated():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(120, 30))
    y = x @ rng.normal(size=(30, 5)) + 3 * rng.normal(size=(120, 5))
    ridge = outcomes(x, y, 60)["ridge, point values"]
    interpolation = np.linalg.lstsq(x[:60], y[:60])[0]
    assert ridge.test < np.mean(baselines.relative_errors(x[60:] @ interpolation, y[60:]))


def test_constant_inputs_and_zero_outputs_give_numbers():
    rng = np.random.default_rng(4)
    x = np.hstack([np.ones((30, 2)), rng.normal(size=(30, 1))])
    for outcome in baselines.measure_all(x, np.zeros((30, 3)), 20):
        assert outcome.test == 0
    with pytest.raises(ValueError, match="2 or more"):
        baselines.measure_all(x, x, 1)


@pytest.mark.parametrize("name", make.PROBLEMS)
def test_made_data_are_finite_and_repeat(name):
    first, again = make.PROBLEMS[name](4, 2), make.PROBLEMS[name](4, 2)
    for key in ("x", "f", "y", "u"):
        assert np.isfinite(first[key]).all()
        np.testing.assert_array_equal(first[key], again[key])
    assert len(first["f"]) == len(first["u"]) == 6 and first["n_train"] == 4


def test_solvers_solve():
    """Each against a solution in closed form or a conservation law."""
    x = np.linspace(0, 1, 100)
    assert abs(make.antiderivative_of(np.cos(3 * x), x) - np.sin(3 * x) / 3).max() < 1e-4
    poisson = make.poisson1d_operator(100)
    assert abs(poisson @ np.sin(np.pi * x) - np.sin(np.pi * x) / np.pi**2).max() < 1e-4
    grid = np.linspace(0, 1, 29)
    mode = np.outer(np.sin(np.pi * grid), np.sin(2 * np.pi * grid)).ravel()
    assert abs(make.poisson2d_operator(29) @ mode - mode / (5 * np.pi**2)).max() < 1e-3
    start = np.sin(2 * np.pi * np.arange(32) / 32)
    states = make.burgers_states(start, 0.05, np.linspace(0, 0.5, 5), 128)
    np.testing.assert_allclose(states.mean(axis=1), 0, atol=1e-9)
    assert np.linalg.norm(states[-1]) < np.linalg.norm(states[0])
    finer = make.burgers_states(start, 0.05, np.linspace(0, 0.5, 5), 256)
    np.testing.assert_allclose(states, finer, atol=1e-6)
    flow = make.darcy_solution(np.full((16, 16), 2.0))
    assert abs(flow.max() - 0.0737 / 2) < 1e-3
    small = make.pendulum_angle(1e-4 * np.ones(100), np.linspace(0, 1, 100), 1.0)
    assert abs(small - 1e-4 * (1 - np.cos(np.linspace(0, 1, 100)))).max() < 1e-8


def test_files_are_read_as_vectors(tmp_path):
    data = make.PROBLEMS["sizes"](4, 2)
    path = tmp_path / "sizes.npz"
    np.savez(path, **data)
    found = datafile.read(path)
    assert (found.n_train, found.samples) == (4, 6)
    assert found.outputs.shape == (6, data["u"][0].size)
    del data["n_train"]
    np.savez(path, **data)
    assert "no test samples" in datafile.read(path).unfit

"""Mistakes of a first hour: each message names the thing and says what to do."""

import warnings

import numpy as np
import pytest

import c2cnet

X = np.linspace(0, 1, 16)
RNG = np.random.default_rng(0)
F = RNG.standard_normal((12, 16))
U = np.cumsum(F, axis=1)
GRID = np.stack(np.meshgrid(X[:4], X[:4], indexing="ij"), -1)


def fit(f=F, u=U, x=X, y=X, **parameters):
    return c2cnet.C2CNet(map="linear", **parameters).fit(f, u, x, y)


def with_value(value):
    changed = F.copy()
    changed[3, 5] = value
    return changed


def fitted():
    basis = c2cnet.Fourier("cosine", functions=6)
    return fit(input=basis, output=basis)


MISTAKES = {
    "transposed": (lambda: fit(F.T, U.T), ["expected shape (samples, 16)", "found (16, 12)", "give f.T"]),
    "one sample without its axis": (lambda: fit(F[0], U), ["f[None]"]),
    "values of a grid, points listed": (
        lambda: fit(F.reshape(12, 4, 4), U, GRID.reshape(-1, 2)),
        ["f.reshape(len(f), -1)", "tuple of the axes"],
    ),
    "axes of another grid": (
        lambda: fit(F.reshape(12, 4, 4), U, (X[:4], X[:5])),
        ["axes of 4, 5 points", "they have (12, 4, 4)"],
    ),
    "points forgotten": (lambda: fitted().predict(F, x=X[:5]), ["(samples, 5)", "found (12, 16)", "their own points"]),
    "samples that do not match": (lambda: fit(F, U[:10]), ["12 samples", "10 samples"]),
    "NaN": (lambda: fit(with_value(np.nan)), ["sample 3, point 5", 'missing="nan"']),
    "infinity": (lambda: fit(with_value(np.inf)), ["inf at sample 3", "repair"]),
    "all readings missing": (
        lambda: fit(np.where(np.arange(12)[:, None] == 2, np.nan, F), missing="nan"),
        ["sample 2", "leave the sample out"],
    ),
    "a word for missing": (lambda: fit(missing="drop"), ["'refuse' or 'nan'"]),
    "complex points": (lambda: fit(x=X + 0j), ["x is not an array of numbers", "only values f and u"]),
    "text": (lambda: fit(np.full((12, 16), "a")), ["f is not an array of numbers"]),
    "four samples": (lambda: fit(F[:4], U[:4]), ["4 training samples are too few", "at least 5"]),
    "predicting before fitting": (lambda: c2cnet.C2CNet().predict(F), ["call fit(f, u) first"]),
    "predicting outside": (
        lambda: fitted().predict(F, y=[2.0]),
        ["of y = [2] lies outside [0, 1]", 'in Python settings={"output": {"domain": [[0, 2]]}}'],
    ),
    "a basis that is none": (lambda: fit(input="fourier"), ["c2cnet.Fourier("]),
    "a misspelt family": (
        lambda: fit(settings={"input": {"basis": {"family": "fourrier", "functions": 4}}}),
        ["fourrier", "fourier"],
    ),
    "a misspelt setting": (lambda: fit(settings={"validatoin": 0.1}), ["validatoin", "validation"]),
    "too many functions": (
        lambda: fit(input=c2cnet.Fourier("cosine", functions=40)),
        ["16 observations cannot determine 40", "fewer functions"],
    ),
    "weights for other components": (
        lambda: fit(settings={"output": {"weights": [1.0, 2.0]}}),
        ["weights", "each of the 1 components"],
    ),
    "weights as a word": (
        lambda: fit(settings={"output": {"weights": "equal"}}),
        ['"auto", "none" or a list'],
    ),
    "a period that is not known": (
        lambda: fit(x=np.sort(RNG.random(16)), settings={"input": {"periodic": [True]}}),
        ["axis 0", "give it as the domain"],
    ),
    "periods of other axes": (
        lambda: fit(settings={"input": {"periodic": [True, False]}}),
        ["periodic", "1 dimension;"],
    ),
    "another number of components": (
        lambda: fitted().predict(np.stack([F, F], -1)),
        ["1 component", "2 components"],
    ),
    "a model that is none": (lambda: c2cnet.load(__file__), ["test_first_hour.py"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_message_says_what_to_do(mistake):
    make, said = MISTAKES[mistake]
    with pytest.raises((ValueError, OSError, RuntimeError)) as caught:
        make()
    text = str(caught.value)
    assert all(part in text for part in said), f"{text!r} does not say all of {said}"
    assert "Traceback" not in text and "panicked" not in text


def test_points_that_were_forgotten_are_asked_for():
    x = np.linspace(0, 1, 40)
    f = np.sin(np.arange(30)[:, None] + 3 * x)
    with pytest.warns(UserWarning, match="u has 40 values per sample and no points: taken as quantities; give y=x"):
        c2cnet.C2CNet(map="linear").fit(f, f, x)
    with pytest.warns(UserWarning, match="f has 40 values per sample and no points: taken as parameters; give x"):
        c2cnet.C2CNet(map="linear").fit(f, f[:, :2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        c2cnet.C2CNet(map="linear").fit(f, f[:, :2], x)

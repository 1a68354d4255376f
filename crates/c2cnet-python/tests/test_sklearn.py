"""scikit-learn's tools on the estimator."""

import pickle
import warnings
from unittest import SkipTest

import numpy as np
import pytest

import c2cnet

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402


def test_clone_copies_settings_and_nothing_else(darcy, fitted):
    copy = clone(fitted)
    assert repr(copy) == repr(fitted) and not hasattr(copy, "report_")
    assert copy.input is not fitted.input and copy.input == fitted.input
    basis = clone(c2cnet.RandomFeatures(64, [4]))
    assert basis == c2cnet.RandomFeatures(64, [4])


def test_grid_search_finds_the_better_settings(darcy):
    model = c2cnet.C2CNet(
        input=c2cnet.Fourier("cosine", functions=30),
        output=c2cnet.Fourier("sine", functions=30),
        x=darcy.x,
        y=darcy.y,
    )
    grid = {"map": ["linear", "kernel"], "output__functions": [2, 30]}
    search = GridSearchCV(model, grid, cv=3).fit(darcy.train.f, darcy.train.u)
    assert search.best_params_["output__functions"] == 30
    assert search.predict(darcy.test.f).shape == darcy.test.u.shape
    assert search.score(darcy.test.f, darcy.test.u) == search.best_estimator_.score(
        darcy.test.f, darcy.test.u
    )
    nested = model.set_params(map=c2cnet.Kernel())
    search = GridSearchCV(nested, {"map__passes": [0, 1]}, cv=2, n_jobs=2)
    search.fit(darcy.train.f, darcy.train.u)
    assert set(search.best_params_) == {"map__passes"}


def test_cross_validation_and_pipelines(darcy, bases):
    model = c2cnet.C2CNet(**bases, map="linear", x=darcy.x, y=darcy.y)
    scores = cross_val_score(model, darcy.train.f, darcy.train.u, cv=3)
    assert scores.shape == (3,) and (scores < 0).all()
    chain = make_pipeline(FunctionTransformer(np.tanh), model)
    assert chain.fit(darcy.train.f, darcy.train.u).predict(darcy.test.f).shape == (20, 100)


class OnUnitInterval(c2cnet.C2CNet):
    """scikit-learn's checks know features, not points: here features lie equally spaced."""

    def fit(self, X, y):
        def places(values):
            return np.linspace(0, 1, np.shape(values)[1]) if np.ndim(values) == 2 else None

        basis = c2cnet.PointValues()
        inner = c2cnet.C2CNet(basis, basis, map="linear", settings={"withhold": 0.0})
        inner.fit(X, y, places(X), places(y))
        learned = {k: v for k, v in vars(inner).items() if k not in inner.get_params()}
        self.__dict__.update(learned)
        return self


#: What scikit-learn expects and an operator between functions does otherwise.
OTHERWISE = {
    "check_complex_data": "complex values are two components",
    "check_fit_score_takes_y": "outputs are called u, y are their points",
    "check_estimators_unfitted": "the package has its own NotFittedError",
    "check_n_features_in_after_fitting": "inputs may be observed at other points; shapes are checked",
    "check_dtype_object": "the error is a ValueError",
    "check_estimators_empty_data_messages": "points are missing, not features",
    "check_fit2d_1sample": "five samples are needed, and said so",
    "check_requires_y_none": "points of the outputs are asked for first",
}

with warnings.catch_warnings():
    # The package works without scikit-learn, so it cannot inherit from it.
    warnings.simplefilter("ignore")
    CHECKS = list(estimator_checks_generator(OnUnitInterval()))


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[c.func.__name__ for _, c in CHECKS])
def test_estimator_checks(estimator, check):
    if check.func.__name__ in OTHERWISE:
        pytest.skip(OTHERWISE[check.func.__name__])
    try:
        check(estimator)
    except SkipTest as skipped:
        pytest.skip(str(skipped))


def test_a_pickled_search_predicts(darcy, bases):
    model = c2cnet.C2CNet(**bases, x=darcy.x, y=darcy.y)
    search = GridSearchCV(model, {"map": ["linear"]}, cv=2).fit(darcy.train.f, darcy.train.u)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(darcy.test.f), search.predict(darcy.test.f))

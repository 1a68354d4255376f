"""Plain predictors of output values from input values: what a default fit must not be behind.

Every predictor sees a sample as one vector of input values and one of output values. Its settings are
chosen by 5-fold cross-validation on the training samples, by the error that is reported: the mean over
samples of |prediction - truth| / |truth|.
"""

import time
from dataclasses import dataclass
from itertools import islice

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

# Relative to the largest eigenvalue. Ridge works on singular values, whose squares reach far below rounding.
RIDGE_NUGGETS = np.logspace(-28, 1, 30)
KERNEL_NUGGETS = np.logspace(-14, -2, 25)
# Relative to the median distance of two training samples.
LENGTHS = np.logspace(-0.75, 2, 12)
COMPONENTS = 200
FOLDS = 5
# Cross-validation of a kernel costs the cube of the samples; the final fit takes all of them.
CROSS_VALIDATED = 1000


@dataclass
class Outcome:
    """One predictor on one data set."""

    name: str
    validation: float  # the error of the settings chosen, by cross-validation
    test: float
    seconds: float  # cross-validation, fit and prediction


def relative_errors(prediction, truth):
    """|prediction - truth| / |truth| of each sample; 0 / 0 is 0."""
    error = np.linalg.norm(prediction - truth, axis=1)
    size = np.linalg.norm(truth, axis=1)
    return np.divide(error, size, out=np.where(error > 0, np.inf, 0.0), where=size > 0)


class PointValues:
    """Values, each with mean 0 and variance 1 over the training samples."""

    name = "point values"

    def __call__(self, train, other):
        scaler = StandardScaler().fit(train)
        return scaler.transform(train), scaler.transform(other)


class PrincipalComponents:
    """The leading principal components of the values, at their own scale."""

    name = f"{COMPONENTS} components"

    def __call__(self, train, other):
        count = min(COMPONENTS, *train.shape)
        pca = PCA(count, svd_solver="full").fit(train)
        return pca.transform(train), pca.transform(other)


class Ridge:
    """Linear, with an intercept; the singular value decomposition serves every nugget."""

    name = "ridge"

    def settings(self, _features):
        return [None]

    def predict(self, x, y, other, settings):
        """Predictions at `other`, for each of `settings` one nugget after another."""
        mean, shift = x.mean(axis=0), y.mean(axis=0)
        u, s, vt = np.linalg.svd(x - mean, full_matrices=False)
        left, right = (other - mean) @ vt.T, u.T @ (y - shift)
        for _ in settings:
            for nugget in RIDGE_NUGGETS:
                filtered = np.divide(s, s**2 + nugget * s[0] ** 2, out=np.zeros_like(s), where=s > 0)
                yield (left * filtered) @ right + shift


class KernelRidge:
    """An isotropic kernel of one length; the eigenvectors of its matrix serve every nugget."""

    def __init__(self, name, kernel):
        self.name, self.kernel = name, kernel

    def settings(self, features):
        """Lengths."""
        distances = pairwise_distances(features[:500])
        positive = distances[distances > 0]
        return LENGTHS * (np.median(positive) if positive.size else 1.0)

    def predict(self, x, y, other, settings):
        shift = y.mean(axis=0)
        within, across = pairwise_distances(x), pairwise_distances(other, x)
        for length in settings:
            values, vectors = np.linalg.eigh(self.kernel(within / length))
            values = np.maximum(values, 0)
            left, right = self.kernel(across / length) @ vectors, vectors.T @ (y - shift)
            for nugget in KERNEL_NUGGETS:
                yield (left / (values + nugget * values[-1])) @ right + shift


def gaussian(distance):
    return np.exp(-(distance**2) / 2)


def matern(distance):
    """Matern's kernel of smoothness 5/2."""
    r = np.sqrt(5) * distance
    return (1 + r + r**2 / 3) * np.exp(-r)


BASELINES = [
    (Ridge(), PointValues()),
    (Ridge(), PrincipalComponents()),
    (KernelRidge("RBF", gaussian), PointValues()),
    (KernelRidge("RBF", gaussian), PrincipalComponents()),
    (KernelRidge("Matern", matern), PointValues()),
]


def compact(y):
    """`y` in coordinates of the span of its rows: the same norms from fewer columns."""
    if y.shape[1] <= y.shape[0]:
        return y
    _, _, vt = np.linalg.svd(y, full_matrices=False)
    return y @ vt.T


def cross_validate(model, features, x, y):
    """The best setting, the place of the best nugget, and their error."""
    order = np.random.default_rng(0).permutation(len(x))[:CROSS_VALIDATED]
    x, y = x[order], compact(y[order])
    settings = model.settings(features(x, x)[0])
    errors = []
    for train, held_out in KFold(min(FOLDS, len(x))).split(x):
        known, unknown = features(x[train], x[held_out])
        predictions = model.predict(known, y[train], unknown, settings)
        errors.append([np.mean(relative_errors(p, y[held_out])) for p in predictions])
    mean = np.nan_to_num(np.mean(errors, axis=0), nan=np.inf).reshape(len(settings), -1)
    best = np.unravel_index(np.argmin(mean), mean.shape)
    return settings[best[0]], best[1], mean[best]


def measure(model, features, x, y, n_train):
    """Chooses, fits and tests one predictor."""
    clock = time.perf_counter()
    setting, nugget, validation = cross_validate(model, features, x[:n_train], y[:n_train])
    known, unknown = features(x[:n_train], x[n_train:])
    predictions = model.predict(known, y[:n_train], unknown, [setting])
    prediction = next(islice(predictions, nugget, None))
    seconds = time.perf_counter() - clock
    test = np.mean(relative_errors(prediction, y[n_train:]))
    return Outcome(f"{model.name}, {features.name}", float(validation), float(test), seconds)


def measure_all(x, y, n_train):
    """Every predictor on the input vectors `x` and the output vectors `y`, the first `n_train` to train."""
    if n_train < 2:
        raise ValueError(f"{n_train} training sample: cross-validation needs 2 or more")
    return [measure(model, features, x, y, n_train) for model, features in BASELINES]

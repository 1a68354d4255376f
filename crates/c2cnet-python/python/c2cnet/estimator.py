"""The estimator: fit, predict, evaluate, save, load."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _c2cnet
from ._arrays import FieldLike, FieldsLike, Floats, Named
from ._parameters import Parameters
from .bases import Basis
from .diagnostics import Diagnosis
from .encoders import Encoder
from .maps import Map
from .metrics import Errors
from .settings import fit_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["C2CNet", "NotFittedError", "diagnose", "load"]


class NotFittedError(ValueError, AttributeError):
    """The model must be fitted first."""


class C2CNet(Parameters):
    """A solution operator: encode inputs, map coefficients, decode outputs anywhere.

    What is not given is chosen from the training data.

    Parameters
    ----------
    input, output : Basis, list of Basis or dict, optional
        The bases: one for all components, one for each, or by the names of the fields.
    encoder : Ridge, TruncatedSVD or dict, optional
        How input coefficients are found.
    map : {"auto", "linear", "kernel", "mlp"} or Map
        The coefficient map; "auto" takes the best on held-out training samples.
    x, y : array of shape (points, dimension) or (points,), optional
        Points that all samples share, for tools that call ``fit(f, u)``.
    input_transform : {"auto", "none", "log", "standardise", "log-standardise"} or dict
        What happens to inputs; "auto" tries the logarithm where they are positive.
    cut : float, optional
        Relative cut of the decoder's singular values.
    symmetries : {"none", "interval", "square"}
        Training samples are augmented by them.
    triangles : array of int of shape (triangles, 3), optional
        A mesh on the output points, for finite elements with ``mesh="data"`` and for plots.
    settings : dict, optional
        Any other setting, as in a settings file: ``{"search": {"max_functions": 256}}``.
    seed : int
        Every random choice; the same seed gives the same bits.
    verbose : bool or callable
        True writes the steps of a fit to standard error; a callable is given each as a dict.

    Attributes
    ----------
    report_ : dict
        How the fit went: choices, candidates, validation errors, seconds; absent after ``load``.
    errors_ : Errors
        Errors on training samples that were held out while choosing.

    Examples
    --------
    >>> import c2cnet
    >>> data = c2cnet.generate("darcy1d", n_train=60, n_test=10, points=100)
    >>> model = c2cnet.C2CNet(
    ...     input=c2cnet.Fourier("cosine", functions=40),
    ...     output=c2cnet.Fourier("sine", functions=40),
    ...     map=c2cnet.Kernel(passes=1),
    ... )
    >>> model.fit(data.train.f, data.train.u, x=data.x, y=data.y).predict(data.test.f).shape
    (10, 100)
    """

    report_: dict[str, Any]
    errors_: Errors
    n_features_in_: int

    def __init__(
        self,
        input: Basis | list[Basis] | dict[str, Any] | None = None,
        output: Basis | list[Basis] | dict[str, Any] | None = None,
        encoder: Encoder | dict[str, Encoder] | None = None,
        map: Literal["auto", "linear", "kernel", "mlp"] | Map = "auto",
        *,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
        input_transform: str | dict[str, str] = "auto",
        cut: float | None = None,
        symmetries: Literal["none", "interval", "square"] = "none",
        triangles: ArrayLike | None = None,
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
        verbose: bool | Callable[[dict[str, Any]], object] = False,
    ) -> None:
        self.input = input
        self.output = output
        self.encoder = encoder
        self.map = map
        self.x = x
        self.y = y
        self.input_transform = input_transform
        self.cut = cut
        self.symmetries = symmetries
        self.triangles = triangles
        self.settings = settings
        self.seed = seed
        self.verbose = verbose

    # Fitting

    def fit(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
    ) -> C2CNet:
        """Fit the operator to samples.

        The interpreter's lock is released; Ctrl-C raises KeyboardInterrupt within a second and
        leaves the estimator as it was.

        Parameters
        ----------
        f, u : array of shape (samples, points[, components]), list of arrays, or dict of these
            Input and output values. A list has an array ``(points,)`` or ``(points, components)``
            for each sample, a dictionary has fields by name.
        x, y : array of shape (points, dimension) or (points,), list of arrays, or dict, optional
            Where they were observed: shared by all samples, or a list with an array for each
            (also an array ``(samples, points, dimension)``). The constructor's if not given.

        Returns
        -------
        self

        Examples
        --------
        Each sample with sensors of its own:

        >>> import c2cnet, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = [np.sort(rng.uniform(0, 1, rng.integers(20, 30))) for _ in range(30)]
        >>> phase = rng.uniform(0, 6, 30)
        >>> f = [np.sin(3 * points + p) for points, p in zip(x, phase)]
        >>> y = np.linspace(0, 1, 50)
        >>> u = np.cos(3 * y + phase[:, None])
        >>> basis = c2cnet.Polynomial(functions=8)
        >>> model = c2cnet.C2CNet(basis, basis, map="linear").fit(f, u, x, y)
        >>> model.errors_.rl2e < 1e-2
        True
        """
        x = self.x if x is None else x
        y = self.y if y is None else y
        inputs, outputs = _arrays.fields(f, x, "f", "x"), _arrays.fields(u, y, "u", "y")
        triangles = None if self.triangles is None else np.asarray(self.triangles).tolist()
        model, report = _c2cnet.fit(
            json.dumps(self._settings()), inputs, outputs, triangles, self._listener()
        )
        self._model = model
        self._fitted_x = {name: points for name, points, _ in inputs}
        self._fitted_y = {name: points for name, points, _ in outputs}
        self.report_ = json.loads(report)
        held = self.report_["validation"]
        self.errors_ = Errors.from_report(held, held.pop("relative"))
        first = inputs[0][2]
        if not isinstance(first, list):
            self.n_features_in_ = first.shape[1]
        return self

    def _settings(self) -> dict[str, Any]:
        return fit_settings(
            input=self.input,
            output=self.output,
            encoder=self.encoder,
            map=self.map,
            transform=self.input_transform,
            cut=self.cut,
            symmetries=self.symmetries,
            settings=self.settings,
            seed=self.seed,
        )

    def _listener(self) -> Callable[[str], object] | None:
        verbose = self.verbose
        if verbose is False:
            return None
        if callable(verbose):
            return lambda text: verbose(json.loads(text))
        return _print_step

    # Prediction

    def predict(
        self, f: FieldsLike, x: FieldsLike | None = None, y: FieldsLike | None = None
    ) -> Any:
        """Predict outputs.

        Parameters
        ----------
        f : array of shape (samples, points[, components]), list of arrays, or dict of these
            Input values.
        x : array, list of arrays or dict, optional
            Where they were observed; the points of the fit if not given. They may differ from
            those.
        y : array of shape (points, dimension) or (points,), list of arrays, or dict, optional
            Where to predict; the points of the fit if not given.

        Returns
        -------
        ndarray of shape (samples, points[, components]), list of ndarray, or dict of these
            Double precision and contiguous, ready for ``torch.from_numpy``; a list where ``y`` has
            points for each sample, a dictionary where outputs have names.

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear", x=data.x, y=data.y)
        >>> model.fit(data.train.f, data.train.u).predict(data.test.f, y=[0.1, 0.2, 0.3]).shape
        (10, 3)
        """
        model = self._fitted()
        inputs = self._inputs(f, x)
        if y is None:
            y = self._known(self.y, "_fitted_y")
        names = self._output_names()
        found = {}
        for k, name in enumerate(names):
            at = y.get(name) if isinstance(y, Mapping) else y
            places = None if at is None else _arrays.points(at, "y")
            found[name] = model.predict(inputs, k, places)
            if isinstance(at, np.ndarray) and at.ndim == 3:
                found[name] = np.stack(found[name])
        return found[""] if names == [""] else found

    def encode(self, f: FieldsLike, x: FieldsLike | None = None) -> NDArray[np.float64]:
        """Return input coefficients.

        Parameters
        ----------
        f, x
            As for :meth:`predict`.

        Returns
        -------
        ndarray of shape (samples, coefficients)

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(c2cnet.Polynomial(functions=30), map="linear")
        >>> model = model.fit(data.train.f, data.train.u, data.x, data.y)
        >>> model.encode(data.test.f).shape
        (10, 30)
        """
        return self._fitted().encode(self._inputs(f, x))

    def map_coefficients(self, coefficients: ArrayLike) -> NDArray[np.float64]:
        """Return output coordinates of input coefficients.

        Parameters
        ----------
        coefficients : array of shape (samples, coefficients)
            As :meth:`encode` gives them.

        Returns
        -------
        ndarray of shape (samples, coordinates)
            Orthonormal coordinates of the output space.

        Examples
        --------
        ``predict`` is ``encode``, ``map_coefficients``, ``decode``:

        >>> import c2cnet, numpy as np
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear").fit(data.train.f, data.train.u, data.x, data.y)
        >>> u = model.decode(model.map_coefficients(model.encode(data.test.f)))
        >>> np.array_equal(u, model.predict(data.test.f))
        True
        """
        return self._fitted().map(_arrays.floats(coefficients, "coefficients"))

    def decode(self, coordinates: ArrayLike, y: FieldsLike | None = None) -> Any:
        """Return outputs from coordinates.

        Parameters
        ----------
        coordinates : array of shape (samples, coordinates)
            As :meth:`map_coefficients` gives them.
        y : array, list of arrays or dict, optional
            Where; the points of the fit if not given.

        Returns
        -------
        ndarray, list of ndarray or dict
            As :meth:`predict`.
        """
        model = self._fitted()
        if y is None:
            y = self._known(self.y, "_fitted_y")
        names = self._output_names()
        numbers = _arrays.floats(coordinates, "coordinates")
        found = {}
        for k, name in enumerate(names):
            at = y.get(name) if isinstance(y, Mapping) else y
            found[name] = model.decode(numbers, k, None if at is None else _arrays.points(at, "y"))
        return found[""] if names == [""] else found

    # Errors

    def evaluate(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
    ) -> Errors:
        """Return errors on samples with known outputs, beside the floor.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`fit`; points of the fit if not given.

        Returns
        -------
        Errors

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear").fit(data.train.f, data.train.u, data.x, data.y)
        >>> model.evaluate(data.test.f, data.test.u).n_samples
        10
        """
        model = self._fitted()
        report, relative = model.evaluate(self._inputs(f, x), self._outputs(u, y))
        return Errors.from_report(json.loads(report), relative)

    def score(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
    ) -> float:
        """Return minus the mean relative L2 error: larger is better, 0 is best.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`evaluate`.

        Returns
        -------
        float
        """
        return -self.evaluate(f, u, x, y).rl2e

    def diagnose(
        self,
        f: FieldsLike | None = None,
        u: FieldsLike | None = None,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
        samples: int = 400,
    ) -> Diagnosis:
        """Return what bases can and cannot do for samples.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`fit`. Without ``f`` inputs are left out, without ``u`` outputs.
        samples : int
            How many are looked at, at most.

        Returns
        -------
        Diagnosis

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear").fit(data.train.f, data.train.u, data.x, data.y)
        >>> model.diagnose(u=data.train.u).outputs[0].recommended.floor < 1e-3
        True
        """
        model = self._fitted()
        inputs = [] if f is None else _first(self._inputs(f, x), samples)
        outputs = [] if u is None else _first(self._outputs(u, y), samples)
        config = json.dumps(self._settings())
        report = _c2cnet.diagnose(model, config, inputs, outputs, self._listener())
        return Diagnosis.from_report(json.loads(report))

    # Files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file that the command ``c2cnet`` and Rust read, all or nothing.

        Parameters
        ----------
        path : path
            Where, for example ``"model.c2c"``.
        """
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> C2CNet:
        """Read a model file.

        It does not hold the points of the inputs: give ``x`` to :meth:`predict`.

        Parameters
        ----------
        path : path
            A file that :meth:`save`, the command ``c2cnet`` or Rust wrote.

        Returns
        -------
        C2CNet

        Examples
        --------
        >>> import c2cnet, numpy as np, tempfile, os
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear").fit(data.train.f, data.train.u, data.x, data.y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.c2c")
        ...     model.save(path)
        ...     again = c2cnet.load(path)
        >>> u = again.predict(data.test.f, data.x, data.y)
        >>> np.array_equal(u, model.predict(data.test.f))
        True
        """
        model = _c2cnet.Model.load(path)
        info = json.loads(model.describe())["info"] or {}
        settings = dict(info.get("config") or {})
        loaded = cls(seed=settings.pop("seed", 0), settings=settings or None)
        loaded._model = model
        if "validation" in info:
            loaded.errors_ = Errors.from_report(info["validation"], [])
        return loaded

    def export_onnx(
        self,
        path: str | PathLike[str] | None = None,
        x: FieldLike | None = None,
        y: FieldLike | None = None,
        part: Literal["operator", "map"] = "operator",
    ) -> Any:
        """Export the operator for fixed points, or its coefficient map, to ONNX.

        Needs the extra ``c2cnet[onnx]``.

        Parameters
        ----------
        path : path, optional
            Where to write the ONNX model.
        x, y : array, optional
            Input and output points; those of the fit if not given.
        part : {"operator", "map"}
            The whole operator from ``f`` to ``u``, or the map from ``coefficients`` to
            ``coordinates``.

        Returns
        -------
        onnx.ModelProto
            In double precision; its inputs have a free number of samples.
        """
        from . import onnx_export

        self._fitted()
        return onnx_export.export(self, path, x, y, part)

    # Pictures

    def plot_training(self) -> Figure:
        """Draw errors and learning rate over the steps of a network's training.

        Needs the extra ``c2cnet[plot]``, as all plots.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        self._fitted()
        return plotting.training(getattr(self, "report_", None))

    def plot_prediction(
        self,
        f: FieldLike,
        u: FieldLike | None = None,
        x: FieldLike | None = None,
        y: FieldLike | None = None,
        samples: int | list[int] = 0,
        triangles: ArrayLike | None = None,
    ) -> Figure:
        """Draw predictions, beside the truth and the error where it is known.

        Curves in one dimension; colours in two: a grid, space and time, or a mesh.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`evaluate`; ``u`` may be left out.
        samples : int or list of int
            Which.
        triangles : array of int of shape (triangles, 3), optional
            A mesh on the output points; the constructor's if not given.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        chosen = [samples] if isinstance(samples, int) else list(samples)
        mesh = self.triangles if triangles is None else triangles
        return plotting.prediction(self, f, u, x, y, chosen, mesh)

    def plot_worst(
        self,
        f: FieldLike,
        u: FieldLike,
        x: FieldLike | None = None,
        y: FieldLike | None = None,
        count: int = 3,
        triangles: ArrayLike | None = None,
    ) -> Figure:
        """Draw the samples with the largest errors.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`evaluate`.
        count : int
            How many.
        triangles : array of int of shape (triangles, 3), optional
            As for :meth:`plot_prediction`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        order = np.argsort(self.evaluate(f, u, x, y).relative)[::-1]
        worst = [int(k) for k in order[:count]]
        return self.plot_prediction(f, u, x, y, worst, triangles)

    def plot_spectrum(self, f: FieldsLike, x: FieldsLike | None = None) -> Figure:
        """Draw the singular values of the inputs' design matrices.

        Parameters
        ----------
        f, x
            As for :meth:`predict`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self.diagnose(f=f, x=x).plot_spectrum()

    def plot_floor(self, u: FieldsLike, y: FieldsLike | None = None) -> Figure:
        """Draw the smallest errors that output bases allow against their size.

        Parameters
        ----------
        u, y
            As for :meth:`evaluate`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self.diagnose(u=u, y=y).plot_floor()

    # What it is

    def describe(self) -> dict[str, Any]:
        """Return bases, encoder, map and history of the fitted model.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(self._fitted().describe())
        return found

    def _rows(self) -> list[tuple[str, str]]:
        about = self.describe()
        rows = []
        for side in ("inputs", "outputs"):
            for one in about[side]:
                label = f"{side[:-1]} {one['name']}".strip()
                text = one["basis"]
                if side == "inputs":
                    text += f"; {one['encoder'][0]}"
                    if one["transform"] != "none":
                        text += f"; transform {one['transform']}"
                else:
                    text += f"; {one['rank']} of {one['functions']} coordinates kept"
                rows.append((label, text))
        rows.insert(len(about["inputs"]), ("map", about["map"]["description"]))
        if hasattr(self, "errors_"):
            held = (about["info"] or {}).get("held_out", True)
            on = "held-out training samples" if held else "training samples"
            rows.append(("error", f"{self.errors_.rl2e:.2e} on {on} (RL2E)"))
            rows.append(("floor", f"{self.errors_.floor:.2e}, the least the output basis allows"))
        return rows

    def summary(self) -> str:
        """Return what the model is, its error and its floor, as text.

        Returns
        -------
        str
        """
        return "\n".join(f"{name:<8}{text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        from ._display import table

        if not self.__sklearn_is_fitted__():
            return table("C2CNet, not fitted", [("settings", repr(self))])
        return table("C2CNet, fitted", self._rows())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=True, single_output=False),
            input_tags=InputTags(two_d_array=True, three_d_array=True),
        )

    # Points

    def _fitted(self) -> _c2cnet.Model:
        model: _c2cnet.Model | None = getattr(self, "_model", None)
        if model is None:
            raise NotFittedError("this C2CNet is not fitted yet; call fit(f, u) first")
        return model

    def _output_names(self) -> list[str]:
        if hasattr(self, "_fitted_y"):
            return list(self._fitted_y)
        return [one["name"] for one in self.describe()["outputs"]]

    def _known(self, given: FieldsLike | None, attribute: str) -> FieldsLike | None:
        """Shared points of the fit, else of the constructor."""
        fitted: dict[str, Floats | list[Floats]] = getattr(self, attribute, {})
        if not fitted:
            return given
        shared = {n: p for n, p in fitted.items() if not isinstance(p, list)}
        if list(fitted) == [""]:
            return shared.get("", given)
        return shared

    def _inputs(self, f: FieldsLike, x: FieldsLike | None) -> list[Named]:
        return _arrays.fields(f, self._known(self.x, "_fitted_x") if x is None else x, "f", "x")

    def _outputs(self, u: FieldsLike, y: FieldsLike | None) -> list[Named]:
        return _arrays.fields(u, self._known(self.y, "_fitted_y") if y is None else y, "u", "y")


def load(path: str | PathLike[str]) -> C2CNet:
    """Read a model file; the same as :meth:`C2CNet.load`.

    Parameters
    ----------
    path : path
        A file that :meth:`C2CNet.save`, the command ``c2cnet`` or Rust wrote.

    Returns
    -------
    C2CNet
    """
    return C2CNet.load(path)


def diagnose(
    f: FieldsLike,
    u: FieldsLike,
    x: FieldsLike | None = None,
    y: FieldsLike | None = None,
    **parameters: Any,
) -> Diagnosis:
    """Show what bases can and cannot do for samples, and recommend some.

    Parameters
    ----------
    f, u, x, y
        As for :meth:`C2CNet.fit`.
    **parameters
        Of :class:`C2CNet`; where no basis is given, one is searched for.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import c2cnet
    >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100).train
    >>> found = diagnose(data.f, data.u, data.x, data.y, map="linear")
    >>> len(found.inputs), len(found.outputs)
    (1, 1)
    """
    model = C2CNet(**parameters).fit(f, u, x, y)
    return model.diagnose(f, u, x, y)


def _first(named: list[Named], samples: int) -> list[Named]:
    def cut(points: Floats | list[Floats]) -> Floats | list[Floats]:
        return points[:samples] if isinstance(points, list) else points

    return [(name, cut(points), values[:samples]) for name, points, values in named]


def _print_step(text: str) -> None:
    event = json.loads(text)
    if "step" in event:
        print(event["step"], file=sys.stderr)
    elif "metric" in event:
        metric = event["metric"]
        error = metric["validation_rl2e"] or metric["train_rl2e"]
        print(f"  step {metric['step']} of {event['steps']}: {error:.3e}", file=sys.stderr)

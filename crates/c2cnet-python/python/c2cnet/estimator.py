"""The estimator: settings, fit, diagnosis, files."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _arrays, _c2cnet
from ._arrays import FieldsLike, Floats, Named
from ._files import MODEL, check_output
from ._fitted import NotFittedError
from ._incremental import Incremental
from .bases import Basis
from .diagnostics import Diagnosis
from .encoders import Encoder
from .maps import Map
from .metrics import Errors
from .settings import fit_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["C2CNet", "NotFittedError", "diagnose", "load"]


class C2CNet(Incremental):
    """A solution operator: encode inputs, map coefficients, decode outputs anywhere.

    Settings that are not given are chosen from the training data.

    Parameters
    ----------
    input, output : Basis, list of Basis or dict, optional
        The bases: one for all components, one for each, or by the names of the fields.
    encoder : Ridge, TruncatedSVD, LearnedPrior or dict, optional
        How input coefficients are found.
    map : {"auto", "linear", "kernel", "mlp", "layered"} or Map
        The coefficient map; "auto" takes the best on held-out training samples.
    x, y : array of shape (points, dimension) or (points,), optional
        Points that all samples share, for tools that call ``fit(f, u)``.
    input_transform : {"auto", "none", "log", "standardise", "log-standardise"} or dict
        How inputs are transformed ("standardize" is also understood); "auto" tries the logarithm if they are positive.
    cut : float, optional
        Relative cut of the decoder's singular values.
    symmetries : {"none", "interval", "square"}
        Training samples are augmented by them.
    triangles : array of int of shape (triangles, 3), optional
        A mesh on the output points, for finite elements with ``mesh="data"`` and for plots.
    missing : {"refuse", "nan"}
        What NaN among values means: an error, or a missing reading, in which case samples keep the
        points that they have.
    settings : dict, optional
        Any other setting, as in a settings file: ``{"search": {"max_functions": 256}}``.
    seed : int
        Seed of every random choice; the same seed gives the same bits.
    device : str
        Where networks are trained and kernel maps fitted: ``"cpu"``, ``"cuda"`` (an NVIDIA GPU), ``"cuda:1"``
        (the second one) or ``"auto"`` (a GPU if there is one). It is not part of the model.
    verbose : bool or callable
        True writes the steps of a fit to standard error; a callable receives each as a dict.

    Attributes
    ----------
    report_ : dict
        What the fit did: choices, candidates, validation errors, seconds; absent after ``load``.
    errors_ : Errors
        Errors on training samples that were held out while choosing.
    test_errors_ : Errors
        Errors on the samples that ``fit(..., test_fraction=...)`` held out; absent without it.
    test_samples_ : ndarray of int
        Which samples these are.

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

    def __init__(
        self,
        input: Basis | list[Basis] | dict[str, Any] | None = None,
        output: Basis | list[Basis] | dict[str, Any] | None = None,
        encoder: Encoder | dict[str, Encoder] | None = None,
        map: Literal["auto", "linear", "kernel", "mlp", "layered"] | Map = "auto",
        *,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
        input_transform: str | dict[str, str] = "auto",
        cut: float | None = None,
        symmetries: Literal["none", "interval", "square"] = "none",
        triangles: ArrayLike | None = None,
        missing: Literal["refuse", "nan"] = "refuse",
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
        device: str = "cpu",
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
        self.missing = missing
        self.settings = settings
        self.seed = seed
        self.device = device
        self.verbose = verbose

    def fit(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
        plan: Mapping[str, Any] | None = None,
        test_fraction: float | None = None,
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
            Where they were observed: shared by all samples, as a grid (a tuple of its axes, or an array
            ``(n1, n2, 2)``, with values ``(samples, n1, n2[, components])``), or a list with an array for each
            (also an array ``(samples, points, dimension)``). The constructor's if not given. A
            field without points, and without a basis named for it, is a vector per sample, of shape
            ``(samples, values)`` or ``(samples,)``: parameters without ``x``, quantities without
            ``y``. A dictionary may have both: ``f={"load": (x, f), "modulus": p}``.
        plan : dict, optional
            What to do instead of choosing, as :meth:`plan` returns it; the constructor's settings are not
            used then.
        test_fraction : float, optional
            This fraction of the samples, chosen by ``seed``, is held out before anything is chosen or fitted, and
            evaluated at the end: ``test_errors_``, on ``test_samples_``. The command's ``--test-fraction`` takes the
            same ones.

        Returns
        -------
        self

        Examples
        --------
        Each sample with its own sensors:

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
        inputs, outputs, samples = self._samples(f, u, x, y)
        for text in _arrays.forgotten_points(inputs, outputs):
            warnings.warn(text, stacklevel=2)
        conditions = (self._listener(), self.device)
        if plan is None:
            done = _c2cnet.fit(json.dumps(self._settings()), samples, conditions, test_fraction)
        else:
            done = _c2cnet.fit_plan(json.dumps(plan), samples, conditions, test_fraction)
        model, report, tested = done
        self._forget_sums()
        self._model = model
        self._read_from = None
        self._remember_points(inputs, outputs)
        self.report_ = json.loads(report)
        for text in self.report_["warnings"]:
            warnings.warn(text, stacklevel=2)
        held = self.report_["validation"]
        self.errors_ = Errors.from_report(held, held.pop("relative"))
        self._remember_test(tested)
        return self

    def _remember_test(self, tested: tuple[list[int], str] | None) -> None:
        for name in ("test_samples_", "test_errors_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if tested is not None:
            chosen, text = tested
            errors = json.loads(text)
            self.test_samples_ = np.array(chosen, dtype=np.intp)
            self.test_errors_ = Errors.from_report(errors, errors.pop("relative"))

    def plan(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
    ) -> dict[str, Any]:
        """Return what :meth:`fit` would do, to be inspected, changed, and passed to ``fit(..., plan=plan)``.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`fit`.

        Returns
        -------
        dict
            ``protocol``, ``inputs``, ``outputs`` and ``map``.

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear")
        >>> plan = model.plan(data.train.f, data.train.u, data.x, data.y)
        >>> plan["map"]["kind"]
        'linear'
        >>> model = model.fit(data.train.f, data.train.u, data.x, data.y, plan=plan)
        """
        _, _, samples = self._samples(f, u, x, y)
        conditions = (self._listener(), self.device)
        text, _ = _c2cnet.plan(json.dumps(self._settings()), samples, conditions)
        plan: dict[str, Any] = json.loads(text)
        return plan

    def _samples(
        self, f: FieldsLike, u: FieldsLike, x: FieldsLike | None, y: FieldsLike | None
    ) -> tuple[list[Named], list[Named], Any]:
        """Return inputs, outputs, and both with the triangles as the library takes them."""
        inputs, outputs = self._data(f, u, x, y)
        triangles = None if self.triangles is None else np.asarray(self.triangles).tolist()
        arrays = ([i.arrays() for i in inputs], [o.arrays() for o in outputs], triangles)
        return inputs, outputs, arrays

    def _data(
        self, f: FieldsLike, u: FieldsLike, x: FieldsLike | None, y: FieldsLike | None
    ) -> tuple[list[Named], list[Named]]:
        return (
            _arrays.fields(f, x, "f", "x", self.x, _has_basis(self.input), self.missing),
            _arrays.fields(u, y, "u", "y", self.y, _has_basis(self.output), self.missing),
        )

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
            The most samples to use.

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
        report = _c2cnet.diagnose(
            model,
            config,
            [i.arrays() for i in inputs],
            [o.arrays() for o in outputs],
            self._listener(),
        )
        return Diagnosis.from_report(json.loads(report))

    def plot_spectrum(self, f: FieldsLike, x: FieldsLike | None = None) -> Figure:
        """Plot the singular values of the inputs' design matrices.

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
        """Plot the smallest errors that output bases allow against their size.

        Parameters
        ----------
        u, y
            As for :meth:`evaluate`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self.diagnose(u=u, y=y).plot_floor()

    # Files

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model file that the command ``c2cnet`` and Rust read, atomically.

        Parameters
        ----------
        path : path
            The file to write, for example ``"model.c2c"``. Another model there is replaced, but not the one that
            this was loaded from.
        overwrite : bool
            Also replace data or a prediction.
        """
        model = self._fitted()
        check_output(path, MODEL, self._read_from, overwrite)
        model.save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> C2CNet:
        """Read a model file.

        It knows the points of the inputs, unless samples had their own: then give ``x`` to :meth:`predict`.

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
        >>> u = again.predict(data.test.f)
        >>> np.array_equal(u, model.predict(data.test.f))
        True
        """
        model = _c2cnet.Model.load(path)
        info = json.loads(model.describe())["info"] or {}
        settings = dict(info.get("config") or {})
        loaded = cls(seed=settings.pop("seed", 0), settings=settings or None)
        loaded._model = model
        loaded._read_from = os.path.abspath(path)
        # An empty list, where they are not known, as for samples with points of their own.
        loaded._fitted_x = {
            one["name"]: None if one["vector"] else _arrays.known(model.input_points(one["name"]))
            for one in json.loads(model.describe())["inputs"]
        }
        if "validation" in info:
            loaded.errors_ = Errors.from_report(info["validation"], [])
        return loaded


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
        Parameters of :class:`C2CNet`; if no basis is given, one is searched for.

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


def _has_basis(bases: Any) -> Callable[[str], bool]:
    """Tell which fields are functions because a basis was named for them."""
    if isinstance(bases, Mapping):
        return lambda name: bases.get(name) is not None
    return lambda name: bases is not None


def _first(named: list[Named], samples: int) -> list[Named]:
    def cut(points: Floats | list[Floats] | None) -> Floats | list[Floats] | None:
        return points[:samples] if isinstance(points, list) else points

    return [n._replace(points=cut(n.points), values=n.values[:samples]) for n in named]


def _print_step(text: str) -> None:
    event = json.loads(text)
    if "step" in event:
        print(event["step"], file=sys.stderr)
    elif "metric" in event:
        metric = event["metric"]
        error = metric["validation_rl2e"] or metric["train_rl2e"]
        print(f"  step {metric['step']} of {event['steps']}: {error:.3e}", file=sys.stderr)

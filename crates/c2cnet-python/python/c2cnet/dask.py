"""Fits and predictions on Dask arrays, on one machine or many. Needs ``c2cnet[dask]``.

Every block of samples is encoded and summed where it is; sums are merged pairwise, in the order of the blocks, and the
map is computed on one worker. The result depends on the blocks, not on the workers: the same blocks give the same bits
on any number of workers, and the work of a lost worker is repeated with the same bits.
"""

from __future__ import annotations

import copy
import itertools
import json
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import FieldLike
from .estimator import C2CNet

try:
    import dask
    import dask.array as da
except ImportError as error:  # pragma: no cover
    raise ImportError("c2cnet.dask needs Dask: pip install 'c2cnet[dask]'") from error

__all__ = ["fit", "predict"]


def fit(
    f: Any,
    u: Any,
    x: FieldLike | None = None,
    y: FieldLike | None = None,
    *,
    first: int = 4000,
    centres: int = 4000,
    **parameters: Any,
) -> C2CNet:
    """Fit an operator to Dask arrays.

    Parameters
    ----------
    f, u : dask.array.Array of shape (samples, points[, components])
        Input and output values, in blocks of samples.
    x, y : array of shape (points, dimension) or (points,), optional
        Where they were observed; shared by all samples.
    first : int
        Leading blocks with at least this many samples in total determine bases and map, on one worker.
    centres : int
        The most centres of a kernel map; time per sample and memory grow with their square.
    **parameters
        Parameters of :class:`c2cnet.C2CNet`. The map is linear, a kernel map or, with ``map="mlp"``, a network, which one
        worker trains on the coefficients of all samples. With ``verbose``, the steps of the fit and the samples summed so far
        are reported here, wherever the work is done.

    Returns
    -------
    C2CNet
        Fitted; ``report_`` and ``errors_`` as after :meth:`c2cnet.C2CNet.partial_fit`.

    Examples
    --------
    >>> import c2cnet, c2cnet.dask, dask.array as da
    >>> data = c2cnet.generate("darcy1d", n_train=300, n_test=50, points=100).train
    >>> f, u = (da.from_array(a, chunks=(100, -1)) for a in (data.f, data.u))
    >>> model = c2cnet.dask.fit(f, u, data.x, data.y, first=100, map="linear")
    >>> c2cnet.dask.predict(model, f).compute().shape
    (300, 100)
    """
    blocks = _blocks(f, u)
    counts = f.chunks[0]
    leading = next((i for i, n in enumerate(itertools.accumulate(counts), 1) if n >= first), len(counts))
    begin, share, first_sums, accumulate, merge, finish = (
        dask.delayed(work, pure=False)
        for work in (_begin, C2CNet.empty, _sums_of, _accumulate, _merge, _finish)
    )
    verbose = parameters.pop("verbose", False)
    with _listening(C2CNet(verbose=verbose)._listener(), counts) as topic:
        begun = begin(blocks[:leading], x, y, centres, parameters, topic)
        # Without its sums: this goes to every worker.
        settled = share(begun)
        # Sums travel alone: what is settled would cost as much again.
        sums = [first_sums(begun)]
        for number, block in enumerate(blocks[leading:], leading):
            sums.append(accumulate(settled, *block, number, topic))
        while len(sums) > 1:
            pairs = [merge(*pair) for pair in zip(sums[::2], sums[1::2])]
            sums = pairs + sums[len(sums) // 2 * 2 :]
        (model,) = dask.compute(finish(settled, sums[0], topic))
    fitted: C2CNet = model
    fitted.verbose = verbose
    return fitted


def predict(model: C2CNet, f: Any, y: FieldLike | None = None) -> Any:
    """Predict the only output of a model for a Dask array of inputs, block by block.

    Parameters
    ----------
    model : C2CNet
        A fitted operator with one input and one output at points that samples share.
    f : dask.array.Array of shape (samples, points[, components])
        Input values at the points of the fit.
    y : array of shape (points, dimension) or (points,), optional
        Where to predict; the points of the fit if not given.

    Returns
    -------
    dask.array.Array
        Of shape (samples, points[, components]), in the blocks of ``f``.
    """
    f = f.rechunk({axis: -1 for axis in range(1, f.ndim)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a stand-in, which need not be like the samples
        one = model.predict(np.ones((1, *f.shape[1:]), f.dtype), y=y)
    shared = dask.delayed(model, pure=False)
    parts = [
        da.from_delayed(
            dask.delayed(_predict, pure=False)(shared, block, y), (count, *one.shape[1:]), one.dtype
        )
        for block, count in zip(f.to_delayed().ravel(), f.chunks[0])
    ]
    return da.concatenate(parts)


def _blocks(f: Any, u: Any) -> list[tuple[Any, Any]]:
    """Blocks of samples of both arrays, which have the same samples."""
    if f.shape[0] != u.shape[0]:
        raise ValueError(f"f has {f.shape[0]} samples and u has {u.shape[0]}; give the same number of each")
    if any(np.isnan(n) for n in f.chunks[0]):
        raise ValueError("f has blocks of unknown size; call f.compute_chunk_sizes() first")
    f = f.rechunk({axis: -1 for axis in range(1, f.ndim)})
    u = u.rechunk({0: f.chunks[0], **{axis: -1 for axis in range(1, u.ndim)}})
    return list(zip(f.to_delayed().ravel(), u.to_delayed().ravel()))


def _begin(
    blocks: list[tuple[NDArray[Any], NDArray[Any]]],
    x: Any,
    y: Any,
    centres: int,
    parameters: dict[str, Any],
    topic: str | None,
) -> C2CNet:
    f, u = (np.concatenate(parts) for parts in zip(*blocks))
    begun = _watched(C2CNet(**parameters), topic).partial_fit(f, u, x, y, centres=centres)
    _tell(topic, {"blocks": list(range(len(blocks)))})
    begun.verbose = False
    return begun


def _sums_of(begun: C2CNet) -> Any:
    return begun._sums


def _accumulate(settled: C2CNet, f: NDArray[Any], u: NDArray[Any], number: int, topic: str | None) -> Any:
    sums = settled.empty().partial_fit(f, u)._sums
    _tell(topic, {"blocks": [number]})
    return sums


def _merge(one: Any, other: Any) -> Any:
    return one.merged(other)


def _finish(settled: C2CNet, sums: Any, topic: str | None) -> C2CNet:
    solved = _watched(settled.empty(), topic)
    solved._sums = sums
    _tell(topic, {"step": "solving for the map"})
    solved._fitted()
    solved.verbose = False
    return solved


#: Who listens to the fits of this process, by topic.
_LISTENERS: dict[str, Callable[[dict[str, Any]], None]] = {}


@contextmanager
def _listening(listener: Callable[[str], object] | None, counts: tuple[int, ...]) -> Iterator[str | None]:
    """Give the topic under which workers tell of their work; None if nobody listens."""
    if listener is None:
        yield None
        return
    topic, summed = f"c2cnet-{uuid.uuid4()}", set[int]()

    def told(event: dict[str, Any]) -> None:
        # A block that a lost worker had summed is told of twice.
        summed.update(event.get("blocks", []))
        if "blocks" in event:
            done = sum(counts[i] for i in summed)
            event = {"step": f"{done} of {sum(counts)} samples summed"}
        listener(json.dumps(event))

    _LISTENERS[topic] = told
    client = _client()
    if client is not None:
        client.subscribe_topic(topic, lambda event: told(event[1]))
    try:
        yield topic
    finally:
        if client is not None:
            client.unsubscribe_topic(topic)
        del _LISTENERS[topic]


def _client() -> Any:
    """Return the client of ``dask.distributed`` that computes; None if another scheduler does."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _watched(model: C2CNet, topic: str | None) -> C2CNet:
    model.verbose = (lambda event: _tell(topic, event)) if topic else False
    return model


def _tell(topic: str | None, event: dict[str, Any]) -> None:
    """Tell the fit that began this work, here or elsewhere."""
    if topic in _LISTENERS:
        _LISTENERS[topic](event)
    elif topic is not None:
        try:
            from distributed import get_worker

            get_worker().log_event(topic, event)
        except (ImportError, ValueError):
            pass  # another process of another scheduler, which carries no messages


def _predict(model: C2CNet, f: NDArray[Any], y: Any) -> Any:
    return model.predict(f, y=y)

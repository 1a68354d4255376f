"""Export to ONNX; needs the extra ``c2cnet[onnx]``.

For fixed points the encoder is an affine map of the values (or their logarithm) and the decoder a
linear one, so the whole operator is a product, the coefficient map and another product.
"""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _arrays
from ._files import check_output

if TYPE_CHECKING:
    from ._operator import Operator

__all__ = ["export"]

Array = NDArray[np.float64]

#: An opset whose operators ONNX Runtime has in double precision.
_OPSET = 17


class _Graph:
    """Nodes and constants of a graph that is being built."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise ImportError("the export needs onnx: pip install 'c2cnet[onnx]'") from None
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(values, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def affine(self, value: str, weights: Array, shift: Array | None = None) -> str:
        """``value @ weights + shift``, one row per sample."""
        value = self.node("MatMul", value, self.constant(weights))
        return value if shift is None else self.node("Add", value, self.constant(shift))

    def scaled(self, value: str, factor: float) -> str:
        return self.node("Mul", value, self.constant(factor))

    def model(self, inputs: dict[str, list[Any]], result: str, output: str, shape: list[Any]) -> Any:
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        self.nodes.append(helper.make_node("Identity", [result], [output]))
        graph = helper.make_graph(
            self.nodes,
            "c2cnet",
            [helper.make_tensor_value_info(n, double, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(output, double, shape)],
            self.constants,
        )
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opset, producer_name="c2cnet")
        model.ir_version = 8
        self.onnx.checker.check_model(model)
        return model


def export(
    model: Operator, path: str | PathLike[str] | None, x: Any, y: Any, part: str
) -> Any:
    """Return the ONNX model; see :meth:`c2cnet.C2CNet.export_onnx`.

    Parameters
    ----------
    model : C2CNet
        A fitted model.
    path : path or None
        Where to write it.
    x, y : array or None
        Input and output points.
    part : {"operator", "map"}
        What is exported.

    Returns
    -------
    onnx.ModelProto
    """
    if path is not None:
        check_output(path, "an ONNX model", model._read_from)
    graph = _Graph()
    arrays, document = model._fitted().archive()
    about = json.loads(document)
    if part == "map":
        sizes = model.describe()["map"]
        result = _map(graph, arrays, about["map"], "map", "coefficients")
        exported = graph.model(
            {"coefficients": ["samples", sizes["inputs"]]},
            result,
            "coordinates",
            ["samples", sizes["outputs"]],
        )
    elif part == "operator":
        exported = _operator(graph, model, arrays, about, x, y)
    else:
        raise ValueError(f"part = {part!r} must be 'operator' or 'map'")
    if path is not None:
        graph.onnx.save(exported, fspath(path))
    return exported


def _operator(
    graph: _Graph, model: Operator, arrays: dict[str, Array], about: dict[str, Any], x: Any, y: Any
) -> Any:
    described = model.describe()
    if len(described["inputs"]) != 1 or len(described["outputs"]) != 1:
        raise ValueError("the export supports operators with one input and one output field")
    if described["inputs"][0]["vector"] or described["outputs"][0]["vector"]:
        raise ValueError("the export supports functions, not vectors without points; part='map' works")
    if any(one.get("complex") for one in described["outputs"]):
        raise ValueError("the export supports real outputs; this model's are complex")
    if any(one.get("moving_nodes") for one in described["outputs"]):
        raise ValueError("the export needs fixed points; this model's nodes move; part='map' works")
    at = {
        "x": model._known(model.x, "_fitted_x") if x is None else x,
        "y": model._known(model.y, "_fitted_y") if y is None else y,
    }
    points = {}
    for name, given in at.items():
        found = None if given is None else _arrays.place(given, name, samples=-1).points
        if found is None or isinstance(found, list):
            raise ValueError(f"the export needs fixed points; give {name} that all samples share")
        points[name] = found
    components = described["inputs"][0]["components"], described["outputs"][0]["components"]
    sizes = len(points["x"]), len(points["y"])

    value = "f"
    shape_in = ["samples", sizes[0]] + ([components[0]] if components[0] > 1 else [])
    if components[0] > 1:
        flat = graph.constant([0, sizes[0] * components[0]], np.int64)
        value = graph.node("Reshape", value, flat)
    logged = described["inputs"][0]["transform"].startswith("log")
    if logged:
        value = graph.node("Log", value)
    weights, shift = _encoder(model, points["x"], components[0], logged)
    value = graph.affine(value, weights, shift)
    value = _map(graph, arrays, about["map"], "map", value)
    rank = described["map"]["outputs"]
    decoded = model.decode(np.eye(rank), points["y"]).reshape(rank, -1)
    value = graph.affine(value, decoded)
    shape_out = ["samples", sizes[1]] + ([components[1]] if components[1] > 1 else [])
    if components[1] > 1:
        value = graph.node("Reshape", value, graph.constant([0, *shape_out[1:]], np.int64))
    return graph.model({"f": shape_in}, value, "u", shape_out)


def _encoder(model: Operator, points: Any, components: int, logged: bool) -> tuple[Array, Array]:
    """The encoder, affine in the values (or their logarithm): found at zero and at unit vectors."""
    n = len(points)
    probes = np.concatenate([np.zeros((1, n * components)), np.eye(n * components)])
    values = np.exp(probes) if logged else probes
    if components > 1:
        values = values.reshape(-1, n, components)
    found = model.encode(values, points)
    return found[1:] - found[0], found[0]


def _map(
    graph: _Graph, arrays: dict[str, Array], record: dict[str, Any], name: str, value: str
) -> str:
    kind = record["kind"]
    if kind == "linear":
        return _linear(graph, arrays, name, value)
    if kind == "kernel":
        return _kernel(graph, arrays, record, name, value)
    if kind == "mlp":
        return _network(graph, arrays, record, name, value)
    raise ValueError(f"the export does not support the map {kind!r}")


# A model file holds the matrices transposed, as needed for rows of samples.


def _centred(graph: _Graph, value: str, mean: Array) -> str:
    return graph.node("Sub", value, graph.constant(mean))


def _linear(graph: _Graph, arrays: dict[str, Array], name: str, value: str) -> str:
    value = _centred(graph, value, arrays[f"{name}.input_mean"])
    return graph.affine(value, arrays[f"{name}.weights"], arrays[f"{name}.output_mean"])


def _kernel(
    graph: _Graph, arrays: dict[str, Array], record: dict[str, Any], name: str, value: str
) -> str:
    last = record["settings"]["passes"][-1]
    value = _centred(graph, value, arrays[f"{name}.features.input_mean"])
    z = graph.affine(value, arrays[f"{name}.features.transform"])
    centres = arrays[f"{name}.centres"]
    products = graph.affine(z, -2.0 * centres.T, (centres**2).sum(axis=1))
    own = graph.node("Mul", z, z)
    own = graph.node("ReduceSum", own, graph.constant([1], np.int64), keepdims=1)
    squares = graph.node("Add", products, own)
    squares = graph.node("Max", squares, graph.constant(0.0))
    squares = graph.scaled(squares, 1.0 / last["length"] ** 2)
    if last["kernel"] == "gaussian":
        kernel = graph.node("Exp", graph.scaled(squares, -0.5))
    elif last["kernel"] == "inverse-multiquadric":
        kernel = graph.node("Add", squares, graph.constant(1.0))
        kernel = graph.node("Reciprocal", graph.node("Sqrt", kernel))
    else:
        s = graph.node("Sqrt", graph.scaled(squares, 5.0))
        third = graph.scaled(graph.node("Mul", s, s), 1.0 / 3.0)
        polynomial = graph.node("Add", graph.node("Add", s, third), graph.constant(1.0))
        kernel = graph.node("Mul", polynomial, graph.node("Exp", graph.node("Neg", s)))
    return graph.affine(kernel, arrays[f"{name}.weights"], arrays[f"{name}.output_mean"])


def _network(
    graph: _Graph, arrays: dict[str, Array], record: dict[str, Any], name: str, value: str
) -> str:
    inputs = value
    entry = record["entry"]
    if entry is not None:
        value = _centred(graph, value, arrays[f"{name}.entry.mean"])
        value = graph.affine(value, arrays[f"{name}.entry.axes"].T / entry["scale"])
    network = record["network"]
    widths, parameters, start = network["widths"], arrays[f"{name}.parameters"], 0
    for layer, (before, after) in enumerate(zip(widths, widths[1:])):
        size = after * (before + 1)
        # Weights column by column, then shifts.
        both = parameters[start : start + size].reshape(before + 1, after)
        start += size
        value = graph.affine(value, both[:-1], both[-1])
        if layer + 2 < len(widths):
            value = _activation(graph, network["activation"], value)
    kind, head = next(iter(record["head"].items()))
    name = f"{name}.head.{kind}"
    if kind == "raw":
        return value if head["factor"] is None else graph.affine(value, arrays[f"{name}.factor"])
    axes = arrays[f"{name}.frame.axes"] * head["frame"]["scale"]
    value = graph.affine(value, axes, arrays[f"{name}.frame.mean"])
    if head["linear"] is not None:
        linear = _linear(graph, arrays, f"{name}.linear", inputs)
        value = graph.node("Add", value, linear)
    return value


def _activation(graph: _Graph, kind: str, value: str) -> str:
    if kind == "tanh":
        return graph.node("Tanh", value)
    if kind == "relu":
        return graph.node("Relu", value)
    if kind == "silu":
        return graph.node("Mul", value, graph.node("Sigmoid", value))
    if kind == "gelu-tanh":
        cube = graph.node("Mul", graph.node("Mul", value, value), value)
        inner = graph.node("Add", value, graph.scaled(cube, 0.044715))
        # (1 + tanh t) / 2 is the logistic function of 2 t.
        gate = graph.node("Sigmoid", graph.scaled(inner, 2.0 * np.sqrt(2.0 / np.pi)))
        return graph.node("Mul", value, gate)
    if kind == "gelu":
        # ONNX Runtime has erf in single precision only; networks are trained in it as well.
        tensor = graph.onnx.TensorProto
        inner = graph.node("Cast", graph.scaled(value, np.sqrt(0.5)), to=tensor.FLOAT)
        erf = graph.node("Cast", graph.node("Erf", inner), to=tensor.DOUBLE)
        gate = graph.scaled(graph.node("Add", erf, graph.constant(1.0)), 0.5)
        return graph.node("Mul", value, gate)
    raise ValueError(f"the export does not support the activation {kind!r}")

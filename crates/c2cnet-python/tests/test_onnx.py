"""Exports compute what the model computes, in ONNX Runtime."""

import numpy as np
import pytest

import c2cnet

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def run(exported, **inputs):
    session = runtime.InferenceSession(
        exported.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)[0]


def agree(model, f, tolerance, **points):
    a = model.encode(f, points.get("x"))
    c = run(model.export_onnx(part="map"), coefficients=a)
    exact = model.map_coefficients(a)
    assert np.linalg.norm(c - exact) <= tolerance * np.linalg.norm(exact)
    u = model.predict(f, points.get("x"), points.get("y"))
    found = run(model.export_onnx(**points), f=f)
    assert found.shape == u.shape and found.dtype == u.dtype
    assert np.linalg.norm(found - u) <= tolerance * np.linalg.norm(u)


MAPS = [
    ("linear", 1e-11),
    (c2cnet.Kernel("gaussian", nugget=1e-8, passes=1), 1e-7),
    (c2cnet.Kernel("matern-5/2", nugget=1e-8, passes=1), 1e-7),
    (c2cnet.Kernel("inverse-multiquadric", nugget=1e-8, passes=1), 1e-7),
    *(
        (c2cnet.MLP(hidden=[16, 16], steps=50, activation=activation), tolerance)
        for activation, tolerance in [
            ("gelu", 1e-5),
            ("gelu-tanh", 1e-11),
            ("tanh", 1e-11),
            ("relu", 1e-11),
            ("silu", 1e-11),
        ]
    ),
    (c2cnet.MLP(hidden=[16], steps=50, activation="tanh", residual=False), 1e-11),
    (c2cnet.MLP("paper", hidden=[16], steps=50, activation="tanh"), 1e-9),
]


@pytest.mark.parametrize(("coefficient_map", "tolerance"), MAPS, ids=[repr(m) for m, _ in MAPS])
def test_every_map(darcy, bases, coefficient_map, tolerance):
    model = c2cnet.C2CNet(**bases, map=coefficient_map)
    model.fit(darcy.train.f, darcy.train.u, darcy.x, darcy.y)
    agree(model, darcy.test.f, tolerance)
    agree(model, darcy.test.f, tolerance, y=np.linspace(0, 1, 37))


@pytest.mark.parametrize("transform", ["log", "standardise", "log-standardise"])
def test_transforms(darcy, bases, transform):
    model = c2cnet.C2CNet(**bases, map="linear", input_transform=transform)
    f = np.exp(0.3 * darcy.f)
    model.fit(f[:60], darcy.train.u, darcy.x, darcy.y)
    agree(model, f[60:], 1e-9)


def test_components_and_files(waves, tmp_path):
    _, _, y, u, phase = waves
    two = np.stack([u, np.sin(3 * y + phase[:, None])], axis=-1)
    basis = c2cnet.Polynomial(functions=8)
    model = c2cnet.C2CNet(basis, basis, map="linear").fit(two, two, y, y)
    agree(model, two, 1e-10)
    model.export_onnx(tmp_path / "operator.onnx")
    session = runtime.InferenceSession(tmp_path / "operator.onnx")
    np.testing.assert_allclose(session.run(None, {"f": two})[0], model.predict(two), atol=1e-9)


def test_what_cannot_be_exported(darcy, bases, waves):
    with pytest.raises(c2cnet.NotFittedError):
        c2cnet.C2CNet().export_onnx()
    x, f, y, u, _ = waves
    basis = c2cnet.Polynomial(functions=8)
    model = c2cnet.C2CNet(basis, basis, map="linear").fit(f, u, x, y)
    with pytest.raises(ValueError, match="fixed points; give x"):
        model.export_onnx()
    with pytest.raises(ValueError, match="'operator' or 'map'"):
        model.export_onnx(part="decoder")

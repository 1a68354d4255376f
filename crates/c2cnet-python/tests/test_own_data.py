"""Twelve kinds of data as people bring them, each fitted by default and compared with plain predictors."""

import pathlib
import sys
import warnings

import numpy as np
import pytest

import c2cnet

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "bench" / "own-data"))
import cases  # noqa: E402


def parts(data):
    """The arrays of a case as arguments of `fit`: inputs, outputs, input and output points."""

    def side(points, values, vectors):
        axes = tuple(data[k] for k in (f"{points}{i}" for i in range(3)) if k in data)
        where = axes or data.get(points)
        named = {k.split(".")[1]: v for k, v in data.items() if k.startswith(f"{values}.")}
        if named:
            return named, where
        return (data[values], where) if values in data else (data[vectors], None)

    f, x = side("x", "f", "p")
    u, y = side("y", "u", "q")
    return f, u, x, y


def split(values, n):
    if isinstance(values, dict):
        both = {k: split(v, n) for k, v in values.items()}
        return {k: a for k, (a, _) in both.items()}, {k: b for k, (_, b) in both.items()}
    return values[:n], values[n:]


def rows(values):
    if isinstance(values, dict):
        return np.hstack([rows(v) for v in values.values()])
    values = np.asarray(values)
    values = values.reshape(len(values), -1)
    return np.hstack([values.real, values.imag]) if np.iscomplexobj(values) else values


def ridge(f, u, f_test):
    """Linear regression on all values, its strength chosen on a fifth of the training samples."""
    mean, size = f.mean(0), f.std(0) + 1e-300
    a, b = (f - mean) / size, (f_test - mean) / size
    centre = u.mean(0)

    def predict(a, u, b, strength):
        left, s, right = np.linalg.svd(a, full_matrices=False)
        weights = right.T @ ((s / (s**2 + strength * s[0] ** 2))[:, None] * (left.T @ (u - centre)))
        return b @ weights + centre

    k = len(a) * 4 // 5
    strengths = 10.0 ** np.arange(-12, 2)
    errors = [np.linalg.norm(predict(a[:k], u[:k], a[k:], s) - u[k:]) for s in strengths]
    return predict(a, u, b, strengths[int(np.argmin(errors))])


def relative(truth, found):
    return float(np.mean(np.linalg.norm(found - truth, axis=1) / np.linalg.norm(truth, axis=1)))


#: Maps in closed form alone: a test has no time for networks.
QUICK = {"map": {"budget": 0}}

# The case, the sizes for a test, what to beat linear regression by, and what to reach at least.
KINDS = {
    "pendulum": (cases.pendulum, {"points": 61}, 5, 2e-2),
    "heat on a grid in its natural shape": (cases.heat, {"samples": 150, "n_train": 120, "n": 32}, 2, 0.2),
    "noisy sensors, others for each sample": (cases.sensors, {"samples": 200, "n_train": 150}, None, 3e-2),
    "parameters in any units": (cases.parameters, {"units": (2e12, 1e-6)}, 1e3, 1e-4),
    "vector inputs in any units": (cases.vectors, {"units": (2e12, 1e-6)}, 20, 5e-3),
    "two inputs in any units": (cases.two_inputs, {"units": (2e12, 1e-6)}, 20, 5e-3),
    "a cube": (cases.cube, {"samples": 60, "n_train": 45}, None, 1e-6),
    "quantities of very different size": (cases.quantities, {}, 10, 3e-2),
    "a triangle mesh": (cases.mesh, {}, 5, 2e-2),
    "complex fields": (cases.waves, {}, 5, 2e-2),
    "missing readings": (cases.gaps, {"samples": 150, "n_train": 120}, None, 8e-2),
    "thirty samples": (cases.few, {}, 1.5, 0.4),
    "many samples": (cases.many, {"samples": 2200, "n_train": 2000}, 20, 1e-2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_default_fit(kind):
    make, sizes, factor, bound = KINDS[kind]
    data = make(**sizes)
    n = int(data["n_train"])
    f, u, x, y = parts(data)
    (f_train, f_test), (u_train, u_test) = split(f, n), split(u, n)
    x_train, x_test = split(x, n) if kind.startswith("noisy") else (x, x)
    missing = "nan" if kind.startswith("missing") else "refuse"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = c2cnet.C2CNet(missing=missing, triangles=data.get("triangles"), settings=QUICK)
        model.fit(f_train, u_train, x_train, y)
        errors = model.evaluate(f_test, u_test, x_test, y)
        predicted = model.predict(f_test, x_test)
    # In the shape and of the type of what was given.
    assert predicted.shape == u_test.shape and predicted.dtype == u_test.dtype
    truth = rows(u_test)
    if "quantities" not in kind:
        assert relative(truth, rows(predicted)) == pytest.approx(errors.rl2e, rel=1e-6)
    assert errors.rl2e < bound, errors
    assert errors.rl2e < errors.mean_rl2e / 3, errors
    if factor is not None:
        found = ridge(rows(f_train), rows(u_train), rows(f_test))
        size = np.abs(rows(u_train)).max(0) if "quantities" in kind else 1.0
        plain = relative(truth / size, found / size)
        assert errors.rl2e < plain / factor, f"{errors}, linear regression {plain:.2e}"


@pytest.mark.parametrize("make", [cases.two_parts, cases.two_outputs, cases.waves])
def test_a_small_component_is_learned_beside_a_large_one(make):
    data = make(samples=200, n_train=160, imaginary=1e6)
    f, u, x, y = parts(data)
    (f_train, f_test), (u_train, u_test) = split(f, 160), split(u, 160)
    model = c2cnet.C2CNet(settings=QUICK).fit(f_train, u_train, x, y)
    errors = model.evaluate(f_test, u_test)
    own = [c["rl2e"] for one in errors.outputs for c in one["components"]]
    assert len(own) == 2 and max(own) < 0.03, errors
    assert any("count equally" in text for text in model.report_["choices"])
    shown = repr(errors)
    assert ("re " in shown and "im " in shown) or ("u[0]" in shown and "u[1]" in shown)


def test_weights_are_taken():
    data = cases.two_parts(samples=120, n_train=100)
    settings = {"output": {"weights": [1.0, 1e6]}}
    model = c2cnet.C2CNet(map="linear", settings=settings)
    plan = model.plan(data["f"], data["u"], data["x"], data["y"])
    first, second = plan["outputs"][0]["sizes"]
    assert first / second == pytest.approx(1e3, rel=0.2)
    with pytest.raises(ValueError, match="each of the 2 components"):
        c2cnet.C2CNet(settings={"output": {"weights": [1.0]}}).fit(
            data["f"], data["u"], data["x"], data["y"]
        )


def test_a_ring_is_recognised_and_continues(tmp_path):
    data = cases.burgers(samples=200, n_train=160)
    f, u, x, y = parts(data)
    model = c2cnet.C2CNet(settings=QUICK).fit(f[:160], u[:160], x, y)
    assert any("periodic along axis 0 with period 1" in text for text in model.report_["choices"])
    at = np.array([0.99, -0.01, 1.99])
    values = model.predict(f[160:], y=at)
    assert np.allclose(values, values[:, :1], atol=1e-12)
    # Between its neighbours, not beyond them.
    near = model.predict(f[160:], y=[63 / 64, 0.0])
    assert np.all(np.abs(values[:, 0] - near.mean(1)) < 0.2 * np.abs(u).max())
    walls = {**QUICK, "output": {"periodic": [False]}}
    walls = c2cnet.C2CNet(settings=walls).fit(f[:160], u[:160], x, y)
    with pytest.raises(ValueError, match="lies outside"):
        walls.predict(f[160:], y=at)
    model.save(tmp_path / "model.c2c")
    again = c2cnet.load(tmp_path / "model.c2c")
    assert np.array_equal(again.predict(f[160:], x, at), values)


def test_grids_come_back_in_the_shape_in_which_they_were_given(tmp_path):
    data = cases.heat(samples=40, n_train=40, n=16)
    f, u, x, y = parts(data)
    mesh = np.stack(np.meshgrid(*x, indexing="ij"), -1)
    linear = c2cnet.C2CNet(map="linear")
    model = linear.fit(f, u, x, y)
    assert model.predict(f[:3]).shape == (3, 16, 16)
    same = [
        c2cnet.C2CNet(map="linear").fit(f, u, mesh, mesh).predict(f),
        c2cnet.C2CNet(map="linear").fit(f, u, list(np.moveaxis(mesh, -1, 0)), mesh).predict(f),
    ]
    flat = mesh.reshape(-1, 2)
    listed = c2cnet.C2CNet(map="linear").fit(f.reshape(40, -1), u.reshape(40, -1), flat, flat)
    expected = model.predict(f)
    assert all(np.array_equal(one, expected) for one in same)
    assert np.array_equal(listed.predict(f.reshape(40, -1)).reshape(expected.shape), expected)
    fine = np.arange(32) / 32
    assert model.predict(f[:2], y=(fine, fine)).shape == (2, 32, 32)
    model.save(tmp_path / "model.c2c")
    again = c2cnet.load(tmp_path / "model.c2c")
    assert np.array_equal(again.predict(f[:3], x), expected[:3])
    # A data file keeps the shape, too.
    np.savez(tmp_path / "data.npz", **data)
    read = c2cnet.load_npz(tmp_path / "data.npz")
    assert read.f.shape == (40, 16, 16) and read.x.shape == (16, 16, 2)
    read.save(tmp_path / "again.npz")
    assert c2cnet.load_npz(tmp_path / "again.npz").u.shape == (40, 16, 16)


def test_complex_files_keep_their_type(tmp_path):
    data = cases.waves(samples=30, n_train=20)
    np.savez(tmp_path / "data.npz", **data)
    read = c2cnet.load_npz(tmp_path / "data.npz")
    assert np.array_equal(read.u, data["u"]) and np.array_equal(read.f, data["f"])
    read.save(tmp_path / "again.npz")
    assert np.array_equal(c2cnet.load_npz(tmp_path / "again.npz").u, data["u"])
    model = c2cnet.C2CNet(map="linear").fit(read.f, read.u, read.x, read.y)
    model.save(tmp_path / "model.c2c")
    again = c2cnet.load(tmp_path / "model.c2c")
    assert np.array_equal(again.predict(read.f, read.x), model.predict(read.f))
    with pytest.raises(ValueError, match="real outputs"):
        pytest.importorskip("onnx")
        model.export_onnx()


def test_spelling():
    data = cases.pendulum(samples=40, n_train=40, points=31)
    british, american = (
        c2cnet.C2CNet(map="linear", input_transform=t).fit(
            data["f"], data["u"], data["x"], data["y"]
        )
        for t in ("standardise", "standardize")
    )
    assert np.array_equal(british.predict(data["f"]), american.predict(data["f"]))


def test_degenerate_data_is_named():
    data = cases.pendulum(samples=60, n_train=60, points=31)
    f, u, t = data["f"], data["u"], data["x"]
    model = c2cnet.C2CNet(map="linear")
    with pytest.warns(UserWarning, match="repeat others"):
        model.fit(np.concatenate([f, f[:20]]), np.concatenate([u, u[:20]]), t, t)
    with pytest.warns(UserWarning, match="no map can fit both"):
        model.fit(np.concatenate([f, f[:20]]), np.concatenate([u, u[20:40]]), t, t)
    with pytest.warns(UserWarning, match='"still" is the same in all training samples'):
        model.fit({"f": (t, f), "still": np.ones((60, 2))}, u, y=t)


def test_inputs_unlike_those_of_the_fit_are_named():
    data = cases.pendulum(samples=60, n_train=60, points=31)
    f, t = data["f"], data["x"]
    model = c2cnet.C2CNet(map="linear").fit(f, data["u"], t, t)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(f)
    with pytest.warns(UserWarning, match="input of sample 0 is .* extrapolated") as said:
        model.predict(1000 * f)
    assert said[0].filename == __file__


def test_the_cases_are_as_they_say():
    assert len(cases.KINDS) == 12
    assert np.isnan(cases.gaps(20, 10)["f"]).any()

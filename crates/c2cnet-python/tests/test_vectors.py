"""Parameters in, quantities out: vectors that have no points."""

import numpy as np
import pytest

import c2cnet

Y = np.linspace(0, 1, 21)
RNG = np.random.default_rng(0)
P = RNG.uniform(1, 2, size=(40, 2))
U = P[:, :1] * np.sin(np.pi * Y) + P[:, 1:] * Y * (1 - Y)
Q = np.column_stack([P.sum(axis=1), 1e4 * (P[:, 0] - P[:, 1])])
LOAD = RNG.normal(size=(40, 3)) @ np.stack([Y**0, Y, Y**2])
BASIS = c2cnet.Polynomial(functions=12)


def parameters(**settings):
    return c2cnet.C2CNet(output=BASIS, map="linear", settings=settings)


def quantities():
    return c2cnet.C2CNet(input=c2cnet.Polynomial(functions=3), map="linear")


def test_parameters_to_a_field(tmp_path):
    model = parameters().fit(P[:30], U[:30], y=Y)
    u = model.predict(P[30:])
    assert u.shape == (10, 21) and c2cnet.rl2e(U[30:], u) < 1e-6
    assert model.predict(P[30:], y=[0.5]).shape == (10, 1)
    assert model.n_features_in_ == 2
    assert model.evaluate(P[30:], U[30:]).rl2e < 1e-6
    model.save(tmp_path / "model.c2c")
    again = c2cnet.load(tmp_path / "model.c2c")
    np.testing.assert_array_equal(again.predict(P[30:], y=Y), u)
    one = parameters().fit(P[:, 0], U, y=Y)
    assert one.predict(P[:5, 0]).shape == (5, 21)


def test_a_field_to_quantities(tmp_path):
    model = quantities().fit(LOAD, Q, Y)
    q = model.predict(LOAD[:5])
    assert q.shape == (5, 2) and q.flags.c_contiguous
    np.testing.assert_allclose(q, model.decode(model.map_coefficients(model.encode(LOAD[:5]))))
    errors = model.evaluate(LOAD, Q)
    assert errors.n_samples == 40 and "q[1]" in repr(errors)
    rmse = np.sqrt(np.mean((model.predict(LOAD) - Q) ** 2, axis=0))
    np.testing.assert_allclose([q["rmse"] for q in errors.quantities], rmse)
    model.save(tmp_path / "model.c2c")
    np.testing.assert_array_equal(c2cnet.load(tmp_path / "model.c2c").predict(LOAD[:5], Y), q)


def test_parameters_beside_a_field_and_quantities_beside_another():
    model = c2cnet.C2CNet(input={"load": BASIS}, output={"u": BASIS}, map="linear")
    model.fit({"load": (Y, LOAD), "modulus": P}, {"u": (Y, U), "q": Q})
    for given in [
        {"load": LOAD[:5], "modulus": P[:5]},
        {"load": (Y[::2], LOAD[:5, ::2]), "modulus": P[:5]},
    ]:
        found = model.predict(given, y={"u": [0.25, 0.5]})
        assert found["u"].shape == (5, 2) and found["q"].shape == (5, 2)
        np.testing.assert_allclose(found["q"], Q[:5], rtol=1e-6)
    # The same with points beside the values.
    again = c2cnet.C2CNet(**model.get_params(deep=False))
    again.fit({"load": LOAD, "modulus": P}, {"u": U, "q": Q}, {"load": Y}, {"u": Y, "q": None})
    np.testing.assert_array_equal(again.predict(given)["q"], model.predict(given)["q"])


def test_kinds_of_parameters():
    angle = RNG.uniform(-360, 360, size=60)
    case = RNG.choice([1.0, 4.0, 6.0], size=60)
    u = np.cos(np.deg2rad(angle))[:, None] * Y + np.sqrt(case)[:, None]
    model = parameters(input={"kinds": [{"periodic": 360.0}, "categorical"]})
    model.fit(np.column_stack([angle, case])[:50], u[:50], y=Y)
    test = np.column_stack([angle, case])[50:]
    assert c2cnet.rl2e(u[50:], model.predict(test)) < 1e-6
    np.testing.assert_allclose(model.predict(test + [360.0, 0.0]), model.predict(test))
    assert model.describe()["inputs"][0]["components"] == 2
    with pytest.raises(ValueError, match="sample 0 has the category 5 in column 1"):
        model.predict(np.array([[0.0, 5.0]]))


def test_files_hold_vectors(tmp_path):
    data = c2cnet.Dataset(f={"": LOAD, "p": P}, u=Q, x={"": Y, "p": None}, y=None, n_train=30)
    data.save(tmp_path / "data.npz")
    with np.load(tmp_path / "data.npz") as file:
        assert file["p"].shape == (40, 2) and file["q"].shape == (40, 2)
        assert set(file) - {"meta"} == {"x", "f", "p", "q", "n_train"}
    again = c2cnet.load_npz(tmp_path / "data.npz")
    np.testing.assert_array_equal(again.f["p"], P)
    np.testing.assert_array_equal(again.u, Q)
    assert again.x["p"] is None and again.y is None
    assert again.test.u.shape == (10, 2)
    assert "u (40, 2))" in repr(again)


@pytest.mark.parametrize(
    ("parts", "arguments"),
    [
        (["NaN", "sample 1, column 0"], (np.where(P == P[1, 0], np.nan, P), U, None, Y)),
        (["f without points", "(40, 2, 1)", "x"], (P[:, :, None], U, None, Y)),
        (["39 samples"], (P[:39], U, None, Y)),
    ],
)
def test_vectors_that_cannot_be(parts, arguments):
    with pytest.raises(ValueError) as raised:
        parameters().fit(*arguments)
    for part in parts:
        assert part in str(raised.value)


def test_other_widths_and_kinds_are_refused():
    model = parameters().fit(P, U, y=Y)
    with pytest.raises(ValueError, match="3 values per sample, the model was fitted to 2"):
        model.predict(np.ones((4, 3)))
    with pytest.raises(ValueError, match="a function, but the model was fitted to 2 values"):
        model.predict(P, x=[0.0, 1.0])
    # A basis is named, so this is a function whose points are missing.
    with pytest.raises(ValueError, match="not known; give x"):
        c2cnet.C2CNet(input=BASIS).fit(LOAD, U, y=Y)
    scattered = c2cnet.C2CNet(BASIS, BASIS, map="linear").fit(list(U), U, [Y] * 40, Y)
    with pytest.raises(ValueError, match="not known; give x"):
        scattered.predict(U)

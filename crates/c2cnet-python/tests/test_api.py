"""Fit, predict, evaluate, save, load; arrays of every kind."""

import dataclasses

import numpy as np
import pytest

import c2cnet


def test_a_fit_predicts_and_tells_its_errors(darcy, fitted):
    u = fitted.predict(darcy.test.f)
    assert u.shape == darcy.test.u.shape and u.dtype == np.float64 and u.flags.c_contiguous
    errors = fitted.evaluate(darcy.test.f, darcy.test.u)
    assert errors.rl2e == pytest.approx(c2cnet.rl2e(darcy.test.u, u), rel=1e-9)
    assert errors.mse == pytest.approx(c2cnet.mse(darcy.test.u, u), rel=1e-9)
    np.testing.assert_allclose(
        errors.relative, c2cnet.relative_errors(darcy.test.u, u), rtol=1e-9
    )
    assert errors.floor < errors.rl2e < errors.mean_rl2e
    assert errors.worst_rl2e == errors.relative[errors.worst_sample] == errors.relative.max()
    assert fitted.score(darcy.test.f, darcy.test.u) == -errors.rl2e
    assert fitted.errors_.rl2e < fitted.errors_.mean_rl2e


def test_the_parts_make_the_whole(darcy, fitted):
    a = fitted.encode(darcy.test.f)
    c = fitted.map_coefficients(a)
    assert a.shape == (20, 30) and c.shape == (20, 30)
    np.testing.assert_array_equal(fitted.decode(c), fitted.predict(darcy.test.f))
    at = [0.1, 0.77]
    np.testing.assert_array_equal(fitted.decode(c, at), fitted.predict(darcy.test.f, y=at))


def test_the_same_seed_gives_the_same_bits(darcy, bases, fitted):
    again = c2cnet.C2CNet(**bases, map="kernel", x=darcy.x, y=darcy.y)
    again.fit(darcy.train.f, darcy.train.u)
    np.testing.assert_array_equal(again.predict(darcy.test.f), fitted.predict(darcy.test.f))


def test_inputs_may_be_observed_elsewhere(darcy, fitted):
    fewer = fitted.predict(darcy.test.f[:, ::2], x=darcy.x[::2])
    assert c2cnet.rl2e(fitted.predict(darcy.test.f), fewer) < 0.5


@pytest.mark.parametrize("kind", ["float32", "fortran", "strided", "reversed", "unaligned", "big"])
def test_precision_and_memory_order_do_not_matter(darcy, fitted, kind):
    f = darcy.test.f
    if kind == "float32":
        given, same = f.astype(np.float32), f.astype(np.float32).astype(np.float64)
    elif kind == "fortran":
        given, same = np.asfortranarray(f), f
    elif kind == "strided":
        wide = np.zeros((20, 300))
        wide[:, ::3] = f
        given, same = wide[:, ::3], f
    elif kind == "reversed":
        given, same = np.ascontiguousarray(f[::-1, ::-1])[::-1, ::-1], f
    elif kind == "big":
        given, same = f.astype(">f8"), f
    else:
        raw = np.zeros(f.nbytes + 1, dtype=np.uint8)
        given = raw[1:].view(np.float64).reshape(f.shape)
        given[:] = f
        assert not given.flags.aligned
        same = f
    np.testing.assert_array_equal(fitted.predict(given), fitted.predict(same))
    # Whoever gives an array keeps it.
    np.testing.assert_array_equal(np.asarray(given, dtype=np.float64), same)


def test_integers_lists_and_read_only_arrays(darcy, fitted):
    whole = np.round(10 * darcy.test.f).astype(np.int64)
    u = fitted.predict(whole.astype(float))
    np.testing.assert_array_equal(fitted.predict(whole), u)
    np.testing.assert_array_equal(fitted.predict(whole.tolist()), u)
    frozen = whole.astype(float)
    frozen.flags.writeable = False
    np.testing.assert_array_equal(fitted.predict(frozen), u)


def test_pandas_and_xarray(darcy, bases, fitted):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    f = pandas.DataFrame(darcy.test.f, columns=darcy.x[:, 0])
    np.testing.assert_array_equal(fitted.predict(f), fitted.predict(darcy.test.f))
    train = xarray.DataArray(
        darcy.train.f, dims=("sample", "x"), coords={"x": darcy.x[:, 0]}
    )
    u = xarray.DataArray(darcy.train.u, dims=("sample", "y"), coords={"y": darcy.y[:, 0]})
    model = c2cnet.C2CNet(**bases, map="kernel").fit(train, u, x=train.x, y=u.y)
    np.testing.assert_array_equal(model.predict(darcy.test.f), fitted.predict(darcy.test.f))


def test_each_sample_may_have_its_own_points(waves):
    x, f, y, u, phase = waves
    basis = c2cnet.Polynomial(functions=8)
    model = c2cnet.C2CNet(basis, basis, map="linear").fit(f[:30], u[:30], x[:30], y)
    np.testing.assert_allclose(model.predict(f[30:], x[30:]), u[30:], atol=0.02)
    own = model.predict(f[30:], x[30:], x[30:])
    assert [v.shape for v in own] == [p.shape for p in x[30:]]
    for v, points, p in zip(own, x[30:], phase[30:]):
        np.testing.assert_allclose(v, np.cos(3 * points + p), atol=0.05)
    # As many points each: an array in, an array out.
    stacked = np.stack([p[:20] for p in x[30:]])[:, :, None]
    values = np.stack([v[:20] for v in f[30:]])
    assert model.predict(values, stacked, stacked).shape == (10, 20)
    # Outputs at own points too.
    model = c2cnet.C2CNet(basis, basis, map="linear")
    model.fit(f[:30], [np.cos(3 * q + p) for q, p in zip(x[:30], phase)], x[:30], x[:30])
    with pytest.raises(ValueError, match="points to predict at are not known"):
        model.predict(f[30:], x[30:])
    np.testing.assert_allclose(model.predict(f[30:], x[30:], y), u[30:], atol=0.05)


def test_several_components(waves):
    _, _, y, u, phase = waves
    f = np.stack([np.sin(3 * y + p) for p in phase])
    two = np.stack([u, 2 * f], axis=-1)
    basis = c2cnet.Polynomial(functions=8)
    model = c2cnet.C2CNet(basis, basis, map="linear").fit(f[:30], two[:30], y, y)
    np.testing.assert_allclose(model.predict(f[30:]), two[30:], atol=0.02)
    model.fit(two[:30], f[:30], y, y)
    np.testing.assert_allclose(model.predict(two[30:]), f[30:], atol=0.02)
    # Ragged ones.
    ragged = [v[: 40 + k % 5] for k, v in enumerate(two)]
    x = [y[: 40 + k % 5] for k in range(40)]
    model.set_params(settings={"input": {"domain": [[0, 1]]}})
    model.fit(ragged[:30], two[:30], x[:30], y)
    np.testing.assert_allclose(model.predict(ragged[30:], x[30:]), two[30:], atol=0.05)


def test_named_fields(waves):
    _, _, y, u, phase = waves
    other = np.linspace(0, 1, 30)
    f = {"here": np.sin(3 * y + phase[:, None]), "there": np.sin(3 * other + phase[:, None])}
    x = {"here": y, "there": other}
    both = {"cosine": u, "twice": 2 * f["there"]}
    at = {"cosine": y, "twice": other}
    basis = c2cnet.Polynomial(functions=8)

    def part(fields, chosen):
        return {name: values[chosen] for name, values in fields.items()}

    train, test = slice(0, 30), slice(30, None)
    model = c2cnet.C2CNet({"here": basis, "there": c2cnet.PCA(2)}, basis, map="linear")
    model.fit(part(f, train), part(both, train), x, at)
    described = {one["name"]: one["basis"] for one in model.describe()["inputs"]}
    assert "egendre" in described["here"] and "learned directions" in described["there"]
    found = model.predict(part(f, test))
    for name, values in part(both, test).items():
        np.testing.assert_allclose(found[name], values, atol=0.02)
    assert model.predict(part(f, test), y={"twice": [0.5]})["twice"].shape == (10, 1)
    assert model.evaluate(part(f, test), part(both, test)).rl2e < 0.01
    with pytest.raises(ValueError, match='needs the input "there"'):
        model.predict({"here": f["here"]}, x)


def test_saved_models_predict_the_same_bits(tmp_path, darcy, fitted):
    path = tmp_path / "model.c2c"
    fitted.save(path)
    again = c2cnet.load(path)
    u = again.predict(darcy.test.f, darcy.x, darcy.y)
    np.testing.assert_array_equal(u, fitted.predict(darcy.test.f))
    assert again.errors_.rl2e == fitted.errors_.rl2e
    assert again.evaluate(darcy.test.f, darcy.test.u, darcy.x, darcy.y).rl2e < 1
    assert [p.name for p in tmp_path.iterdir()] == ["model.c2c"]


def test_data_files(tmp_path, darcy):
    darcy.save(tmp_path / "data.npz")
    again = c2cnet.load_npz(tmp_path / "data.npz")
    for key in "fuxy":
        np.testing.assert_array_equal(getattr(again, key), getattr(darcy, key))
    assert again.n_train == 60 and again.meta == darcy.meta
    assert len(again.train) == 60 and len(again.test) == 20


def test_sets_survive_in_files(tmp_path, darcy):
    sets = ["test" if k % 3 == 0 else "train" for k in range(len(darcy))]
    named = dataclasses.replace(darcy, n_train=None, split=sets)
    named.save(tmp_path / "named.npz")
    again = c2cnet.load_npz(tmp_path / "named.npz")
    assert again.split == sets
    assert np.array_equal(again.test.f, darcy.f[::3])
    with pytest.raises(ValueError, match="split"):
        dataclasses.replace(named, split=sets[1:]).save(tmp_path / "short.npz")


def test_a_part_of_the_samples_is_set_apart(darcy, bases):
    f, u = darcy.f, darcy.u
    model = c2cnet.C2CNet(**bases, map="linear", x=darcy.x, y=darcy.y)
    model.fit(f, u, test_fraction=0.25)
    apart = model.test_samples_
    assert len(apart) == 20 and len(set(apart)) == 20
    rest = np.setdiff1d(np.arange(80), apart)
    # The samples apart were not used: the fit to the others is the same.
    alone = c2cnet.C2CNet(**bases, map="linear", x=darcy.x, y=darcy.y).fit(f[rest], u[rest])
    assert np.array_equal(alone.predict(f), model.predict(f))
    assert model.test_errors_.rl2e == model.evaluate(f[apart], u[apart]).rl2e

    plan = model.plan(f[rest], u[rest])
    planned = model.fit(f, u, plan=plan, test_fraction=0.25)
    assert np.array_equal(planned.test_samples_, apart)
    assert not hasattr(model.fit(f, u), "test_errors_")
    for part in (0.0, 1.0, 0.001, float("nan")):
        with pytest.raises(ValueError, match="test fraction"):
            model.fit(f, u, test_fraction=part)


def test_it_shows_itself(darcy, fitted):
    assert repr(c2cnet.C2CNet()) == "C2CNet()"
    assert "Fourier(kind='sine', functions=30)" in repr(fitted)
    html = fitted._repr_html_()
    for part in ("fitted", "sine Fourier", "kernel", "floor", "error"):
        assert part in html
    assert "not fitted" in c2cnet.C2CNet()._repr_html_()
    assert "RL2E" in fitted.errors_._repr_html_()
    assert "darcy1d" in repr(c2cnet.problems()[0])


def test_every_basis_encoder_and_map(darcy):
    train, test = darcy.train, darcy.test
    for basis in [
        c2cnet.RandomFeatures(32, [4]),
        c2cnet.FiniteElements(24, degree=2),
        c2cnet.Fourier("cosine", functions=24),
        c2cnet.Polynomial("chebyshev", functions=24),
        c2cnet.Radial(24, width={"spacing": 2.0}),
        c2cnet.Laplace(24),
        c2cnet.PCA(20),
        c2cnet.PointValues(),
    ]:
        model = c2cnet.C2CNet(basis, basis, map="linear").fit(train.f, train.u, darcy.x, darcy.y)
        assert model.predict(test.f).shape == test.u.shape
    smooth = c2cnet.Fourier("cosine", functions=24)
    for encoder in [c2cnet.Ridge(), c2cnet.Ridge(1e-6), c2cnet.TruncatedSVD(relative_cut=1e-3)]:
        model = c2cnet.C2CNet(smooth, smooth, encoder, "linear")
        model.fit(train.f, train.u, darcy.x, darcy.y)
    for coefficient_map in [
        "auto",
        c2cnet.Auto(budget=0),
        c2cnet.Linear(),
        c2cnet.Kernel("gaussian", passes=0),
        c2cnet.MLP(hidden=[16], steps=30, batch="full", optimiser={"kind": "adam"}),
        c2cnet.Layered(functions=16, channels=8, layers=2, epochs=2),
    ]:
        model = c2cnet.C2CNet(smooth, smooth, map=coefficient_map)
        model.fit(train.f, train.u, darcy.x, darcy.y)
        assert np.isfinite(model.predict(test.f)).all()


def test_a_mesh_of_ones_own():
    data = c2cnet.generate("poisson-holes", n_train=40, n_test=5)
    elements = c2cnet.FiniteElements(mesh="data")
    model = c2cnet.C2CNet(output=elements, map="linear", triangles=data.triangles)
    model.fit(data.train.f, data.train.u, data.x, data.y)
    assert model.evaluate(data.test.f, data.test.u).rl2e < 0.2


def test_steps_are_told(darcy, bases, capsys):
    events = []
    network = c2cnet.MLP(hidden=[8], steps=20, evaluations=4)
    c2cnet.C2CNet(**bases, map=network, verbose=events.append).fit(
        darcy.train.f, darcy.train.u, darcy.x, darcy.y
    )
    assert any("step" in e for e in events) and any("metric" in e for e in events)
    c2cnet.C2CNet(**bases, map="linear", verbose=True).fit(
        darcy.train.f, darcy.train.u, darcy.x, darcy.y
    )
    assert "encoding" in capsys.readouterr().err


def test_diagnosis_recommends(darcy, fitted):
    found = fitted.diagnose(darcy.train.f, darcy.train.u)
    (sweep,), (table,) = found.inputs, found.outputs
    assert (np.diff(sweep.singular_values) <= 0).all()
    assert len(sweep.strength) == len(sweep.lost) > sweep.in_use
    assert table.recommended in table.floors
    assert any(floor.basis == c2cnet.Fourier("sine", functions=16) for floor in table.floors)
    assert "recommended" in repr(found) and "singular values" in repr(found)
    assert fitted.diagnose(u=darcy.train.u).inputs == []

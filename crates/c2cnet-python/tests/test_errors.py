"""The bad-input list of the core, as exceptions with its messages."""

import numpy as np
import pytest

import c2cnet

X = np.linspace(0, 1, 20)
RNG = np.random.default_rng(0)
F = RNG.normal(size=(12, 20))
U = np.cumsum(F, axis=1)
BASIS = c2cnet.Polynomial(functions=5)


def small(**parameters):
    return c2cnet.C2CNet(**{"input": BASIS, "output": BASIS, "map": "linear", **parameters})


@pytest.fixture(scope="module")
def model():
    return small().fit(F, U, X, X)


def bad(array, index, value):
    changed = array.copy()
    changed[index] = value
    return changed


@pytest.mark.parametrize(
    ("parts", "arguments"),
    [
        (["NaN", "sample 1", "point 2"], (bad(F, (1, 2), np.nan), U, X, X)),
        (["-inf", "sample 0", "repair"], (F, bad(U, (0, 3), -np.inf), X, X)),
        (["point 4", "coordinate 0"], (F, U, bad(X, 4, np.nan), X)),
        (["(samples, 20)", "found (12, 19)"], (F[:, :-1], U, X, X)),
        (["12 samples", "11 samples"], (F, U[:-1], X, X)),
        (["0 samples"], (F[:0], U[:0], X, X)),
        (["0 points"], (F[:, :0], U, X[:0], X)),
        (["too few", "at least 5"], (F[:4], U[:4], X, X)),
        (["not known", "give x"], (F, U, None, X)),
        (["not known", "give y"], (F, U, X, None)),
        (["expected shape (samples, 20)", "(20,)"], (F[0], U, X, X)),
        (["expected shape", "(1, 12, 20, 1)"], (F[None, :, :, None], U, X, X)),
        (["Complex data not supported"], (F, U, X + 1j, X)),
        (["not an array of numbers"], ([["a"] * 20] * 12, U, X, X)),
        (["masked"], (np.ma.masked_greater(F, 1.0), U, X, X)),
        (["points of shape (n, d)"], (F, U, np.zeros((2, 2, 2, 2)), X)),
        (["those of 12 samples", "of 11"], (list(F), U, [X] * 11, X)),
        (["sample 3", "components"], ([*F[:3], F[3, :, None] * [1, 1], *F[4:]], U, [X] * 12, X)),
        (["sample 2", "20 points"], ([*F[:2], F[2, :5], *F[3:]], U, [X] * 12, X)),
        (["sample 0", "no point"], ([F[0, :0], *F[1:]], U, [X[:0], *[X] * 11], X)),
        (["x has names"], (F, U, {"a": X}, X)),
        (["x['b'] is missing"], ({"a": F, "b": F}, U, {"a": X}, X)),
    ],
)
def test_data_that_cannot_be(parts, arguments):
    with pytest.raises(ValueError) as raised:
        small().fit(*arguments)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("parts", "parameters"),
    [
        (["unknown field `sead`", "seed"], {"settings": {"sead": 1}}),
        (["unknown field `lambda`"], {"settings": {"input": {"lambda": 1}}}),
        (["unknown variant `network`"], {"map": "network"}),
        (["[1, 0]", "lower <= upper"], {"settings": {"input": {"domain": [[1, 0]]}}}),
        (["degree = 3"], {"input": c2cnet.FiniteElements(9, degree=3)}),
        (["unknown variant `relu`"], {"input": c2cnet.RandomFeatures(9, activation="relu")}),
        (["validation = 0.5"], {"settings": {"validation": 0.5}}),
        (["withhold = 0.6"], {"settings": {"withhold": 0.6}}),
        (["cut = 1", "between 0 and 1"], {"cut": 1.0}),
        (["lambda = -1", "at least 0"], {"encoder": c2cnet.Ridge(-1)}),
        (["not both"], {"encoder": c2cnet.TruncatedSVD(0.1, 0.1)}),
        (["nugget", "positive"], {"map": c2cnet.Kernel(nugget=-1e-9)}),
        (["passes = 11"], {"map": c2cnet.Kernel(passes=11)}),
        (["shards"], {"settings": {"map": {"mlp": {"shards": 0}}}}),
        (["steps or epochs"], {"map": c2cnet.MLP(steps=1, epochs=1)}),
        (["partitions = [2, 2]", "1 axes"], {"input": c2cnet.RandomFeatures(9, [2, 2])}),
        (["modes", "functions"], {"input": c2cnet.Fourier()}),
        (["at least one function"], {"output": c2cnet.Polynomial(functions=0)}),
        (["width = -1", "positive"], {"input": c2cnet.Radial(4, width=-1)}),
        (["20 observations", "30 coefficients"], {"input": c2cnet.Polynomial(functions=30)}),
        (["positive values", "sample"], {"input_transform": "log"}),
        (["is not a basis"], {"input": "fourier"}),
        (["is not a basis"], {"input": c2cnet.Ridge()}),
        (["input \"k\"", "does not have"], {"input": {"k": BASIS}}),
        (["-1"], {"seed": -1}),
    ],
)
def test_settings_that_cannot_be(parts, parameters):
    with pytest.raises(ValueError) as raised:
        small(**parameters).fit(F, U, X, X)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("parts", "arguments"),
    [
        (["1 component", "2 components"], {"f": np.stack([F, F], axis=-1)}),
        (["1 coordinate", "2 coordinates"], {"f": F, "x": np.zeros((20, 2))}),
        (["point 10 of x = [1.053] lies outside [0, 1]", "'input.domain=[[0, 2]]'"], {"f": F, "x": 2 * X}),
        (["input sample 1", "outside"], {"f": list(F[:2]), "x": [X, 3 * X]}),
        (["point 0 of y = [-1]", "'output.domain=[[-1, 1]]'"], {"f": F, "y": [[-1.0]]}),
        (["(n, 1)", "(1, 2)"], {"f": F, "y": [[0.0, 0.0]]}),
        (["points of 12 samples", "of 2"], {"f": F, "y": [X, X]}),
        (["input `f`", "\"h\""], {"f": {"h": F}, "x": {"h": X}}),
    ],
)
def test_predictions_that_cannot_be(model, parts, arguments):
    with pytest.raises(ValueError) as raised:
        model.predict(**arguments)
    for part in parts:
        assert part in str(raised.value)


def test_coefficients_of_other_length(model):
    with pytest.raises(ValueError, match="found 6, expected 5 per sample"):
        model.map_coefficients(np.zeros((3, 6)))
    with pytest.raises(ValueError, match="coordinates"):
        model.decode(np.zeros((3, 99)))
    with pytest.raises(ValueError, match=r"\(samples, numbers\)"):
        model.map_coefficients(np.zeros(5))


def test_files_are_not_replaced_by_mistake(tmp_path, model):
    there, data, points = tmp_path / "model.c2c", tmp_path / "data.npz", tmp_path / "points.npz"
    samples = c2cnet.Dataset(F, U, X, X)
    samples.save(data)
    model.save(there)
    np.savez(points, y=X, u=U)
    before = {path: path.read_bytes() for path in (there, data, points)}
    for write, reason in [
        (lambda: model.save(data), "data.npz is data, and would be overwritten with a model"),
        (lambda: model.save(points), "points.npz is a prediction"),
        (lambda: samples.save(there), "model.c2c is a model, and would be overwritten with data"),
        (lambda: c2cnet.load(there).save(there, overwrite=True), "was read from"),
        (lambda: c2cnet.load_npz(data).train.save(data, overwrite=True), "was read from"),
        (lambda: model.export_onnx(data), "data.npz is data"),
    ]:
        with pytest.raises(ValueError, match=reason):
            write()
    assert before == {path: path.read_bytes() for path in before}
    (tmp_path / "notes.txt").write_text("nobody's")
    for write in [
        lambda: model.save(there),
        lambda: samples.save(data),
        lambda: samples.save(points),
        lambda: model.save(tmp_path / "notes.txt"),
        lambda: model.save(data, overwrite=True),
        lambda: samples.save(there, overwrite=True),
    ]:
        write()
    c2cnet.load(data), c2cnet.load_npz(there)


def test_nothing_before_a_fit(tmp_path):
    unfitted = c2cnet.C2CNet(x=X, y=X)
    for call in [
        lambda: unfitted.predict(F),
        lambda: unfitted.evaluate(F, U),
        lambda: unfitted.save(tmp_path / "model.c2c"),
        lambda: unfitted.describe(),
        lambda: unfitted.diagnose(F),
    ]:
        with pytest.raises(c2cnet.NotFittedError, match="not fitted yet"):
            call()


def test_files_that_cannot_be(tmp_path, model):
    with pytest.raises(FileNotFoundError, match="missing.c2c"):
        c2cnet.load(tmp_path / "missing.c2c")
    with pytest.raises(OSError, match="nowhere"):
        model.save(tmp_path / "nowhere" / "model.c2c")
    (tmp_path / "foreign.c2c").write_bytes(b"not a model at all")
    with pytest.raises(OSError, match="not a c2cnet model"):
        c2cnet.load(tmp_path / "foreign.c2c")
    model.save(tmp_path / "model.c2c")
    whole = (tmp_path / "model.c2c").read_bytes()
    for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "damaged.c2c").write_bytes(whole[:size])
        with pytest.raises(OSError, match="damaged"):
            c2cnet.load(tmp_path / "damaged.c2c")
    with pytest.raises(OSError, match="data.npz"):
        c2cnet.load_npz(tmp_path / "data.npz")


def test_computations_that_cannot_be():
    # One kernel with hardly any nugget and equal samples does not factor.
    with pytest.raises(c2cnet.C2CError, match="same output"):
        small(map="kernel").fit(F, np.ones_like(U), X, X)
    assert issubclass(c2cnet.C2CError, RuntimeError)


def test_unknown_problems_and_parameters():
    with pytest.raises(ValueError, match="unknown problem `darcy`.*darcy1d"):
        c2cnet.generate("darcy")
    with pytest.raises(ValueError, match="`lenght`"):
        c2cnet.generate("darcy1d", lenght=0.1)
    with pytest.raises(ValueError, match="no parameter 'sead'"):
        c2cnet.C2CNet().set_params(sead=1)
    with pytest.raises(ValueError, match="'map__passes'"):
        c2cnet.C2CNet().set_params(map__passes=1)
    with pytest.raises(ValueError, match="unknown family"):
        c2cnet.bases.basis_from_settings({"family": "wavelets"})


def test_an_exception_of_the_listener_ends_the_fit():
    def listener(event):
        raise LookupError("enough")

    model = small(verbose=listener)
    with pytest.raises(LookupError, match="enough"):
        model.fit(F, U, X, X)
    assert not hasattr(model, "report_")


def test_a_panic_does_not_pass_by_except_exception():
    with pytest.raises(RuntimeError, match="internal error.*on request"):
        c2cnet._c2cnet._panic()


def test_values_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match="sample 1 has a value of size 1e160"):
        small().fit(bad(F, (1, 2), 1e160), U, X, X)


def test_settings_beyond_all_memory_are_refused():
    with pytest.raises(ValueError, match="functions"):
        small(input=c2cnet.RandomFeatures(functions=10**12)).fit(F, U, X, X)

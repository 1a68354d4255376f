"""Pictures can be drawn, of everything that the guide promises."""

import numpy as np
import pytest

import c2cnet

pytest.importorskip("matplotlib")


def written(figure, tmp_path):
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_curves_worst_cases_and_diagnoses(darcy, fitted, tmp_path):
    f, u = darcy.test.f, darcy.test.u
    written(fitted.plot_prediction(f, u, samples=[0, 3]), tmp_path)
    written(fitted.plot_prediction(f, y=np.linspace(0, 1, 333)), tmp_path)
    figure = fitted.plot_worst(f, u, count=2)
    worst = fitted.evaluate(f, u).worst_sample
    assert [axis.get_title() for axis in figure.axes[:2]] == ["input", f"sample {worst}"]
    written(figure, tmp_path)
    written(fitted.plot_spectrum(darcy.train.f), tmp_path)
    written(fitted.plot_floor(darcy.train.u), tmp_path)
    written(fitted.diagnose(darcy.train.f).plot_encoding(), tmp_path)


def test_a_floor_of_zero_is_told_in_words(darcy):
    model = c2cnet.C2CNet(c2cnet.Polynomial(functions=20), c2cnet.PointValues(), map="linear")
    model.fit(darcy.train.f, darcy.train.u, darcy.x, darcy.y)
    axis = model.plot_floor(darcy.train.u).axes[0]
    entries = [text.get_text() for text in axis.get_legend().get_texts()]
    assert entries == [line.get_label() for line in axis.lines]
    assert f"in use: zero with {len(darcy.y)}" in [text.get_text() for text in axis.texts]


def test_training_curves(darcy, bases, fitted, tmp_path):
    model = c2cnet.C2CNet(**bases, map=c2cnet.MLP(hidden=[8], steps=40))
    model.fit(darcy.train.f, darcy.train.u, darcy.x, darcy.y)
    written(model.plot_training(), tmp_path)
    with pytest.raises(ValueError, match="no network was trained"):
        fitted.plot_training()


def test_grids_space_time_meshes_and_components(tmp_path):
    # Panels of inputs: a map with its colours, or a curve and, beside a second component, nothing.
    for name, settings, panels in [
        ("darcy2d", {"points": 17}, 2),
        ("kdv-burgers", {}, 1),
        ("poisson-holes", {}, 2),
        ("elastic-plate", {}, 2),
        ("navier-stokes", {"points": 16, "grid": 16, "modes": 5, "history": 2, "next": 2}, 4),
    ]:
        known = next(p for p in c2cnet.problems() if p.name == name).settings
        settings = {k: v for k, v in settings.items() if k in known}
        data = c2cnet.generate(name, n_train=10, n_test=2, **settings)
        model = c2cnet.C2CNet(
            c2cnet.PCA(4), c2cnet.PCA(4), map="linear", triangles=data.triangles
        )
        model.fit(data.train.f, data.train.u, data.x, data.y)
        figure = model.plot_prediction(data.test.f, data.test.u)
        components = 2 if data.u.ndim == 3 else 1
        assert len(figure.axes) == 6 * components + panels
        written(figure, tmp_path)
        alone = model.plot_prediction(data.test.f, data.test.u, inputs=False)
        assert len(alone.axes) == 6 * components


def test_points_of_each_sample(waves, tmp_path):
    x, f, y, u, _ = waves
    basis = c2cnet.Polynomial(functions=8)
    model = c2cnet.C2CNet(basis, basis, map="linear").fit(f, u, x, y)
    written(model.plot_prediction(f, u, x, samples=[3, 5]), tmp_path)
    with pytest.raises(ValueError, match="give x"):
        model.plot_prediction(f)


def several(samples=30):
    """Two inputs, one of them complex, and outputs on a line and on a grid, and a quantity."""
    x, axes = np.linspace(0, 1, 20), (np.linspace(0, 1, 8), np.linspace(0, 2, 7))
    phase = np.random.default_rng(0).uniform(0, 6, (samples, 1))
    f = {"load": np.sin(3 * x + phase), "wave": np.exp(1j * (2 * x + phase))}
    flat = np.cos(phase[:, :, None] + axes[0][:, None] * axes[1])
    u = {"angle": np.cos(3 * x + phase), "heat": flat, "total": np.sin(phase)}
    basis = c2cnet.PCA(2)
    model = c2cnet.C2CNet(map="linear", input={"load": basis, "wave": basis}, output={"angle": basis, "heat": basis})
    return model.fit(f, u, {"load": x, "wave": x}, {"angle": x, "heat": axes}), f, u


def words(figure):
    return [(axis.get_title(), axis.get_xlabel(), axis.get_ylabel()) for axis in figure.axes]


def test_several_inputs_and_outputs_with_names_and_units(tmp_path):
    model, f, u = several()
    labels = {"x": "depth [m]", "y.heat": ["a [m]", "b [m]"], "u.heat": "T [K]", "f.load": "load [N]"}
    figure = model.plot_prediction(f, u, samples=[2], labels=labels)
    seen = words(figure)
    assert ("input load [N]", "depth [m]", "") in seen
    assert ("input", "depth [m]", "Re wave, Im wave") in seen
    assert ("sample 2", "y", "angle") in seen
    assert ("sample 2, T [K]: truth", "a [m]", "b [m]") in seen
    # Both inputs beside the first output, truth and prediction and error of each; the quantity has no panel.
    assert len([title for title, _, _ in seen if title]) == 2 + 2 + 3
    written(figure, tmp_path)
    alone = words(model.plot_prediction(f, samples=[0, 1], inputs=False))
    assert [title for title, _, _ in alone if "prediction" in title] == [
        "sample 0, heat: prediction",
        "sample 1, heat: prediction",
    ]
    with pytest.raises(ValueError, match=r"labels\['y.heat'\] has 1 names; give 2"):
        model.plot_prediction(f, labels={"y.heat": "a"})
    with pytest.raises(ValueError, match="'z' must be x, y, f or u"):
        model.plot_prediction(f, labels={"z": "a"})


def test_complex_values_are_drawn_as_real_and_imaginary_parts():
    x = np.linspace(0, 1, 20)
    f = np.exp(1j * (2 * x + np.random.default_rng(0).uniform(0, 6, (30, 1))))
    model = c2cnet.C2CNet(c2cnet.PCA(2), c2cnet.PCA(2), map="linear").fit(f, f, x, x)
    assert ("sample 0", "y", "Re u, Im u") in words(model.plot_prediction(f, f))


def test_nodes_that_move_are_where_the_prediction_is_drawn(tmp_path):
    p = np.random.default_rng(0).uniform(1, 2, (40, 1))
    y = np.linspace(0, 1, 30) * p
    model = c2cnet.C2CNet().fit(p, np.sin(y), y=list(y[:, :, None]))
    figure = model.plot_prediction(p, samples=[3])
    drawn = figure.axes[0].lines[0].get_xdata()
    assert np.allclose(drawn, y[3], atol=1e-6)

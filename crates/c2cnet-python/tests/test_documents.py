"""The code of the README and the guide runs, and draws the README's figure."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import c2cnet

pytest.importorskip("matplotlib")
for package in ("h5py", "meshio", "onnxruntime", "scipy", "sklearn", "xarray"):
    pytest.importorskip(package)

ROOT = Path(__file__).resolve().parents[3]


def run(page):
    text = (ROOT / page).read_text()
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, page, "exec"), names)
    assert names, f"{page} has no code"
    return names


def image(path):
    import matplotlib.image

    return matplotlib.image.imread(path)[..., :3]


@pytest.mark.timeout(300)
def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("README.md")
    data = c2cnet.load_npz("data.npz")
    first = c2cnet.C2CNet().fit(data.train.f, data.train.u, data.x, data.y)
    assert first.evaluate(data.test.f, data.test.u).rl2e < 1e-4
    drawn, shown = image(tmp_path / "darcy1d.png"), image(ROOT / "docs/images/python.png")
    assert drawn.shape == shown.shape
    # Fonts differ between versions of matplotlib, curves do not.
    assert np.abs(drawn - shown).mean() < 0.02


@pytest.mark.timeout(300)
def test_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run("docs/python.md")
    assert names["errors"].rl2e < 1e-3
    assert names["c2cnet"].rl2e(names["u"][250:], names["u_new"]) < 1e-2


@pytest.mark.timeout(300)
def test_bring_your_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/bring-your-data.md").read_text()
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/bring-your-data.md", "exec"), names)
    data, model = names["data"], names["model"]
    assert model.evaluate(data.f, data.u).rl2e < 0.5

    from c2cnet.__main__ import main

    commands = [line for line in text.splitlines() if line.startswith("python -m c2cnet")]
    assert commands
    for command in commands:
        arguments = command.split()[3:]
        assert main(arguments) == 0
        assert c2cnet.load_npz(arguments[2]).f.shape == (20, 144)


@pytest.mark.timeout(300)
def test_trajectories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "docs/examples/small_hdf5.py"))["main"]()
    names = run("docs/the-well.md")
    assert names["steady"] and names["c"].shape == (30, 21, 24, 24)
    for step, rolled, still in [("one_step", "rolled", "still"), ("burgers_step", "burgers_rolled", "burgers_still")]:
        print(f"{names[step]:.2e}", [f"{e[-1]:.2e}" for e in (names[rolled], names[still])])
        assert names[step] < 0.02
        assert (names[rolled] < 0.5 * names[still]).all()
    assert (tmp_path / "the-well.png").stat().st_size > 1000

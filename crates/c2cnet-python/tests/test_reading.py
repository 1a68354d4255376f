"""Files of other programs, and what is said about those that do not fit."""

import os

import numpy as np
import pytest

import c2cnet
from c2cnet.__main__ import main

N, S = 6, np.linspace(0, 1, 5)
K = np.arange(N * 25.0).reshape(N, 5, 5)


def test_grids_axes_and_components():
    grid = np.stack(np.meshgrid(S, 2 * S, indexing="ij"), axis=-1)
    by_axes = c2cnet.read({"k": K, "s": S}, f="k", u=K, x=["s", 2 * S])
    by_grid = c2cnet.read({"k": K}, f="k", u=K, x=grid)
    assert np.array_equal(by_axes.x, by_grid.x) and np.array_equal(by_axes.f, by_grid.f)
    assert by_axes.x[1].tolist() == [0.0, 0.5]
    vectors = np.stack([K, -K], axis=-1)
    assert c2cnet.read({}, f=vectors, u=K, x=[S, S]).f.shape == (N, 25, 2)
    last = c2cnet.read({}, f=np.moveaxis(K, 0, -1), u=np.moveaxis(K, 0, -1), x=[S, S], sample_axis=-1)
    assert np.array_equal(last.f, by_axes.f)


def test_parameters_beside_functions():
    data = c2cnet.read({}, f=K[:, 0], p=np.ones((N, 2)), q=K[:, 0, 0], x=S)
    assert sorted(data.f) == ["", "p"] and data.u.shape == (N,)


def test_matlab_of_both_kinds(tmp_path):
    io, h5py = pytest.importorskip("scipy.io"), pytest.importorskip("h5py")
    io.savemat(tmp_path / "old.mat", {"k": K, "s": S})
    with h5py.File(tmp_path / "new.mat", "w", userblock_size=512) as file:
        # As MATLAB writes it: axes the other way round.
        file["k"], file["s"] = K.T, S[:, None]
    with open(tmp_path / "new.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    for name in ("old.mat", "new.mat"):
        data = c2cnet.read(tmp_path / name, f="k", u="k", x=["s", "s"])
        assert np.array_equal(data.f, K.reshape(N, 25))


@pytest.mark.parametrize(
    ("parts", "arguments"),
    [
        (["name the input", "k (6, 5, 5)"], {}),
        (["no array 'z'", "k (6, 5, 5)"], {"f": "z"}),
        (["x:", "(6, 5, 5)", "list of axes"], {"f": "k"}),
        (["(6, 5, 5) does not fit", "5 x 3"], {"f": "k", "x": [S, S[:3]]}),
    ],
)
def test_what_is_missing_is_said(parts, arguments):
    with pytest.raises((KeyError, ValueError)) as raised:
        c2cnet.read({"k": K}, **arguments)
    for part in parts:
        assert part in str(raised.value)


def test_missing_packages_and_files_are_named(tmp_path, monkeypatch, capsys):
    with pytest.raises(FileNotFoundError, match="nothing.h5"):
        c2cnet.read(tmp_path / "nothing.h5")
    (tmp_path / "some.h5").write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match="pip install h5py"):
        c2cnet.read(tmp_path / "some.h5")
    assert main(["convert", str(tmp_path / "some.h5"), str(tmp_path / "out.npz")]) == 1
    assert "pip install h5py" in capsys.readouterr().err


def test_cells_survive_files(tmp_path):
    cube = np.array(np.meshgrid([0.0, 1], [0.0, 1], [0.0, 1], indexing="ij")).reshape(3, -1).T
    data = c2cnet.Dataset(
        f=np.ones((2, 8)), u=np.ones((2, 8)), x=cube, y=cube, tetrahedra=np.array([[0, 1, 2, 4]])
    )
    data.save(tmp_path / "data.npz")
    assert c2cnet.load_npz(tmp_path / "data.npz").tetrahedra.tolist() == [[0, 1, 2, 4]]


def test_the_number_of_threads():
    before = c2cnet.threads()
    try:
        c2cnet.set_threads(1)
        assert c2cnet.threads() == 1
        # No more than there are cores.
        c2cnet.set_threads(1_000_000)
        assert 1 <= c2cnet.threads() <= os.cpu_count()
    finally:
        c2cnet.set_threads(None)
    assert c2cnet.threads() == before
    with pytest.raises(ValueError, match="at least 1"):
        c2cnet.set_threads(0)


def test_tables_with_names_of_their_own(tmp_path):
    rows = [f"{n},{x},{n + x},{n * x},a" for n in range(3) for x in S]
    (tmp_path / "runs.csv").write_text("run,depth,salt,sound,note\n" + "\n".join(rows))
    with pytest.warns(UserWarning, match="columns that are not read: note"):
        data = c2cnet.read(tmp_path / "runs.csv", sample="run", x="depth", f="salt", u="sound")
    assert data.f.shape == (3, 5)
    for key in ("y", "p", "q"):
        with pytest.raises(ValueError, match=f"{key}: tables and meshes"):
            c2cnet.read(tmp_path / "runs.csv", x="depth", f="salt", **{key: "sound"})
    with pytest.raises(ValueError, match="sample names a column"):
        c2cnet.read({"k": K}, f="k", sample="run")
    (tmp_path / "gaps.csv").write_text("x,f,u\n0,1,2\n0.5,nan,3\n1,2,3\n")
    with pytest.raises(OSError, match='missing="nan"'):
        c2cnet.read(tmp_path / "gaps.csv")
    assert c2cnet.read(tmp_path / "gaps.csv", missing="nan").f.shape == (1, 2)


def test_a_model_from_a_file_knows_its_input_points(tmp_path):
    x = np.linspace(0, 1, 20)
    f = np.random.default_rng(0).normal(size=(30, 2)) @ np.stack([np.sin(x), np.cos(x)])
    model = c2cnet.C2CNet(map="linear").fit(f, f**2, x=x, y=x)
    model.save(tmp_path / "model.c2c")
    assert np.array_equal(c2cnet.load(tmp_path / "model.c2c").predict(f), model.predict(f))

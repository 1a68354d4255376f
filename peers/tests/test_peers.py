"""Each peer learns, counts its parameters as the paper does, and measures errors as c2cnet does.

    peers/run.sh pytest peers/tests        (c2cnet in C2CNET, on the PATH or in target/)
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from peers.configurations import PEERS, SCHEDULES, build
from peers.data import Data, DataError, read
from peers.fno import SpectralConvolution
from peers.metrics import mse, rl2e
from peers.networks import parameter_count
from peers.plan import read_plan
from peers.run import read_test, turn, write_predictions
from peers.train import Recipe, Trainer, one_cycle, predict, times_to_accuracy, turned

torch.set_num_threads(1)


def line(points: int) -> torch.Tensor:
    return torch.linspace(0, 1, points)[:, None]


def square(side: int) -> torch.Tensor:
    axis = torch.linspace(0, 1, side)
    return torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)


def smooth(count: int, points: torch.Tensor, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Random sums of sines f of the first coordinate, and the functions u = f^2 / 2 + f of all coordinates."""
    weights = torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))
    waves = torch.sin(torch.pi * points[..., :1] * torch.tensor([1.0, 2.0, 3.0]))
    f = waves @ weights[..., None] if points.ndim == 3 else (weights @ waves.T)[..., None]
    return f, (f**2 / 2 + f + 0.3) * (1 + points.sum(-1, keepdim=True))


def samples(points: torch.Tensor, count: int = 8) -> Data:
    f, u = smooth(count, points)
    return Data("tiny", points, f, points, u)


def train(peer: str, data: Data, epochs: int, test: Data | None = None, schedule: str = "one-cycle") -> Trainer:
    torch.manual_seed(0)
    settings = dict(SCHEDULES[schedule][peer])
    model = build(peer, data, settings.pop("activation", "gelu"))
    trainer = Trainer(model, data, test or data, Recipe(schedule, **settings, epochs=epochs), 0, say=lambda _: None)
    trainer.run()
    return trainer


@pytest.mark.parametrize("peer, epochs", [("deeponet", 300), ("fno", 100), ("basisonet", 500), ("b2b", 300)])
def test_overfits_a_tiny_set(peer, epochs):
    data = samples(line(48))
    assert train(peer, data, epochs).errors()["rl2e"] < 0.1


def test_b2b_learns_from_points_of_each_sample():
    data = samples(torch.rand(8, 40, 1, generator=torch.Generator().manual_seed(1)))
    assert train("b2b", data, 200).errors()["rl2e"] < 0.15


@pytest.mark.parametrize("peer", ["deeponet", "basisonet", "b2b"])
def test_shared_points_are_points_of_each_sample(peer):
    data = samples(line(48))
    own = data.x.expand(len(data), -1, -1)
    model = build(peer, data)
    separate = predict(model, Data(data.problem, own, data.f, own, data.u))
    assert torch.allclose(predict(model, data), separate, rtol=1e-4, atol=1e-5)


def test_fno_learns_on_a_square():
    assert train("fno", samples(square(20), 4), 60).errors()["rl2e"] < 0.15


def test_fno_lifts_an_input_of_one_axis():
    inputs, outputs = line(24), square(24)
    data = Data("tiny", inputs, smooth(4, inputs)[0], outputs, smooth(4, outputs)[1])
    assert train("fno", data, 60).errors()["rl2e"] < 0.15


def test_several_components_on_a_torus_need_no_padding():
    """Navier-Stokes: states before as components of the input, states after of the output."""
    axis = torch.arange(24) / 24
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    phase = torch.rand(12, 1, generator=torch.Generator().manual_seed(0))
    states = torch.stack([torch.sin(2 * torch.pi * (grid.sum(-1) + phase + 0.1 * t)) for t in range(5)], -1)
    data = Data("navier-stokes", grid, states[..., :3], grid, states[..., 3:])
    trainer = train("fno", data, 60)
    assert trainer.model.padding == [0] * 4 and trainer.model.components == 2
    assert trainer.errors()["rl2e"] < 0.1
    for peer in ("deeponet", "b2b"):
        assert predict(build(peer, data), data).shape == (12, 576, 2)


def test_published_schedules_train():
    data = samples(line(48))
    for peer in PEERS:
        trainer = train(peer, data, 20, schedule="published")
        assert trainer.errors()["rl2e"] < trainer.progress.curve[0][2] * 1.01


@pytest.mark.parametrize("done, factor", [(0.0, 1), (0.19, 1), (0.21, 1 / 2), (0.99, 1 / 16)])
def test_published_rates_drop_at_the_same_parts_of_a_shorter_run(done, factor):
    trainer = train("fno", samples(line(48)), 1, schedule="published")
    trainer.set_rate(done)
    assert trainer.optimiser.param_groups[0]["lr"] == pytest.approx(1e-3 * factor)


def empty(problem: str, inputs: int, d_in: int, outputs: int, d_out: int, c_in: int = 1, c_out: int = 1) -> Data:
    """Data of these sizes, for counting parameters."""
    return Data(problem, torch.rand(inputs, d_in), torch.rand(2, inputs, c_in),
                torch.rand(outputs, d_out), torch.rand(2, outputs, c_out))


PAPER = [  # tab:performance-summary and tab:1d_darcy_random_comparison
    ("basisonet", empty("darcy2d", 9, 2, 9, 2), 2_712_174),
    ("b2b", empty("darcy2d", 9, 2, 9, 2), 499_758),
    ("deeponet", empty("darcy2d", 19_881, 2, 9, 2), 504_926),
    ("basisonet", empty("poisson-holes", 9, 2, 9, 2), 2_712_174),
    ("b2b", empty("poisson-holes", 9, 2, 9, 2), 499_758),
    ("deeponet", empty("poisson-holes", 1780, 2, 9, 2), 501_417),
    ("basisonet", empty("elastic-plate", 9, 1, 9, 2, 1, 2), 2_716_832),
    ("b2b", empty("elastic-plate", 9, 1, 9, 2, 1, 2), 500_644),
    ("deeponet", empty("elastic-plate", 101, 1, 9, 2, 1, 2), 498_657),
    ("b2b", empty("darcy-lshape", 9, 2, 9, 2, 2, 1), 500_643),
    ("deeponet", empty("darcy-lshape", 961, 2, 9, 2, 2, 1), 498_985),
    ("basisonet", empty("kdv-burgers", 9, 1, 9, 2), 2_691_182),
    ("b2b", empty("kdv-burgers", 9, 1, 9, 2), 499_502),
    ("deeponet", empty("kdv-burgers", 101, 1, 9, 2), 500_110),
    ("b2b", empty("darcy1d", 9, 1, 9, 1), 499_352),
    ("deeponet", empty("darcy1d", 400, 1, 9, 1), 500_803),
    ("fno", Data("darcy2d", square(24), torch.rand(2, 576, 1), square(24), torch.rand(2, 576, 1)), 1_188_353),
]


@pytest.mark.parametrize("peer, data, listed", PAPER, ids=[f"{p}-{d.problem}" for p, d, _ in PAPER])
def test_parameters_are_the_papers(peer, data, listed):
    assert parameter_count(build(peer, data)) == listed


def test_truncated_transforms_equal_the_published_ones():
    shape, modes, width = (30, 27), 5, 3
    layer = SpectralConvolution(width, modes, shape)
    values = torch.randn(2, width, *shape)
    weight = torch.view_as_complex(layer.weight.detach()).unflatten(0, (modes, 2 * modes)).permute(2, 3, 1, 0)
    spectrum = torch.fft.rfft2(values)
    kept = torch.zeros_like(spectrum)
    for rows in (slice(0, modes), slice(-modes, None)):
        kept[:, :, rows, :modes] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, rows, :modes], weight[:, :, rows])
    expected = torch.fft.irfft2(kept, s=shape)
    assert torch.allclose(layer(values), expected, rtol=1e-4, atol=1e-6)

    layer = SpectralConvolution(width, modes, (31,))
    values = torch.randn(2, width, 31)
    spectrum = torch.fft.rfft(values)
    kept = torch.zeros_like(spectrum)
    kept[..., :modes] = torch.einsum("bix,xio->box", spectrum[..., :modes], torch.view_as_complex(layer.weight.detach()))
    assert torch.allclose(layer(values), torch.fft.irfft(kept, n=31), rtol=1e-4, atol=1e-6)


def test_predictions_do_not_use_the_truth():
    data = samples(line(48))
    for peer in PEERS:
        model = build(peer, data)
        blind = Data(data.problem, data.x, data.f, data.y, torch.full_like(data.u, torch.nan))
        assert torch.equal(predict(model, data), predict(model, blind))


def test_a_seed_and_epochs_give_the_same_run():
    data = samples(line(48))
    assert train("deeponet", data, 10).errors() == train("deeponet", data, 10).errors()


def test_a_resumed_run_ends_like_an_unbroken_one(tmp_path):
    data = samples(line(48))
    whole = train("deeponet", data, 20)
    torch.manual_seed(0)
    settings = dict(SCHEDULES["one-cycle"]["deeponet"])
    model = build("deeponet", data, settings.pop("activation"))
    half = Trainer(model, data, data, Recipe("one-cycle", **settings, epochs=20), 0, say=lambda _: None)
    half.enter_stage(0)
    for _ in range(10):
        half.one_epoch()
    half.save(tmp_path / "state.pt")
    model = build("deeponet", data, "gelu")
    rest = Trainer(model, data, data, half.recipe, 1, say=lambda _: None)
    rest.resume(tmp_path / "state.pt")
    rest.run()
    assert rest.errors()["rl2e"] == pytest.approx(whole.errors()["rl2e"], rel=1e-5)


def test_one_cycle_rises_and_falls():
    assert one_cycle(0) < 0.05 and one_cycle(0.2) == pytest.approx(1) and one_cycle(1) < 1e-3


def test_times_are_the_first_that_reach_a_level():
    curve = [[1.0, 1, 0.3], [2.0, 2, 0.09], [3.0, 3, 0.2]]
    assert times_to_accuracy(curve) == {"0.2": 2.0, "0.1": 2.0}


def test_symmetries_are_eight_and_move_input_and_output_alike():
    values = torch.arange(9.0).reshape(1, 9, 1)
    data = Data("darcy2d", square(3), values, square(3), values)
    images = {tuple(turned(data, k).f.flatten().tolist()) for k in range(8)}
    assert len(images) == 8
    assert all(torch.equal(turned(data, k).f, turned(data, k).u) for k in range(8))


def test_files_that_cannot_be_used_are_named(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, x=np.zeros(3), f=np.zeros((2, 3)))
    with pytest.raises(DataError, match="no y, u"):
        read(path)
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "absent.npz")
    with pytest.raises(DataError, match="one full grid"):
        build("fno", samples(torch.rand(50, 2)))


def test_runs_take_turns(tmp_path):
    file = tmp_path / "turn"
    with turn(file), file.open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with file.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_plan_has_runs_of_its_own_names():
    lines = read_plan(Path(__file__).parents[1] / "gpu_plan.txt")
    places = [(line.part, line.name) for line in lines]
    assert len(set(places)) == len(places)
    assert all(line.peer in PEERS for line in lines)


def c2cnet() -> str | None:
    root = Path(__file__).parents[2] / "target"
    places = [os.environ.get("C2CNET"), shutil.which("c2cnet"), root / "release/c2cnet", root / "debug/c2cnet"]
    return next((str(p) for p in places if p and Path(p).exists()), None)


def call(*words) -> str:
    return subprocess.run([c2cnet(), *map(str, words)], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(c2cnet() is None, reason="no c2cnet: build it, or name it in C2CNET")
def test_peers_see_scattered_observations_and_are_tested_at_all_points(tmp_path):
    data, whole = tmp_path / "data.npz", tmp_path / "whole.npz"
    for name, path in (("both", data), ("both-test", whole)):
        call("generate", name, "--experiment", "nonaligned", "--quick", "-o", path)
    seen, test = read(data)
    assert seen.problem == "nonaligned" and seen.x.shape == seen.y.shape == (80, 100, 1)
    assert not torch.equal(seen.x[0], seen.x[1]) and not torch.equal(seen.x[0], seen.y[0])
    complete = read_test(whole, test)
    assert complete.y.shape == (400, 1) and complete.u.shape == (20, 400, 1)
    for peer in ("deeponet", "b2b"):
        trainer = train(peer, seen, 4, complete)
        assert trainer.errors()["rl2e"] < 10
        write_predictions(tmp_path / "predictions.json", peer, trainer)
        kept = json.loads((tmp_path / "predictions.json").read_text())
        found = torch.tensor(kept["values"])[..., None]
        assert rl2e(found, complete.u) == pytest.approx(kept["rl2e"], rel=1e-4)
    call("generate", "darcy1d", "-o", tmp_path / "other.npz", "--set", "n_train=80", "--set", "n_test=20")
    with pytest.raises(DataError, match="same inputs"):
        read_test(tmp_path / "other.npz", test)


TINY = [
    ("darcy2d", "fno", ["coefficient=binary", "points=16", "refine=2", "modes=31"]),
    ("navier-stokes", "fno", ["points=32", "grid=32", "modes=8", "steps=20"]),
    ("navier-stokes", "deeponet", ["points=16", "grid=16", "modes=5", "steps=20"]),
    ("nonlinear-diffusion", "deeponet", ["points=320", "reference=1300"]),
    ("nonlinear-diffusion", "b2b", ["points=320", "reference=1300"]),
]


@pytest.mark.skipif(c2cnet() is None, reason="no c2cnet: build it, or name it in C2CNET")
@pytest.mark.parametrize("problem, peer, settings", TINY, ids=[f"{p}-{q}" for p, q, _ in TINY])
def test_peers_run_on_the_problems_beyond_the_paper(tmp_path, problem, peer, settings):
    flags = [word for setting in ["n_train=6", "n_test=2", *settings] for word in ("--set", setting)]
    call("generate", problem, "-o", tmp_path / "data.npz", *flags)
    data, test = read(tmp_path / "data.npz")
    assert data.problem == problem and (len(data), len(test)) == (6, 2)
    assert train(peer, data, 2, test).errors()["rl2e"] < 10


@pytest.mark.skipif(c2cnet() is None, reason="no c2cnet: build it, or name it in C2CNET")
def test_a_comparison_keeps_its_runs_and_goes_on(tmp_path):
    script = Path(__file__).parents[2] / "bench/layers/compare.py"

    def compare(*flags) -> str:
        words = [sys.executable, script, tmp_path, "--c2cnet", c2cnet(), *flags]
        return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout

    first = ["--cases", "binary-16", "--maps", "auto", "--seeds", 0, "--seconds", 0.5, "--quick"]
    assert len(compare(*first).splitlines()) == 2
    assert compare(*first) == ""  # both are there
    runs = tmp_path / "runs.jsonl"
    runs.write_text(runs.read_text() + '{"case": "cut o')
    assert [line.split(" | ")[2] for line in compare("--table").splitlines()[2:]][-1] == "fno"
    assert compare("--cases", "binary-85", "--quick", "--limit", 0) == ""


@pytest.mark.skipif(c2cnet() is None, reason="no c2cnet: build it, or name it in C2CNET")
@pytest.mark.parametrize("problem, settings", [("darcy1d", ["points=101"]), ("elastic-plate", ["points=300", "reference=1500"])])
def test_errors_are_those_of_c2cnet(tmp_path, problem, settings):
    data, model, prediction = tmp_path / "data.npz", tmp_path / "model.c2c", tmp_path / "prediction.npz"
    options = [word for setting in [*settings, "n_train=40", "n_test=12"] for word in ("--set", setting)]
    call("generate", problem, "-o", data, *options)
    call("fit", data, "-o", model, "--map", "kernel")
    theirs = json.loads(call("evaluate", model, data, "--json"))
    call("predict", model, data, "-o", prediction)
    _, test = read(data)
    predicted = torch.from_numpy(np.load(prediction)["u"])[-len(test):].reshape(test.u.shape)
    assert rl2e(predicted, test.u) == pytest.approx(theirs["rl2e"], rel=1e-4)
    assert mse(predicted, test.u) == pytest.approx(theirs["mse"], rel=1e-4)

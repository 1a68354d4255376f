"""Trains one peer on one data file and writes its result as JSON.

    python -m peers.run fno data.npz --schedule one-cycle --budget 300 --device cuda --out fno.json
"""

import argparse
import json
import math
import os
import platform
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import torch

from .configurations import NAMES, PEERS, SCHEDULES, build
from .data import Data, DataError, read
from .metrics import rl2e
from .networks import parameter_count
from .train import Diverged, Recipe, Trainer, predict, times_to_accuracy

FORMAT = 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m peers.run", description=__doc__.splitlines()[0])
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("data", type=Path, help="a data file of c2cnet (.npz)")
    parser.add_argument("--schedule", choices=list(SCHEDULES), default="one-cycle")
    parser.add_argument("--budget", type=float, help="seconds of training; default 300 unless --epochs is given")
    parser.add_argument("--epochs", type=int, help="stop after this many epochs (reproducible, unlike a time budget)")
    parser.add_argument("--train", type=int, metavar="N", help="use the first N training samples only")
    parser.add_argument("--test", type=Path, metavar="DATA",
                        help="a file of the same samples at other points, whose test samples are used")
    parser.add_argument("--batch", type=int, help="samples per step; default: the schedule's")
    parser.add_argument("--rate", type=float, help="the (largest) learning rate; default: the schedule's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--tf32", action="store_true", help="train with TF32 products on a GPU; evaluation is not")
    parser.add_argument("--symmetry", action="store_true", help="rotate and mirror the samples at random (darcy2d)")
    parser.add_argument("--checkpoint", type=Path, help="keep the state of training here")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--turn", type=Path, metavar="FILE",
                        help="train while no other run holds this file: several start together, one trains at a time")
    parser.add_argument("--label", help="what the run is for, to tell results apart")
    parser.add_argument("--note", help="text for the result, such as what else ran on the machine")
    parser.add_argument("--out", type=Path, help="where to write the result (.json)")
    parser.add_argument("--predictions", type=Path, metavar="FILE",
                        help="write what is predicted for the test samples, too (.json)")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    try:
        result = run(options)
    except (DataError, Diverged, torch.cuda.OutOfMemoryError) as error:
        sys.exit(f"error: {error}")
    if options.out:
        write(options.out, result)
    else:
        print(json.dumps(result))


def write(path: Path, content: dict) -> None:
    """A JSON file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(content) + "\n")
    os.replace(part, path)


def write_predictions(path: Path, peer: str, trainer: Trainer) -> None:
    """The first component at all output points of each test sample, to six digits, as `c2cnet reproduce` reads them."""
    prediction = predict(trainer.model, trainer.test_data)
    values = [[float(f"{v:.6g}") for v in sample] for sample in prediction[..., 0].tolist()]
    write(path, {"format": FORMAT, "peer": NAMES[peer], "problem": trainer.test_data.problem,
                 "rl2e": rl2e(prediction, trainer.test_data.u), "values": values})


def run(options: argparse.Namespace) -> dict:
    def say(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr, flush=True)

    if options.device == "cuda" and not torch.cuda.is_available():
        raise DataError("--device cuda, but PyTorch sees no GPU; use --device cpu")
    if options.resume and not (options.checkpoint and options.checkpoint.exists()):
        raise DataError("--resume needs --checkpoint with a file that an earlier run wrote")
    torch.manual_seed(options.seed)
    train, test = read(options.data, options.train)
    if options.test:
        test = read_test(options.test, test)
    if options.symmetry and train.problem != "darcy2d":
        raise DataError(f"--symmetry is for darcy2d, which has the symmetries of the square; {train.problem} has not")
    settings = dict(SCHEDULES[options.schedule][options.peer])
    model = build(options.peer, train, settings.pop("activation", "gelu"))
    parameters = parameter_count(model)
    model.to(options.device)
    train, test = train.to(options.device), test.to(options.device)
    settings |= {k: v for k in ("batch", "rate") if (v := getattr(options, k)) is not None}
    budget = options.budget or (math.inf if options.epochs else 300.0)
    recipe = Recipe(options.schedule, **settings, budget=budget, epochs=options.epochs or math.inf,
                    tf32=options.tf32, symmetry=options.symmetry)
    trainer = Trainer(model, train, test, recipe, options.seed, say, options.checkpoint)
    if options.resume:
        trainer.resume(options.checkpoint)
    say(f"{NAMES[options.peer]} on {train.problem}: {len(train)} train, {len(test)} test, "
        f"{parameters:,} parameters, {hardware(options.device)}")
    with turn(options.turn):
        started = time.perf_counter()
        trainer.run()
        wall = time.perf_counter() - started

    if options.predictions:
        write_predictions(options.predictions, options.peer, trainer)
    progress = trainer.progress
    return {
        "format": FORMAT,
        "peer": NAMES[options.peer],
        "problem": train.problem,
        "data": options.data.name,
        "n_train": len(train),
        "n_test": len(test),
        "seed": options.seed,
        "schedule": options.schedule,
        "symmetry": options.symmetry,
        "tf32": options.tf32 and options.device != "cpu",
        "rate": recipe.rate,
        "batch": trainer.batch,
        "loss": recipe.loss,
        "hardware": hardware(options.device),
        "torch": torch.__version__,
        "parameters": parameters,
        "train_seconds": round(progress.seconds, 3),
        "wall_seconds": round(wall, 3),
        "seconds_per_epoch": progress.seconds / max(progress.epoch, 1),
        "epochs": progress.epoch,
        **trainer.errors(),
        "curve": progress.curve,
        "seconds_to": times_to_accuracy(progress.curve),
        "peak_memory_mib": peak_memory_mib(options.device),
        **{key: text for key in ("label", "note") if (text := getattr(options, key))},
    }


def read_test(path: Path, same: Data) -> Data:
    """The test samples of another file, which must be the ones that `same` has, at points that may differ."""
    _, test = read(path)
    if len(test) != len(same) or test.f.shape != same.f.shape or not torch.equal(test.f, same.f):
        raise DataError(f"{path}: its test samples are not those of the training data; both files need the same inputs")
    return test


@contextmanager
def turn(file: Path | None):
    """Waits until no other run holds the file, and holds it."""
    if file is None:
        yield
        return
    import fcntl  # not on Windows

    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def hardware(device: str) -> str:
    if device.startswith("cuda"):
        return torch.cuda.get_device_name()
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name}, {torch.get_num_threads()} threads"


def peak_memory_mib(device: str) -> float:
    """Of the GPU where one works, else of the process."""
    if device.startswith("cuda"):
        return round(torch.cuda.max_memory_allocated() / 2**20, 1)
    import resource  # not on Windows

    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


if __name__ == "__main__":
    main()

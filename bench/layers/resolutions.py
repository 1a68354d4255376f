"""Other resolutions and sensors than those of the fit: Darcy flow on grids that lie in one of 421 x 421 (a coefficient of
two values) or 141 x 141 (a smooth logarithm).

    python bench/layers/resolutions.py FOLDER [--coarse 16 --fine 31] [--device cpu] [--seed 0]
    python bench/layers/resolutions.py FOLDER --coefficient smooth --coarse 15 --fine 29 --samples 800 --tests 100
    python bench/layers/resolutions.py FOLDER --coarse 85 --fine 141 --device cuda --set functions=300 points=7225 epochs=60

Everything is fitted on the coarse grid. Then inputs, outputs or both come from the fine grid, or from as many random points of
it as the coarse one has. `space`: layers that predict coordinates of an output space; `points`: layers through which points are
pushed. FNO trains for the seconds of the first fit and is evaluated on the fine grid with its weights as they are, a padding
of the same length, and the means and spreads at each point of the fine training samples, which favours it. FOLDER keeps the
data, made where absent. Needs NumPy, and PyTorch unless --without-fno.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
# Where a problem is solved, and its settings.
PROBLEMS = {"binary": (421, {"coefficient": "binary", "modes": 421}), "smooth": (141, {})}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--c2cnet", default=str(ROOT / "target/release/c2cnet"))
    parser.add_argument("--coarse", type=int, default=16)
    parser.add_argument("--fine", type=int, default=31)
    parser.add_argument("--coefficient", choices=PROBLEMS, default="binary")
    parser.add_argument("--samples", type=int, default=1000, help="training samples")
    parser.add_argument("--tests", type=int, default=200, help="test samples")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0, help="of the fits; data have seed 0")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings of map.layered")
    parser.add_argument("--variants", nargs="+", default=["space", "points"], choices=["space", "points"])
    parser.add_argument("--without-fno", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    coarse, fine = (grid(options, n) for n in (options.coarse, options.fine))
    tests = test_files(options, coarse, fine)
    print(f"| {options.coarse} x {options.coarse} to {options.fine} x {options.fine} | "
          + " | ".join(tests) + " | seconds of the fit |\n|" + "---|" * (len(tests) + 2), flush=True)
    seconds = [layers(options, variant, tests) for variant in options.variants]
    if not options.without_fno:
        fno(options, seconds[0], tests)


def data(options: argparse.Namespace, n: int) -> Path:
    return options.folder / f"{options.coefficient}-{n}-{options.samples}.npz"


def grid(options: argparse.Namespace, n: int) -> Path:
    path = data(options, n)
    finest, settings = PROBLEMS[options.coefficient]
    if (finest - 1) % (n - 1):
        sys.exit(f"{n} x {n} points do not lie in {finest} x {finest}; {finest - 1} must be a multiple of one less")
    if not path.exists():
        settings = settings | {"points": n, "refine": (finest - 1) // (n - 1), "n_train": options.samples,
                               "n_test": options.tests}
        flags = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        subprocess.run([options.c2cnet, "generate", "darcy2d", "--seed", "0", "-o", path, *flags], check=True,
                       capture_output=True)
    return path


def test_files(options: argparse.Namespace, coarse: Path, fine: Path) -> dict[str, Path]:
    """The test samples with inputs and outputs at several points."""
    own, other = (dict(np.load(path)) for path in (coarse, fine))
    common = np.isin(other["x"].round(9).view("f8,f8"), own["x"].round(9).view("f8,f8")).ravel()
    picked = np.sort(np.random.default_rng(0).choice(np.flatnonzero(~common), len(own["x"]), replace=False))
    random = {"x": other["x"][picked], "f": other["f"][:, picked], "y": other["y"][picked], "u": other["u"][:, picked]}
    files = {}
    for name, given, asked in [("own points", own, own), ("outputs fine", own, other), ("outputs at random points", own, random),
                               ("inputs fine", other, own), ("inputs at random points", random, own), ("both fine", other, other)]:
        files[name] = options.folder / f"test-{coarse.stem}-{options.fine}-{name.replace(' ', '-')}.npz"
        if not files[name].exists():
            last = slice(options.samples, None)
            np.savez(files[name], x=given["x"], f=given["f"][last], y=asked["y"], u=asked["u"][last])
    return files


def layers(options: argparse.Namespace, variant: str, tests: dict[str, Path]) -> float:
    model = options.folder / f"{options.coefficient}-{options.coarse}-{variant}-{options.seed}.c2c"
    settings = [*(f"map.layered.{setting}" for setting in options.set), f"map.layered.outputs={variant}"]
    flags = [word for setting in settings for word in ("--set", setting)]
    begin = time.monotonic()
    subprocess.run([options.c2cnet, "fit", data(options, options.coarse), "-o", model, "--force", "--map", "layered", "--seed", str(options.seed),
                    "--device", options.device, "--input-basis", 'family="point-values"', *flags], check=True, capture_output=True)
    seconds = time.monotonic() - begin
    errors = []
    for name, test in tests.items():
        ran = subprocess.run([options.c2cnet, "evaluate", model, test, "--json"], capture_output=True, text=True)
        errors.append(json.loads(ran.stdout)["rl2e"] if ran.returncode == 0 else ran.stderr.strip().splitlines()[-1])
    show(f"layers, `{variant}`", errors, seconds)
    return seconds


def show(name: str, errors: list, seconds: float) -> None:
    def cell(error):
        return f"{error:.2e} ({error / errors[0]:.2f})" if isinstance(error, float) else error or "-"

    print(f"| {name} | " + " | ".join(map(cell, errors)) + f" | {seconds:.0f} |", flush=True)


def fno(options: argparse.Namespace, seconds: float, tests: dict[str, Path]) -> None:
    import torch

    sys.path.insert(0, str(ROOT))
    from peers.configurations import FNO_SIZES, SCHEDULES
    from peers.data import read
    from peers.fno import FNO
    from peers.metrics import rl2e
    from peers.train import Recipe, Trainer, predict

    torch.manual_seed(options.seed)
    files = [data(options, n) for n in (options.coarse, options.fine)]
    (own, own_test), (other, other_test) = ([part.to(options.device) for part in read(file)] for file in files)
    sizes = FNO_SIZES[2]
    padded = (options.coarse + sizes["padding"]) // 2
    sizes = sizes | {"modes": min(sizes["modes"], padded)}
    model = FNO(own, **sizes).to(options.device)
    settings = dict(SCHEDULES["one-cycle"]["fno"])
    recipe = Recipe("one-cycle", **settings, budget=seconds)
    trainer = Trainer(model, own, own_test, recipe, options.seed, lambda line: None)
    trainer.run()
    stretched = round(sizes["padding"] * (options.fine - 1) / (options.coarse - 1))
    at_fine = FNO(other, **sizes | {"padding": stretched}).to(options.device)
    weights = {key: value for key, value in model.state_dict().items() if "_scale" not in key}
    at_fine.load_state_dict(weights, strict=False)
    found = {"own points": rl2e(predict(model, own_test), own_test.u),
             "both fine": rl2e(predict(at_fine, other_test), other_test.u)}
    show("FNO", [found.get(name) for name in tests], seconds)


if __name__ == "__main__":
    main()

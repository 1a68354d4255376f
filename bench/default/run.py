"""The paper's problems with default settings: the table of docs/figures.md.

    python bench/default/run.py FOLDER [--c2cnet COMMAND] [--problems darcy1d,kdv-burgers] [--write]

FOLDER keeps data files (made by `c2cnet generate` where absent, seed 0) and one JSON file per fit (seed 0); existing ones
are not repeated. `--write` puts the table into RESULTS.md. Seconds are those of the whole fit, reading the data included.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent

# Name: problem, flags of the fit, test set, what the paper prints (the better of RFM-C2C and FEM-C2C), rms of its data.
CASES = {
    "darcy1d": ("darcy1d", [], "test", "3.87e-3", "-"),
    "kdv-burgers": ("kdv-burgers", [], "test", "3.29e-3", "0.13 to 0.33"),
    "darcy2d": ("darcy2d", [], "test", "6.47e-3", "0.044"),
    "darcy2d, symmetries": ("darcy2d", ["--symmetries", "square"], "test", "6.47e-3", "0.044"),
    "darcy-lshape": ("darcy-lshape", [], "test", "3.86e-2", "0.0075"),
    "poisson-holes": ("poisson-holes", [], "test", "4.13e-3", "0.017"),
    "helmholtz": ("helmholtz", [], "test", "2.13e-3", "-"),
    "elastic-plate": ("elastic-plate", [], "test", "1.68e-3", "2.6e-5 to 4.3e-5"),
    "poisson10d, Gen1": ("poisson10d", [], "gen1", "6.47e-3", "-"),
    "poisson10d, Gen2": ("poisson10d", [], "gen2", "1.27e-2", "-"),
}
HEAD = ("problem", "RL2E", "paper", "withheld", "floor", "linear map", "training mean", "worst", "rms (paper's)", "fit, s")


def call(options, *arguments):
    words = [options.c2cnet, *map(str, arguments), "--json"]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def run(options, name):
    record = options.folder / f"{name}.json"
    if record.exists():
        return json.loads(record.read_text())
    problem, flags, test, _, _ = CASES[name]
    data, model = options.folder / f"{problem}.npz", options.folder / f"{name}.c2c"
    if not data.exists():
        part = data.with_suffix(".part.npz")
        subprocess.run([options.c2cnet, "generate", problem, "-o", str(part), "--force"], check=True)
        part.rename(data)
    started = time.monotonic()
    fit = call(options, "fit", data, "-o", model, "--force", *flags)
    seconds = time.monotonic() - started
    result = {"fit": fit, "seconds": seconds, "errors": call(options, "evaluate", model, data, "--on", test)}
    record.write_text(json.dumps(result))
    model.unlink()
    return result


def row(options, name):
    result = run(options, name)
    errors, (*_, paper, rms) = result["errors"], CASES[name]
    withheld = errors["withheld_at_fit"]
    cells = [name, f"{errors['rl2e']:.1e}", paper, "-" if withheld is None else f"{withheld:.1e}",
             *(f"{errors[key]:.1e}" for key in ("floor", "linear_rl2e", "mean_rl2e", "worst_rl2e")),
             f"{errors['rms']:.2g} ({rms})", f"{result['seconds']:.3g}"]
    line = f"| {' | '.join(cells)} |"
    print(line, flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--c2cnet", default=str(HERE.parents[1] / "target/release/c2cnet"))
    parser.add_argument("--problems", help="of the table's first column, separated by commas; default: all")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = options.problems.split(",") if options.problems else list(CASES)
    names = [name for name in CASES if name in wanted or CASES[name][0] in wanted]
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|", *(row(options, name) for name in names)]
    if options.write:
        machine = f"{platform.machine()}, {os.cpu_count()} cores, {time.strftime('%Y-%m')}"
        text = f"# Default settings on the paper's problems\n\n`bench/default/run.py`, data seed 0, fit seed 0; {machine}.\n\n"
        (HERE / "RESULTS.md").write_text(text + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

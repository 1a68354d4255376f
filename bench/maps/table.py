"""Every coefficient map on the forward problems: errors with their floor, seconds, parameters.

    python bench/maps/table.py FOLDER [--problems darcy1d,kdv-burgers] [--maps paper,fast,kernel,linear,auto]
                               [--paper-steps 30000] [--write]

FOLDER keeps data files (NAME.npz, made by `c2cnet generate NAME` where absent, seed 0) and one JSON
file per run; existing runs are not repeated. `--write` puts the table into RESULTS.md.
"""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
C2CNET = ROOT / "target/release/c2cnet"

# What the paper's tables report (RFM-C2C, and FEM-C2C where it is better), by problem.
PAPER = {
    "darcy1d": "3.87e-3",
    "darcy2d": "6.47e-3",
    "poisson-holes": "4.11e-3",
    "elastic-plate": "1.68e-3",
    "darcy-lshape": "3.86e-2",
    "kdv-burgers": "3.29e-3",
    "helmholtz": "2.13e-3",
    "poisson10d": "6.47e-3",
}
# The test set, if data files have several.
TEST = {"poisson10d": "gen1"}
MAPS = ["paper", "paper-local", "fast", "kernel", "linear", "auto"]
LOCAL = ["--set", "input.basis.coordinates=local", "--set", "output.basis.coordinates=local"]


def flags(problem, kind, steps):
    if kind.startswith("paper"):
        config = ROOT / f"crates/c2cnet-experiments/experiments/recipe/{problem}.toml"
        local = LOCAL if kind == "paper-local" else []
        return ["--config", str(config), "--set", f"map.mlp.steps={steps}", *local]
    return ["--set", f"map.kind={'mlp' if kind == 'fast' else kind}"]


def call(*arguments):
    out = subprocess.run([str(C2CNET), *map(str, arguments), "--json"], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def run(folder, problem, kind, steps):
    record = folder / f"{problem}.{kind}.json"
    if record.exists():
        return json.loads(record.read_text())
    data, model = folder / f"{problem}.npz", folder / f"{problem}.{kind}.c2c"
    if not data.exists():
        subprocess.run([str(C2CNET), "generate", problem, "-o", str(data)], check=True)
    fit = call("fit", data, "-o", model, *flags(problem, kind, steps))
    result = {
        "problem": problem,
        "map": kind,
        "steps": steps if kind.startswith("paper") else None,
        "fit": {k: fit[k] for k in ("map", "timings", "candidates", "choices")},
        "test": call("evaluate", model, data, "--on", TEST.get(problem, "test")),
        "train": call("evaluate", model, data, "--on", "train"),
    }
    record.write_text(json.dumps(result, indent=1))
    return result


def row(r):
    test, seconds = r["test"], r["fit"]["timings"]
    withheld = test.get("withheld_rl2e")
    name = r["map"] + (f", {r['steps']:,} steps" if r["steps"] else "")
    return (
        f"| {r['problem']} | {name} | {test['rl2e']:.2e} | {r['train']['rl2e']:.2e} | {test['floor']:.1e} | "
        f"{f'{withheld:.2e}' if withheld else '-'} | {test['mean_rl2e']:.2f} | {test['rms']:.3g} | "
        f"{seconds['search'] + seconds['encoding']:.1f} | {seconds['training']:.1f} | {r['fit']['map']} | "
        f"{PAPER.get(r['problem'], '-')} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--problems", default=",".join(PAPER))
    parser.add_argument("--maps", default=",".join(MAPS))
    parser.add_argument("--paper-steps", type=int, default=30_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True, parents=True)
    lines = [
        "| problem | map | test RL2E | train RL2E | floor | withheld | mean | rms | search and encoding, s | training, s | the map | paper reports |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for problem in options.problems.split(","):
        for kind in options.maps.split(","):
            lines.append(row(run(options.folder, problem, kind, options.paper_steps)))
            print(lines[-1], flush=True)
    if options.write:
        results = pathlib.Path(__file__).with_name("RESULTS.md")
        head, _ = results.read_text().split("<!-- table -->")
        results.write_text(head + "<!-- table -->\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""What the tables of the paper's networks still lack, as experiments for `c2cnet reproduce`.

    python bench/paper/missing.py [--rows bench/paper/rows.jsonl] [--seeds 3] -o FOLDER
    c2cnet reproduce NAMES --experiments FOLDER --recipe paper --device cuda --jobs 8 --within SECONDS --out RUN
    python bench/paper/run.py --c2cnet - --take RUN --rows bench/paper/rows.jsonl -o bench/paper/RESULTS.md

Writes an experiment for each of ours that lacks starts of the network in the file of rows: with the runs and seeds that
are missing, and without sweeps, figures and checks, which want all of them. The L with 51,000 samples, ten dimensions with
8,192 functions and the row in global coordinates have one start. `nonaligned` keeps the figure of predictions, `floors`
has the curves of `poisson-holes`. The names are printed, most important first.
"""

import argparse
import collections
import json
import pathlib
import tomllib

import run as paper

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "crates/c2cnet-experiments/experiments"
# Problems and methods that are started once.
ONCE = ("darcy-lshape, 51,000 samples", "poisson10d, 8,192 functions", "helmholtz, RFM-C2C, global coordinates")
# Left out, as not all runs are there.
WHOLE = ("sweep", "transfer", "obstacles", "figure", "check")
ORDER = ("poisson10d", "efficiency", "darcy2d", "nonaligned", "floors", "elastic-plate", "darcy-lshape", "poisson-holes",
         "helmholtz", "inverse-stokes")


def missing_seeds(rows, wanted):
    """The seeds that a run lacks in either reading, by experiment and run."""
    done = collections.defaultdict(set)
    for row in rows:
        if "rl2e" in row:
            done[row["problem"], row["method"], row["column"]].add(row["seed"])
    missing = {}
    for experiment, run, problem, method in paper.RUNS:
        # Two experiments have runs of 2D Darcy's C2C: one is enough.
        if (experiment, run) in (("darcy2d", "rfm"), ("darcy2d", "fem")):
            continue
        once = problem in ONCE or f"{problem}, {method}" in ONCE
        columns = ("plain",) if run.endswith("-global") else ("plain", "scaled")
        lacks = [set(range(1 if once else wanted)) - done[problem, method, c] for c in columns]
        if any(lacks):
            missing[experiment, run] = sorted(set.union(*lacks))
    return missing


def inline(value):
    """A value in TOML, on one line."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{json.dumps(k)} = {inline(v)}" for k, v in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(inline, value)) + "]"
        case _:
            return json.dumps(value)


def write(folder, name, experiment):
    lines = [f"{json.dumps(key)} = {inline(value)}" for key, value in experiment.items()]
    (folder / f"{name}.toml").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="bench/paper/rows.jsonl", help="the rows that are there")
    parser.add_argument("--seeds", type=int, default=3, help="starts of the network that every row should have")
    parser.add_argument("-o", "--output", required=True, help="the folder to write")
    args = parser.parse_args()
    folder = pathlib.Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in pathlib.Path(args.rows).read_text().splitlines()]
    missing = missing_seeds(rows, args.seeds)
    names = {"floors"}
    for name in {experiment for experiment, _ in missing}:
        experiment = tomllib.loads((EXPERIMENTS / f"{name}.toml").read_text())
        kept = []
        for run in experiment["run"]:
            if seeds := missing.get((name, run["id"])):
                kept.append(run | {"seeds": seeds})
            elif (name, run["id"]) == ("nonaligned", "c2c-auto"):
                # The figure shows the sample that is its median.
                kept.append(run)
        figures = [f for f in experiment.get("figure", []) if name == "nonaligned" and f["kind"] == "predictions"]
        for key in WHOLE:
            experiment.pop(key, None)
        write(folder, name, experiment | {"run": kept} | ({"figure": figures} if figures else {}))
        names.add(name)
    holes = tomllib.loads((EXPERIMENTS / "poisson-holes.toml").read_text())
    write(folder, "floors", {key: value for key, value in holes.items() if key not in ("run", "table", "figure", "check")})
    print(" ".join(name for name in ORDER if name in names))


if __name__ == "__main__":
    main()

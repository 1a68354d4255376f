"""The paper's networks at their printed length: 30,000 steps with all samples, in two readings of what is not printed.

    python bench/paper/run.py --c2cnet COMMAND [--device cuda] [--seeds 3] [-o RESULTS.md] [--only NAME,NAME]
    python bench/paper/run.py --take RUN --rows bench/paper/rows.jsonl -o bench/paper/RESULTS.md

Sizes, cuts and networks are those of `c2cnet-experiments/experiments/recipe`. Both readings take features in local
coordinates of their patches and the cut as an absolute one; *plain* scales nothing, *scaled* gives the network inputs in
principal axes under one scale and outputs of unit rms (`map.mlp.scaled`). The default fit of the same data stands beside
them: that of `bench/default`, for the problems that it has, else one that the rows have, with the domain given where the
table says so. The test samples choose nothing. The first form trains RFM-C2C on six problems; the second takes the
fits that `c2cnet reproduce --device cuda` left in the folder RUN; `missing.py` writes experiments with those that lack.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "crates/c2cnet-experiments/experiments/recipe"

# What the paper prints, by problem and method, in the order of the table.
PRINTED = {
    ("darcy1d", "RFM-C2C"): 3.87e-3,
    ("darcy1d", "RFM-P2C"): 2.829e-1,
    ("darcy1d", "FEM-C2C"): 1.367e-2,
    ("darcy1d", "FEM-P2C"): 1.405e-1,
    ("darcy2d", "RFM-C2C"): 6.47e-3,
    ("darcy2d", "RFM-P2C"): 3.99e-2,
    ("darcy2d", "FEM-C2C"): 6.92e-3,
    ("darcy2d", "FEM-P2C"): 3.60e-2,
    ("darcy2d", "PCA-Net"): 1.07e-2,
    ("darcy1d, random points", "RFM-C2C"): 1.18e-2,
    ("darcy1d, random points", "RFM-P2C"): 2.47e-1,
    ("darcy1d, random points", "RFM-C2P"): 8.87e-2,
    ("darcy1d, random points", "PCA-Net"): 2.88e-1,
    ("poisson-holes", "RFM-C2C"): 7.69e-3,
    ("poisson-holes", "FEM-C2C"): 4.13e-3,
    ("elastic-plate", "scalar RFM-C2C"): 8.47e-3,
    ("elastic-plate", "scalar RFM-P2C"): 1.42e-1,
    ("elastic-plate", "scalar FEM-C2C"): 1.68e-3,
    ("elastic-plate", "scalar FEM-P2C"): 1.93e-3,
    ("elastic-plate", "vector RFM-C2C"): 7.81e-3,
    ("elastic-plate", "vector RFM-P2C"): 1.41e-1,
    ("elastic-plate", "vector FEM-C2C"): 6.26e-1,
    ("elastic-plate", "vector FEM-P2C"): 6.26e-1,
    ("darcy-lshape, 1,000 samples", "RFM-C2C"): 2.54e-1,
    ("darcy-lshape, 1,000 samples", "RFM-P2C"): 2.62e-1,
    ("darcy-lshape, 5,100 samples", "RFM-C2C"): 6.70e-2,
    ("darcy-lshape, 5,100 samples", "RFM-P2C"): 9.62e-2,
    ("darcy-lshape, 51,000 samples", "RFM-C2C"): 3.86e-2,
    ("darcy-lshape, 51,000 samples", "RFM-P2C"): 4.21e-2,
    ("kdv-burgers", "RFM-C2C"): 3.29e-3,
    ("helmholtz", "RFM-C2C"): 6.51e-3,
    ("helmholtz", "RFM-C2C, global coordinates"): 6.51e-3,
    ("helmholtz", "FEM-C2C"): 2.13e-3,
    ("stokes-inverse", "RFM-RBF C2C"): 5.56e-2,
    ("poisson10d, 128 functions", "RFM-C2C"): 1.69e-2,
    ("poisson10d, 8,192 functions", "RFM-C2C"): 6.47e-3,
}

# What differs from the print beside the reading, by the beginning of the problem's name.
DIFFERS = {
    "darcy1d, random points": "point values by linear interpolation, where a method needs them",
    "darcy1d": "nothing known; see the experiment `lengths`",
    "darcy2d": "the published generator's law of the coefficient, three times the printed one",
    "poisson-holes": "places and sizes of the holes, which are not printed",
    "elastic-plate": "nothing known",
    "darcy-lshape": "laws of the inputs, not printed; ours were chosen with our errors in view",
    "kdv-burgers": "the field of public generators; time step not printed; 10,201 points",
    "helmholtz": "10,201 points; both numbers of nearly every test sample occur in training",
    "stokes-inverse": "ridge and batch, which are not printed",
    "poisson10d": "20,000 of 31^10 points; 8,192 functions on one patch, not 32",
}

# The problems whose RFM-C2C is trained here, and the method's name there.
TRAINED = {
    "helmholtz": "RFM-C2C",
    "kdv-burgers": "RFM-C2C",
    "elastic-plate": "scalar RFM-C2C",
    "darcy1d": "RFM-C2C",
    "poisson-holes": "RFM-C2C",
    "darcy2d": "RFM-C2C",
}

# Runs of `reproduce`: experiment, start of the run's name, problem, method.
RUNS = [
    ("efficiency", "1d-rfm-c2c", "darcy1d", "RFM-C2C"),
    ("efficiency", "1d-rfm-p2c", "darcy1d", "RFM-P2C"),
    ("efficiency", "1d-fem-c2c", "darcy1d", "FEM-C2C"),
    ("efficiency", "1d-fem-p2c", "darcy1d", "FEM-P2C"),
    ("darcy2d", "rfm", "darcy2d", "RFM-C2C"),
    ("darcy2d", "fem", "darcy2d", "FEM-C2C"),
    ("efficiency", "2d-rfm-c2c", "darcy2d", "RFM-C2C"),
    ("efficiency", "2d-rfm-p2c", "darcy2d", "RFM-P2C"),
    ("efficiency", "2d-fem-c2c", "darcy2d", "FEM-C2C"),
    ("efficiency", "2d-fem-p2c", "darcy2d", "FEM-P2C"),
    ("darcy2d", "pca", "darcy2d", "PCA-Net"),
    ("nonaligned", "c2c", "darcy1d, random points", "RFM-C2C"),
    ("nonaligned", "p2c", "darcy1d, random points", "RFM-P2C"),
    ("nonaligned", "c2p", "darcy1d, random points", "RFM-C2P"),
    ("nonaligned", "pca", "darcy1d, random points", "PCA-Net"),
    ("poisson-holes", "rfm", "poisson-holes", "RFM-C2C"),
    ("poisson-holes", "fem", "poisson-holes", "FEM-C2C"),
    *(
        ("elastic-plate", f"{kind}-{basis}-{way}", "elastic-plate", f"{kind} {basis.upper()}-{way.upper()}")
        for kind in ("scalar", "vector")
        for basis in ("rfm", "fem")
        for way in ("c2c", "p2c")
    ),
    *(
        ("darcy-lshape", f"{way}-{count}", f"darcy-lshape, {count:,} samples", f"RFM-{way.upper()}")
        for count in (1000, 5100, 51000)
        for way in ("c2c", "p2c")
    ),
    ("kdv-burgers", "rfm", "kdv-burgers", "RFM-C2C"),
    ("helmholtz", "rfm", "helmholtz", "RFM-C2C"),
    ("helmholtz", "rfm-global", "helmholtz", "RFM-C2C, global coordinates"),
    ("helmholtz", "fem", "helmholtz", "FEM-C2C"),
    ("inverse-stokes", "paper", "stokes-inverse", "RFM-RBF C2C"),
    ("poisson10d", "rfm128", "poisson10d, 128 functions", "RFM-C2C"),
    ("poisson10d", "rfm8192", "poisson10d, 8,192 functions", "RFM-C2C"),
]
# Default fits of `reproduce`: experiment, run, problem.
DEFAULTS = [
    ("efficiency", "1d-auto", "darcy1d"),
    ("darcy2d", "auto", "darcy2d"),
    ("nonaligned", "auto", "darcy1d, random points"),
    ("poisson-holes", "auto", "poisson-holes"),
    ("elastic-plate", "auto", "elastic-plate"),
    *(("darcy-lshape", f"auto-{count}", f"darcy-lshape, {count:,} samples") for count in (1000, 5100, 51000)),
    ("kdv-burgers", "auto", "kdv-burgers"),
    ("helmholtz", "auto", "helmholtz"),
    ("inverse-stokes", "auto", "stokes-inverse"),
]
# Default fits of bench/default/RESULTS.md, by the beginning of the problem's name.
MEASURED = {
    "darcy1d, random points": None,
    "darcy-lshape, 1,000": None,
    "darcy-lshape, 5,100": None,
    "darcy-lshape, 51,000": "darcy-lshape",
    "poisson10d": "poisson10d, Gen1",
    "stokes-inverse": None,
    **{name: name for name in ("darcy1d", "darcy2d", "poisson-holes", "elastic-plate", "kdv-burgers", "helmholtz")},
}
# Problems whose default fit was given the domain.
GIVEN = ("darcy1d, random points", "stokes-inverse")
KEYS = ("rl2e", "floor", "mean_rl2e", "linear_rl2e", "rms")


def call(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


def reading(problem, scaled, steps):
    """The recipe in one reading."""
    settings = [f"map.mlp.scaled={str(scaled).lower()}", f"map.mlp.steps={steps}"]
    if problem == "elastic-plate":
        # The row that is compared is the scalar one.
        settings.append('output.components="separate"')
    return ["--config", RECIPES / f"{problem}.toml", *(part for s in settings for part in ("--set", s))]


def fit(args, folder, data, seed, settings):
    model = folder / "model.c2c"
    device = ["--device", args.device] if settings else []
    out = json.loads(call([args.c2cnet, "fit", data, "-o", model, "--seed", seed, "--json", *device, *settings]))
    errors = json.loads(call([args.c2cnet, "evaluate", model, data, "--json"]))
    return errors, out


def measure(args, problem, folder):
    data = folder / f"{problem}.npz"
    call([args.c2cnet, "generate", problem, "-o", data])
    for name, scaled in (("plain", False), ("scaled", True)):
        for seed in range(args.seeds):
            config = reading(problem, scaled, args.steps)
            yield one(args, folder, data, problem, name, seed, config)
    if not args.no_default:
        yield one(args, folder, data, problem, "default", 0, [])
    data.unlink()


def one(args, folder, data, problem, name, seed, config):
    try:
        errors, out = fit(args, folder, data, seed, config)
    except RuntimeError as error:
        print(f"{problem} {name} {seed}: {error}", file=sys.stderr, flush=True)
        return {"problem": problem, "method": TRAINED[problem], "column": name, "seed": seed, "failed": str(error)[-300:]}
    row = {"problem": problem, "method": TRAINED[problem] if config else "default", "column": name, "seed": seed}
    row |= {key: errors[key] for key in KEYS}
    row["seconds"] = out["seconds"]["total"] if isinstance(out.get("seconds"), dict) else out.get("seconds")
    print(json.dumps(row), flush=True)
    return row


def taken(run):
    """The fits with the paper's recipe and all its steps, and the default ones, in the folder of a run of `reproduce`."""
    for experiment, name, problem in DEFAULTS:
        file = run / experiment / "models" / f"{name}-0.json"
        if file.exists():
            found = json.loads(file.read_text())
            row = {"problem": problem, "method": "default", "column": "default", "seed": 0}
            yield row | {key: found["test"][key] for key in KEYS} | {"seconds": found["report"]["seconds"]["total"]}
    for experiment, start, problem, method in RUNS:
        for column in ("plain", "scaled"):
            names = [f"{start}-{column}"] + ([start] if start.endswith("-global") and column == "plain" else [])
            for file in sorted(f for n in names for f in (run / experiment / "models").glob(f"{n}-[0-9].json")):
                found = json.loads(file.read_text())
                report = found["report"]
                training = report["network"]["fitted"] or report["network"]["judged"]
                if training["steps"] < 30000:
                    continue
                row = {"problem": problem, "method": method, "column": column, "seed": int(file.stem[-1])}
                yield row | {key: found["test"][key] for key in KEYS} | {"seconds": report["seconds"]["total"]}


def errors_of(rows):
    """Mean and range over seeds."""
    found = [r["rl2e"] for r in rows]
    if not found:
        return "-"
    text = f"{statistics.mean(found):.2e}"
    return text if len(found) == 1 else f"{text} ({min(found):.1e} to {max(found):.1e}, {len(found)} seeds)"


def defaults(rows):
    """What the default fit of each problem has, as text."""
    lines = (ROOT / "bench/default/RESULTS.md").read_text().splitlines()
    measured = {c[0]: c[1] for c in ([t.strip() for t in l.strip("|").split("|")] for l in lines if l.startswith("|"))}
    found = {}
    for problem in dict.fromkeys(p for p, _ in PRINTED):
        name = next(name for start, name in MEASURED.items() if problem.startswith(start))
        own = [r for r in rows if (r["problem"], r["column"]) == (problem, "default")]
        found[problem] = measured[name] if name else errors_of(own)
        if problem in GIVEN and found[problem] != "-":
            found[problem] += ", domain given"
    return found


def table(rows):
    default = defaults(rows)
    lines = [
        "| problem | method | printed | plain | scaled | default | floor, plain | training mean | linear map | differs |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (problem, method), printed in PRINTED.items():
        differs = next(words for start, words in DIFFERS.items() if problem.startswith(start))
        mine = [r for r in rows if (r["problem"], r["method"]) == (problem, method) and "rl2e" in r]
        if not mine:
            lines.append(
                f"| {problem} | {method} | {printed:.2e} | not run | not run | {default[problem]} | | | | {differs} |"
            )
            continue
        cells = [errors_of([r for r in mine if r["column"] == c]) for c in ("plain", "scaled")]
        cells.append(default[problem])
        plain = next((r for r in mine if r["column"] == "plain"), mine[0])
        # Rows copied from what a command printed lack the linear map.
        cells += [f"{plain[k]:.1e}" if k in plain else "-" for k in ("floor", "mean_rl2e", "linear_rl2e")]
        lines.append(f"| {problem} | {method} | {printed:.2e} | " + " | ".join(cells) + f" | {differs} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--c2cnet", required=True, help="the command")
    parser.add_argument("--device", default="cuda", help="where networks train")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of the features' and the network's start")
    parser.add_argument("--steps", type=int, default=30000, help="steps of a training")
    parser.add_argument("--only", help="some of the problems, separated by commas")
    parser.add_argument("--no-default", action="store_true", help="without the default fits")
    parser.add_argument("--take", action="append", default=[], help="a folder of `reproduce`, whose fits are taken; no fit")
    parser.add_argument("--table-only", action="store_true", help="no fit: the table of the rows that are there")
    parser.add_argument("--rows", help="where each row goes as JSON; rows that are there already count")
    parser.add_argument("-o", "--output", help="where the table goes; default: printed")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(TRAINED)
    rows = []
    stored = pathlib.Path(args.rows) if args.rows else None
    if stored and stored.exists():
        rows = [json.loads(line) for line in stored.read_text().splitlines()]
    for row in (row for run in args.take for row in taken(pathlib.Path(run))):
        same = ("problem", "method", "column", "seed")
        if any(all(row[k] == r[k] for k in same) for r in rows):
            continue
        rows.append(row)
        if stored:
            with stored.open("a") as file:
                file.write(json.dumps(row) + "\n")
    if args.take:
        args.table_only = True
    with tempfile.TemporaryDirectory() as folder:
        for name in [] if args.table_only else names:
            for row in measure(args, name, pathlib.Path(folder)):
                rows.append(row)
                if stored:
                    with stored.open("a") as file:
                        file.write(json.dumps(row) + "\n")
    text = f"""# The paper's networks at their printed length

{__doc__.split('''

''', 2)[2].strip()}

Mean relative L2 errors on the test samples; {args.steps} steps with all samples in single precision, data seed 0; where
there are several seeds of the network's start, mean and range; `{args.device}`. A row says *not run* where nobody has
run it.

{table(rows)}
"""
    if args.output:
        pathlib.Path(args.output).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()

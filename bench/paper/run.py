"""The paper's networks at their printed length: 30,000 steps with all samples, in two readings of what is not printed.

    python bench/paper/run.py --c2cnet COMMAND [--device cuda] [--seeds 3] [-o RESULTS.md] [--only NAME,NAME]

Sizes, cuts and networks are those of `c2cnet-experiments/experiments/recipe`. Both readings take features in local
coordinates of their patches and the cut as an absolute one; *plain* scales nothing, *scaled* gives the network inputs in
principal axes under one scale and outputs of unit rms (`map.mlp.scaled`). The default fit of the same data stands beside
them unless `--no-default` leaves it out (`-`). The test samples choose nothing.
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

# tab:performance-summary, RFM-C2C.
PRINTED = {
    "helmholtz": 6.51e-3,
    "kdv-burgers": 3.29e-3,
    "elastic-plate": 8.47e-3,
    "darcy1d": 3.87e-3,
    "poisson-holes": 7.69e-3,
    "darcy2d": 6.47e-3,
}


def call(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


def reading(problem, folder, scaled, steps):
    """The recipe's settings with local coordinates and an absolute cut."""
    text = (RECIPES / f"{problem}.toml").read_text()
    file = folder / f"{problem}.toml"
    file.write_text(text.replace("relative_cut", "cut").replace('"global"', '"local"'))
    settings = [f"map.mlp.scaled={str(scaled).lower()}", f"map.mlp.steps={steps}"]
    if problem == "elastic-plate":
        # The row that is compared is the scalar one.
        settings.append('output.components="separate"')
    return ["--config", file, *(part for s in settings for part in ("--set", s))]


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
            config = reading(problem, folder, scaled, args.steps)
            yield one(args, folder, data, problem, name, seed, config)
    if not args.no_default:
        yield one(args, folder, data, problem, "default", 0, [])
    data.unlink()


def one(args, folder, data, problem, name, seed, config):
    try:
        errors, out = fit(args, folder, data, seed, config)
    except RuntimeError as error:
        print(f"{problem} {name} {seed}: {error}", file=sys.stderr, flush=True)
        return {"problem": problem, "column": name, "seed": seed, "failed": str(error)[-300:]}
    keys = ("rl2e", "floor", "mean_rl2e", "linear_rl2e", "rms")
    row = {"problem": problem, "column": name, "seed": seed, **{k: errors[k] for k in keys}}
    row["seconds"] = out["seconds"]["total"] if isinstance(out.get("seconds"), dict) else out.get("seconds")
    print(json.dumps(row), flush=True)
    return row


def table(rows, seeds):
    lines = [
        "| problem | printed | plain: mean (range) | scaled: mean (range) | default | floor, plain | training mean | linear map | seconds, plain and scaled |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for problem, printed in PRINTED.items():
        mine = [r for r in rows if r["problem"] == problem and "rl2e" in r]
        if not mine:
            continue
        cells = []
        for column in ("plain", "scaled", "default"):
            found = [r["rl2e"] for r in mine if r["column"] == column]
            if not found:
                cells.append("-")
            elif len(found) == 1:
                cells.append(f"{found[0]:.2e}")
            else:
                count = "" if len(found) == seeds else f", {len(found)} seeds"
                cells.append(f"{statistics.mean(found):.2e} ({min(found):.1e} to {max(found):.1e}{count})")
        plain = next((r for r in mine if r["column"] == "plain"), mine[0])
        seconds = [
            f"{statistics.mean(r['seconds'] for r in mine if r['column'] == c):.0f}"
            for c in ("plain", "scaled")
            if any(r["column"] == c and r["seconds"] for r in mine)
        ]
        values = [f"{plain[k]:.1e}" for k in ("floor", "mean_rl2e", "linear_rl2e")]
        lines.append(f"| {problem} | {printed:.2e} | " + " | ".join(cells + values) + f" | {', '.join(seconds)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--c2cnet", required=True, help="the command")
    parser.add_argument("--device", default="cuda", help="where networks train")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of the features' and the network's start")
    parser.add_argument("--steps", type=int, default=30000, help="steps of a training")
    parser.add_argument("--only", help="some of the problems, separated by commas")
    parser.add_argument("--no-default", action="store_true", help="without the default fits")
    parser.add_argument("--table-only", action="store_true", help="no fit: the table of the rows that are there")
    parser.add_argument("--rows", help="where each row goes as JSON; rows that are there already count")
    parser.add_argument("-o", "--output", help="where the table goes; default: printed")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(PRINTED)
    rows = []
    stored = pathlib.Path(args.rows) if args.rows else None
    if stored and stored.exists():
        rows = [json.loads(line) for line in stored.read_text().splitlines()]
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

Mean relative L2 errors on the test samples; {args.steps} steps with all samples in single precision, data seed 0, {args.seeds}
seed(s) of the network's start; `{args.device}`. The printed figures are RFM-C2C of the paper's tab:performance-summary.

{table(rows, args.seeds)}
"""
    if args.output:
        pathlib.Path(args.output).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()

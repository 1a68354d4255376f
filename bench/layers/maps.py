"""The map of the maps: test error over the number of samples for linear, kernel, network and layered maps.

    python bench/layers/maps.py FOLDER [--c2cnet COMMAND] [--problems binary16,darcy16] [--samples 250,1000]
                                [--maps linear,kernel,mlp,layered,auto] [--seeds 0] [--device cpu] [--write]

FOLDER keeps data files, made by `c2cnet generate` where absent with the seeds named, and one JSON file per fit; existing
ones are not repeated. Fits have the seed of their data. `--write` puts the table into MAPS.md. No setting is chosen here.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TEST = 200

# The generator and its settings; those that end at 16 x 16 points are solved on 421 x 421.
PROBLEMS = {
    "binary16": ("darcy2d", ["coefficient=binary", "points=16", "refine=28", "modes=421"]),
    "darcy16": ("darcy2d", ["points=16", "refine=28", "modes=421"]),
    "burgers33": ("kdv-burgers", ["dispersion=0", "points=33"]),
    "poisson-holes": ("poisson-holes", []),
    "diffusion-holes": ("nonlinear-diffusion", []),
}
# Inputs live on a line and outputs in space and time.
WITHOUT_LAYERS = {"burgers33"}


def call(command, *arguments):
    out = subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def run(options, problem, samples, kind, seed):
    name = f"{problem}.{samples}.{seed}"
    record = options.folder / f"{name}.{kind}.json"
    if record.exists():
        return json.loads(record.read_text())
    data, model = options.folder / f"{name}.npz", options.folder / f"{name}.{kind}.c2c"
    if not data.exists():
        generator, settings = PROBLEMS[problem]
        settings = [*settings, f"n_train={samples}", f"n_test={TEST}"]
        flags = [part for s in settings for part in ("--set", s)]
        subprocess.run([options.c2cnet, "generate", generator, "--seed", str(seed), "-o", str(data), *flags], check=True)
    flags = ["--seed", seed, "--map", kind, "--device", options.device, "--json"]
    fit = call(options.c2cnet, "fit", data, "-o", model, *flags)
    test = call(options.c2cnet, "evaluate", model, data, "--on", "test", "--json")
    result = {"rl2e": test["rl2e"], "map": fit["map"], "seconds": sum(fit["timings"][k] for k in ("search", "encoding", "training"))}
    record.write_text(json.dumps(result, indent=1))
    model.unlink()
    return result


def row(options, problem, samples):
    cells = []
    for kind in options.maps:
        if kind == "layered" and problem in WITHOUT_LAYERS:
            cells.append("-")
            continue
        runs = [run(options, problem, samples, kind, seed) for seed in options.seeds]
        error = statistics.mean(r["rl2e"] for r in runs)
        seconds = statistics.mean(r["seconds"] for r in runs)
        cells.append(f"{error:.2e} ({seconds:.0f} s)")
    return f"| {problem} | {samples:,} | " + " | ".join(cells) + " |"


def main():
    listed = lambda text: text.split(",")
    numbers = lambda text: [int(n) for n in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--c2cnet", default=str(HERE.parents[1] / "target/release/c2cnet"))
    parser.add_argument("--problems", type=listed, default=list(PROBLEMS))
    parser.add_argument("--samples", type=numbers, default=[250, 500, 1000, 2000])
    parser.add_argument("--maps", type=listed, default=["linear", "kernel", "mlp", "layered", "auto"])
    parser.add_argument("--seeds", type=numbers, default=[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True, parents=True)
    lines = [
        "| problem | samples | " + " | ".join(options.maps) + " |",
        "|---|---|" + "---|" * len(options.maps),
    ]
    for problem in options.problems:
        for samples in options.samples:
            lines.append(row(options, problem, samples))
            print(lines[-1], flush=True)
    if options.write:
        seeds = ", ".join(map(str, options.seeds))
        head = (
            "# The map of the maps\n\n    python bench/layers/maps.py FOLDER --write\n\n"
            f"Mean relative L2 error of {TEST} test samples and seconds of the fit on the device {options.device}; seeds of data and fit: {seeds}.\n\n"
        )
        (HERE / "MAPS.md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

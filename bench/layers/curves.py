"""Error over time, from the record of compare.py.

    python bench/layers/compare.py FOLDER --cases darcy-lshape-51000 --maps layered mlp --seeds 0 --device cuda
    python bench/layers/curves.py FOLDER --case darcy-lshape-51000 -o curves.svg

Test samples for networks of other authors, held-out samples for ours, which never see test samples while they train. A
cross is the test error at the end of a whole fit. Needs matplotlib.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

NAMES = {"layered": "layers", "mlp": "network", "auto": "default", "fno": "FNO", "deeponet": "DeepONet", "b2b": "B2B"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--case", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    lines = (options.folder / "runs.jsonl").read_text().splitlines()
    runs = [run for run in map(json.loads, lines) if run["case"] == options.case and "rl2e" in run]
    if not runs:
        parser.error(f"{options.folder}/runs.jsonl has no run of {options.case}; run compare.py first")
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    named = set()
    for run in runs:
        method = run["method"]
        colour = f"C{list(NAMES).index(method)}"
        label = None if method in named else NAMES[method]
        named.add(method)
        if run.get("curve"):
            seconds, _, errors = zip(*run["curve"])
            axes.plot(seconds, errors, color=colour, label=label, lw=1.2)
            label = None
        axes.plot(run["seconds"], run["rl2e"], "x", color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="relative error")
    axes.legend()
    figure.savefig(options.output)


if __name__ == "__main__":
    main()

"""RL2E of c2cnet against the number of training samples: fits to the first N samples of a data file.

    python peers/efficiency.py darcy1d.npz --train 50 100 200 400 800 --methods auto pca-net --out auto-darcy1d.json

The test samples are always the same. The result is a list of objects with method, problem, n_train, rl2e, mse and
seconds (of the whole fit, including its choices). Results that are already in the file are not computed again. Needs NumPy and c2cnet.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

METHODS = ("auto", "pca-net")
PCA_SIZES = (16, 32, 64)
PER_SAMPLE = ("x", "f", "y", "u", "split")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="a data file of c2cnet (.npz)")
    parser.add_argument("--train", type=int, nargs="+", required=True, metavar="N")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["auto"])
    parser.add_argument("--c2cnet", default="c2cnet", help="the command")
    parser.add_argument("--hardware", required=True, help="what the fits run on, for the tables")
    parser.add_argument("--note", help="text for the results, such as what else ran on the machine")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    results = json.loads(options.out.read_text()) if options.out.exists() else []
    done = {(r["method"], r["n_train"]) for r in results}
    with np.load(options.data) as file:
        data = dict(file)
    samples, n_train = len(data["f"]), int(data["n_train"])
    problem = json.loads(str(data["meta"]))["problem"]
    for n in options.train:
        if not 0 < n <= n_train:
            sys.exit(f"error: --train {n}: {options.data} has {n_train} training samples")
        wanted = [m for m in options.methods if (m, n) not in done]
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / "data.npz"
            np.savez(part, **subset(data, n, n_train, samples))
            for method in wanted:
                fits = [fit(options.c2cnet, part, flags) for flags in settings(method, n)]
                # By the error on training samples that were held out.
                best, errors = min(fits, key=lambda pair: pair[0]["rl2e"])
                result = {
                    "method": method, "problem": problem, "n_train": n, "n_test": errors["n_samples"],
                    "rl2e": errors["rl2e"], "mse": errors["mse"], "floor": errors["floor"],
                    "seconds": sum(f["seconds"] for f, _ in fits), "map": best["map"],
                    "parameters": best["parameters"], "hardware": options.hardware,
                    **({"note": options.note} if options.note else {}),
                }
                print(f"{method} {problem} {n}: {result['rl2e']:.3e} in {result['seconds']:.1f} s", flush=True)
                results.append(result)
                write(options.out, json.dumps(results, indent=1) + "\n")


def settings(method: str, n: int) -> list[list[str]]:
    """Flags of the fits among which the method chooses: one for auto, which chooses by itself."""
    if method == "auto":
        return [[]]
    # PCA-Net is the same three parts with principal components as bases, here of several sizes.
    bases = [f"family='pca', functions={size}" for size in PCA_SIZES if size < n]
    return [["--input-basis", basis, "--output-basis", basis, "--withhold", "0"] for basis in bases]


def fit(command: str, data: Path, flags: list[str]) -> tuple[dict, dict]:
    """A fit and its errors on the test samples."""
    model = data.with_name("model.c2c")
    fitted = c2cnet(command, "fit", data, "-o", model, *flags)
    fitted["parameters"] = c2cnet(command, "inspect", model)["map"]["parameters"]
    return fitted, c2cnet(command, "evaluate", model, data)


def subset(data: dict, n: int, n_train: int, samples: int) -> dict:
    """The first n training samples and all test samples."""
    keep = np.r_[0:n, n_train:samples]
    shared = {"x", "y"} & {k for k in data if data[k].ndim < 3}
    part = {k: v[keep] if k in PER_SAMPLE and k not in shared else v for k, v in data.items()}
    return part | {"n_train": np.int64(n)}


def c2cnet(command: str, *arguments) -> dict:
    done = subprocess.run([command, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} {arguments[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    os.replace(part, path)


if __name__ == "__main__":
    main()

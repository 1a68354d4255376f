"""Fits every data file of a folder with default settings, beside plain baselines, and writes the table.

    python bench/public/run.py FOLDER [--c2cnet BINARY] [--seeds 3] [--timeout 120] [--only NAME,NAME]
                               [--set KEY=VALUE ...] [--shuffle SEED] [-o RESULTS.md]

FOLDER has .npz files in c2cnet's format with `n_train`; models go to a temporary folder. A fit that fails
or takes too long is a row that says so. `--set` is handed to `c2cnet fit`, to compare other settings; `--shuffle`
draws which samples train, where the order of a file means something and its last samples are unlike the first.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import baselines
import datafile
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclass
class Fit:
    """One default fit: errors on the test samples, seconds on the clock, or why there are none."""

    seconds: float
    errors: dict = field(default_factory=dict)
    failure: str = ""


@dataclass
class Row:
    name: str
    data: datafile.Vectors
    fits: list
    plain: list

    @property
    def done(self):
        return [fit for fit in self.fits if not fit.failure]

    def mean(self, key):
        values = [fit.errors.get(key) for fit in self.done]
        return None if not values or None in values else statistics.fmean(values)


def progress(text):
    print(text, file=sys.stderr, flush=True)


def call(command, timeout):
    """The JSON that `command` prints."""
    out = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout)
    if out.returncode != 0:
        last = out.stderr.strip().splitlines()[-1:] or [f"exit code {out.returncode}"]
        raise RuntimeError(last[0])
    return json.loads(out.stdout)


def fit(arguments, data, seed):
    """`c2cnet fit` and `c2cnet evaluate`, as a user runs them."""
    clock = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.c2c"
        settings = [part for pair in arguments.set for part in ("--set", pair)]
        try:
            command = [arguments.c2cnet, "fit", data, "-o", model, "--seed", seed, "--json", *settings]
            call(command, arguments.timeout)
            seconds = time.perf_counter() - clock
            errors = call([arguments.c2cnet, "evaluate", model, data, "--json"], arguments.timeout)
        except subprocess.TimeoutExpired:
            return Fit(time.perf_counter() - clock, failure=f"more than {arguments.timeout:g} s")
        except RuntimeError as error:
            return Fit(time.perf_counter() - clock, failure=str(error))
    return Fit(seconds, errors)


def shuffled(path, seed, folder):
    """The same file with its samples in another order."""
    arrays = dict(np.load(path))
    samples = max(len(arrays[key]) for key in arrays if key.split(".")[0] in ("f", "u", "p", "q"))
    order = np.random.default_rng(seed).permutation(samples)
    for key, array in arrays.items():
        per_sample = key.split(".")[0] in ("f", "u", "p", "q") or (array.ndim == 3 and len(array) == samples)
        arrays[key] = array[order] if per_sample else array
    copy = pathlib.Path(folder) / path.name
    np.savez(copy, **arrays)
    return copy


def measure(arguments, path):
    """The row of one file, or none where it has no test samples."""
    data = datafile.read(path)
    if data.unfit:
        progress(f"{path.stem}: skipped, {data.unfit}")
        return None
    row = Row(path.stem, data, [], [])
    for seed in range(arguments.seeds):
        row.fits.append(fit(arguments, path, seed))
        last = row.fits[-1]
        progress(f"{path.stem}: seed {seed}: {last.failure or figure(last.errors['rl2e'])}, {clocked(last.seconds)} s")
        if last.failure:
            break
    if data.unequal:
        progress(f"{path.stem}: no baselines, {data.unequal}")
        return row
    row.plain = baselines.measure_all(data.inputs, data.outputs, data.n_train)
    for outcome in row.plain:
        progress(f"{path.stem}: {outcome.name}: {figure(outcome.test)}, {clocked(outcome.seconds)} s")
    return row


def figure(value):
    return "-" if value is None else f"{value:.1e}"


def clocked(seconds):
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


def spread(values):
    """The mean, and the range where there are several."""
    mean = figure(statistics.fmean(values))
    return mean if len(values) == 1 else f"{mean} ({figure(min(values))} to {figure(max(values))})"


def cells(row):
    """What the first table says of one file."""
    rl2e = [fit.errors["rl2e"] for fit in row.done]
    failure = next((fit.failure for fit in row.fits if fit.failure), "")
    error = failure or spread(rl2e)
    seconds = clocked(statistics.median(fit.seconds for fit in row.fits))
    samples = f"{row.data.n_train} + {row.data.samples - row.data.n_train}"
    start = [row.name, samples, error, figure(row.mean("floor")), figure(row.mean("withheld_at_fit")), seconds]
    if not row.plain:
        return [*start, "-", "-", "-", "-", "-"]
    chosen = min(row.plain, key=lambda outcome: outcome.validation)
    best = min(row.plain, key=lambda outcome: outcome.test)
    ratio = "-" if failure or best.test == 0 else f"{row.mean('rl2e') / best.test:.2g}"
    return [*start, figure(chosen.test), best.name, figure(best.test), clocked(best.seconds), ratio]


HEAD = [
    "file",
    "samples",
    "c2cnet: mean (range)",
    "floor",
    "withheld",
    "seconds",
    "plain, by validation",
    "best plain",
    "its error",
    "its seconds",
    "ratio",
]


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(arguments, version, rows):
    names = [f"{model.name}, {features.name}" for model, features in baselines.BASELINES]
    plain = [[row.name, *(figure(o.test) for o in row.plain)] for row in rows if row.plain]
    settings = ", ".join(arguments.set) or "default settings"
    if arguments.shuffle is not None:
        settings += f", training samples drawn with seed {arguments.shuffle}"
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}"
    return f"""# Default fits beside plain baselines

{version}, {settings}, {arguments.seeds} seed(s) of the fit; {machine}.
Errors are mean relative L2 errors on the test samples; *withheld* is that of held-out training samples at output points
which the choice did not see (`-`: samples have points of their own, or no point was withheld). *Best plain* is the
baseline with the smallest test error, *by validation* the one that cross-validation picks; *ratio* is
c2cnet's mean over the best one: 1 or less is level or ahead.

{table(HEAD, [cells(row) for row in rows])}

## Test error of every baseline

{table(["file", *names], plain)}
"""


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--c2cnet", type=pathlib.Path, default=ROOT / "target/release/c2cnet")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="of one fit")
    parser.add_argument("--only", metavar="NAMES", help="names of files, separated by commas")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="draw which samples train")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds: 1 or more")
    return arguments


def main():
    arguments = parse()
    version = subprocess.run([arguments.c2cnet, "--version"], check=True, capture_output=True, text=True)
    paths = sorted(arguments.folder.glob("*.npz"))
    if arguments.only:
        paths = [path for path in paths if path.stem in arguments.only.split(",")]
    if not paths:
        sys.exit(f"no .npz file to fit in {arguments.folder}")
    rows = []
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            shown = path if arguments.shuffle is None else shuffled(path, arguments.shuffle, folder)
            row = measure(arguments, shown)
        rows += [row] if row else []
        text = report(arguments, version.stdout.strip(), rows)
        # After every file: what was measured stays, whatever happens to the next.
        if arguments.output:
            arguments.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""c2cnet.dask on a local cluster of processes: the same bits for any workers, workers killed, seconds of two beside one.

    bench/dask/run.py FOLDER            # all parts, then RESULTS.md
    bench/dask/run.py FOLDER --parts bits kills --runs 3

Run it with a Python that has `c2cnet[dask]`. It makes 1D Darcy flow (seed 0) in blocks in the folder, where they stay, and
fits a kernel map with 1,500 centres. Every worker has one thread. Fails if bits differ or samples are lost; the ratio of
seconds is only printed, since other work on the machine changes it.
"""

import argparse
import hashlib
import json
import os
import platform
import random
import signal
import threading
import time
from pathlib import Path

import c2cnet
import c2cnet.dask
import dask
import dask.array as da
import distributed
import numpy as np

BLOCKS, SAMPLES, POINTS, CENTRES = 20, 2000, 200, 1500
HERE = Path(__file__).parent
SETTINGS = {
    "first": SAMPLES,
    "centres": CENTRES,
    "map": c2cnet.Kernel(passes=1),
    "input": c2cnet.Polynomial(functions=64),
    "output": c2cnet.Polynomial(functions=64),
}


class OneThread(distributed.WorkerPlugin):
    """Also for workers that replace killed ones."""

    def setup(self, worker):
        c2cnet.set_threads(1)


def make(folder):
    """Blocks of samples as files; the points."""
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(BLOCKS):
        if not (folder / f"u{k}.npy").exists():
            data = c2cnet.generate("darcy1d", n_train=SAMPLES, n_test=1, points=POINTS, seed=k)
            np.save(folder / f"f{k}.npy", data.train.f)
            np.save(folder / f"u{k}.npy", data.train.u)
            np.save(folder / "x.npy", data.x)
    return np.load(folder / "x.npy")


def arrays(folder):
    def one(name):
        blocks = [dask.delayed(np.load, pure=False)(folder / f"{name}{k}.npy") for k in range(BLOCKS)]
        return da.concatenate([da.from_delayed(b, (SAMPLES, POINTS), float) for b in blocks])

    return one("f"), one("u")


def fit(folder, x, workers, kill_after=None, seed=0):
    """What one fit gave and took; a random worker is killed after some seconds."""
    cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        client.register_plugin(OneThread())
        f, u = arrays(folder)
        before = client.run(time.process_time)
        pids = client.run(os.getpid)
        died = []
        if kill_after is not None:
            victim = random.Random(seed).choice(sorted(pids.values()))

            def kill():
                time.sleep(kill_after)
                os.kill(victim, signal.SIGKILL)
                died.append(victim)

            killer = threading.Thread(target=kill)
            killer.start()
        begin = time.monotonic()
        told = []
        listener = lambda event: told.append((time.monotonic() - begin, event["step"]))  # noqa: E731
        model = c2cnet.dask.fit(f, u, x, x, verbose=listener, **SETTINGS)
        seconds = time.monotonic() - begin
        if kill_after is not None:
            assert died, "the fit was done before a worker was killed"
            killer.join()
        after = client.run(time.process_time)
        cpu = sum(after[w] - before.get(w, 0.0) for w in after)
        # Until the first block, one worker settles the spaces and the others wait.
        alone = next((at for at, step in told if "summed" in step), 0.0)
        return {
            "digest": hashlib.sha256(model._model.to_bytes()).hexdigest(),
            "samples": model.report_["samples"],
            "rl2e": model.errors_.rl2e,
            "seconds": seconds,
            "alone": alone,
            "cpu": cpu,
            "load": os.getloadavg()[0],
        }


def bits(folder, x, kept):
    kept["bits"] = {str(workers): fit(folder, x, workers) for workers in (1, 2, 4)}
    digests = {run["digest"] for run in kept["bits"].values()}
    assert len(digests) == 1, kept["bits"]


def kills(folder, x, kept, runs):
    expected = fit(folder, x, 2)
    draws = random.Random(1)
    kept["kills"] = []
    for run in range(runs):
        after = expected["seconds"] * draws.uniform(0.05, 0.8)
        got = {**fit(folder, x, 2, kill_after=after, seed=run), "after": after}
        assert got["digest"] == expected["digest"] and got["samples"] == expected["samples"], got
        kept["kills"].append(got)
        print("killed after", f"{after:.1f} s:", got, flush=True)


def speed(folder, x, kept, runs):
    kept["speed"] = []
    for _ in range(runs):
        pair = [fit(folder, x, workers) for workers in (1, 2)]
        kept["speed"].append(pair)
        print("one and two workers:", pair, flush=True)


def text(kept):
    lines = [(HERE / "RESULTS.md").read_text().split("\n## Figures\n")[0] if (HERE / "RESULTS.md").exists() else "# Dask"]
    lines += [
        f"\n## Figures\n\n{platform.machine()}, {os.cpu_count()} cores; Dask {dask.__version__}. {BLOCKS * SAMPLES:,} samples of "
        f"{POINTS} points in blocks of {SAMPLES:,}, kernel map with {CENTRES:,} centres, one thread per worker."
    ]
    if "bits" in kept:
        lines += ["\n| workers | seconds | processor seconds | load | bits |\n|---|---|---|---|---|"]
        first = kept["bits"]["1"]["digest"]
        for workers, run in kept["bits"].items():
            same = "the same" if run["digest"] == first else "OTHER"
            lines += [f"| {workers} | {run['seconds']:.1f} | {run['cpu']:.1f} | {run['load']:.1f} | {same} |"]
        run = kept["bits"]["1"]
        lines += [f"\nFitted to {run['samples']:,} samples, RL2E on held-out ones {run['rl2e']:.2e}."]
    if "kills" in kept:
        runs = kept["kills"]
        times = ", ".join(f"{run['after']:.1f}" for run in runs)
        lines += [
            f"\nOf two workers one was killed in each of {len(runs)} runs, after {times} s: each gave a model of all samples with the "
            "bits of an undisturbed run."
        ]
    if "speed" in kept:
        lines += [
            "\n| run | seconds, 1 worker | 2 workers | ratio | without the first block | processor seconds per block, 1 worker | "
            "2 workers | cores in use, 1 worker | 2 workers | load |\n|---|---|---|---|---|---|---|---|---|---|"
        ]
        for number, (one, two) in enumerate(kept["speed"], 1):
            rest = (one["seconds"] - one["alone"]) / (two["seconds"] - two["alone"])
            lines += [
                f"| {number} | {one['seconds']:.1f} | {two['seconds']:.1f} | {one['seconds'] / two['seconds']:.2f} | {rest:.2f} | "
                f"{one['cpu'] / BLOCKS:.2f} | {two['cpu'] / BLOCKS:.2f} | {one['cpu'] / one['seconds']:.2f} | "
                f"{two['cpu'] / two['seconds']:.2f} | {two['load']:.1f} |"
            ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where blocks go; 130 MB")
    parser.add_argument("--parts", nargs="*", choices=["bits", "kills", "speed"], default=["bits", "kills", "speed"])
    parser.add_argument("--runs", type=int, default=10, help="runs with a killed worker")
    parser.add_argument("--pairs", type=int, default=3, help="runs of one worker and of two")
    args = parser.parse_args()
    x = make(args.folder)
    file = args.folder / "runs.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    for part in args.parts:
        match part:
            case "bits":
                bits(args.folder, x, kept)
            case "kills":
                kills(args.folder, x, kept, args.runs)
            case "speed":
                speed(args.folder, x, kept, args.pairs)
        file.write_text(json.dumps(kept))
    (HERE / "RESULTS.md").write_text(text(kept))
    print(text(kept))


if __name__ == "__main__":
    main()

"""Layers and the default map beside networks of other authors: the same data, the same seconds, the same device.

    python bench/layers/compare.py FOLDER --c2cnet target/release/c2cnet --device cuda --seeds 0 1 2 --limit 540
    python bench/layers/compare.py FOLDER --cases binary-16 binary-85 --together --device cuda
    python bench/layers/compare.py FOLDER --table

FOLDER keeps the data files, made by the command where they are absent (seed 0), and `runs.jsonl`, one line per run as
soon as it ends. Runs that are there are not repeated, failed ones neither; what does not fit into --limit seconds is left
to the next call. A peer trains for as many seconds as the fit of `--map layered` with the same seed took, all of it included
(or --seconds). With --together the cases run beside each other, those of each case one after the other. Of networks and
layers the record keeps the error on held-out samples over time, of peers that on test samples (curves.py draws them). Needs
Python with torch and NumPy.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Case:
    """A data set and who is trained on it."""

    problem: str
    settings: tuple[str, ...] = ()
    peers: tuple[str, ...] = ("fno",)
    layered: tuple[str, ...] = ()  # flags of `--map layered`
    maps: tuple[str, ...] = ("layered", "mlp", "auto")
    quick: tuple[str, ...] = ("n_train=24", "n_test=8")


BENCHMARK = ("coefficient=binary", "modes=421", "n_train=1000", "n_test=200")
ALL_POINTS = ("--input-basis", 'family="point-values"')


def layers(functions: int, points: int = 1024, epochs: int = 60, channels: int = 32) -> tuple[str, ...]:
    """More functions, latent points and passes than by default, for a GPU."""
    settings = (f"functions={functions}", f"points={points}", f"epochs={epochs}", f"channels={channels}")
    return tuple(word for setting in settings for word in ("--set", f"map.layered.{setting}"))


# Ten states on 64 x 64 points are more values than layers take as they are, and the space that is best for other maps
# leaves out more of them than the error of FNO.
WAVES = ("--input-basis", 'family="fourier", kind="periodic", functions=441')
FLOW = (*WAVES, *layers(441, 4096))

CASES = {
    "binary-16": Case("darcy2d", (*BENCHMARK, "points=16", "refine=28"), layered=ALL_POINTS),
    "binary-85": Case("darcy2d", (*BENCHMARK, "points=85", "refine=5"), layered=(*ALL_POINTS, *layers(300, 7225)),
                      quick=("n_train=24", "n_test=8", "points=29", "refine=1")),
    "darcy2d": Case("darcy2d", layered=layers(300, 5041), quick=("n_train=24", "n_test=8", "points=29")),
    # Its inputs live on a line and its outputs on a rectangle: no layers.
    "kdv-burgers": Case("kdv-burgers", maps=("mlp", "auto"), quick=("n_train=24", "n_test=8", "points=26")),
    "navier-stokes-1e-3": Case("navier-stokes", ("viscosity=0.001",), layered=FLOW,
                               quick=("n_train=24", "n_test=8", "points=32", "grid=32", "modes=8", "steps=20")),
    # The same with inputs in the space that is best for other maps.
    "navier-stokes-1e-3-few-waves": Case("navier-stokes", ("viscosity=0.001",), layered=layers(441, 4096), peers=(),
                                         quick=("n_train=24", "n_test=8", "points=32", "grid=32", "modes=8", "steps=20")),
    "navier-stokes-1e-4": Case("navier-stokes", ("viscosity=0.0001", "grid=128", "steps=100", "modes=42"), layered=FLOW,
                               quick=("n_train=24", "n_test=8", "points=32", "grid=32", "modes=8", "steps=20")),
    "nonlinear-diffusion": Case("nonlinear-diffusion", peers=("deeponet", "b2b"),
                                quick=("n_train=24", "n_test=8", "points=320", "reference=1300")),
    "darcy-lshape": Case("darcy-lshape", ("n_train=5000", "n_test=1000"), peers=("deeponet", "b2b"),
                         quick=("n_train=24", "n_test=8", "grid=11", "points=100", "reference=600")),
    # As many samples as the paper has.
    "darcy-lshape-51000": Case("darcy-lshape", peers=("deeponet", "b2b"), layered=layers(256, channels=48, epochs=40),
                               quick=("n_train=24", "n_test=8", "grid=11", "points=100", "reference=600")),
}
MAPS = ("layered", "mlp", "auto")


class OutOfTime(Exception):
    """The limit is reached: what is left is for the next call."""


class Clock:
    def __init__(self, limit: float):
        self.end = time.monotonic() + limit

    def left(self) -> float:
        return self.end - time.monotonic()


class Record:
    """The runs of a folder, one JSON object per line; a line that was cut off by a crash is dropped."""

    def __init__(self, path: Path):
        self.path, self.rows = path, []
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                self.rows.append(json.loads(line))
            except json.JSONDecodeError:
                print(f"{path}: a line is cut off and left out", file=sys.stderr)

    def find(self, **key) -> dict | None:
        return next((row for row in self.rows if all(row.get(k) == v for k, v in key.items())), None)

    def add(self, row: dict) -> None:
        self.rows.append(row)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        figure = f"{row['rl2e']:.3e} in {row['seconds']:.1f} s" if "rl2e" in row else row["error"]
        print(f"{row['case']} {row['method']} seed {row['seed']}: {figure}", flush=True)


def main() -> None:
    options = arguments()
    record = Record(options.folder / "runs.jsonl")
    if options.table:
        print(table(record.rows))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.together:
        together(options.cases)
        return
    clock = Clock(options.limit)
    try:
        for seed in options.seeds:  # every case once before any twice
            for name in options.cases:
                compare(name, seed, options, record, clock)
    except OutOfTime:
        print(f"stopped after {options.limit:g} s; call again to go on", file=sys.stderr)


def together(cases: list[str]) -> None:
    """Calls this script once for each case, each on cores of its own where the system allows that."""
    given = [word for word in sys.argv if word != "--together"]
    if "--cases" in given:
        start = given.index("--cases")
        given = given[:start] + [w for w in given[start + 1:] if w not in cases]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    share = len(cores) // len(cases)
    running = []
    for k, case in enumerate(cases):
        own = cores[k * share:(k + 1) * share]
        begin = (lambda own=own: os.sched_setaffinity(0, own)) if own else None
        running.append(subprocess.Popen([sys.executable, *given, "--cases", case], preexec_fn=begin))
    if any([process.wait() for process in running]):
        sys.exit("a case failed; what the others found is recorded")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--c2cnet", default=str(ROOT / "target/release/c2cnet"), help="the command")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE",
                        help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--maps", nargs="+", choices=MAPS, default=["layered", "auto"])
    parser.add_argument("--together", action="store_true", help="one process per case, all at a time")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seconds", type=float, help="of a peer's training; default: as many as `layered` took")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds of this call, all in all")
    parser.add_argument("--set", dest="settings", nargs="+", default=[], metavar="KEY=VALUE",
                        help="further settings of `--map layered`")
    parser.add_argument("--quick", action="store_true", help="tiny data, to try the script")
    parser.add_argument("--table", action="store_true", help="write the table of what there is, and run nothing")
    options = parser.parse_args()
    options.folder = options.folder.resolve()  # commands run elsewhere
    found = shutil.which(options.c2cnet)
    if not found and not options.table:
        parser.error(f"--c2cnet {options.c2cnet}: no such command; build it, or name it")
    options.c2cnet = Path(found or options.c2cnet).resolve()
    return options


def compare(name: str, seed: int, options: argparse.Namespace, record: Record, clock: Clock) -> None:
    case = CASES[name]
    data = options.folder / f"{name}{'-quick' if options.quick else ''}.npz"
    key = dict(case=data.stem, seed=seed, device=options.device)
    maps = [m for m in options.maps if m in case.maps]
    wanted = [m for m in (*maps, *case.peers) if not record.find(method=m, **key)]
    if not wanted:
        return
    if not data.exists():
        generate(case, data, options, clock)
    for method in wanted:
        started = time.monotonic()
        try:
            if method in MAPS:
                row = fit(case, method, data, seed, options, clock)
            else:
                row = train(method, data, seed, budget(key, options, record), options, clock)
        except subprocess.CalledProcessError as failed:
            last = (failed.stderr or "").strip().splitlines()[-1:] or [f"exit code {failed.returncode}"]
            row = {"error": last[0], "seconds": round(time.monotonic() - started, 1)}
        record.add({**key, "method": method, **row})


def generate(case: Case, data: Path, options: argparse.Namespace, clock: Clock) -> None:
    settings = [*case.settings, *(case.quick if options.quick else ())]
    settings = {s.split("=")[0]: s for s in settings}.values()  # the last one counts
    flags = [word for setting in settings for word in ("--set", setting)]
    part = data.with_suffix(".part.npz")
    call(clock, options.c2cnet, "generate", case.problem, "-o", part, "--force", "--seed", 0, *flags)
    part.rename(data)


def fit(case: Case, kind: str, data: Path, seed: int, options: argparse.Namespace, clock: Clock) -> dict:
    model = data.with_name(f"{data.stem}.{kind}.{seed}.c2c")
    own = [*case.layered, *(w for s in options.settings for w in ("--set", s))] if kind == "layered" else []
    metrics = model.with_suffix(".jsonl")
    flags = ["--map", kind, "--seed", seed, "--device", options.device, "--metrics", metrics, *own]
    metrics.unlink(missing_ok=True)
    started = time.monotonic()
    fitted = answer(clock, options.c2cnet, "fit", data, "-o", model, "--force", *flags)
    seconds = time.monotonic() - started
    errors = answer(clock, options.c2cnet, "evaluate", model, data)
    parameters = answer(clock, options.c2cnet, "inspect", model)["map"].get("parameters")
    return {"rl2e": errors["rl2e"], "seconds": round(seconds, 2), "parameters": parameters,
            "map": fitted["map"], "timings": fitted["timings"], "withheld_rl2e": fitted.get("withheld_rl2e"),
            "curve": held_out(metrics, fitted), "flags": [str(f) for f in flags]}


def held_out(metrics: Path, fitted: dict) -> list[list[float]]:
    """Seconds, steps and error on held-out samples while a network was judged; seconds count what came before it."""
    training = (fitted.get("network") or {}).get("judged")
    if not training or not metrics.exists():
        return []
    before = fitted["timings"]["search"] + fitted["timings"]["encoding"]
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    rows = [row for row in rows if row.get("validation_rl2e") is not None]
    return [[round(before + training["seconds"] * row["step"] / training["steps"], 3), row["step"],
             row["validation_rl2e"]] for row in rows]


def budget(key: dict, options: argparse.Namespace, record: Record) -> float | None:
    """Seconds for a peer; none where nothing says how many."""
    if options.seconds:
        return options.seconds
    layered = record.find(method="layered", **key) or {}
    return layered["seconds"] if "rl2e" in layered else (record.find(method="auto", **key) or {}).get("seconds")


def train(peer: str, data: Path, seed: int, seconds: float | None, options: argparse.Namespace, clock: Clock) -> dict:
    if seconds is None:
        return {"error": "no fit says how many seconds; give --seconds", "seconds": 0.0}
    words = [sys.executable, "-m", "peers.run", peer, data.resolve(), "--budget", seconds, "--seed", seed,
             "--device", options.device, "--quiet"]
    result = json.loads(call(clock, *words))
    return {"rl2e": result["rl2e"], "seconds": result["train_seconds"], "parameters": result["parameters"],
            "epochs": result["epochs"], "hardware": result["hardware"], "curve": result["curve"]}


def answer(clock: Clock, *words) -> dict:
    return json.loads(call(clock, *words, "--json"))


def call(clock: Clock, *words) -> str:
    """What a command writes; it is ended when the time is up."""
    if clock.left() <= 0:
        raise OutOfTime
    try:
        ran = subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True, cwd=ROOT,
                             timeout=clock.left())
    except subprocess.TimeoutExpired as late:
        raise OutOfTime from late
    return ran.stdout


def table(rows: list[dict]) -> str:
    """Means over seeds, and the ratio to the best peer on the same data and device."""
    lines = ["| data | device | method | seeds | test RL2E | seconds | parameters | over the best peer |",
             "|---|---|---|---|---|---|---|---|"]
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault((row["case"], row["device"], row["method"]), []).append(row)
    for (case, device, method), runs in sorted(groups.items()):
        done = [run for run in runs if "rl2e" in run]
        if not done:
            lines.append(f"| {case} | {device} | {method} | - | {runs[0]['error']} | | | |")
            continue
        peers = [mean([r["rl2e"] for r in other if "rl2e" in r])
                 for (c, d, m), other in groups.items()
                 if (c, d) == (case, device) and m not in MAPS and any("rl2e" in r for r in other)]
        error = mean([run["rl2e"] for run in done])
        spread = max(run["rl2e"] for run in done) - min(run["rl2e"] for run in done)
        ratio = f"{error / min(peers):.2f}" if peers else "-"
        kind = f"{method} ({done[0]['map']})" if method == "auto" else method
        parameters = f"{done[0]['parameters']:,}" if done[0].get("parameters") else "-"
        lines.append(f"| {case} | {device} | {kind} | {len(done)} | {error:.2e} (range {spread:.0e}) | "
                     f"{mean([run['seconds'] for run in done]):.1f} | {parameters} | {ratio} |")
    return "\n".join(lines)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    main()

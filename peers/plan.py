"""Runs the peers of a plan file on one machine, some at a time, within a limit of wall-clock seconds.

    python -m peers.plan peers/gpu_plan.txt --part 1 --data FOLDER --out FOLDER --limit 520

A line of the plan: part, group, peer, problem, seconds, further options of peers.run. Groups run one after
another; lines of one group start at the same time and share the machine, which their results say. Lines of
one lane, written GROUP/LANE, take turns: all read their data at once, then train one after the other. Budgets
are cut where the limit would be passed. If there is a PROBLEM-test.npz next to PROBLEM.npz, its test samples
are used. One file results-partK.json collects the results.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

STARTUP = 30.0  # seconds for importing, reading data and evaluating, in addition to the training


@dataclass
class Line:
    part: int
    group: str
    lane: str  # empty: trains at once
    peer: str
    problem: str
    seconds: float
    options: list[str]

    @property
    def name(self) -> str:
        """Of the result's file: peer, problem and the options that tell results apart."""
        options = " ".join(self.options).replace("--tf32", "").replace("--train ", "--train")
        options = options.replace("--label ", "").replace("--schedule ", "").replace("--", "")
        return "-".join([self.peer, self.problem, *options.split()])


def read_plan(path: Path) -> list[Line]:
    lines = []
    for number, text in enumerate(path.read_text().splitlines(), start=1):
        words = shlex.split(text, comments=True)
        if not words:
            continue
        try:
            part, group, peer, problem, seconds, *options = words
            group, _, lane = group.partition("/")
            lines.append(Line(int(part), group, lane, peer, problem, float(seconds), options))
        except ValueError:
            sys.exit(f"error: {path}:{number}: expected PART GROUP PEER PROBLEM SECONDS [OPTIONS], found {text!r}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m peers.plan", description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path)
    parser.add_argument("--part", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with PROBLEM.npz")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--limit", type=float, default=520, help="seconds in all")
    parser.add_argument("--scale", type=float, default=1, help="factor on all budgets")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--note", help="what else the machine does, for the results")
    parser.add_argument("--needs", action="store_true", help="print the problems of the part, run nothing")
    options = parser.parse_args()
    lines = [line for line in read_plan(options.plan) if line.part == options.part]
    if not lines:
        sys.exit(f"error: {options.plan} has no part {options.part}")
    if options.needs:
        print(*dict.fromkeys(line.problem for line in lines))
        return
    end = time.monotonic() + options.limit
    results: list[dict] = []
    for group, members in groupby(lines, key=lambda line: line.group):
        left = end - time.monotonic() - STARTUP
        if left < 5 * options.scale:
            print(f"group {group}: left out, no time", flush=True)
            continue
        run_group(group, list(members), left, options, results)
        write(options.out / f"results-part{options.part}.json", results)


def run_group(group: str, members: list[Line], left: float, options, results: list[dict]) -> None:
    threads = max((os.cpu_count() or 1) // len(members), 1)
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    started = time.monotonic()
    runs = []
    for line in members:
        mates = [other for other in members if other.lane == line.lane] if line.lane else [line]
        budget = line.seconds * min(options.scale, left / sum(mate.seconds for mate in mates))
        out = options.out / "runs" / f"{line.name}.json"
        log = options.out / "runs" / f"{line.name}.log"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.unlink(missing_ok=True)
        command = [sys.executable, "-m", "peers.run", line.peer, str(options.data / f"{line.problem}.npz"),
                   "--budget", str(budget), "--device", options.device, "--out", str(out), *line.options]
        test = options.data / f"{line.problem}-test.npz"
        if test.exists():
            command += ["--test", str(test)]
        if line.lane:
            command += ["--turn", str(options.out / "runs" / f"{group}-{line.lane}.turn")]
        others = [other.name for other in members if other not in mates]
        if others or options.note:
            command += ["--note", "shared the machine with " + ", ".join(others + [options.note] * bool(options.note))]
        runs.append((line, out, log, subprocess.Popen(command, env=environment, stderr=log.open("w"))))
    for line, out, log, process in runs:
        try:
            code = process.wait(timeout=max(left + STARTUP - (time.monotonic() - started), 1))
        except subprocess.TimeoutExpired:
            process.kill()
            code = "stopped, out of time"
        if out.exists():
            result = json.loads(out.read_text())
            results.append(result)
            print(f"{line.name}: RL2E {result['rl2e']:.3e} after {result['train_seconds']:.0f} s, "
                  f"{result['epochs']} epochs", flush=True)
        else:
            last = log.read_text().splitlines()[-8:]
            print(f"{line.name}: no result ({code})", *last, sep="\n  ", flush=True)
    print(f"group {group}: {time.monotonic() - started:.0f} s", flush=True)


def write(path: Path, results: list[dict]) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text("[\n" + ",\n".join(json.dumps(result) for result in results) + "\n]\n")
    os.replace(part, path)


if __name__ == "__main__":
    main()

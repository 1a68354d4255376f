"""Kills a training at random moments, resumes it, and checks what is on disk each time.

    cargo build --release -p c2cnet-cli
    python3 bench/training/kill9.py [--kills 20] [--seed 0]

After every kill the model file must be the old one or the new one, byte for byte, and loadable; the
next run must continue from the last checkpoint; the final model must be, byte for byte, that of an
uninterrupted run, and so must the metrics. Fails otherwise.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASES = [
    "--input-basis", "family='polynomial', functions=24",
    "--output-basis", "family='fourier', kind='sine', functions=24",
]  # fmt: skip


def check(fine, what):
    if not fine:
        sys.exit(f"FAILED: {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default=ROOT / "target/release/c2cnet")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--steps", type=int, default=12000, help="of each of the two networks")
    parser.add_argument("--map", default="mlp", choices=["mlp", "auto"])
    parser.add_argument("--recipe", default="fast", choices=["fast", "paper"])
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def command(*words):
            return [str(args.command), *map(str, words)]

        def run(*words):
            done = subprocess.run(command(*words), cwd=folder, capture_output=True, text=True)
            check(done.returncode == 0, f"{words}: {done.stderr}")
            return done

        def fit(model, *more):
            return [
                "fit", "data.npz", "-o", model, *BASES, "--checkpoint-every", "0.1",
                "--map", args.map, "--recipe", args.recipe,
                "--set", f"map.mlp.steps={args.steps}", "--set", "map.mlp.hidden=[64, 64]",
                # A poor kernel: `auto` is to train all of its networks.
                "--set", "map.budget=4000000", "--set", "map.kernel.nugget=1.0", *more,
            ]  # fmt: skip

        def read(file):
            return (folder / file).read_bytes()

        sizes = ["points=101", "n_train=200", "n_test=20", "length=0.2"]
        run("generate", "darcy1d", "-o", "data.npz", *(w for s in sizes for w in ("--set", s)))
        begin = time.monotonic()
        run(*fit("whole.c2c", "--metrics", "whole.jsonl"))
        seconds = time.monotonic() - begin
        new = read("whole.c2c")
        print(f"uninterrupted: {seconds:.2f} s, {len(new)} bytes")

        run("fit", "data.npz", "-o", "old.c2c", *BASES, "--map", "linear")
        old = read("old.c2c")
        model, kept = folder / "model.c2c", folder / "model.c2c.training"
        kills = finished = came_far = 0
        model.write_bytes(old)
        over = False
        while kills < args.kills or not over:
            last = kills >= args.kills
            pause = rng.uniform(0, seconds / 3)
            words = fit("model.c2c", "--resume", "--metrics", "model.jsonl")
            process = subprocess.Popen(
                command(*words), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            try:
                _, said = process.communicate(timeout=None if last else pause)
                check(process.returncode == 0, f"resume: {said}")
            except subprocess.TimeoutExpired:
                process.kill()
                _, said = process.communicate()
                kills += 1
            went_on = re.findall(r"resuming after (\d+) steps", said)
            came_far += any(int(steps) > 0 for steps in went_on)
            check("damaged" not in said, said)
            now = model.read_bytes()
            check(now in (old, new), "the model is neither the old nor the new one")
            run("inspect", "model.c2c")
            over = process.returncode == 0
            print(
                f"{'finished' if over else f'kill {kills:2} after {pause:.2f} s'}: "
                f"model {'new' if now == new else 'old'}, continued from {', '.join(went_on) or '-'}"
            )
            if over:
                finished += 1
                check(now == new, "the model differs from that of an uninterrupted run")
                check(read("model.jsonl") == read("whole.jsonl"), "the metrics differ")
                check(not kept.exists(), "checkpoints are left behind")
                model.write_bytes(old)
        rests = sorted(p.name for p in folder.iterdir() if p.name.startswith(".c2cnet-"))
        print(
            f"{kills} kills, {came_far} runs that continued from a checkpoint, {finished} finished: model and metrics "
            f"byte for byte those of an uninterrupted run; partial files next to the model: {len(rests)}"
        )


main()

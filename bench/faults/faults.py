#!/usr/bin/env python3
"""Kills, full disks, read-only folders, concurrent writers and flipped bits, with counts.

    bench/faults/faults.py PROGRAM            the whole campaign, as RESULTS.md shows it
    bench/faults/faults.py PROGRAM --short    the same in a minute or so

The program's outputs depend on its inputs alone, bit for bit. So what a file may hold is known: what it held before, or
what an undisturbed run writes. Anything else is counted as lost, and makes the campaign fail.
"""

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = ["--set", "points=101", "--set", "n_train=60", "--set", "n_test=20", "--set", "length=0.2"]
BASES = [
    "--input-basis", "family='polynomial', functions=24",
    "--output-basis", "family='fourier', kind='sine', functions=24",
]
NETWORK = ["--map", "mlp", "--set", "map.mlp.steps=3000", "--set", "map.mlp.hidden=[16, 16]", "--checkpoint-every", "0.02"]

# What is done, and the file that it writes.
WORK = {
    "generate": (["generate", "darcy1d", "-o", "out.npz", "--seed", "2", *DATA], "out.npz"),
    "fit": (["fit", "data.npz", "-o", "out.c2c", "--map", "linear", *BASES], "out.c2c"),
    "train": (["fit", "data.npz", "-o", "out.c2c", *NETWORK, *BASES], "out.c2c"),
    "predict": (["predict", "model.c2c", "data.npz", "-o", "out.npz"], "out.npz"),
    "figure": (["plot", "data.npz", "-o", "out.svg"], "out.svg"),
}


class Campaign:
    def __init__(self, program, seed):
        self.program = str(Path(program).resolve())
        self.random = random.Random(seed)
        self.rows = []
        self.lost = 0
        self.home = Path(tempfile.mkdtemp(prefix="c2cnet-faults-"))
        self.inputs = self.home / "inputs"
        self.inputs.mkdir()
        self.must(self.inputs, ["generate", "darcy1d", "-o", "data.npz", "--seed", "1", *DATA])
        self.must(self.inputs, ["fit", "data.npz", "-o", "model.c2c", *BASES])
        self.whole, self.seconds = {}, {}
        for name, (arguments, output) in WORK.items():
            folder = self.folder()
            clock = time.monotonic()
            self.must(folder, arguments)
            self.seconds[name] = time.monotonic() - clock
            self.whole[name] = digest(folder / output)
            shutil.rmtree(folder)

    def run(self, folder, arguments, **more):
        return subprocess.run([self.program, *arguments, "--threads", "1"], cwd=folder, capture_output=True, text=True, **more)

    def must(self, folder, arguments):
        done = self.run(folder, arguments)
        if done.returncode != 0:
            sys.exit(f"{arguments}: {done.stderr}")
        return done

    def folder(self, at=None):
        """A new folder with the inputs."""
        folder = Path(tempfile.mkdtemp(dir=at or self.home))
        for file in self.inputs.iterdir():
            shutil.copy(file, folder)
        return folder

    def check(self, folder, output, allowed, what):
        """Inputs are as they were, the output is one of those allowed; None: it is not there."""
        for file in self.inputs.iterdir():
            if digest(folder / file.name) != digest(file):
                self.lose(f"{what}: {file.name} has changed")
        found = digest(folder / output)
        if found not in allowed:
            self.lose(f"{what}: {output} is neither old nor new")
        return found

    def lose(self, words):
        self.lost += 1
        print(f"LOST: {words}", file=sys.stderr)

    def row(self, what, *counts):
        self.rows.append((what, *counts))
        print(what, *counts, sep=" | ", flush=True)

    # The campaigns.

    def kills(self, count):
        """kill -9 at any moment, over an output that was there or was not."""
        killed = new = resumed = leftovers = 0
        names = list(WORK)
        folder = self.folder()
        for k in range(count):
            name = names[k % len(names)]
            arguments, output = WORK[name]
            if k % 2:
                (folder / output).write_bytes(b"old")
            else:
                (folder / output).unlink(missing_ok=True)
            before = digest(folder / output)
            more = ["--resume"] if name == "train" and k % 4 < 2 else []
            process = subprocess.Popen([self.program, *arguments, *more, "--threads", "1"], cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0, 1.1 * self.seconds[name]))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
            new += self.check(folder, output, {before, self.whole[name]}, f"kill of {name}") == self.whole[name]
            if name == "train" and k % 10 == 2:
                (folder / output).unlink(missing_ok=True)
                self.must(folder, [*arguments, "--resume"])
                self.check(folder, output, {self.whole[name]}, "going on after kills")
                resumed += 1
        for name, (arguments, output) in WORK.items():
            (folder / output).unlink(missing_ok=True)
            self.must(folder, arguments)
            self.check(folder, output, {self.whole[name]}, f"{name} after kills")
        leftovers = [f.name for f in folder.rglob(".c2cnet-*")]
        if leftovers:
            self.lose(f"left after kills: {leftovers}")
        self.row("kills", count, f"{killed} while at work, {new} after the file was whole, {resumed} trainings went on to the "
                 "same model, nothing left behind by the next run")

    def full_disks(self, count):
        """Files that may not grow beyond a random size, and a small disk where one can be mounted."""
        told = 0
        names = ["generate", "fit", "predict", "figure"]
        small = self.mounted()
        for k in range(count):
            name = names[k % len(names)]
            arguments, output = WORK[name]
            on_disk = small is not None and k % 2
            folder = self.folder(small if on_disk else None)
            (folder / output).write_bytes(b"old")
            size = len_of(self, name)
            if on_disk:
                fill(small, self.random.randrange(0, size))
                done = self.run(folder, arguments)
            else:
                limit = self.random.randrange(0, size)
                done = self.run(folder, arguments, preexec_fn=lambda: shorten(limit))
            self.check(folder, output, {digest_of(b"old")}, f"full disk under {name}")
            lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("note: ")]
            if done.returncode != 4 or len(lines) != 1:
                self.lose(f"full disk under {name}: code {done.returncode}, {done.stderr!r}")
            told += 1
            if list(folder.glob(".c2cnet-*")):
                self.lose(f"full disk under {name}: something is left")
            shutil.rmtree(folder)
            if on_disk:
                (small / "filler").unlink()
        how = "half by a small tmpfs, half by a limit of file sizes" if small else "by a limit of file sizes"
        if small:
            subprocess.run(["umount", small], check=True)
        self.row("full disks", count, f"{told} told in one line with code 4, old files kept; {how}")

    def read_only(self, count):
        """Folders that cannot be written."""
        small = self.mounted()
        refused = 0
        for k in range(count):
            name = list(WORK)[k % len(WORK)]
            arguments, output = WORK[name]
            folder = self.folder(small)
            (folder / output).write_bytes(b"old")
            if small:
                subprocess.run(["mount", "-o", "remount,ro", small], check=True)
            else:
                folder.chmod(0o555)
            done = self.run(folder, arguments)
            if small:
                subprocess.run(["mount", "-o", "remount,rw", small], check=True)
            else:
                folder.chmod(0o755)
                if os.geteuid() == 0:
                    continue  # root may write anywhere
            self.check(folder, output, {digest_of(b"old")}, f"read-only folder under {name}")
            if done.returncode != 4:
                self.lose(f"read-only folder under {name}: code {done.returncode}, {done.stderr!r}")
            refused += 1
            shutil.rmtree(folder)
        if small:
            subprocess.run(["umount", small], check=True)
        self.row("read-only folders", count, f"{refused} refused with code 4")

    def writers(self, count):
        """Several processes that write the same file at once."""
        second = 0
        for k in range(count):
            name = list(WORK)[k % len(WORK)]
            arguments, output = WORK[name]
            folder = self.folder()
            together = [subprocess.Popen([self.program, *arguments, "--threads", "1"], cwd=folder,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(3)]
            codes = []
            for process in together:
                said = process.communicate()[1]
                codes.append(process.returncode)
                if process.returncode != 0:
                    second += 1
                    if process.returncode != 4 or "another process" not in said:
                        self.lose(f"three of {name} at once: code {process.returncode}, {said!r}")
            if 0 not in codes:
                self.lose(f"three of {name} at once: none succeeded")
            self.check(folder, output, {self.whole[name]}, f"three of {name} at once")
            if list(folder.glob(".c2cnet-*")):
                self.lose(f"three of {name} at once: something is left")
            shutil.rmtree(folder)
        self.row("concurrent writers", count, f"3 at a time; {second} fits were told that another is at work; every file whole")

    def flips(self, count):
        """One bit of a model, of a checkpoint."""
        folder = self.folder()
        bytes_ = (folder / "model.c2c").read_bytes()
        noticed = 0
        for _ in range(count):
            bit = self.random.randrange(8 * len(bytes_))
            (folder / "flipped.c2c").write_bytes(flipped(bytes_, bit))
            done = self.run(folder, ["inspect", "flipped.c2c"])
            if done.returncode == 4 and "flipped.c2c" in done.stderr:
                noticed += 1
            else:
                self.lose(f"bit {bit} of a model: code {done.returncode}")
        self.row("flipped bits of a model", count, f"{noticed} noticed")

        arguments, output = WORK["train"]
        process = subprocess.Popen([self.program, *arguments, "--threads", "1"], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        places = folder / "out.c2c.training"
        while not list(places.glob("*.checkpoint")) and process.poll() is None:
            time.sleep(0.005)
        process.kill()
        process.wait()
        kept = folder / "kept"
        shutil.copytree(places, kept)
        # A whole one is no model either, but not damaged.
        for file in kept.glob("*.checkpoint"):
            if "damaged" in self.run(folder, ["inspect", str(file)]).stderr:
                self.lose("a whole checkpoint is taken for damaged")
        noticed = 0
        for k in range(count):
            shutil.rmtree(places, ignore_errors=True)
            shutil.copytree(kept, places)
            file = self.random.choice(sorted(places.glob("*.checkpoint")))
            bytes_ = file.read_bytes()
            bit = self.random.randrange(8 * len(bytes_))
            file.write_bytes(flipped(bytes_, bit))
            done = self.run(folder, ["inspect", str(file)])
            if done.returncode == 4 and "damaged" in done.stderr:
                noticed += 1
            else:
                self.lose(f"bit {bit} of a checkpoint: code {done.returncode}")
            # To the end now and then: a damaged checkpoint costs its training and nothing else.
            if k % 25 == 0:
                done = self.must(folder, [*arguments, "--resume"])
                if "damaged" not in done.stderr:
                    self.lose(f"bit {bit} of a checkpoint: nothing was said")
                self.check(folder, output, {self.whole["train"]}, "a damaged checkpoint")
                (folder / output).unlink()
        self.row("flipped bits of a checkpoint", count, f"{noticed} noticed; every 25th fit went on to the same model")

    def mounted(self):
        """A small disk, where one can be mounted."""
        small = Path(tempfile.mkdtemp(dir=self.home))
        mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small]
        done = subprocess.run(mount, capture_output=True)
        return small if done.returncode == 0 else None


def digest(path):
    return digest_of(path.read_bytes()) if path.exists() else None


def digest_of(bytes_):
    return hashlib.blake2b(bytes_).hexdigest()


def flipped(bytes_, bit):
    changed = bytearray(bytes_)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def shorten(limit):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def len_of(campaign, name):
    """Bytes of what is written."""
    folder = campaign.folder()
    arguments, output = WORK[name]
    campaign.must(folder, arguments)
    size = (folder / output).stat().st_size
    shutil.rmtree(folder)
    return size


def fill(disk, left):
    """Leaves this many bytes, in whole pages, on a disk."""
    stat = os.statvfs(disk)
    free = stat.f_bavail * stat.f_frsize
    left = left // stat.f_frsize * stat.f_frsize
    (disk / "filler").write_bytes(b"\0" * max(free - left, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    begin = time.monotonic()
    campaign = Campaign(arguments.program, arguments.seed)
    part = 10 if arguments.short else 1
    try:
        campaign.kills(500 // part)
        campaign.full_disks(60 // part)
        campaign.read_only(20 // part)
        campaign.writers(50 // part)
        campaign.flips(500 // part)
    finally:
        shutil.rmtree(campaign.home, ignore_errors=True)
    print(f"{campaign.lost} lost, {time.monotonic() - begin:.0f} s")
    sys.exit(campaign.lost > 0)


if __name__ == "__main__":
    main()

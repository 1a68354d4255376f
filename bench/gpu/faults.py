"""Trainings on a GPU that are killed, that diverge, and that find too little memory: what is said, and what is lost.

    python3 bench/gpu/faults.py PROGRAM [--device cuda] [--steps 100000] [--kills 5]

A fit that was killed and resumed on the same device must write the same bytes as one that nobody disturbed; resumed on
the CPU it must end with a model. `--device cpu` tries the same without a GPU (with fewer --steps), except for memory,
which a second process with PyTorch takes. What a computer without a driver says is tested by
`crates/c2cnet-cli/tests/devices.rs`. Prints a table, ends with 1 if anything was lost.
"""

import argparse
import hashlib
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

BASES = ["--input-basis", "family='fourier', kind='cosine', functions=32",
         "--output-basis", "family='fourier', kind='sine', functions=32"]
DATA = ["--set", "points=201", "--set", "n_train=200", "--set", "n_test=40", "--set", "length=0.1"]
# All but this much of a GPU's memory is taken by another process.
LEFT = 300 << 20
HOLD = f"""
import sys, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(max(free - {LEFT}, 0), dtype=torch.uint8, device="cuda")
print("held", flush=True)
sys.stdin.read()
"""


class Lost(Exception):
    """Something that must not happen."""


def demand(holds, what):
    if not holds:
        raise Lost(what)


class Campaign:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.program = str(pathlib.Path(args.program).resolve())
        self.model = folder / "model.c2c"
        self.run(["generate", "darcy1d", "-o", "data.npz", *DATA])

    def command(self, device, *more):
        return [self.program, "fit", "data.npz", "-o", "model.c2c", "--map", "mlp", "--recipe", "paper",
                "--set", "map.mlp.hidden=[64, 64]", "--set", f"map.mlp.steps={self.args.steps}",
                "--device", device, *BASES, *more]

    def run(self, command, check=True):
        command = command if command[0] == self.program else [self.program, *command]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        demand(done.returncode == 0 or not check, f"{' '.join(command[1:4])} ended with {done.returncode}: {done.stderr[-500:]}")
        return done

    def digest(self):
        return hashlib.sha256(self.model.read_bytes()).hexdigest()

    def checkpoints(self):
        return {f: f.stat().st_mtime_ns for f in self.folder.glob("model.c2c.training/*.checkpoint") if f.exists()}

    def kill(self, more=()):
        """kill -9 once a checkpoint has been written; whether it was still at work."""
        before = self.checkpoints()
        process = subprocess.Popen(self.command(self.args.device, "--checkpoint-every", "0.1", *more), cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and self.checkpoints() == before:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def kills(self):
        self.run(self.command(self.args.device))
        whole = self.digest()
        self.run(self.command(self.args.device))
        demand(self.digest() == whole, "the same fit gave other bits")
        self.model.unlink()
        broken = sum(self.kill(["--resume"] if k else []) for k in range(self.args.kills))
        demand(broken > 0, "every fit had ended before it was killed: give more --steps")
        demand(not self.model.exists() or self.digest() == whole, "a killed fit left a model that is not whole")
        said = self.run(self.command(self.args.device, "--resume")).stderr
        demand(self.digest() == whole, "resumed, it gave other bits")
        self.model.unlink()
        demand(self.kill(), "it had ended before it was killed")
        self.run(self.command("cpu", "--resume"))
        demand(self.model.exists(), "resumed on the CPU, it gave no model")
        last = said.strip().splitlines()[-1] if said.strip() else ""
        return f"{broken} of {self.args.kills} while at work; resumed: the same bytes; resumed on the CPU: a model. {last}"

    def divergence(self):
        done = self.run(self.command(self.args.device, "--set", "map.mlp.rate=1e30"), check=False)
        for part in ("diverged at step", "learning rate"):
            demand(done.returncode == 5 and part in done.stderr, f"ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stderr.strip().splitlines()[-1]

    def memory(self):
        if self.args.device == "cpu":
            return "not tried on the CPU"
        holder = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            demand(holder.stdout.readline().strip() == "held", "the memory of the GPU could not be taken")
            wide = ["--set", "map.mlp.hidden=[8192, 8192]", "--set", "map.mlp.steps=10"]
            done = self.run(self.command(self.args.device, *wide), check=False)
        finally:
            holder.communicate("")
        demand(done.returncode == 5 and "memory" in done.stderr, f"ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stderr.strip().splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=5)
    args = parser.parse_args()
    lost = False
    print("| fault | outcome |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(args, pathlib.Path(folder))
        for name in ("kills", "divergence", "memory"):
            try:
                outcome = getattr(campaign, name)()
            except Lost as what:
                lost, outcome = True, f"**lost**: {what}"
            print(f"| {name} | {outcome} |".replace("\n", " "), flush=True)
    sys.exit(lost)


if __name__ == "__main__":
    main()

"""Trains a peer within a budget and records its test error over time.

The clock counts training only: building the model, evaluations and checkpoints are outside. The test
samples are only evaluated, nothing is chosen by them: the result is the model after the last step.
"""

import math
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from .data import Data
from .metrics import mse, rl2e
from .peer import Peer

EVALUATIONS = 30
LEVELS = (2e-1, 1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)


class Diverged(Exception):
    """Predictions are no longer finite numbers."""


@dataclass
class Recipe:
    schedule: str  # published or one-cycle
    rate: float
    decay: float
    batch: int
    loss: str
    drop: tuple[int, float] = (1, 1.0)  # published: the number of equal parts, and the factor of the rate from one to the next
    clip: float | None = None  # the largest norm of a gradient
    budget: float = math.inf  # seconds of training
    epochs: float = math.inf
    tf32: bool = False
    symmetry: bool = False


@dataclass
class Progress:
    """The state of a run; saved in checkpoints."""

    seconds: float = 0.0
    epoch: int = 0
    curve: list[list[float]] = field(default_factory=list)  # seconds, epoch, test RL2E


class Trainer:
    def __init__(self, model: Peer, train: Data, test: Data, recipe: Recipe, seed: int, say=print,
                 checkpoint: Path | None = None):
        self.model, self.train_data, self.test_data, self.recipe, self.say = model, train, test, recipe, say
        self.checkpoint, self.progress, self.stage = checkpoint, Progress(), -1
        self.device = train.f.device
        fused = self.device.type == "cuda"
        kind = torch.optim.Adam if recipe.schedule == "published" else torch.optim.AdamW
        self.optimiser = kind(model.parameters(), lr=recipe.rate, weight_decay=recipe.decay, fused=fused)
        self.random = torch.Generator().manual_seed(seed)
        self.batch = min(recipe.batch, len(train))

    def run(self) -> None:
        marks = [(k / EVALUATIONS) ** 2 for k in range(1, EVALUATIONS)]  # denser at the start
        marks = [m for m in marks if m > self.done()]
        self.warm_up()
        while self.done() < 1:
            self.enter_stage(min(int(self.done() * self.model.stages), self.model.stages - 1))
            self.one_epoch()
            if marks and marks[0] <= self.done() < 1:
                if self.stage == self.model.stages - 1:  # before it there is no operator to evaluate
                    self.record()
                marks = [m for m in marks if m > self.done()]
        self.record()

    def warm_up(self) -> None:
        """A GPU loads its kernels at their first use: a step without its update, before the clock starts."""
        if self.device.type == "cuda":
            index = torch.arange(self.batch, device=self.device)
            with precision(self.recipe.tf32):
                self.model.loss(self.train_data.select(index), index, 0, self.recipe.loss).backward()
            self.optimiser.zero_grad(set_to_none=True)
            self.synchronise()

    def done(self) -> float:
        """The fraction of the budget that is spent, 0 to 1; time or epochs, whichever is further."""
        return max(self.progress.seconds / self.recipe.budget, self.progress.epoch / self.recipe.epochs)

    def enter_stage(self, stage: int) -> None:
        if stage != self.stage:
            self.stage = stage
            with self.timed():
                self.model.begin(stage, self.train_data)

    def one_epoch(self) -> None:
        self.model.train()
        order = torch.randperm(len(self.train_data), generator=self.random).to(self.device)
        steps = max(len(order) // self.batch, 1)  # a partial last batch would be noisier; its samples come next time
        epochs_done, seconds_before = self.progress.epoch, self.progress.seconds
        with self.timed(), precision(self.recipe.tf32):
            start = time.perf_counter()
            for step in range(steps):
                now = max((seconds_before + time.perf_counter() - start) / self.recipe.budget,
                          (epochs_done + step / steps) / self.recipe.epochs)
                if now >= 1:
                    break
                self.set_rate(now)
                index = order[step * self.batch:(step + 1) * self.batch]
                self.one_step(index)
        self.progress.epoch += 1

    def one_step(self, index: Tensor) -> None:
        batch = self.train_data.select(index)
        if self.recipe.symmetry:
            batch = turned(batch, int(torch.randint(8, (), generator=self.random)))
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.model.loss(batch, index, self.stage, self.recipe.loss)
        loss.backward()
        if self.recipe.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimiser.step()

    def set_rate(self, done: float) -> None:
        """One-cycle: up in the first fifth of each stage, down along a cosine to zero; else the published drops.

        The drops come after the same fractions of the run as in the published one, whatever its length.
        """
        if self.recipe.schedule == "published":
            parts, factor = self.recipe.drop
            rate = self.recipe.rate * factor ** int(done * parts)
        else:
            rate = self.recipe.rate * one_cycle(done * self.model.stages - self.stage)
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def record(self) -> None:
        errors = self.errors()
        self.progress.curve.append([round(self.progress.seconds, 3), self.progress.epoch, errors["rl2e"]])
        self.say(f"{self.progress.seconds:8.1f} s  epoch {self.progress.epoch:6d}  test RL2E {errors['rl2e']:.3e}")
        if self.checkpoint:
            self.save(self.checkpoint)

    def errors(self) -> dict[str, float]:
        prediction = predict(self.model, self.test_data)
        errors = {"rl2e": rl2e(prediction, self.test_data.u), "mse": mse(prediction, self.test_data.u)}
        if not math.isfinite(errors["rl2e"]):
            raise Diverged(f"training diverged after {self.progress.epoch} epochs; try a smaller --rate")
        return errors

    def save(self, path: Path) -> None:
        """A checkpoint, written to a temporary file and renamed: an interruption leaves the last one intact."""
        state = {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict(),
                 "random": self.random.get_state(), "progress": vars(self.progress)}
        part = path.with_name(path.name + ".part")
        torch.save(state, part)
        os.replace(part, path)

    def resume(self, path: Path) -> None:
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.random.set_state(state["random"].cpu())
        self.progress = Progress(**state["progress"])

    @contextmanager
    def timed(self):
        start = time.perf_counter()
        yield
        self.synchronise()
        self.progress.seconds += time.perf_counter() - start

    def synchronise(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def one_cycle(done: float, rise: float = 0.2, start: float = 0.04) -> float:
    """The rate over its largest value at this fraction of the run."""
    done = min(max(done, 0.0), 1.0)
    if done < rise:
        return start + (1 - start) * (1 - math.cos(math.pi * done / rise)) / 2
    return max((1 + math.cos(math.pi * (done - rise) / (1 - rise))) / 2, 1e-4)


@contextmanager
def precision(tf32: bool):
    """Products in TF32 (faster on a GPU, 11 bits) or in full single precision."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@torch.no_grad()
def predict(model: Peer, data: Data, batch: int = 50) -> Tensor:
    model.eval()
    with precision(tf32=False):
        return torch.cat([model(data.select(slice(k, k + batch))) for k in range(0, len(data), batch)])


def turned(batch: Data, turn: int) -> Data:
    """The samples under one of the eight symmetries of the square, for problems that have them."""
    side = math.isqrt(batch.f.shape[1])

    def apply(values: Tensor) -> Tensor:
        grid = values.unflatten(1, (side, side))
        if turn & 1:
            grid = grid.flip(1)
        if turn & 2:
            grid = grid.flip(2)
        if turn & 4:
            grid = grid.transpose(1, 2)
        return grid.flatten(1, 2)

    return replace(batch, f=apply(batch.f), u=apply(batch.u))


def times_to_accuracy(curve: list[list[float]]) -> dict[str, float]:
    """The first recorded seconds at which the test error was at most each level."""
    reached = {}
    for level in LEVELS:
        seconds = next((s for s, _, error in curve if error <= level), None)
        if seconds is not None:
            reached[f"{level:g}"] = seconds
    return reached

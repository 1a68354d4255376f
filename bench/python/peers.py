"""The standard examples of DeepXDE and neuraloperator, by them and by c2cnet, in one run.

    pip install deepxde neuraloperator torch            # in an environment with c2cnet
    python bench/python/peers.py [--epochs 15 60] [--write]

Their data files are not part of their packages, so data of the same kind and size is made here. Peers
have the settings of their examples. Errors are mean relative L2 errors on test samples. Seconds are CPU
seconds of training on one thread, which other work on the machine does not change; for c2cnet with its
search for bases.
"""

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("DDE_BACKEND", "pytorch")
# Before the packages start their threads.
for variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import torch

import c2cnet


def timed(work):
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def antiderivatives(samples, points, rng):
    """Gaussian random functions with length 0.2 and their integrals, as in DeepXDE's example."""
    fine = np.linspace(0, 1, 10 * (points - 1) + 1)
    covariance = np.exp(-((fine[:, None] - fine) ** 2) / (2 * 0.2**2))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    f = rng.standard_normal((samples, len(fine))) @ root.T
    steps = 0.5 * (f[:, 1:] + f[:, :-1]) * (fine[1] - fine[0])
    u = np.concatenate([np.zeros((samples, 1)), np.cumsum(steps, axis=1)], axis=1)
    return fine[::10], f[:, ::10], u[:, ::10]


def deepxde_side(x, f, u, train, iterations):
    import deepxde

    deepxde.config.set_random_seed(0)
    single = lambda a: a.astype(np.float32)
    trunk = single(x[:, None])
    data = deepxde.data.TripleCartesianProd(
        X_train=(single(f[:train]), trunk),
        y_train=single(u[:train]),
        X_test=(single(f[train:]), trunk),
        y_test=single(u[train:]),
    )
    net = deepxde.nn.DeepONetCartesianProd(
        [len(x), 40, 40], [1, 40, 40], "relu", "Glorot normal"
    )
    model = deepxde.Model(data, net)
    model.compile("adam", lr=0.001, verbose=0)
    seconds, _ = timed(
        lambda: model.train(iterations=iterations, display_every=iterations, verbose=0)
    )
    predicted = model.predict((single(f[train:]), trunk))
    return seconds, c2cnet.rl2e(u[train:], predicted)


def neuraloperator_side(inputs, outputs, tests, epochs):
    """FNO with the settings of neuraloperator's example; errors at each test resolution."""
    from neuralop.losses import H1Loss
    from neuralop.models import FNO

    torch.manual_seed(0)
    tensor = lambda a: torch.tensor(a, dtype=torch.float32)[:, None]
    a, u = tensor(inputs), tensor(outputs)
    a_mean, a_std, u_mean, u_std = a.mean(), a.std(), u.mean(), u.std()
    a = (a - a_mean) / a_std
    model = FNO(
        n_modes=(8, 8),
        in_channels=1,
        out_channels=1,
        hidden_channels=24,
        projection_channel_ratio=2,
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=max(30, epochs))
    loss = H1Loss(d=2)

    def train():
        for _ in range(epochs):
            for batch in torch.randperm(len(a)).split(64):
                optimiser.zero_grad()
                loss(model(a[batch]) * u_std + u_mean, u[batch]).backward()
                optimiser.step()
            schedule.step()

    seconds, _ = timed(train)
    errors = []
    with torch.no_grad():
        for a_test, u_test in tests:
            predicted = model((tensor(a_test) - a_mean) / a_std) * u_std + u_mean
            errors.append(c2cnet.rl2e(u_test, predicted[:, 0].numpy()))
    return seconds, errors


def grid(side):
    axis = np.linspace(0, 1, side)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def antiderivative_rows(iterations):
    x, f, u = antiderivatives(1150, 100, np.random.default_rng(0))
    train = 150
    seconds, error = deepxde_side(x, f, u, train, iterations)
    rows = [("antiderivative, 150 functions", f"DeepXDE, DeepONet, {iterations:,} steps", seconds, error)]
    for name, model in [
        ("c2cnet, default", c2cnet.C2CNet()),
        ("c2cnet, bases named", c2cnet.C2CNet(
            c2cnet.Polynomial(functions=30), c2cnet.Polynomial(functions=30), map="linear")),
    ]:
        seconds, _ = timed(lambda: model.fit(f[:train], u[:train], x, x))
        rows.append((rows[0][0], name, seconds, model.evaluate(f[train:], u[train:]).rl2e))
    return rows


def darcy_rows(all_epochs):
    # 16 and 46 points per side are subsets of 91; at odd sides neuraloperator 2.0 misplaces Fourier modes.
    data = c2cnet.generate("darcy2d", n_train=1000, n_test=100, points=91)
    fields = lambda values, every: values.reshape(-1, 91, 91)[:, ::every, ::every]
    f, u = fields(data.train.f, 6), fields(data.train.u, 6)
    tests = [(fields(data.test.f, k), fields(data.test.u, k)) for k in (6, 2)]
    problem = "2D Darcy, 1,000 fields of 16 x 16"
    rows = []
    for epochs in all_epochs:
        seconds, errors = neuraloperator_side(f, u, tests, epochs)
        rows.append((problem, f"neuraloperator, FNO, {epochs} epochs", seconds, *errors))
    flat = lambda values: values.reshape(len(values), -1)
    for name, symmetries in [("c2cnet, default", "none"), ("c2cnet, symmetries", "square")]:
        model = c2cnet.C2CNet(symmetries=symmetries)
        seconds, _ = timed(lambda: model.fit(flat(f), flat(u), grid(16), grid(16)))
        found = [model.evaluate(flat(tests[0][0]), flat(tests[0][1])).rl2e]
        predicted = model.predict(flat(tests[1][0]), grid(46), grid(46))
        found.append(c2cnet.rl2e(flat(tests[1][1]), predicted))
        rows.append((problem, name, seconds, *found))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, nargs="+", default=[15, 60])
    parser.add_argument("--iterations", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="keep the table in PEERS.md")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    lines = ["| problem | by | CPU seconds | RL2E | RL2E at 46 x 46 |", "|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for rows in (antiderivative_rows(arguments.iterations), darcy_rows(arguments.epochs)):
        for problem, by, seconds, *errors in rows:
            shown = [f"{e:.1e}" for e in errors] + ["-"] * (2 - len(errors))
            lines.append(f"| {problem} | {by} | {seconds:.2g} | {' | '.join(shown)} |")
            print(lines[-1], flush=True)
    if arguments.write:
        import deepxde
        import neuralop

        text = "# Compared with DeepXDE and neuraloperator\n\n`python bench/python/peers.py --write`, one "
        text += f"thread each, CPU seconds of training; DeepXDE {deepxde.__version__}, neuraloperator "
        text += f"{neuralop.__version__}, PyTorch {torch.__version__.split('+')[0]}.\n\n"
        text += "\n".join(lines) + "\n"
        (Path(__file__).parent / "PEERS.md").write_text(text)


if __name__ == "__main__":
    main()

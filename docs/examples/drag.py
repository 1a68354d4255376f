# A sphere in slow flow (Stokes): speed at sensors downstream in, drag and lift out.
import numpy as np

rng = np.random.default_rng(1)
mu = 1e-3  # Pa s
a = rng.uniform(0.5e-3, 1.5e-3, 400)  # m
U = np.column_stack([rng.uniform(0.5e-3, 2e-3, 400), rng.uniform(-2e-4, 2e-4, 400)])  # m/s

x = np.full(33, 3e-3)
y = np.linspace(-4e-3, 4e-3, 33)
r = np.hypot(x, y)
n = np.column_stack([x, y]) / r[:, None]
k = (a[:, None] / r)[:, :, None]
along = (U @ n.T)[:, :, None] * n
f = U[:, None] - 0.75 * k * (U[:, None] + along) - 0.25 * k**3 * (U[:, None] - 3 * along)
force = 6 * np.pi * mu * a[:, None] * U

np.savez("drag.npz", x=y, f=np.linalg.norm(f, axis=-1), q=force, n_train=300)

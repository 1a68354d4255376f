# A plate with a hole under tension (Kirsch): modulus and radius in, displacement out.
import numpy as np

rng = np.random.default_rng(0)
E = rng.uniform(70e9, 210e9, 200)  # Pa
a = rng.uniform(0.01, 0.03, 200)  # m
tension, nu = 100e6, 0.3

s = np.linspace(0.0, 0.1, 25)
x, y = np.meshgrid(s, s, indexing="ij")
outside = np.hypot(x, y) >= 0.03
x, y = x[outside], y[outside]
r, t = np.hypot(x, y), np.arctan2(y, x)

G, kappa = E / (2 * (1 + nu)), (3 - nu) / (1 + nu)
c, A = (tension * a / (8 * G))[:, None], a[:, None]
ux = c * (r / A * (kappa + 1) * np.cos(t) + 2 * A / r * ((1 + kappa) * np.cos(t) + np.cos(3 * t))
          - 2 * A**3 / r**3 * np.cos(3 * t))
uy = c * (r / A * (kappa - 3) * np.sin(t) + 2 * A / r * ((1 - kappa) * np.sin(t) + np.sin(3 * t))
          - 2 * A**3 / r**3 * np.sin(3 * t))

np.savez("plate.npz", p=np.column_stack([E, a]), y=np.column_stack([x, y]),
         u=np.stack([ux, uy], axis=-1), n_train=150)

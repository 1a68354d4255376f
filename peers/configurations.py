"""The peers' sizes for each problem, from the paper's tables, and how they are trained.

Sizes that the paper does not list (darcy1d on its full grid, nonlinear-darcy, helmholtz, stokes-inverse,
other data) take the nearest row of the same peer.
"""

from .b2b import B2B
from .basisonet import BasisONet
from .data import Data
from .deeponet import DeepONet
from .fno import FNO
from .peer import Peer

PEERS = ("deeponet", "fno", "basisonet", "b2b")
NAMES = {"deeponet": "DeepONet", "fno": "FNO", "basisonet": "BasisONet", "b2b": "B2B"}

# Problems that use the sizes of another.
SIZES_OF = {"nonaligned": "darcy1d", "nonlinear-darcy": "darcy1d"}

# hidden layers of branch and trunk, products per component
DEEPONET = {
    "darcy1d": dict(hidden=[294] * 3, functions=60),
    "darcy2d": dict(hidden=[25] * 3, functions=100),
    "poisson-holes": dict(hidden=[184] * 3, functions=100),
    "elastic-plate": dict(hidden=[295] * 3, functions=100),
    "darcy-lshape": dict(hidden=[176] * 3, functions=100),
    "kdv-burgers": dict(hidden=[317] * 3, functions=100),
    "helmholtz": dict(hidden=[46] * 3, functions=100),  # about 500,000 parameters, like the others
}
DEEPONET_OTHER = dict(hidden=[184] * 3, functions=100)

BASISONET = {
    "darcy1d": dict(input_functions=50, output_functions=30),
    "darcy2d": dict(input_functions=50, output_functions=30),
    "poisson-holes": dict(input_functions=50, output_functions=30),
    "elastic-plate": dict(input_functions=10, output_functions=50),
    "kdv-burgers": dict(input_functions=10, output_functions=50),
}
BASISONET_OTHER = dict(input_functions=50, output_functions=30)

B2B_SIZES = {
    "darcy1d": dict(input_functions=80, output_functions=81, width=262),
    "darcy2d": dict(input_functions=100, output_functions=101, width=256),
    "poisson-holes": dict(input_functions=100, output_functions=101, width=256),
    "elastic-plate": dict(input_functions=100, output_functions=101, width=249),
    "darcy-lshape": dict(input_functions=100, output_functions=101, width=249, vector_input=True),
    "kdv-burgers": dict(input_functions=100, output_functions=101, width=256),
}
B2B_OTHER = dict(input_functions=100, output_functions=101, width=256)

# By the grid's dimension; the 1D sizes and both paddings are the published code's. What is periodic needs no padding.
FNO_SIZES = {1: dict(modes=16, width=64, padding=2), 2: dict(modes=12, width=32, padding=9)}
FNO_PERIODIC = {"navier-stokes": dict(padding=0)}

# As the peers' own papers and code train them (README.md names the sources), and a modern recipe.
SCHEDULES = {
    "published": {
        "deeponet": dict(rate=1e-3, decay=0.0, batch=100, loss="mse", activation="relu"),
        "fno": dict(rate=1e-3, decay=1e-4, batch=20, loss="relative", drop=(5, 0.5)),
        "basisonet": dict(rate=1e-3, decay=0.0, batch=100, loss="relative", activation="gelu", drop=(40, 0.9)),
        "b2b": dict(rate=1e-3, decay=0.0, batch=10, loss="mse", activation="relu", clip=1.0),
    },
    "one-cycle": {
        "deeponet": dict(rate=2e-3, decay=1e-5, batch=100, loss="relative", activation="gelu"),
        "fno": dict(rate=2e-3, decay=1e-5, batch=20, loss="relative"),
        "basisonet": dict(rate=1e-3, decay=1e-5, batch=100, loss="relative", activation="gelu"),
        "b2b": dict(rate=2e-3, decay=1e-5, batch=100, loss="relative", activation="gelu"),
    },
}


def build(peer: str, train: Data, activation: str = "gelu") -> Peer:
    """The peer for the problem of the data."""
    problem = SIZES_OF.get(train.problem, train.problem)
    if peer == "deeponet":
        return DeepONet(train, **DEEPONET.get(problem, DEEPONET_OTHER), activation=activation)
    if peer == "fno":
        return FNO(train, **(FNO_SIZES[min(train.y.shape[-1], 2)] | FNO_PERIODIC.get(problem, {})))
    if peer == "basisonet":
        sizes = BASISONET.get(problem, BASISONET_OTHER)
        return BasisONet(train, **sizes, basis_hidden=[512] * 5, map_hidden=[512] * 3, activation=activation)
    if peer == "b2b":
        sizes = dict(B2B_SIZES.get(problem, B2B_OTHER))
        hidden = [sizes.pop("width")] * 3
        return B2B(train, **sizes, basis_hidden=hidden, map_hidden=hidden, activation=activation)
    raise ValueError(f"no peer {peer}; known: {', '.join(PEERS)}")

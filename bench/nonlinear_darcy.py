"""Converts the nonlinear Darcy data (MATLAB 5 files) to one .npz: 800 training samples, 150 test samples.

usage: python bench/nonlinear_darcy.py FOLDER_WITH_MAT_FILES OUT.npz      (needs numpy and scipy)
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.io import loadmat


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    train = loadmat(folder / "nonlineardarcy_train.mat")
    test = loadmat(folder / "nonlineardarcy_test.mat")
    x = train["x"].ravel()
    np.savez(
        out,
        x=x,
        f=np.vstack([train["f_train"], test["f_test"]]),
        y=x,
        u=np.vstack([train["u_train"], test["u_test"]]),
        n_train=len(train["f_train"]),
        meta=json.dumps({"problem": "nonlinear-darcy"}),
    )


if __name__ == "__main__":
    main()

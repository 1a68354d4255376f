"""The public set of two-valued Darcy flow at 16 x 16 points as a data file: 1,000 training and 50 test samples.

    pip download --no-deps neuraloperator==0.3.0 && unzip neuraloperator-0.3.0-py3-none-any.whl
    python bench/layers/public.py neuralop/datasets/data -o binary16.npz
    c2cnet fit binary16.npz -o model.c2c && c2cnet evaluate model.c2c binary16.npz --on test

Needs NumPy and PyTorch, which reads the package's files.
"""

import argparse
import pathlib

import numpy as np
import torch

POINTS = 16


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    parts = [torch.load(options.folder / f"darcy_{part}_{POINTS}.pt") for part in ("train", "test")]
    both = lambda key: np.concatenate([p[key].numpy().reshape(-1, POINTS**2).astype(float) for p in parts])
    # The package does not say where its points are; they begin at the boundary and end before it.
    line = np.arange(POINTS) / POINTS
    points = np.stack([axis.ravel() for axis in np.meshgrid(line, line, indexing="ij")], 1)
    np.savez(options.output, x=points, f=both("x"), y=points, u=both("y"), n_train=np.array(len(parts[0]["x"])))


if __name__ == "__main__":
    main()

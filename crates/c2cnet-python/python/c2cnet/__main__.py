"""``python -m c2cnet convert``: data of other programs as a file of the command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .problems import Dataset
from .reading import read

DESCRIPTION = """\
Convert HDF5, MATLAB, NetCDF, CSV, VTK, gmsh and what meshio reads to an .npz file for `c2cnet fit`.
Without --f, the arrays f, u, x, y, p, q of the file are used; if there are none, the message lists
what the file contains."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    top = argparse.ArgumentParser(prog="python -m c2cnet")
    commands = top.add_subparsers(required=True, metavar="convert")
    convert = commands.add_parser(
        "convert",
        help="data of other programs as an .npz file",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    convert.add_argument("source", nargs="+", help="the file, or meshes with one sample each")
    convert.add_argument("output", help="the .npz file to write")
    for name, what in {
        "f": "input values",
        "u": "output values",
        "x": "input points, or the axes of a grid",
        "y": "output points [default: x]",
        "p": "input parameters",
        "q": "output quantities",
    }.items():
        convert.add_argument(f"--{name}", metavar="NAME,...", help=what)
    convert.add_argument("--sample", metavar="NAME", help="the column of a table that identifies the sample")
    convert.add_argument("--missing", choices=["refuse", "nan"], default="refuse", help="what NaN means")
    convert.add_argument("--sample-axis", type=int, default=0, metavar="AXIS", help="the axis that counts samples")
    convert.add_argument("--n-train", type=int, metavar="N", help="leading samples for training")
    return top


def convert(arguments: argparse.Namespace) -> Dataset:
    """Return what the arguments name."""

    def names(given: str | None) -> str | list[str] | None:
        return given if given is None or "," not in given else given.split(",")

    return read(
        arguments.source[0] if len(arguments.source) == 1 else arguments.source,
        **{key: names(getattr(arguments, key)) for key in ("f", "u", "x", "y", "p", "q")},
        sample=arguments.sample,
        missing=arguments.missing,
        sample_axis=arguments.sample_axis,
        n_train=arguments.n_train,
    )


def main(given: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = parser().parse_args(given)
    if arguments.output in arguments.source:
        print(f"error: {arguments.output} is read by this command, which would destroy it", file=sys.stderr)
        return 2
    try:
        data = convert(arguments)
        data.save(arguments.output)
    except (OSError, ImportError, KeyError, TypeError, ValueError) as error:
        print(f"error: {error.args[0] if isinstance(error, KeyError) else error}", file=sys.stderr)
        return 1
    print(f"wrote {arguments.output}: {data}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

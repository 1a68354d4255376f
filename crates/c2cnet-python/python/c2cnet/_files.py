"""Where a file may be written: never over what was read, and over a model or data only with the same kind."""

from __future__ import annotations

import os
import zipfile
from os import PathLike
from pathlib import Path

MODEL, DATA, PREDICTION = "a model", "data", "a prediction"


def check_output(
    path: str | PathLike[str],
    makes: str,
    read: str | PathLike[str] | None = None,
    overwrite: bool = False,
) -> None:
    """Refuse to write ``makes`` to ``path`` where that would destroy something else.

    ``read`` is the file that the object came from, which is never replaced; another kind of file is
    replaced with ``overwrite``.
    """
    if not os.path.isfile(path):
        return
    if read is not None and os.path.isfile(read) and os.path.samefile(path, read):
        raise ValueError(f"{os.fspath(path)} is what this object was read from; give another name")
    there = _kind(Path(path))
    allowed = {None, makes, PREDICTION} if makes == DATA else {None, makes}
    if there not in allowed and not overwrite:
        way = ", or overwrite=True" if makes in (MODEL, DATA) else ""
        raise ValueError(
            f"{os.fspath(path)} is {there}, and would be overwritten with {makes}; give another name{way}"
        )


def _kind(path: Path) -> str | None:
    """What a file is, by its bytes and not by its name; None for what this package does not make."""
    with path.open("rb") as file:
        start = file.read(9)
    if start.startswith(b"PK"):
        try:
            with zipfile.ZipFile(path) as archive:
                stems = {name.split(".")[0] for name in archive.namelist()}
        except zipfile.BadZipFile:
            return DATA  # damaged, and perhaps to be repaired
        return PREDICTION if stems & {"u", "q"} and not stems & {"f", "p"} else DATA
    return MODEL if start[8:] == b"{" else None

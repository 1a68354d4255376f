"""Runs the notebooks of the guide; --write keeps their outputs.

    python crates/c2cnet-python/notebooks.py [--write]
"""

import sys
import tempfile
import time
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"


def main() -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            resources = {"metadata": {"path": folder}}
            nbclient.NotebookClient(
                notebook, timeout=300, kernel_name="python3", resources=resources, record_timing=False
            ).execute()
        print(f"{path.name}: {time.perf_counter() - begin:.1f} s", flush=True)
        if "--write" in sys.argv[1:]:
            notebook.metadata.pop("language_info", None)
            nbformat.write(notebook, path)


if __name__ == "__main__":
    main()

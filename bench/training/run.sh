#!/bin/sh
# Builds our side, makes a virtual environment with PyTorch outside the tree, and compares.
#   bench/training/run.sh [--repeats N] [--write]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${C2CNET_BENCH_TORCH_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/c2cnet/bench-torch-venv}
if ! [ -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check torch numpy
fi
(cd "$root" && cargo build --release --package c2cnet --example bench_training)
exec "$venv/bin/python" "$here/compare.py" "$@"

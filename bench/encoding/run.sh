#!/bin/sh
# Builds our side, makes a virtual environment outside the tree, and compares.
#   bench/encoding/run.sh [--repeats N] [--write]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${C2CNET_BENCH_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/c2cnet/bench-venv}
if ! [ -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$root/bench/requirements.txt"
(cd "$root" && cargo build --release --package c2cnet --example bench_encoding)
exec "$venv/bin/python" "$here/compare.py" "$@"

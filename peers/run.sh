#!/usr/bin/env bash
# Runs a module of peers in its own environment, created on first use outside this tree.
#
#   peers/run.sh peers.run fno data.npz --budget 300 --out fno.json
#   peers/run.sh pytest peers/tests
#
# PYTHON names the Python to make it from (3.11 or later). PEERS_INDEX may name a further package index, such as
# PyTorch's own with the small CPU-only builds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
environment=${XDG_CACHE_HOME:-$HOME/.cache}/c2cnet-peers/venv
wanted=$(cksum < "$here/requirements.txt")
if [ "$(cat "$environment/made-from" 2>/dev/null)" != "$wanted" ]; then
    "${PYTHON:-python3}" -m venv "$environment"
    "$environment/bin/pip" install --quiet ${PEERS_INDEX:+--extra-index-url "$PEERS_INDEX"} -r "$here/requirements.txt"
    echo "$wanted" > "$environment/made-from"
fi
PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}" exec "$environment/bin/python" -m "$@"

#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment outside the tree and checks it there:
# tests, doctests, types, the code of the guide, the notebooks. PYTHON names another interpreter, PROFILE another one of
# cargo's than the one for users.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '\n== python: %s\n' "$*"; "$@"; }

"${PYTHON:-python3}" -m venv "$work/venv"
export PATH="$work/venv/bin:$PATH" PIP_DISABLE_PIP_VERSION_CHECK=1
step pip install --quiet 'maturin>=1.9.4,<2'
# The source distribution has all that cargo asks for; building it would take as long as all the rest.
step maturin sdist --manifest-path "$here/Cargo.toml" --out "$work/sdist"
tar xzf "$work"/sdist/c2cnet-*.tar.gz -C "$work/sdist" --strip-components 1
step cargo metadata --quiet --offline --format-version 1 --manifest-path "$work/sdist/Cargo.toml" >/dev/null
step maturin build --profile "${PROFILE:-release}" --locked --manifest-path "$here/Cargo.toml" --out "$work"
step pip install --quiet "$(ls "$work"/c2cnet-*.whl)[test]"

# Away from the sources: what is installed is what is checked.
cd "$work"
step timeout 900 python -m pytest -q -p no:cacheprovider -c "$here/pyproject.toml" "$here/tests"
step timeout 600 python -m pytest -q -p no:cacheprovider --doctest-modules --pyargs c2cnet
step mypy --config-file "$here/pyproject.toml" --cache-dir "$work/mypy"
step timeout 900 python "$here/notebooks.py"

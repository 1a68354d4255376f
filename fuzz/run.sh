#!/usr/bin/env bash
# fuzz/run.sh HOURS [ARGUMENTS]: hostile input for this many hours (0.02: about a minute), on one thread.
# Another --seed makes other cases; by default it is the day.
set -euo pipefail
cd "$(dirname "$0")/.."
hours=${1:?give the number of hours}
shift
# With the whole workspace, so that nothing is built twice with other features.
cargo build --quiet --workspace --locked --bin c2cnet-fuzz
seconds=$(awk "BEGIN { print 3600 * $hours }")
exec "${CARGO_TARGET_DIR:-target}/debug/c2cnet-fuzz" --seconds "$seconds" --seed "$(date +%Y%m%d)" "$@"

#!/usr/bin/env bash
# Milliseconds per step of the paper's networks on an NVIDIA GPU, beside PyTorch in the same run.
#   bench/gpu/run.sh [BINARY]     BINARY: bench_gpu, built elsewhere where this machine has no cargo
# Needs the driver, NVRTC and cuBLAS (LD_LIBRARY_PATH), and for the peer a python3 with PyTorch.
set -euo pipefail
cd "$(dirname "$0")/../.."
binary=${1:-}
if [ -z "$binary" ]; then
    cargo build --release --example bench_gpu
    binary=${CARGO_TARGET_DIR:-target}/release/examples/bench_gpu
fi
lines=$(mktemp)
nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader || true
# One after the other, so that neither has the GPU of the other.
"$binary" cuda | tee -a "$lines"
python3 bench/gpu/peer.py | tee -a "$lines"
python3 bench/gpu/table.py < "$lines"

#!/usr/bin/env bash
# Makes the data of one part of gpu_plan.txt with c2cnet and runs its peers, on a machine with one GPU
# and PyTorch.
#
#   peers/gpu.sh --part 1 [--out FOLDER] [--limit SECONDS] [--smoke]
#
# C2CNET names the c2cnet binary (default target/release/c2cnet), PYTHON the Python that has PyTorch, FILES a
# folder with PROBLEM.npz of problems that c2cnet does not generate (nonlinear-darcy: bench/nonlinear_darcy.py),
# NOTE what else the machine does meanwhile, for the results. Results: FOLDER/results-part1.json (default $OUT, else gpu-results). --smoke tries everything on a
# CPU with a handful of samples and seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

part=1 out=${OUT:-gpu-results} limit=525 smoke=
while [ $# -gt 0 ]; do
    case $1 in
        --part) part=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        --limit) limit=$2; shift 2 ;;
        --smoke) smoke=yes; shift ;;
        *) echo "error: unknown option $1; see the head of $0" >&2; exit 2 ;;
    esac
done
c2cnet=${C2CNET:-target/release/c2cnet}
python=${PYTHON:-python3}
[ -x "$c2cnet" ] || { echo "error: no c2cnet at $c2cnet; build it or name it in C2CNET" >&2; exit 1; }
"$python" -c 'import torch' || { echo "error: $python has no PyTorch; name one that has in PYTHON" >&2; exit 1; }
export PYTHONUNBUFFERED=1

data=${XDG_CACHE_HOME:-$HOME/.cache}/c2cnet-peers/data${smoke:+-smoke}
mkdir -p "$data" "$out"
generate() {  # problem, file without .npz, what c2cnet generate is given
    [ -e "$data/$2.npz" ] && return
    "$c2cnet" generate "${@:3}" -o "$data/$2.npz"
    echo "data of $1 after $SECONDS s"
}
for problem in $("$python" -m peers.plan peers/gpu_plan.txt --part "$part" --data "$data" --out "$out" --needs); do
    sizes=()
    if [ -n "$smoke" ]; then
        sizes=(--set n_train=1600 --set n_test=4)
        case $problem in
            nonaligned) sizes=(--quick) ;;
            darcy1d) sizes=(--set n_train=400 --set n_test=4 --set points=64) ;;
            darcy2d) sizes+=(--set points=25 --set modes=25) ;;
            kdv-burgers | helmholtz) sizes=(--set n_train=8 --set n_test=4 --set points=25) ;;
            poisson-holes | elastic-plate)
                sizes=(--set n_train=8 --set n_test=4 --set points=300 --set reference=1500) ;;
            darcy-lshape)
                sizes=(--set n_train=8 --set n_test=4 --set grid=13 --set points=100 --set reference=500) ;;
        esac
    fi
    case $problem in
        nonaligned)  # tests know the output at all points
            generate nonaligned nonaligned both --experiment nonaligned "${sizes[@]}"
            generate nonaligned nonaligned-test both-test --experiment nonaligned "${sizes[@]}" ;;
        nonlinear-darcy)
            cp "${FILES:?names the folder with $problem.npz}/$problem.npz" "$data/" ;;
        *) generate "$problem" "$problem" "$problem" "${sizes[@]}" ;;
    esac
done
options=(--limit $((limit - SECONDS)) ${NOTE:+--note "$NOTE"})
if [ -n "$smoke" ]; then
    options=(--limit 600 --scale 0.01 --device cpu)
fi
"$python" -m peers.plan peers/gpu_plan.txt --part "$part" --data "$data" --out "$out" "${options[@]}"
# The logs in one file: few files travel back from a rented machine.
tar -czf "$out/runs-part$part.tar.gz" -C "$out" runs && rm -r "$out/runs"
echo "part $part took $SECONDS s"

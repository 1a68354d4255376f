#!/usr/bin/env bash
# What the tables of the paper's networks still lack (missing.py), on one GPU, in parts of less than nine minutes.
#   bench/paper/gpu.sh PART PROGRAM OUT [--smoke]
# PART 1: ten dimensions, 1D and 2D Darcy, random points with DeepONet and B2B, networks on the figure of floors if there is
# time.
# PART 2: the floors again, other resolutions, the plate, Helmholtz, holes, PCA-Net, the L, inverse Stokes, faults on the GPU.
# Leaves OUT/paper-PART.tgz, without data and models, and logs. --smoke tries it on a CPU, with small data, a few steps and
# without the peers. Afterwards:
#   mkdir -p RUN && tar -xzf OUT/paper-PART.tgz -C RUN
#   python3 bench/paper/run.py --c2cnet - --take RUN --take RUN/ten --rows bench/paper/rows.jsonl -o bench/paper/RESULTS.md
set -uo pipefail
part=$1 program=$(realpath "$2") out=$(realpath -m "$3") smoke=${4:-}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
mkdir -p "$out" "$work/run"
start=$SECONDS
python3 bench/paper/missing.py -o "$work/missing"
cp crates/c2cnet-experiments/experiments/transfer.toml "$work/missing"
how=(--experiments "$work/missing" --device cuda --jobs 8 --progress off)
[ -n "$smoke" ] && how=(--experiments "$work/missing" --device cpu --jobs 2 --progress off --quick --steps 3)

# Seconds that are left of so many since the start.
left() { echo $(($1 - (SECONDS - start) > 1 ? $1 - (SECONDS - start) : 1)); }

# Experiments, in which no fit begins after the first number of seconds, and which end by the second.
reproduce() {
    local folder=$1 begin=$2 end=$3
    shift 3
    timeout -s INT "$(left "$end")" "$program" reproduce "$@" "${how[@]}" --within "$(left "$begin")" --out "$work/$folder"
}

if [ "$part" = 1 ]; then
    # Most of its time goes by on the processor.
    reproduce run/ten 300 500 poisson10d > "$out/ten.log" 2>&1 &
    ten=$!
    if [ -z "$smoke" ]; then
        "$program" generate both --experiment nonaligned -o "$work/both.npz"
        "$program" generate both-test --experiment nonaligned -o "$work/test.npz"
        for peer in deeponet b2b; do
            timeout 200 python3 -m peers.run "$peer" "$work/both.npz" --test "$work/test.npz" --budget 90 --quiet \
                --note "shared the GPU with other trainings" --out "$work/run/peers/$peer-nonaligned.json" \
                --predictions "$work/run/peers/predictions/$peer-nonaligned.json" > "$out/$peer.log" 2>&1 &
        done
    fi
    reproduce run 230 400 efficiency
    reproduce run 400 490 nonaligned floors
    wait "$ten"
else
    # Kernel maps with noise and with fewer sensors: on the processor.
    if [ -z "$smoke" ]; then
        timeout -s INT 490 "$program" reproduce inverse-stokes --recipe auto --progress off --within 300 \
            --out "$work/run/stokes" > "$out/stokes.log" 2>&1 &
        stokes=$!
    fi
    reproduce run 400 480 floors transfer elastic-plate helmholtz poisson-holes darcy2d efficiency darcy-lshape inverse-stokes
    [ -z "$smoke" ] && wait "$stokes"
    [ -z "$smoke" ] && timeout "$(left 530)" python3 bench/gpu/faults.py "$program" | tee "$out/faults.md"
fi
tar -czf "$out/paper-$part.tgz" -C "$work/run" --exclude='*.c2c' --exclude=data .
ls -l "$out"
echo "part $part: $((SECONDS - start)) s"
rm -rf "$work"

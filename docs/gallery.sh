#!/bin/sh
# Makes the figures of gallery.md: sample 3 of every problem, at its default resolution.
# Run in the root of the repository; takes seconds once the command is built.
set -eu

cargo build --release -p c2cnet-cli
c2cnet=$PWD/target/release/c2cnet
pictures=$PWD/docs/images/gallery
data=$(mktemp -d)
trap 'rm -r "$data"' EXIT
mkdir -p "$pictures"

# The picture's name, the problem, its settings.
draw_as() {
    name=$1 problem=$2
    shift 2
    "$c2cnet" generate "$problem" -o "$data/$name.npz" "$@"
    "$c2cnet" plot "$data/$name.npz" --sample 3 -o "$pictures/$name.svg"
}

draw() {
    draw_as "$1" "$@"
}

for problem in advected-square darcy1d darcy2d darcy-lshape elastic-plate helmholtz kdv-burgers \
    nonlinear-diffusion poisson-holes stokes-inverse; do
    draw "$problem" --set n_train=8 --set n_test=2
done
draw poisson10d --set n_train=8 --set n_gen1=2 --set n_gen2=10
draw navier-stokes --set n_train=4 --set n_test=0 --set history=2
draw_as darcy2d-binary darcy2d --set n_train=4 --set n_test=0 --set coefficient=binary --set modes=421 \
    --set points=85 --set refine=5

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

draw() {
    problem=$1
    shift
    "$c2cnet" generate "$problem" -o "$data/$problem.npz" "$@"
    "$c2cnet" plot "$data/$problem.npz" --sample 3 -o "$pictures/$problem.svg"
}

for problem in advected-square darcy1d darcy2d darcy-lshape elastic-plate helmholtz kdv-burgers \
    poisson-holes stokes-inverse; do
    draw "$problem" --set n_train=8 --set n_test=2
done
draw poisson10d --set n_train=8 --set n_gen1=2 --set n_gen2=10

// Makes a small run folder that has everything a report can show, for looking at the page and for
// testing it:  node run_folder.mjs FOLDER   (C2CNET names the command, default `c2cnet`)
// The figures are real (small data of c2cnet generate); the numbers in the tables are made up.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const c2cnet = (...args) => execFileSync(process.env.C2CNET ?? "c2cnet", args, { stdio: "pipe" });
const write = (path, value) => writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));

const PROBLEMS = [
  // problem, title, ours, paper, floor, linear, mean, rms, paper's rms, seconds, paper's seconds
  ["darcy1d", "1D Darcy", 7.0e-4, 3.87e-3, 1.9e-7, 5.9e-2, 1.0, 0.13, null, 8.3, 139],
  ["darcy2d", "2D Darcy", 1.2e-3, 6.47e-3, 2.0e-4, 1.3e-2, 0.12, 0.041, 0.044, 88, 202],
  ["poisson-holes", "Poisson, three holes", 6.0e-4, 4.13e-3, 5.3e-4, 6.0e-4, 1.0, 0.0168, 0.017, 14, 88],
  ["elastic-plate", "Elastic plate", 4.7e-4, 1.68e-3, 1.1e-4, 4.7e-4, 1.0, 3.5e-5, 3.7e-5, 4.7, 59],
  ["darcy-lshape", "L-shaped Darcy", 1.8e-2, 3.86e-2, 7.2e-3, 3.5e-1, 1.0, 0.0075, 0.0075, 254, 158],
  ["kdv-burgers", "KdV-Burgers", 4.1e-4, 3.29e-3, 2.1e-4, 2.5e-1, 1.0, 0.169, 0.22, 40, 223],
  ["helmholtz", "Helmholtz", 1.1e-3, 2.13e-3, 1.1e-3, 1.1e-3, 0.42, 1.12, null, 31, 125],
  ["poisson10d", "10D Poisson", 9.1e-5, 6.48e-3, 9.1e-5, 9.1e-5, 0.97, 1.73, null, 0.5, null],
  ["stokes-inverse", "Inverse Stokes", 7.1e-2, 5.56e-2, 1.9e-3, 1.4e-1, 0.26, 1.89, null, 94, 611],
];

const headline = ([problem, title, rl2e, paper, floor, linear, mean, rms, paper_rms, seconds, paper_seconds]) => ({
  problem, title, method: "auto", rl2e, paper, floor, withheld: 1.1 * rl2e, linear, mean, rms, paper_rms, seconds, paper_seconds,
  note: problem === "stokes-inverse" ? "loss without weights near the boundary" : "",
});

const decay = (n, from, to) => Array.from({ length: n }, (_, k) => from * (to / from) ** (k / (n - 1)));

export function makeRun(folder) {
  mkdirSync(join(folder, "peers"), { recursive: true });
  write(join(folder, "run.json"), {
    format: 1, version: "0.1.0", date: "2026-11-15", quick: false,
    hardware: { cpu: "AMD EPYC", cores: 2, memory_gib: 16, os: "Linux" }, command: "c2cnet reproduce --all",
  });
  const experiment = (name, result) => {
    mkdirSync(join(folder, name, "figures"), { recursive: true });
    write(join(folder, name, "config.toml"), "");
    write(join(folder, name, "result.json"), {
      format: 1, name, quick: false, date: "2026-11-15", seconds: 31.4, version: "0.1.0",
      command: `c2cnet reproduce ${name}`, differs: [], ...result,
    });
  };
  const pictures = (name, problem, count, ...settings) => {
    mkdirSync(join(folder, name, "figures"), { recursive: true });
    const data = join(folder, `${problem}.npz`);
    c2cnet("generate", problem, "-o", data, ...settings.flatMap((s) => ["--set", s]));
    return Array.from({ length: count }, (_, k) => {
      const svg = `figures/sample-${k}.svg`;
      c2cnet("plot", data, "--sample", String(k), "-o", join(folder, name, svg));
      return svg;
    });
  };

  const cut = decay(30, 1e-12, 1e-1);
  experiment("cutoff", {
    label: "subsec:svd-cutoff-illustration", title: "Spectral cut-off on 1D Darcy",
    about: "How strongly the encoder is regularised decides what the map can learn: little regularisation amplifies noise, much of it loses the input.\n\nThe cut is swept over eleven decades with 128 random features and 1000 points.",
    headline: [headline(PROBLEMS[0])],
    curves: [{
      id: "cut", title: "Training and test error over the cut", caption: "Mean over three seeds.", label: "fig:svd-cutoff",
      x: { title: "relative cut", log: true }, y: { title: "RL2E", log: true },
      series: [
        { name: "training", x: cut, y: cut.map((c) => 2e-4 + 0.2 * c ** 0.7), dashed: false },
        { name: "test", x: cut, y: cut.map((c, k) => (k === 3 ? null : 3e-4 + 0.2 * c ** 0.7 + 4e-8 / c ** 0.5)), dashed: true },
        { name: "floor", x: [1e-12, 1e-1], y: [1.9e-5, 1.9e-5], dashed: true },
      ],
    }, {
      id: "rate", title: "Gap over the amplification", caption: "", label: null,
      x: { title: "samples", log: false }, y: { title: "gap", log: false },
      series: [{ name: "ridge", x: [100, 200, 400, 800], y: [0.4, 0.31, 0.18, 0.12], dashed: false }],
    }],
    tables: [], figures: [], galleries: [],
    checks: [{ what: "the best cut is inside the sweep", passed: true, value: 2e-4, bound: 1e-1, detail: "" }],
  });

  const samples = pictures("nonaligned", "darcy2d", 9, "n_train=9", "n_test=2", "points=41");
  experiment("nonaligned", {
    label: "subsubsec:nonaligned-random", title: "Non-aligned observations of 2D Darcy",
    about: "Every sample is observed at 400 random input points and 400 other random output points. Point-value variants get values interpolated to a common grid.",
    differs: ["The data is made here to the paper’s description; the paper’s own is not public.", "PCA-Net needs common points: it gets the nearest observation at each of 400 fixed points."],
    headline: [headline(PROBLEMS[1]), { ...headline(PROBLEMS[1]), method: "plain, 1500 steps", rl2e: 5.9e-3, withheld: null, note: "" }],
    cells: [{ cell: { table: "tab:rl2e-summary", row: "darcy2d", column: "scalar_rfm" }, reading: "plain", run: "RFM-C2C", rl2e: 5.9e-3 }],
    tables: [{
      id: "methods", title: "Test errors of the methods", caption: "Mean and standard deviation over three seeds.", label: "tab:nonaligned",
      columns: [
        { key: "method", title: "method", kind: "text" }, { key: "rl2e", title: "test RL2E", kind: "error" },
        { key: "paper", title: "paper", kind: "error" }, { key: "encoding", title: "encoding", kind: "seconds" },
        { key: "training", title: "training", kind: "seconds" }, { key: "parameters", title: "parameters", kind: "integer" },
        { key: "architecture", title: "architecture", kind: "text" },
      ],
      rows: [
        { method: "RFM-C2C", rl2e: 5.9e-3, rl2e_spread: 2e-4, paper: 1.18e-2, encoding: 3.1, training: 61, parameters: 492864, architecture: "[512, 180×2, 2048]" },
        { method: "RFM-P2C", rl2e: 2.4e-2, rl2e_spread: 9e-4, paper: 4.9e-2, encoding: 0.02, training: 97, parameters: 473088, architecture: "[400, 180×2, 2048]" },
        { method: "RFM-C2P", rl2e: 1.9e-2, rl2e_spread: 3e-4, paper: 3.7e-2, encoding: 3.1, training: 44, parameters: 197440, architecture: "[512, 180×2, 400]" },
        { method: "PCA-Net", rl2e: 6.1e-2, paper: null, encoding: 1.4, training: 38, parameters: 84224, architecture: "[128, 180×2, 128]" },
      ],
    }],
    curves: [],
    figures: [
      { id: "sample", title: "One sample", caption: "Permeability and pressure; the colour maps are perceptually uniform.", label: "fig:darcy2d", svg: samples[0], png: "figures/sample-0.png" },
      { id: "lost", title: "A figure that was lost", caption: "", label: null, svg: "figures/lost.svg", png: null },
    ],
    galleries: [{
      id: "test-set", title: "Test samples from best to worst", caption: "Nine of 200 samples, spread evenly over the ranks.",
      samples: samples.map((svg, k) => ({ sample: 17 + 5 * k, rank: 25 * k, rl2e: 3e-4 * 1.6 ** k, svg })),
    }],
    checks: [
      { what: "prediction error is never under the floor", passed: true, value: 1.02, bound: 1.0, detail: "smallest ratio over 200 samples" },
      { what: "RFM-C2C is at or under the paper’s 1.18e-2", passed: false, value: 1.31e-2, bound: 1.18e-2, detail: "made up, to see how a failure looks" },
    ],
  });

  const stokes = pictures("inverse-stokes", "stokes-inverse", 3, "n_train=3", "n_test=1", "grid=41");
  experiment("inverse-stokes", {
    label: "subsec:inverse-stokes", title: "Inverse Stokes: obstacles from sensors downstream",
    about: "The signed distance of obstacles is recovered from velocities at sensors <downstream> of them & nowhere else.",
    headline: [headline(PROBLEMS[8])], tables: [], curves: [],
    figures: stokes.map((svg, k) => ({ id: `s${k}`, title: `Reconstruction ${k + 1}`, caption: "", label: null, svg })),
    galleries: [], checks: [],
  });
  experiment("complex", {
    label: "subsec:complex-operators", title: "Complex operators", about: "", headline: PROBLEMS.slice(2, 8).map(headline),
    tables: [], curves: [], figures: [], galleries: [], checks: [],
  });

  mkdirSync(join(folder, "transfer"), { recursive: true });
  write(join(folder, "transfer", "config.toml"), "");
  mkdirSync(join(folder, "efficiency"), { recursive: true });
  write(join(folder, "efficiency", "result.json"), '{"format": 1, "name": "effic');

  for (const [peer, seed, rl2e, train_seconds] of [["FNO", 0, 5.4e-3, 1510], ["FNO", 1, 5.9e-3, 1490], ["DeepONet", 0, 1.1e-1, 260]]) {
    write(join(folder, "peers", `${peer}-${seed}.json`), {
      format: 1, peer, problem: "darcy2d", seed, schedule: "one-cycle", hardware: "NVIDIA H200", parameters: 1188353,
      train_seconds, seconds_per_epoch: train_seconds / 500, epochs: 500, rl2e, mse: 1e-7, peak_memory_mib: 900,
      curve: decay(40, 5, train_seconds).map((s, k) => [s, 12 * k, rl2e + 0.8 * Math.exp(-s / 90)]),
    });
  }
  write(join(folder, "peers", "old.json"), { format: 7 });
}

if (process.argv[2]) makeRun(process.argv[2]);

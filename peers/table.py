"""Writes the tables of peers/RESULTS.md: the paper's figures, our runs of the peers and those of c2cnet.

    python peers/table.py --run reproduction

Peers are read from peers/results/*.json, fits of c2cnet to some or all samples from peers/results/samples/*.json
(efficiency.py), the rest from the folder of a run of `c2cnet reproduce`. The paper's figures are those of the report.
With --figure, sample efficiency is drawn (needs Matplotlib).
"""

import argparse
import json
import math
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAPER = HERE.parent / "crates/c2cnet-experiments/src/printed.toml"
TITLES = {
    "darcy2d": "2D Darcy flow (`tab:2d_darcy_comparison`, `tab:performance-summary`)",
    "darcy1d": "1D Darcy flow, aligned points",
    "poisson-holes": "Poisson, three holes (`tab:performance-summary`)",
    "elastic-plate": "Elastic plate (`tab:performance-summary`)",
    "kdv-burgers": "KdV-Burgers (`tab:performance-summary`)",
    "helmholtz": "Helmholtz (`tab:performance-summary`)",
    "darcy-lshape": "Darcy flow on an L, two inputs (`tab:performance-summary`)",
    "nonlinear-darcy": "Nonlinear Darcy flow, the public data of B2B's authors",
}
# Not in the summary, only in tab:2d_darcy_comparison.
PCA_NET = {"method": "PCA-Net", "seconds": 54, "parameters": 542224, "rl2e": 1.07e-2, "mse": 2.22e-7}
# tab:1d_darcy_random_comparison, the methods that `c2cnet reproduce` does not run.
NONALIGNED_PAPER = {"DeepONet": 3.02e-1, "B2B": 9.15e-2}
ALL_POINTS = "all output points fitted"  # what c2cnet's default keeps out of the fit, peers are trained on
EQUAL_TIME = "equal-time"  # the label of trainings whose schedule ends with c2cnet's seconds
# What stands above this line in RESULTS.md is written by hand and stays.
MARK = "<!-- Tables by peers/table.py -->"
NONALIGNED = "nonaligned"
HEADER = ["method", "by", "RL2E", "MSE", "seconds", "parameters", "RL2E in c2cnet's seconds", "hardware"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="a folder of `c2cnet reproduce`")
    parser.add_argument("--figure", type=Path, help="where to draw sample efficiency (.svg)")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md")
    options = parser.parse_args()

    peers = [json.loads(p.read_text()) for p in sorted((HERE / "results").glob("*.json"))]
    fits = [fit for p in sorted((HERE / "results/samples").glob("*.json")) for fit in json.loads(p.read_text())]
    paper = {part["problem"]: part["rows"] for part in tomllib.loads(PAPER.read_text())["performance"]}
    paper["darcy2d"] = [PCA_NET] + paper["darcy2d"]
    by_hand, mark, _ = options.out.read_text().partition(MARK)
    if not mark:
        sys.exit(f"error: {options.out} has no line {MARK}")
    parts = [by_hand + mark]
    for problem, title in TITLES.items():
        full = [p for p in peers if p["problem"] == problem]
        if not full:
            continue
        most = max(p["n_train"] for p in full)
        full = [p for p in full if p["n_train"] == most]
        own = from_run(options.run, problem) or from_fits(fits, problem, most)
        if own and not from_fits(fits, problem, most):
            fits.append({**own, "problem": problem, "n_train": most, "method": "auto"})
        parts.append(problem_table(title, most, paper.get(problem, []), full, own))
    parts.append(nonaligned(options.run, [p for p in peers if p["problem"] == NONALIGNED]))
    parts.append(efficiency_tables(peers, fits))
    options.out.write_text("\n\n".join(parts) + "\n")
    if options.figure:
        draw(options.figure, peers, fits)


def from_run(run: Path | None, problem: str) -> dict | None:
    """The default fit of c2cnet in a run folder."""
    for file in sorted(run.glob("*/result.json")) if run else []:
        if file.parent.name == NONALIGNED:  # other data of the same problem, with a table of its own
            continue
        result = json.loads(file.read_text())
        line = next((h for h in result["headline"] if h["problem"] == problem and h["method"] == "auto"), None)
        if line is None:
            continue
        rows = (row for table in result["tables"] for row in table["rows"])
        return {
            **{key: line[key] for key in ("rl2e", "mse", "seconds", "floor", "parameters")},
            "hardware": machine(run),
            "all points": next((row for row in rows if ALL_POINTS in row.get("method", "")), None),
        }
    return None


def machine(run: Path) -> str:
    found = json.loads((run / "run.json").read_text())["hardware"]
    return f"{found['cpu']}, {found['cores']} threads"


def from_fits(fits: list[dict], problem: str, n_train: int) -> dict | None:
    return next((f for f in fits if (f["problem"], f["n_train"], f["method"]) == (problem, n_train, "auto")), None)


def problem_table(title: str, n_train: int, paper: list[dict], peers: list[dict], own: dict | None) -> str:
    rows = [[p["method"], "paper", error(p["rl2e"]), error(p["mse"]), number(p["seconds"]), count(p["parameters"]), "",
             "-"] for p in paper]
    brief = {p["peer"]: p for p in peers if p.get("label") == EQUAL_TIME}
    peers = sorted((p for p in peers if p.get("label") != EQUAL_TIME), key=lambda p: p["schedule"] == "published")
    for p in peers:
        name = p["peer"] + (", with symmetry" if p["symmetry"] else "") \
            + (", as published" if p["schedule"] == "published" else "")
        early = brief.get(p["peer"]) if p["schedule"] == "one-cycle" and not p["symmetry"] else None
        early = f"{error(early['rl2e'])} ({number(early['train_seconds'])} s)" if early else "-"
        rows.append([name, "our run", error(p["rl2e"]), error(p["mse"]), number(p["train_seconds"]),
                     count(p["parameters"]), early, hardware(p)])
    text = f"## {title}\n\n{n_train} training samples.\n\n"
    if own:
        rows.append(["**c2cnet auto**", "our run", f"**{error(own['rl2e'])}**", error(own.get("mse")),
                     number(own["seconds"]), count(own.get("parameters")), error(own["rl2e"]),
                     own["hardware"] + (" (shared)" if own.get("note") else "")])
    if own and (row := own.get("all points")):
        rows.append([f"**c2cnet auto**, {ALL_POINTS}, as by the peers", "our run", f"**{error(row['rl2e'])}**",
                     error(row.get("mse")), number(offline_seconds(row)), count(row.get("parameters")),
                     error(row["rl2e"]), own["hardware"]])
        own = {**own, "rl2e": row["rl2e"], "floor": row["floor"]}
    text += table(HEADER, rows)
    if not own:
        return text + "\n\nThere is no run of c2cnet beside these yet."
    for kind, group in (("", [p for p in peers if not p["symmetry"]]),
                        (" with symmetry", [p for p in peers if p["symmetry"]])):
        if group:
            best = min(group, key=lambda p: p["rl2e"])
            ratio = best["rl2e"] / own["rl2e"]
            text += f"\n\nThe best peer{kind} at its end, {best['peer']}, has {ratio:.2f} times the error of c2cnet auto" \
                    f"{' without symmetry' if kind else ''}."
    if brief:
        best = min(brief.values(), key=lambda p: p["rl2e"])
        text += f"\n\nIn c2cnet's seconds, {number(best['train_seconds'])} on the GPU, the best peer is {best['peer']} " \
                f"with {best['rl2e'] / own['rl2e']:.2f} times the error of c2cnet auto."
    return text + f" The floor of c2cnet's output basis is {error(own['floor'])}."


def hardware(peer: dict) -> str:
    return peer["hardware"] + (" (shared)" if "shared" in peer.get("note", "") else "")


def nonaligned(run: Path | None, peers: list[dict]) -> str:
    title = "## 1D Darcy flow, non-aligned points (`tab:1d_darcy_random_comparison`)\n\n"
    file = run / NONALIGNED / "result.json" if run else None
    if not file or not file.exists():
        return title + "Neither the peers nor c2cnet have a full run here yet; `peers/run.sh peers.run deeponet` and " \
                       "`b2b` take such data, `c2cnet reproduce nonaligned` makes it."
    found = [t for t in json.loads(file.read_text())["tables"] if t["label"] == "tab:1d_darcy_random_comparison"]
    rows = [[r["method"], r["recipe"], error(r["rl2e"]), error(r["paper_rl2e"]), number(offline_seconds(r)),
             count(r["parameters"]), machine(run)] for t in found for r in t["rows"]]
    rows += [[p["peer"], p["schedule"], error(p["rl2e"]), error(NONALIGNED_PAPER.get(p["peer"])),
              number(p["train_seconds"]), count(p["parameters"]), hardware(p)] for p in peers]
    header = ["method", "recipe or schedule", "our RL2E", "paper's", "seconds", "parameters", "hardware"]
    note = "Peers see the same 400 input and 400 output observations of each training sample as c2cnet and are tested " \
           "at all 2,000 points." if peers else "DeepONet and B2B were not trained on these data yet."
    return title + table(header, rows) + "\n\n" + note


def offline_seconds(row: dict) -> float:
    return sum(row.get(key) or 0 for key in ("search", "encoding", "training"))


def series(peers: list[dict], fits: list[dict], problem: str) -> dict[str, dict[int, float]]:
    """RL2E by method and number of samples."""
    found: dict[str, dict[int, float]] = {}
    names = {"auto": "c2cnet auto", "pca-net": "PCA-Net"}
    for f in fits:
        if f["problem"] == problem:
            found.setdefault(names[f["method"]], {})[f["n_train"]] = f["rl2e"]
    for p in peers:
        usual = p["schedule"] == "one-cycle" and not p["symmetry"] and "label" not in p
        if p["problem"] == problem and p["peer"] in ("FNO", "DeepONet") and usual:
            found.setdefault(p["peer"], {})[p["n_train"]] = p["rl2e"]
    return {name: dict(sorted(points.items())) for name, points in found.items()}


def efficiency_tables(peers: list[dict], fits: list[dict]) -> str:
    text = "## Sample efficiency\n\nTest RL2E after training with the first N samples, FNO and DeepONet on a GPU, c2cnet " \
           "and PCA-Net (principal components as bases, 16, 32 or 64 of them as held-out training samples " \
           "choose, and c2cnet's default map) on two processor cores.\n\n" \
           "![RL2E against the number of training samples](../docs/images/sample-efficiency.svg)"
    for problem, title in (("darcy1d", "1D Darcy"), ("darcy2d", "2D Darcy")):
        found = series(peers, fits, problem)
        sizes = sorted({n for points in found.values() for n in points})
        rows = [[name] + [error(points.get(n)) for n in sizes] for name, points in found.items()]
        text += "\n\n" + table([title] + [f"N = {n}" for n in sizes], rows)
    return text


def draw(path: Path, peers: list[dict], fits: list[dict]) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "c2cnet", "font.size": 10}
    import matplotlib.pyplot as plt

    styles = {"c2cnet auto": ("#0072b2", "o"), "PCA-Net": ("#d55e00", "s"), "FNO": ("#009e73", "^"),
              "DeepONet": ("#cc79a7", "D")}
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for panel, (problem, title) in zip(panels, (("darcy1d", "1D Darcy flow"), ("darcy2d", "2D Darcy flow"))):
        found = series(peers, fits, problem)
        sizes = sorted({n for points in found.values() for n in points})
        for name, (colour, marker) in styles.items():
            if points := found.get(name):
                panel.loglog(list(points), list(points.values()), color=colour, marker=marker, label=name)
        panel.set(title=title, xlabel="training samples", ylabel="test RL2E")
        panel.set_xticks(sizes, [str(n) for n in sizes])
        panel.set_xticks([], minor=True)
        errors = [v for points in found.values() for v in points.values()]
        panel.set_ylim(10 ** math.floor(math.log10(min(errors))), 10 ** math.ceil(math.log10(max(errors))))
        panel.grid(alpha=0.3)
        panel.legend()
    figure.savefig(path, metadata={"Date": None})


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def error(v: float | None) -> str:
    return "-" if v is None else f"{v:.2e}"


def number(v: float | None) -> str:
    return "-" if v is None else f"{v:,.0f}" if v >= 10 else f"{v:.1f}"


def count(v: float | None) -> str:
    return "-" if v is None else f"{v:,.0f}"


if __name__ == "__main__":
    main()

"""The lines of bench_gpu and peer.py on standard input as one table. The peak is that of f32 without tensor cores."""

import json
import sys

PEAK = 67e12

rows = {}
for line in sys.stdin:
    if not line.startswith("{"):
        continue
    record = json.loads(line)
    row = rows.setdefault(record["name"], {})
    key = record["what"] + (" x16" if record.get("side_by_side", 1) == 16 else "")
    row[key] = record["ms"]
    if "widths" in record:
        row["widths"], row["samples"] = record["widths"], record["samples"]


def operations(widths, samples):
    """Of a step with the factor folded in."""
    weights = sum((a + 1) * b for a, b in zip(widths, widths[1:]))
    first = (widths[0] + 1) * widths[1]
    return samples * (6 * weights - 2 * first) + 4 * widths[-1] ** 2 * (widths[-2] + 1)


print("| problem | c2cnet | torch graph | ratio | torch graph folded | torch eager | part of peak | f64 | 16 at once, each | gain |")
print("|---|---|---|---|---|---|---|---|---|---|")
for name, row in rows.items():
    ours = row.get("f32", float("nan"))
    get = lambda key: row.get(key, float("nan"))
    peak = operations(row["widths"], row["samples"]) / (ours * 1e-3) / PEAK if "widths" in row else float("nan")
    print(
        f"| {name} | {ours:.3f} | {get('torch graph'):.3f} | {ours / get('torch graph'):.2f} | {get('torch graph folded'):.3f} "
        f"| {get('torch eager'):.3f} | {peak:.0%} | {get('f64'):.3f} | {get('f32 x16'):.3f} | {16 * ours / get('f32 x16'):.1f} |"
    )

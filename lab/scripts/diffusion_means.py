#!/usr/bin/env python3
"""One table of several `locdiff-lab reproduce diffusion --json` runs that differ in their seed: diffusion_means.py TRUTH.csv RUN.json…

Intervals have both sources of spread: blocks of 15° and seeds are drawn again; ± is the standard deviation over the seeds."""
import json
import sys

from blocks import Resampling, cell, places

truths, runs = places(sys.argv[1]), [json.load(open(path)) for path in sys.argv[2:]]
RADII = (200, 750, 2500)
resampling = Resampling(truths, len(runs))
print(f"{runs[0]['title']}, and {len(runs) - 1} runs with other seeds." if len(runs) > 1 else f"{runs[0]['title']}.")
print(
    "Δ: this way less a single evaluation at pure noise without guidance, the same model, photo by photo; a negative Δ NLL is better. Every way is read alike: exponent, floor and "
    "window by validation. A sampler's own density is the mixture of what the network gives its chains part of the way; pooled samples are an estimate of it, and the control says what "
    "that estimate costs. Every photo draws its own noise.\n"
)
print("| | 200 km | 750 km | 2500 km | NLL | Δ 750 | Δ NLL |\n|---|---|---|---|---|---|---|")


def hits(values, km):
    return [1.0 if value < km else 0.0 for value in values]


def less(a, b):
    return [x - y for x, y in zip(a, b)]


for k, row in enumerate(runs[0]["rows"]):
    rows = [run["rows"][k] for run in runs]
    assert all((one["model"], one["way"]) == (row["model"], row["way"]) for one in rows)
    name = f"{row['model']}: {row['way']}" if row["model"] else row["way"]
    cells = [cell(*resampling.mean([hits(one["errors_km"], km) for one in rows])) for km in RADII]
    mean, low, high, spread = resampling.mean([[-value for value in one["log_densities"]] for one in rows])
    cells.append(f"{mean:.3f} [{low:.3f}, {high:.3f}] ± {spread:.3f}")
    if row["plain_errors_km"]:
        lead = resampling.mean([less(hits(one["errors_km"], 750), hits(one["plain_errors_km"], 750)) for one in rows])
        cells.append(cell(*lead[:3]))
        mean, low, high, _ = resampling.mean([less(one["plain_log_densities"], one["log_densities"]) for one in rows])
        cells.append(f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    else:
        cells += [""] * 2
    print(f"| {name} | {' | '.join(cells)} |")

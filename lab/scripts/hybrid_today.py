#!/usr/bin/env python3
"""The table of lab/scripts/hybrid_today.sh: hybrid_today.py DATA OUT [SPLIT]. Intervals over blocks of 15° and seeds; ± is the deviation over the seeds."""
import glob
import sys

from blocks import Resampling, constant_place, cell, places, shares

data, out, split = (sys.argv[1:] + ["test"])[:3]
RADII = (1, 25, 200, 750, 2500)
ROWS = [
    ("plain", "LocDiff-Bayes (default) alone"),
    ("retrieval", "retrieval, the best match"),
    ("hybrid", "LocDiff-H, our rule"),
    ("paper", "LocDiff-H, the paper's rule"),
]
truths = places(f"{data}/{split}.csv")
seeds = len(glob.glob(f"{out}/hybrid-*.csv"))
resampling = Resampling(truths, seeds)
print(f"{seeds} seeds, n = {len(truths)} photos, 16 samples of the uncalibrated density, 20 steps; network bayes, L = 31. Rules as they are by default: nothing was chosen for this encoder.\n")
print(f"| {split} | 1 km | 25 km | 200 km | 750 km | 2500 km |\n|---|---|---|---|---|---|")


def row(words, by_seed):
    cells = [cell(*resampling.mean([shares(own, truths, km) for own in by_seed])) for km in RADII]
    print(f"| {words} | {' | '.join(cells)} |")


row("always the best constant place", [[constant_place(out)] * len(truths)])
found = {name: [places(path) for path in sorted(glob.glob(f"{out}/{name}-*.csv"))] for name, _ in ROWS}
for name, words in ROWS:
    row(words, found[name])
for name, words in ROWS[1:]:
    cells = []
    for km in RADII:
        plain = shares(found["plain"][0], truths, km)
        less = [[a - b for a, b in zip(shares(own, truths, km), plain)] for own in found[name]]
        cells.append(cell(*resampling.mean(less)[:3]))
    print(f"| {words}, less the model alone | {' | '.join(cells)} |")

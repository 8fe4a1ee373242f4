#!/usr/bin/env python3
"""How many true places lie in the regions said to hold 50, 70, 80 and 90 %, with 95 % intervals over blocks of 5°: region_coverage.py TRUTH.csv ANSWERS.csv [FIRST-LAST]…

ANSWERS.csv is what `locdiff-lab compare --methods bundled --test-locations TRUTH.csv --out FOLDER` writes (bundled-0.csv). The last line says what the other rows would hold if levels were
mapped by the first rows given, which is the simplest better rule there could be."""
import csv
import sys

from blocks import Resampling, places

SHARES = (0.5, 0.7, 0.8, 0.9)
truths = places(sys.argv[1])
levels = [float(row["truth_region_level"]) for row in csv.DictReader(open(sys.argv[2]))]
parts = [tuple(int(end) for end in part.split("-")) for part in sys.argv[3:]] or [(0, len(truths) - 1)]
print("| rows | n | blocks | 50 % | 70 % | 80 % | 90 % |\n|---|---|---|---|---|---|---|")
for first, last in parts:
    rows = range(first, last + 1)
    resampling = Resampling([truths[row] for row in rows], 1)
    cells = []
    for share in SHARES:
        mean, low, high, _ = resampling.mean([[1.0 if levels[row] <= share else 0.0 for row in rows]])
        cells.append(f"{100 * mean:.1f} [{100 * low:.1f}, {100 * high:.1f}]")
    print(f"| {first}–{last} | {len(rows)} | {resampling.count} | {' | '.join(cells)} |")
first, last = parts[0]
fitted = sorted(levels[first : last + 1])
others = [level for row, level in enumerate(levels) if not first <= row <= last]
if others:
    mapped = [fitted[int(share * len(fitted))] for share in SHARES]
    cells = [f"{100 * sum(level <= bound for level in others) / len(others):.1f}" for bound in mapped]
    print(f"| the others, levels mapped by rows {first}–{last} | {len(others)} | | {' | '.join(cells)} |")

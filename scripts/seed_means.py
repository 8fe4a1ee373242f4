#!/usr/bin/env python3
"""The mean over seeds of several `locdiff-lab compare --out FOLDER` runs, as Markdown: seed_means.py TRUTH.csv FOLDER…

Intervals have both sources of spread: blocks of 5° and seeds are drawn again; ± is the standard deviation over the seeds. Then the bundled model, and
LocDiff trained anew, less each method, photo by photo."""
import csv
import glob
import json
import os
import sys

from blocks import Resampling, cell, distance_km, places

truths, folders = places(sys.argv[1]), sys.argv[2:]
RADII = (200, 750, 2500)
resampling = Resampling(truths, len(folders))
# The order and the words of the first run that has them.
words = {}
for folder in folders:
    if os.path.exists(f"{folder}/compare.json"):
        words.update({one["method"]: one["description"] for one in json.load(open(f"{folder}/compare.json"))["methods"]})


def answers(folder, method):
    files = glob.glob(f"{folder}/{method}-[0-9]*.csv")
    assert len(files) == 1, (folder, method, files)
    return list(csv.DictReader(open(files[0])))


found = {}
for name in words:
    by_seed = [answers(folder, name) for folder in folders]
    km = [[distance_km((float(row["lat"]), float(row["lon"])), truth) for row, truth in zip(rows, truths)] for rows in by_seed]
    levels = [[float(row["truth_region_level"]) for row in rows] for rows in by_seed]
    held = [sum(sum(level <= said for level in one) / len(one) for one in levels) / len(levels) for said in (0.5, 0.9)]
    found[name] = {
        "hits": {r: [[1.0 if d < r else 0.0 for d in one] for one in km] for r in RADII},
        "nll": [[-float(row["truth_log_density"]) for row in rows] for rows in by_seed],
        "areas": [sorted(float(row["truth_region_area_km2"]) for row in rows) for rows in by_seed],
        "held": held,
    }


def area(lists, share):
    values = [one[round(share * (len(one) - 1))] for one in lists]
    mean = sum(values) / len(values) / 1e6
    return f"{mean:.0f}" if mean >= 10 else f"{mean:.1f}" if mean >= 1 else f"{mean:.2f}"


several = len(folders) > 1
print("| method | 200 km | 750 km | 2500 km | NLL | area 10 / 50 / 90 %, million km² | in 50 % / 90 % |")
print("|---|---|---|---|---|---|---|")
for name, own in found.items():
    cells = [cell(*resampling.mean(own["hits"][r])[: 4 if several else 3]) for r in RADII]
    mean, low, high, spread = resampling.mean(own["nll"])
    nll = f"{mean:.2f} [{low:.2f}, {high:.2f}]" + (f" ± {spread:.2f}" if several else "")
    areas = " / ".join(area(own["areas"], share) for share in (0.1, 0.5, 0.9))
    held = " / ".join(f"{100 * share:.0f}" for share in own["held"])
    print(f"| {words[name]} ({name}) | {' | '.join(cells)} | {nll} | {areas} | {held} |")


def less(a, b):
    return [[x - y for x, y in zip(one, other)] for one, other in zip(a, b)]


for ours in ("bundled", "locdiff"):
    if ours not in found:
        continue
    print(f"\n| {ours} less | 200 km | 750 km | 2500 km | NLL |\n|---|---|---|---|---|")
    for name, other in found.items():
        if name == ours:
            continue
        cells = [cell(*resampling.mean(less(found[ours]["hits"][r], other["hits"][r]))[:3]) for r in RADII]
        mean, low, high, _ = resampling.mean(less(found[ours]["nll"], other["nll"]))
        print(f"| {name} | {' | '.join(cells)} | {mean:+.2f} [{low:+.2f}, {high:+.2f}] |")

#!/usr/bin/env python3
"""The mean over seeds of several `locdiff-lab compare --out FOLDER` runs, as Markdown: seed_means.py TRUTH.csv FOLDER…

Intervals have both sources of spread: blocks of 5° and seeds are drawn again; ± is the standard deviation over the seeds. Then the bundled model, and
LocDiff trained anew, less each method, photo by photo."""
import csv
import glob
import sys

from blocks import Resampling, cell, distance_km, places

truths, folders = places(sys.argv[1]), sys.argv[2:]
RADII = (200, 750, 2500)
resampling = Resampling(truths, len(folders))
# The order and the words of lab/src/method.rs; what was not run with every seed is left out.
METHODS = [
    ("constant", "always the best constant place"),
    ("bundled", "the bundled model as shipped"),
    ("knn", "[L]kNN retrieval"),
    ("planet", "PlaNet: adaptive cells"),
    ("cells", "cells, smoothed labels (PIGEON's labels alone)"),
    ("cplanet", "CPlaNet: combined partitions"),
    ("isns", "nested partitions (ISNs without scenes)"),
    ("geoclip-gallery", "GeoCLIP-style, gallery of training places"),
    ("geoclip-grid", "GeoCLIP-style, grid of 21,000 points"),
    ("vmf", "vMF"),
    ("vmf-mixture", "vMF mixture"),
    ("diff-r3", "diffusion in R³"),
    ("fm-r3", "flow matching in R³"),
    ("rfm-s2", "Riemannian flow matching on S²"),
    ("ideal-draws", "control: 16 ideal draws of LocDiff's density"),
    ("locdiff-cs-unet", "LocDiff with the paper's CS-UNet"),
    ("locdiff-knn", "LocDiff+kNN (ours)"),
    ("locdiff", "LocDiff (ours)"),
]
words = {name: what for name, what in METHODS if all(glob.glob(f"{folder}/{name}-[0-9]*.csv") for folder in folders)}


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
print(
    f"n = {len(truths)} test photos, {len(folders)} seeds; LocDiff, LocDiff+kNN and ideal-draws have network bayes, L = 31, 3000 steps, loss nll; the others the preset full. NLL in nats per steradian (uniform: 2.53). Every method's "
    "kernels, exponent and floor are those of the least NLL on validation; places are read through a window chosen there, or by the method's own decoder where that is better there; the bundled model is as shipped. "
    '"constant" never looks at the photo: the density of the training places, read alike. Methods that sample have the NLL of kernels about 16 draws, as "ideal-draws" has of draws of LocDiff\'s own density: what that loses against '
    'LocDiff the estimator loses. "area": the densest million km² that hold the truth of 10, 50 and 90 % of the photos; "in 50 % / 90 %": how many true places lie in the regions said to hold so many.\n'
)
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


def choices(name):
    """What validation chose, of the first seed that says it."""
    for folder in folders:
        for path in sorted(glob.glob(f"{folder}/{name}-[0-9]*.txt")):
            return open(path).read().strip()
    return None


said = [(name, choices(name)) for name in found]
if any(text for _, text in said):
    print("\nWhat validation chose, first seed; a choice at an end of its range is said (kernels narrower than 75 km the pixels, 102 km wide, would not resolve; a floor of 0 is no end).\n")
    print("| method | chosen |\n|---|---|")
    for name, text in said:
        if text:
            print(f"| {name} | {text} |")

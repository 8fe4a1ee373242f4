#!/usr/bin/env python3
"""What the neighbours' codes are worth inside the diffusion, as Markdown: neighbour_table.py TEST.csv COMPARE-SEED… -- NAME CODES-SEED… [-- NAME CODES-SEED… …]

COMPARE-SEED are the folders of `locdiff-lab compare` without codes, CODES-SEED those with them (neighbour_codes.py). Intervals: blocks of 15° and seeds are
drawn. Standard library only."""
import csv
import glob
import itertools
import sys

from blocks import Resampling, cell, distance_km, level, places

RADII = (200, 750, 2500)
PLAIN = (("locdiff", "LocDiff-Bayes"), ("locdiff-cs-unet", "CS-UNet"), ("knn", "kNN"), ("locdiff-knn", "LocDiff-Bayes and kNN, mixed (point 3)"))
groups = [list(own) for is_end, own in itertools.groupby(sys.argv[2:], lambda word: word == "--") if not is_end]
truths, plain, arms = places(sys.argv[1]), groups[0], [(own[0], own[1:]) for own in groups[1:]]
drawn = Resampling(truths, len(plain))


def read(folders, method):
    """By measure, seed and photo: right within each radius, −log density."""
    found = []
    for folder in folders:
        paths = [path for path in glob.glob(f"{folder}/{method}-[0-9]*.csv") if not path.endswith(".apart.csv")]
        if not paths:  # without chance: the first seed's
            paths = glob.glob(f"{folders[0]}/{method}-0.csv")
        rows = list(csv.DictReader(open(paths[0])))
        km = [distance_km((float(row["lat"]), float(row["lon"])), truth) for row, truth in zip(rows, truths, strict=True)]
        found.append([[float(one < radius) for one in km] for radius in RADII] + [[-float(row["truth_log_density"]) for row in rows]])
    return [list(own) for own in zip(*found)]


def show(name, measures, is_lead=False):
    *right, nll = [drawn.mean(own) for own in measures]
    cells = [cell(*own[:3]) + (level(*own[1:3]) if is_lead else f" ± {100 * own[3]:.1f}") for own in right]
    mean, low, high, spread = nll
    print(f"| {name} | {' | '.join(cells)} | {mean:+.3f} [{low:+.3f}, {high:+.3f}]{level(low, high) if is_lead else f' ± {spread:.3f}'} |")


def less(ours, other):
    return [[[a - b for a, b in zip(*pair)] for pair in zip(*both)] for both in zip(ours, other)]


known = {method: read(plain, method) for method, _ in PLAIN}
print(f"n = {len(truths)}, {len(plain)} seeds.\n\n| | 200 km | 750 km | 2500 km | −log density |\n|---|---|---|---|---|")
for method, words in PLAIN:
    show(words, known[method])
given = {(arm, method): read(folders, method) for arm, folders in arms for method in ("locdiff", "locdiff-cs-unet")}
for (arm, method), own in given.items():
    show(f"{dict(PLAIN)[method]} given its neighbours' codes, {arm}", own)
print("\n| with codes, less | 200 km | 750 km | 2500 km | −log density |\n|---|---|---|---|---|")
for (arm, method), own in given.items():
    for other in (method, "locdiff-knn"):
        show(f"{dict(PLAIN)[method]}, {arm}, less {dict(PLAIN)[other]}", less(own, known[other]), True)

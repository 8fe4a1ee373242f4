#!/usr/bin/env python3
"""The mean over seeds of several `locdiff-lab compare --out FOLDER` runs, as Markdown: seed_means.py TRUTH.csv FOLDER… [--without=ROW,…] [--apart] [--brief]

--without leaves out rows (from 0) of the truths; --apart reads the answers for validation photos that nothing was chosen by: both print means only.
Intervals have both sources of spread: blocks of 15° and seeds are drawn again; ± is the standard deviation over the seeds. Then the bundled model, and
LocDiff trained anew, less each method, photo by photo; --brief leaves out what validation chose, areas, density and coverage."""
import csv
import glob
import math
import sys

from blocks import Resampling, cell, density_and_coverage, distance_km, level, morans_i, places

truths, folders = places(sys.argv[1]), [folder for folder in sys.argv[2:] if not folder.startswith("-")]
IS_APART = "--apart" in sys.argv  # the answers for the validation photos that nothing is chosen by
ROWS = [int(row) for option in sys.argv if option.startswith("--without=") for row in option.split("=")[1].split(",")]
IS_BRIEF = bool(ROWS) or IS_APART or "--brief" in sys.argv
RADII = (200, 750, 2500)
kept = [row for row in range(len(truths)) if row not in ROWS]
truths = [truths[row] for row in kept]
resampling = Resampling(truths, len(folders))
# The order and the words of lab/src/method.rs; what was not run with every seed is left out, but for methods without chance.
METHODS = [
    ("constant", "always the best constant place"),
    ("bundled", "LocDiff-Bayes (default)"),
    ("bundled-knn", "LocDiff-Bayes (default) and kNN"),
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
    ("locdiff-paper", "LocDiff (paper: CS-UNet, its loss, its sampler)"),
    ("locdiff-cs-unet", "LocDiff (CS-UNet, likelihood loss)"),
    ("locdiff-knn", "LocDiff-Bayes, trained here, without map factors, and kNN"),
    ("locdiff", "LocDiff-Bayes, trained here, without map factors"),
]
CERTAIN = ("constant", "bundled", "bundled-knn", "knn")
END = ".apart.csv" if IS_APART else ".csv"


def files(folder, method):
    return [path for path in glob.glob(f"{folder}/{method}-[0-9]*{END}") if IS_APART or not path.endswith(".apart.csv")]


def has(name):
    found = [bool(files(folder, name)) for folder in folders]
    return any(found) if name in CERTAIN else all(found)


words = {name: what for name, what in METHODS if has(name)}


def answers(folder, method):
    own = files(folder, method) or next(files(other, method) for other in folders if files(other, method))
    assert len(own) == 1, (folder, method, own)
    rows = list(csv.DictReader(open(own[0])))
    return [rows[row] for row in kept]


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
        "prdc": density_and_coverage(truths, [(float(row["lat"]), float(row["lon"])) for row in by_seed[0]]),
    }
    if any(math.isnan(area) for one in found[name]["areas"] for area in one):
        found[name]["areas"] = None


def area(lists, share):
    values = [one[round(share * (len(one) - 1))] for one in lists]
    mean = sum(values) / len(values) / 1e6
    return f"{mean:.0f}" if mean >= 10 else f"{mean:.1f}" if mean >= 1 else f"{mean:.2f}"


several = len(folders) > 1
main = next(name for name in reversed(found))
moran = " / ".join(f"{value:+.2f}" for value in morans_i(found[main]["hits"][750][0], truths))
print(
    f"n = {len(truths)}.\n"
    if IS_BRIEF
    else f"n = {len(truths)} photos, {len(folders)} seeds. Every choice is made on validation photos of the test photos' collection (a): of places (step, sizes, window, decoder) by accuracy, "
    "of densities (step, sizes, kernels, exponent, floor) by likelihood, of all methods alike. A range whose end is chosen is widened. Flows have the likelihood of their differential equation; their areas are not computed. "
    'The density of "constant" is that of the training places. "area": the densest million km² that hold the truth of 10, 50 and 90 % of '
    'the photos; "in 50 % / 90 %": how many true places lie in the regions said to hold so many; density and coverage of the answers among the truths (three neighbours, first seed). '
    f"Moran's I of being right within 750 km ({main}) is {moran} for photos 0–500 / 500–1,000 / 1,000–2,500 km apart.\n"
)
more = "" if IS_BRIEF else " area 10 / 50 / 90 %, million km² | in 50 % / 90 % | density / coverage |"
print(f"| method | 200 km | 750 km | 2500 km | NLL |{more}\n|---|---|---|---|---|{'' if IS_BRIEF else '---|---|---|'}")
for name, own in found.items():
    drawn = [resampling.mean(own["hits"][r]) for r in RADII]
    mean, low, high, spread = resampling.mean(own["nll"])
    if ROWS or IS_APART:
        print(f"| {words[name]} ({name}) | {' | '.join(f'{100 * one[0]:.1f}' for one in drawn)} | {mean:.2f} |")
        continue
    cells = [cell(*one[: 4 if several and name not in CERTAIN else 3]) for one in drawn]
    nll = f"{mean:.2f} [{low:.2f}, {high:.2f}]" + (f" ± {spread:.2f}" if several and name not in CERTAIN else "")
    areas = " / ".join(area(own["areas"], share) for share in (0.1, 0.5, 0.9)) if own["areas"] else "–"
    held = " / ".join(f"{100 * share:.0f}" for share in own["held"]) if own["areas"] else "–"
    rest = "" if IS_BRIEF else f" {areas} | {held} | {own['prdc'][0]:.2f} / {own['prdc'][1]:.2f} |"
    print(f"| {words[name]} ({name}) | {' | '.join(cells)} | {nll} |{rest}")


def less(a, b):
    return [[x - y for x, y in zip(one, other)] for one, other in zip(a, b)]


for ours in () if ROWS or IS_APART else ("bundled", "locdiff"):
    if ours not in found:
        continue
    print(f"\n| {words[ours]}, less | 200 km | 750 km | 2500 km | NLL |\n|---|---|---|---|---|")
    for name, other in found.items():
        if name == ours:
            continue
        leads = [resampling.mean(less(found[ours]["hits"][r], other["hits"][r]))[:3] for r in RADII]
        cells = [cell(*lead) + level(*lead[1:]) for lead in leads]
        mean, low, high, _ = resampling.mean(less(found[ours]["nll"], other["nll"]))
        print(f"| {name} | {' | '.join(cells)} | {mean:+.2f} [{low:+.2f}, {high:+.2f}]{level(low, high)} |")


def choices(name):
    """What validation chose, of the first seed that says it."""
    for folder in folders:
        for path in sorted(glob.glob(f"{folder}/{name}-[0-9]*.txt")):
            return open(path).read().strip()
    return None


said = [(name, choices(name)) for name in found]
if any(text for _, text in said) and not IS_BRIEF:
    print("\nWhat validation chose, first seed. Ranges widen until no end is chosen; kernels narrower than 75 km the pixels, 102 km wide, would not resolve. Without a window, a method's own decoder reads the location.\n")
    print("| method | chosen |\n|---|---|")
    for name, text in said:
        if text:
            print(f"| {name} | {text.replace(', its own decoder', '')} |")

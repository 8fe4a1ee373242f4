#!/usr/bin/env python3
"""Encoders × losses × readings of several `locdiff-lab compare --out FOLDER` runs: encoder_means.py TRUTH.csv OLD.md FOLDER… -- one folder a seed, or several of one seed.
A row whose method was not run this time is taken from OLD.md, which this script wrote.

Files are METHOD-SEED.csv; a row says so where its method was not run with every seed. Intervals have both sources of spread: blocks of 5° and seeds are drawn again; ± is
the standard deviation over the seeds, and left out for one."""
import csv
import glob
import os
import re
import sys

from blocks import Resampling, cell, distance_km, places

ENCODINGS = [
    ("shdd", "SHDD, L = 31: the harmonics"),
    ("xyz", "xyz"),
    ("sphere-c-plus", "Sphere2Vec-sphereC+"),
    ("geoclip", "GeoCLIP's Fourier features"),
    ("siren-sh", "Siren (SH)"),
    ("dfs", "Sphere2Vec-dfs"),
    ("sphere-c", "Sphere2Vec-sphereC"),
    ("sphere-m", "Sphere2Vec-sphereM"),
    ("sphere-m-plus", "Sphere2Vec-sphereM+"),
    ("grid", "Space2Vec-grid"),
    ("theory", "Space2Vec-theory"),
    ("nerf", "NeRF"),
    ("rff", "rff"),
    ("rbf", "rbf"),
    ("wrap", "wrap"),
    ("tile", "tile"),
]
READINGS = [
    ("encoder", "mean squared error", "16 samples, a learned decoder"),
    ("density", "density loss", "a single evaluation's density"),
    ("draws", "density loss", "16 draws of it, read as samples"),
]
OWN = [
    ("constant", "", "", "always the best constant place"),
    ("bundled", "", "", "the bundled model"),
    ("shdd-mse", "SHDD with its codec", "mean squared error", "16 samples, its decoder"),
    ("shdd-samples", "SHDD with its codec", "nll", "16 samples, its decoder"),
    ("locdiff-cs-unet", "SHDD with its codec", "nll", "a single evaluation's density"),
]
truths, files = places(sys.argv[1]), {}
kept = {tuple(cells[1:4]): line for line in open(sys.argv[2]).read().splitlines() if len(cells := [cell.strip() for cell in line.split("|")]) == 9}
for folder in sys.argv[3:]:
    for path in glob.glob(f"{folder}/*-[0-9]*.csv"):
        name, seed = re.fullmatch(r"(.*)-(\d+)(?:\.apart)?\.csv", os.path.basename(path)).groups()
        if path.endswith(".apart.csv"):
            continue
        files.setdefault(name, {})[int(seed)] = path
seeds = sorted({seed for own in files.values() for seed in own})
resamplings = {count + 1: Resampling(truths, count + 1) for count in range(len(seeds))}


def row(name, words):
    own = files.get(name, {})
    if not own:
        return None
    by_seed = [list(csv.DictReader(open(own[seed]))) for seed in sorted(own)]
    count, resampling = len(own), resamplings[len(own)]
    if count < len(seeds):
        words = [*words[:-1], f"{words[-1]}; {count} seed{'s' * (count > 1)}"]
    km = [[distance_km((float(one["lat"]), float(one["lon"])), truth) for one, truth in zip(rows, truths)] for rows in by_seed]
    figures = 4 if count > 1 else 3
    cells = [cell(*resampling.mean([[1.0 if d < r else 0.0 for d in one] for one in km])[:figures]) for r in (200, 750, 2500)]
    mean, low, high, spread = resampling.mean([[-float(one["truth_log_density"]) for one in rows] for rows in by_seed])
    nll = f"{mean:.2f} [{low:.2f}, {high:.2f}]" + (f" ± {spread:.2f}" if count > 1 else "")
    return f"| {' | '.join(words)} | {' | '.join(cells)} | {nll} |"


print("| encoding | loss | reading | 200 km | 750 km | 2500 km | NLL |\n|---|---|---|---|---|---|---|")
wanted = [(name, words) for name, *words in OWN]
wanted += [(f"{reading}-{kind}", [words, loss, how]) for kind, words in ENCODINGS for reading, loss, how in READINGS]
for name, words in wanted:
    line = row(name, words) or next((kept[key] for key in kept if key[:2] == tuple(words[:2]) and key[2].split(";")[0] == words[2]), None)
    if line:
        print(line)

#!/usr/bin/env python3
"""Encoders × losses of several `locdiff-lab compare --out FOLDER` runs: encoder_means.py TRUTH.csv FOLDER… -- one folder a seed, or several of one seed.

Files are METHOD-SEED.csv; a cell says so if its method was not run with every seed. ± is the standard deviation over the seeds. Samples have no NLL: a density from
16 draws says what the draws cost."""
import csv
import glob
import os
import re
import statistics
import sys

from blocks import distance_km, places

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
ROWS = [("SHDD with its codec, 16 samples", "shdd-mse", "shdd-samples"), ("SHDD with its codec", "", "locdiff-cs-unet")]
ROWS += [(words, f"encoder-{kind}", f"density-{kind}") for kind, words in ENCODINGS]
truths, files = places(sys.argv[1]), {}
for folder in sys.argv[2:]:
    for path in glob.glob(f"{folder}/*-[0-9]*.csv"):
        if not path.endswith(".apart.csv"):
            name, seed = re.fullmatch(r"(.*)-(\d+)\.csv", os.path.basename(path)).groups()
            files.setdefault(name, {})[int(seed)] = path
seeds = {seed for own in files.values() for seed in own}


def spread(values, digits):
    return f"{statistics.mean(values):.{digits}f}" + (f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else "")


def cells(name):
    """Shares within 200, 750 and 2500 km, and −log density, if the method was run."""
    own = files.get(name, {})
    if not own:
        return "", ""
    by_seed = [list(csv.DictReader(open(own[seed]))) for seed in sorted(own)]
    km = [[distance_km((float(one["lat"]), float(one["lon"])), truth) for one, truth in zip(rows, truths)] for rows in by_seed]
    shares = [spread([100 * sum(d < r for d in one) / len(one) for one in km], 1) for r in (200, 750, 2500)]
    few = f" ({len(own)} of {len(seeds)} seeds)" if len(own) < len(seeds) else ""
    return " / ".join(shares) + few, spread([-statistics.mean(float(one["truth_log_density"]) for one in rows) for rows in by_seed], 2)


print("| encoding | mean squared error, 16 samples: 200 / 750 / 2500 km | density loss, one evaluation: 200 / 750 / 2500 km | NLL |\n|---|---|---|---|")
for words, samples, density in ROWS:
    (left, _), (right, nll) = cells(samples), cells(density)
    if left or right:
        print(f"| {words} | {left} | {right} | {'–' if 'samples' in density else nll} |")

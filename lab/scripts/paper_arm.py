#!/usr/bin/env python3
"""The table of lab/scripts/paper_arm.sh: paper_arm.py DATA OUT. Intervals over blocks of 15° and seeds; ± is the deviation over the seeds."""
import glob
import os
import sys

from blocks import Resampling, constant_place, cell, places, shares

data, out = sys.argv[1:3]
truths = places(f"{data}/test.csv")
RADII = (200, 750, 2500)
MODELS = [
    ("kl-paper", "LocDiff (paper: CS-UNet, its loss, its sampler)"),
    ("nll", "LocDiff (CS-UNet, likelihood loss)"),
    ("bayes", "LocDiff-Bayes, trained here"),
]
READINGS = [
    ("algorithm-2", "16 samples, DDPM 200, mean of places: Algorithm 2"),
    ("pooled", "16 samples, DDPM 200, codes pooled"),
    ("one-sample", "one sample, DDPM 200"),
    ("single-evaluation", "a single evaluation at pure noise"),
]
seeds = sorted(int(os.path.basename(path)[9:-5]) for path in glob.glob(f"{out}/kl-paper-*.best"))
resampling = Resampling(truths, len(seeds))
place = constant_place(out)
print(
    f"L = 47, {len(seeds)} seeds, n = {len(truths)} test photos, H200. The paper's row has its loss, network, code scale, rate and batch, 40,000 steps instead of its 750,000 (enough here: with 50, 100, 150, 200 and 250 thousand, seed 0 has 18.7 / 18.0 / 18.9 / 17.9 / 18.4 % of validation within 750 km), the best of five validations, and its sampler. "
    "The row below it is that arm with the loss nll instead, 1,500 steps; the last our own preset at that degree, 1,500 steps; neither chooses a step. Only the reading differs between rows of one model.\n"
)
print("| model, L = 47 | best step, by seed | reading | 200 km | 750 km | 2500 km |\n|---|---|---|---|---|---|")
row = [cell(*resampling.mean([shares([place] * len(truths), truths, km)] * len(seeds))[:3]) for km in RADII]
print(f"| always the best constant place | | | {' | '.join(row)} |")
for model, words in MODELS:
    if not glob.glob(f"{out}/{model}-*.best"):
        continue
    best = ", ".join(open(f"{out}/{model}-{seed}.best").read().strip() for seed in seeds)
    for reading, how in READINGS:
        if not all(os.path.exists(f"{out}/{model}-{seed}-{reading}.csv") for seed in seeds):
            continue
        answers = [places(f"{out}/{model}-{seed}-{reading}.csv") for seed in seeds]
        row = [cell(*resampling.mean([shares(own, truths, km) for own in answers])) for km in RADII]
        print(f"| {words} | {best} | {how} | {' | '.join(row)} |")

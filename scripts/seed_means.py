#!/usr/bin/env python3
"""The mean over seeds of several `locdiff-lab compare --out FOLDER` runs, as a Markdown table: seed_means.py FOLDER…"""
import json
import sys

runs = [json.load(open(f"{folder}/compare.json")) for folder in sys.argv[1:]]
RADII = (200, 750, 2500)


def shares(method):
    return [100 * part["share"]["value"] for part in method["within"] if part["radius_km"] in RADII]


print("| method | 200 km | 750 km | 2500 km | NLL | in 50 % / 90 % | each seed, 200 / 750 / 2500 km |")
print("|---|---|---|---|---|---|---|")
for methods in zip(*(run["methods"] for run in runs)):
    assert len({method["method"] for method in methods}) == 1
    each = [shares(method) for method in methods]
    mean = lambda values: sum(values) / len(values)
    means = " | ".join(f"{mean(column):.1f}" for column in zip(*each))
    regions = " / ".join(f"{100 * mean([m[key] for m in methods]):.0f}" for key in ("region_50", "region_90"))
    seeds = "; ".join(" / ".join(f"{share:.1f}" for share in one) for one in each)
    nll = mean([method["nll"] for method in methods])
    print(f"| {methods[0]['description']} ({methods[0]['method']}) | {means} | {nll:.2f} | {regions} | {seeds} |")

#!/usr/bin/env python3
"""Great-circle errors of a published set of predictions, in metres: fixtures/eval/golden_errors.csv.

    lab/scripts/golden_errors.py TRUTH.csv PREDICTIONS.csv > fixtures/eval/golden_errors.csv

The errors of "base M, f*" on Im2GPS3k, without the coordinates, which may not be committed: a test lays them along the equator, and
the command must find the shares that the authors published.
"""

import csv
import math
import sys

RADIUS_M = 6371000.0


def places(path: str) -> dict[str, tuple[float, float]]:
    with open(path, newline="") as file:
        return {row["id"]: (math.radians(float(row["lat"])), math.radians(float(row["lon"]))) for row in csv.DictReader(file)}


truth, answers = places(sys.argv[1]), places(sys.argv[2])
print("id,metres")
for name, (lat, lon) in truth.items():
    other_lat, other_lon = answers[name]
    half = math.sin((lat - other_lat) / 2) ** 2 + math.cos(lat) * math.cos(other_lat) * math.sin((lon - other_lon) / 2) ** 2
    print(f"{name},{2 * RADIUS_M * math.asin(math.sqrt(half)):.0f}")

#!/usr/bin/env python3
"""The splits and the expected table of public_benchmark.sh. Standard library only.

    public_benchmark.py split LIST PHOTOS OUT    # train.csv, validation.csv, test.csv: path, lat, lon
    public_benchmark.py check OUT                # the table beside the expected one; fails outside the tolerances
"""
import csv
import hashlib
import json
import pathlib
import sys

# Rows up to here train and choose, later ones report.
FITTED = 1000
VALIDATION = 0.3
# % within 750 and 2500 km and −log density, of the commits in public_benchmark.sh, with the tolerances: other processors round otherwise. Methods
# that are trained have none yet.
EXPECTED = {"constant": (10.7, 34.2, 0.21), "knn": (14.4, 34.1, -0.13)}
POINTS, NATS = 2.0, 0.1


def split(list_csv, photos, out):
    rows = [row for row in csv.DictReader(open(list_csv)) if (pathlib.Path(photos) / row["IMG_ID"]).exists()]
    every = list(csv.DictReader(open(list_csv)))
    fitted = {row["IMG_ID"] for row in every[:FITTED]}
    authors = {row["AUTHOR"] for row in every[:FITTED]}
    sets = {"train": [], "validation": [], "test": []}
    for row in rows:
        chance = int(hashlib.sha256(row["AUTHOR"].encode()).hexdigest(), 16) % 1000 / 1000
        if row["IMG_ID"] in fitted:
            sets["validation" if chance < VALIDATION else "train"].append(row)
        elif row["AUTHOR"] not in authors:
            sets["test"].append(row)
    for name, own in sets.items():
        with open(f"{out}/{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["path", "lat", "lon"])
            writer.writerows([(pathlib.Path(photos) / row["IMG_ID"]).absolute(), row["LAT"], row["LON"]] for row in own)
    print(", ".join(f"{len(own)} {name}" for name, own in sets.items()), f"photos of {len(every)} rows")


def check(out):
    report = json.load(open(f"{out}/compare/compare.json"))
    print(f"n = {report['n']} photos, seed 0\n")
    print("| method | within 750 km, % | within 2500 km, % | −log density | expected |\n|---|---|---|---|---|")
    wrong = []
    for method in report["methods"]:
        name = method["method"]
        shares = {round(one["radius_km"]): 100 * one["share"]["value"] for one in method["within"]}
        found = (shares[750], shares[2500], method["nll"])
        shown = " | ".join([f"{found[0]:.1f}", f"{found[1]:.1f}", f"{found[2]:.2f}"])
        expected = EXPECTED.get(name)
        print(f"| {name} | {shown} | {' / '.join(map(str, expected)) if expected else 'none'} |")
        if expected and any(abs(a - b) > limit for a, b, limit in zip(found, expected, (POINTS, POINTS, NATS))):
            wrong.append(name)
    print(f"\nTolerances: {POINTS} points, {NATS} nats.")
    if wrong:
        sys.exit(f"outside the tolerances: {', '.join(wrong)}")


command, *arguments = sys.argv[1:]
{"split": split, "check": check}[command](*arguments)

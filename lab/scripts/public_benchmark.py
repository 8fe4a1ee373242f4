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
# % within 750 and 2500 km and −log density, of the commits in public_benchmark.sh, with the tolerances: other processors round otherwise, which
# moves methods that are trained.
EXPECTED = {
    "constant": (10.7, 34.2, 0.21),
    "knn": (14.4, 34.1, -0.13),
    "planet": (9.3, 27.9, 1.68),
    "vmf-mixture": (13.8, 33.6, 0.00),
    "geoclip-gallery": (12.8, 33.1, 0.11),
    "locdiff": (9.1, 26.3, 0.84),
    "locdiff-knn": (11.1, 31.0, -0.13),
    "locdiff-cs-unet": (10.2, 27.4, 0.97),
}
CERTAIN = ("constant", "knn")
POINTS, NATS = 2.0, 0.1
POINTS_TRAINED, NATS_TRAINED = 5.0, 0.3


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
        points, nats = (POINTS, NATS) if name in CERTAIN else (POINTS_TRAINED, NATS_TRAINED)
        if expected and any(abs(a - b) > limit for a, b, limit in zip(found, expected, (points, points, nats))):
            wrong.append(name)
    print(f"\nTolerances: {POINTS} points and {NATS} nats, of trained methods {POINTS_TRAINED} and {NATS_TRAINED}.")
    if wrong:
        sys.exit(f"outside the tolerances: {', '.join(wrong)}")


command, *arguments = sys.argv[1:]
{"split": split, "check": check}[command](*arguments)

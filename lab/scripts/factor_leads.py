#!/usr/bin/env python3
"""Map factors of LocDiff and its rivals as Markdown, with who is ahead by how much: factor_leads.py DATA REPORT.json…

The reports are those of `locdiff-lab factors … --json` on the same sets; rows that two of them have are taken from the first. DATA holds the CSV files of places.
Intervals: blocks of 15° are drawn, and heads where there are several. Printed are rows without and with all factors, on test also each factor alone; the
set that chose (the first) is left out, and of the other sets leads within 200 and 2500 km. Standard library only."""
import json
import sys

from blocks import Resampling, cell, level, places

RADII = (200, 750, 2500)
OURS = ("bundled, as shipped", "locdiff, all factors")
NAMES = {
    "bundled": "LocDiff-Bayes (default)",
    "locdiff-knn": "LocDiff-Bayes, trained here, and kNN",
    "locdiff-cs-unet": "LocDiff (CS-UNet, likelihood loss)",
    "locdiff": "LocDiff-Bayes, trained here",
    "knn": "kNN",
    "geoclip-gallery": "GeoCLIP-style",
    "planet": "PlaNet",
    "cplanet": "CPlaNet",
    "vmf-mixture": "vMF mixture",
}
data, reports = sys.argv[1], [json.load(open(path)) for path in sys.argv[2:]]


def truths(name, count):
    if name.startswith("validation"):
        source = name.split()[-1]
        lines = open(f"{data}/validation.csv").read().splitlines()
        column = lines[0].split(",").index("source")
        kept = [row for row, line in enumerate(lines[1:]) if line.split(",")[column] == source]
        every = places(f"{data}/validation.csv")
        return [every[row] for row in kept]
    return places(f"{data}/{name}.csv")[-count:]


def rows(name):
    found = {}
    for report in reports:
        for own in next(own["rows"] for own in report["sets"] if own["set"] == name):
            found.setdefault(own["name"], own)
    return found


def values(row, of):
    return [[of(*photo) for photo in seed] for seed in row["photos"]]


def measures(row):
    """By seed and photo: right within each radius, −log density."""
    return [*(values(row, lambda km, *_, r=r: float(km < r)) for r in RADII), values(row, lambda km, log, *_: -log)]


def less(ours, other):
    """Rows with one head are the same for all."""
    count = max(len(ours), len(other))
    widen = lambda own: own if len(own) == count else own * count
    return [[a - b for a, b in zip(*pair)] for pair in zip(widen(ours), widen(other))]


def nats(mean, low, high, *_):
    return f"{mean:+.3f} [{low:+.2f}, {high:+.2f}]"


def share(row, of):
    flat = [of(*photo) for seed in row["photos"] for photo in seed]
    return 100 * sum(flat) / len(flat)


def title(own):
    method = own.split(",")[0].split(" ")[0]
    return NAMES.get(method, method) + own[len(method) :]


def is_shown(row, on):
    """Off test, rivals without factors are left out, but for the strongest."""
    if on == "test":
        return row.startswith("bundled, ") or row.endswith((", plain", " factors"))
    return row.endswith((" factors", ", as shipped")) or row in ("bundled, plain", "constant, plain", "knn, plain")


for name in [own["set"] for own in reports[0]["sets"]][1:]:
    found = rows(name)
    count = len(next(iter(found.values()))["photos"][0])
    where = truths(name, count)
    assert len(where) == count, (name, len(where), count)
    drawn = {heads: Resampling(where, heads) for heads in {1, *(len(row["photos"]) for row in found.values())}}
    mean = lambda own: drawn[len(own)].mean(own)
    print(f"\n### {name}, n = {count}\n")
    print("| | −log density | 200 km | 750 km | 2500 km | in 50 / 90 % | area of 50 % |\n|---|---|---|---|---|---|---|")
    for own, row in found.items():
        if not is_shown(own, name):
            continue
        *right, nll = measures(row)
        cells = [cell(*mean(one)[:3]) for one in right]
        low, high = (share(row, lambda km, log, held, area, p=p: held <= p) for p in (0.5, 0.9))
        areas = sorted(photo[3] for seed in row["photos"] for photo in seed)
        bold = "**" if own == OURS[0] else ""
        print(f"| {bold}{title(own)}{bold} | {nats(*mean(nll))} | {' | '.join(cells)} | {low:.1f} / {high:.1f} | {areas[len(areas) // 2] / 1e6:.2f} |")
    for ours in OURS if name == "test" else OURS[:1]:
        radii = [0, 1, 2] if name == "test" else [1]
        print(f"\n| {title(ours)}, less | −log density | {' | '.join(f'{RADII[k]} km' for k in radii)} |\n|---|---|{'---|' * len(radii)}")
        for own, row in found.items():
            if own == ours or not own.endswith(", all factors") and own not in ("bundled, plain", OURS[0]) or own == "bundled, all factors":
                continue
            *right, nll = [mean(less(a, b)) for a, b in zip(measures(found[ours]), measures(row))]
            cells = [cell(*one[:3]) + level(*one[1:3]) for one in (right[k] for k in radii)]
            print(f"| {title(own)} | {nats(*nll)}{level(*nll[1:3])} | {' | '.join(cells)} |")
print("\nWhat validation a chose for the rows with all factors; settings of the plain rows are chosen as in the main table:\n\n| | chosen |\n|---|---|")
for own, row in rows(reports[0]["sets"][0]["set"]).items():
    if own.endswith(", all factors"):
        print(f"| {title(own)} | {row['chosen'].split(';')[0]} |")

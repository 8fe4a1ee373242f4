#!/usr/bin/env python3
"""The paper's tables with our column, from the reports that `lab/recipe.sh` leaves: paper_tables.py FOLDER [--about TEXT] [--json]

FOLDER holds evaluate-BENCHMARK/report.csv and hybrid-BENCHMARK/report.csv. A benchmark without a report was not run."""
import argparse
import csv
import json
from pathlib import Path

# Rows of the paper's tables: % within 1, 25, 200, 750 and 2500 km; density and coverage, as plonk computes them.
PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text())
# Photos, name in tables, and whose rules the published tables follow: the order and the words of crates/model/src/eval/preset.rs.
BENCHMARKS = {
    "im2gps": (237, "Im2GPS", "geoclip"),  # in none of the paper's tables
    "im2gps3k": (2997, "Im2GPS3k", "geoclip"),
    "yfcc4k": (4536, "YFCC4k", "plonk"),
    "yfcc26k": (25600, "YFCC26k", "geoclip"),
    "gws15k": (14955, "GWS15k", "geoclip"),
    "osv5m": (210122, "OSV-5M", "osv5m"),
}
assert PUBLISHED.keys() == BENCHMARKS.keys() - {"im2gps"}
RADII = (1, 25, 200, 750, 2500)
# The lines that only we have.
OWN = (("geoscore", "GeoScore"), ("mean_km", "mean distance, km"))


def figures(report):
    """Our figures in a report of `evaluate`, by metric; None without a report."""
    if not report.is_file():
        return None
    found = {}
    with report.open(newline="") as file:
        for row in csv.DictReader(file):
            # plonk's figures are means over chunks.
            is_ours = row["section"] == "scores" or (row["section"], row["group"]) == ("prdc", "chunked")
            if is_ours and row["value"]:
                low, high = (float(row[key]) if row["low"] and row["high"] else None for key in ("low", "high"))
                own = {"value": float(row["value"]), "low": low, "high": high, "n": int(float(row["n"] or 0))}
                found.setdefault(row["metric"], own)
    return found


def block(benchmark, ours, hybrid):
    photos, title, rules = BENCHMARKS[benchmark]
    rows = PUBLISHED.get(benchmark, [])
    said = "Ours: not run."
    if ours is not None:
        n, missing = ours.get("within_1_km", {"n": 0})["n"], ours.get("missing", {"value": 0.0})["value"]
        said = f"Ours: {n} photos, of which {missing:g} are missing and count as misses."
    own = [("**ours**", ours)] + ([("**ours, LocDiff-H**", hybrid)] if hybrid is not None else [])
    head = ["%", *(row["system"] for row in rows), *(name for name, _ in own)]
    lines = [f"\n## {title}", f"{photos} photos are published, {rules}'s rules. {said}\n", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]

    def line(name, cells, metric, scale, digits):
        def cell(found):
            figure = (found or {}).get(metric)
            if figure is None:
                return "–"
            interval = "" if figure["low"] is None else f" ({scale * figure['low']:.{digits}f}–{scale * figure['high']:.{digits}f})"
            return f"{scale * figure['value']:.{digits}f}{interval}"

        shown = ["–" if value is None else f"{value:.{digits}f}" for value in cells]
        lines.append(f"| {' | '.join([name, *shown, *(cell(found) for _, found in own)])} |")

    for k, radius in enumerate(RADII):
        line(f"{radius} km", [row["within"][k] for row in rows], f"within_{radius}_km", 100.0, 1)
    if any(row["prdc"] for row in rows):
        for k, name in enumerate(("density", "coverage")):
            line(name, [row["prdc"] and row["prdc"][k] for row in rows], name, 1.0, 3)
    for metric, name in OWN:
        line(name, [None] * len(rows), metric, 1.0, 0)
    return "\n".join(lines) + "\n"


def table(benchmark, ours, hybrid):
    photos, _, rules = BENCHMARKS[benchmark]
    published = [
        {"system": row["system"], "percent_within": row["within"], "density": row["prdc"] and row["prdc"][0], "coverage": row["prdc"] and row["prdc"][1]}
        for row in PUBLISHED.get(benchmark, [])
    ]
    return {
        "benchmark": benchmark, "rules": rules, "photos": photos, "radii_km": [float(radius) for radius in RADII],
        "published": published, "ours": ours, "ours_locdiff_h": hybrid,
    }  # fmt: skip


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path)
parser.add_argument("--about", default="LocDiff", help="how our column was made")
parser.add_argument("--json", action="store_true")
asked = parser.parse_args()
found = [(name, *(figures(asked.folder / f"{kind}-{name}" / "report.csv") for kind in ("evaluate", "hybrid"))) for name in BENCHMARKS]
if asked.json:
    print(json.dumps({"ours": asked.about, "tables": [table(*own) for own in found]}, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
else:
    print(f"# The paper's tables, and ours\nOurs: {asked.about}.\n" + "".join(block(*own) for own in found), end="")

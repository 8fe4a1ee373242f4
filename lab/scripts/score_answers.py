#!/usr/bin/env python3
"""Scores the answers of `locdiff locate --json`: accuracy with 95 % bootstrap intervals, by continent, reliability.

  locdiff locate --embeddings E.safetensors --tensor test --json > answers.jsonl
  lab/scripts/score_answers.py answers.jsonl TRUTH.csv [MORE.jsonl MORE.csv] [--source a]

Haversine, R = 6371 km, d < r. Continents are boxes of latitude and longitude (below). Standard library only.
"""
import argparse, csv, json, math, random, statistics

RADII = [25, 200, 750, 2500]


def continent(lat, lon):
    if lon < -30:
        return "North America" if lat > 13 else "South America"
    if lon > 110 and lat < -10 or lon > 140 and lat < 5 or lon > 160 and lat < 30:
        return "Oceania"
    if lat > 36 and lon < 30 or lat > 46 and lon < 60 or lat > 34.5 and 19 < lon < 27.5:
        return "Europe"
    if lat < 37.5 and lon < 34 and not (lat > 31 and lon > 34) or lat < 12 and lon < 52:
        return "Africa"
    return "Asia"


def km(a, b):
    (la, lo), (lb, lp) = ([math.radians(x) for x in p] for p in (a, b))
    h = math.sin((lb - la) / 2) ** 2 + math.cos(la) * math.cos(lb) * math.sin((lp - lo) / 2) ** 2
    return 6371.0 * 2 * math.asin(min(1.0, math.sqrt(h)))


def interval(hits):
    chance = random.Random(0)
    n = len(hits)
    shares = sorted(sum(chance.choices(hits, k=n)) / n for _ in range(2000))
    return 100 * shares[49], 100 * shares[1949]


def line(name, rows):
    cells = []
    for r in RADII:
        hits = [row["km"] < r for row in rows]
        low, high = interval(hits)
        cells.append(f"{100 * sum(hits) / len(hits):.1f} ({low:.1f}–{high:.1f})")
    said = sum(row["locatability"] for row in rows) / len(rows)
    median = statistics.median(row["km"] for row in rows)
    print(f"| {name} | {len(rows)} | {' | '.join(cells)} | {median:.0f} | {100 * said:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="pairs of ANSWERS.jsonl and TRUTH.csv")
    parser.add_argument("--source", help="rows of this source alone")
    args = parser.parse_args()
    rows = []
    for answers, truth in zip(args.files[::2], args.files[1::2]):
        found = [json.loads(text) for text in open(answers)]
        found = [row for row in found if "best" in row]
        for answer, row in zip(found, csv.DictReader(open(truth)), strict=True):
            if args.source in (None, row["source"]):
                at = float(row["lat"]), float(row["lon"])
                answer["km"], answer["continent"] = km((answer["best"]["lat"], answer["best"]["lon"]), at), continent(*at)
                rows.append(answer)
    print("| | n | 25 km | 200 km | 750 km | 2500 km | median km | said, 750 km |\n|---|---|---|---|---|---|---|---|")
    line("all", rows)
    for name in sorted({row["continent"] for row in rows}):
        line(name, [row for row in rows if row["continent"] == name])
    line("answered", [row for row in rows if row["can_tell"]])
    line("\"I can't tell\"", [row for row in rows if not row["can_tell"]] or rows[:1])
    for name, p in (("radius_50_km", 0.5), ("radius_90_km", 0.9)):
        share = sum(row["km"] <= row[name] for row in rows) / len(rows)
        print(f"\ntruths within the printed {name}: {100 * share:.1f} % (said {100 * p:.0f}, standard error {100 * math.sqrt(p * (1 - p) / len(rows)):.1f})", end="")
    print()


if __name__ == "__main__":
    main()

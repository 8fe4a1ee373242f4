#!/usr/bin/env python3
"""A table of accuracies as curves (SVG; the paper's figures): accuracy_plot.py TABLE.json OUT.svg

TABLE.json is what `locdiff-lab reproduce degrees --json`, anchors, losses or widths printed. Each radius from 25 km on has a colour. Rows whose
names begin alike ("LocDiff, 21,000 grid points") are one series; the second series is dashed."""
import html
import json
import math
import sys
from pathlib import Path

SMALLEST_KM = 25.0
COLOURS = {"first": "#0b5cad", "second": "#c2570c", "third": "#2e7d32", "fourth": "#7b3fa0", "fifth": "#00838f"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 62, 18, 18, 52
# As crates/model/src/report/svg.rs draws plots.
STYLE = (
    "text{fill:#5b6874;font:13px system-ui,sans-serif}.title{fill:#17212b}.grid{stroke:#d8dfe5}.frame{fill:none;stroke:#5b6874}"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}.dashed{stroke-dasharray:6 4}"
) + "".join(f".{name}{{stroke:{colour}}}.dot.{name}{{fill:{colour};stroke:none}}" for name, colour in COLOURS.items())


def rows_of(table):
    """Name, and share by radius, of each row; what a row has may be shares, or more than those."""
    for row in table.get("rows", []):
        within = row["ours"] if isinstance(row["ours"], list) else row["ours"]["within"]
        series, comma, place = row["name"].partition(", ")
        series, place = (series, place) if comma else ("", series)
        yield row["name"], series, place, [(one["radius_km"], one["share"]["value"]) for one in within if one["radius_km"] >= SMALLEST_KM]


def curves(title, rows):
    all_series, places = list(dict.fromkeys(row[1] for row in rows)), list(dict.fromkeys(row[2] for row in rows))
    top = math.ceil(max([0.1, *(share for row in rows for _, share in row[3])]) * 10) / 10
    first, last = -0.3, len(places) - 0.5
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    px = lambda x: LEFT + (x - first) / (last - first) * (right - LEFT)
    py = lambda y: bottom - y / top * (bottom - TOP)
    label = "full line: first series, dashed: second" if len(all_series) > 1 else ""
    body = []
    for k, place in enumerate(places):
        body.append(f"<line class='grid' x1='{px(k):.1f}' y1='{TOP}' x2='{px(k):.1f}' y2='{bottom}' />")
        body.append(f"<text x='{px(k):.1f}' y='{bottom + 18}' text-anchor='middle'>{html.escape(place)}</text>")
    for k in range(round(10 * top) + 1):
        y = py(k / 10)
        body.append(f"<line class='grid' x1='{LEFT}' y1='{y:.1f}' x2='{right}' y2='{y:.1f}' />")
        body.append(f"<text x='{LEFT - 8}' y='{y + 4:.1f}' text-anchor='end'>{10 * k} %</text>")
    body.append(f"<rect class='frame' x='{LEFT}' y='{TOP}' width='{right - LEFT}' height='{bottom - TOP}' />")
    body.append(f"<text class='title' x='{(LEFT + right) // 2}' y='{HEIGHT - 10}' text-anchor='middle'>{label}</text>")
    body.append(f"<text class='title' transform='translate(14 {(TOP + bottom) // 2}) rotate(-90)' text-anchor='middle'>photos within</text>")
    for series in all_series:
        dash = "" if series == all_series[0] else " dashed"
        for k, (radius, _) in enumerate(rows[0][3]):
            colour = list(COLOURS)[k % len(COLOURS)]
            points = [(px(places.index(place)), py(own[k][1]), f"{name}: {100 * own[k][1]:.1f} % within {radius:g} km")
                      for name, of, place, own in rows if of == series and k < len(own)]  # fmt: skip
            body.append(f"<polyline class='line {colour}{dash}' points='{''.join(f'{x:.1f},{y:.1f} ' for x, y, _ in points)}' />")
            body += [f"<circle class='dot {colour}' cx='{x:.1f}' cy='{y:.1f}' r='4'><title>{html.escape(tip)}</title></circle>" for x, y, tip in points]
            if not dash and points:
                body.append(f"<text x='{points[-1][0] + 7:.1f}' y='{points[-1][1] - 5:.1f}'>{radius:g} km</text>")
    head = f"<svg xmlns='http://www.w3.org/2000/svg' width='960' height='600' viewBox='0 0 {WIDTH} {HEIGHT}'><title>{html.escape(title)}</title>"
    return f"{head}<style>{STYLE}</style><rect width='100%' height='100%' fill='#fff' />{''.join(body)}</svg>\n"


if __name__ == "__main__":
    table = json.loads(Path(sys.argv[1]).read_text())
    rows = list(rows_of(table))
    if not rows:
        sys.exit(f"{sys.argv[1]}: no table of accuracies: make one with `locdiff-lab reproduce degrees --json` or `reproduce anchors --json`")
    Path(sys.argv[2]).write_text(curves(table.get("title", "Accuracy"), rows))

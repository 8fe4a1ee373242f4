#!/usr/bin/env python3
"""Draws the loss and the validation accuracy of a run's metrics.jsonl as an SVG. Needs nothing but Python.

    scripts/plot_metrics.py RUN/metrics.jsonl --out loss.svg [--title TEXT]
"""
import argparse, json, math, pathlib

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 420, 64, 64, 36, 44
RADII = ["1", "25", "200", "750", "2500"]
COLOURS = {"25": "#9ecae1", "200": "#6baed6", "750": "#3182bd", "2500": "#08519c"}


def ticks(low, high, count=6):
    """Round numbers from low to high."""
    raw = (high - low) / count or 1.0
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * f for f in (1, 2, 5, 10) if unit * f >= raw)
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def draw(rows, title):
    losses = [(r["step"], r["loss"]) for r in rows if r.get("loss") is not None]
    accuracies = [(r["step"], dict(zip(RADII, (100 * share for share in r["validation"]["within"]))))
                  for r in rows if r.get("validation")]
    if not losses:
        raise SystemExit("no losses in the metrics file")
    last = max(step for step, _ in losses)
    values = sorted(v for _, v in losses)
    low, high = values[0], values[min(len(values) - 1, int(0.995 * len(values)))]
    x = lambda step: LEFT + (WIDTH - LEFT - RIGHT) * step / last
    y = lambda v: TOP + (HEIGHT - TOP - BOTTOM) * (1 - (min(v, high) - low) / ((high - low) or 1))
    percent = lambda v: TOP + (HEIGHT - TOP - BOTTOM) * (1 - v / 100)
    path = lambda points: " ".join(f"{'L' if i else 'M'}{px:.1f},{py:.1f}" for i, (px, py) in enumerate(points))
    text = lambda px, py, t, anchor="middle", fill="#333": (
        f'<text x="{px:.1f}" y="{py:.1f}" font-size="12" font-family="sans-serif" text-anchor="{anchor}" fill="{fill}">{t}</text>')
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"><rect width="100%" height="100%" fill="white"/>',
           text(WIDTH / 2, 20, title)]
    for v in ticks(low, high):
        out += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#eee"/>',
                text(LEFT - 6, y(v) + 4, f"{v:g}", "end", "#b2432f")]
    for s in ticks(0, last):
        out.append(text(x(s), HEIGHT - BOTTOM + 18, f"{s:,.0f}"))
    out += [text(WIDTH / 2, HEIGHT - 8, "step"), text(14, TOP - 8, "loss", "start", "#b2432f")]
    out.append(f'<path d="{path([(x(s), y(v)) for s, v in losses])}" fill="none" stroke="#e39a8d" stroke-width="1"/>')
    smooth, mean = [], losses[0][1]
    for s, v in losses:
        mean += 0.15 * (v - mean)
        smooth.append((x(s), y(mean)))
    out.append(f'<path d="{path(smooth)}" fill="none" stroke="#b2432f" stroke-width="2"/>')
    if accuracies:
        for v in (0, 25, 50, 75, 100):
            out.append(text(WIDTH - RIGHT + 6, percent(v) + 4, f"{v} %", "start", "#08519c"))
        for radius, colour in COLOURS.items():
            points = [(x(s), percent(w[radius])) for s, w in accuracies if radius in w]
            if points:
                out += [f'<path d="{path(points)}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
                        text(points[-1][0] - 4, points[-1][1] - 5, f"{radius} km", "end", colour)]
    return "\n".join(out + ["</svg>"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("metrics", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--title", default="")
    arguments = parser.parse_args()
    lines = [json.loads(line) for line in arguments.metrics.read_text().splitlines() if line.strip()]
    arguments.out.write_text(draw(lines, arguments.title))

#!/usr/bin/env python3
"""Makes docs/pictures/signs.gif: a photo, its answer by the picture alone, the sign that is read, and the answer with it.

    lab/scripts/signs_picture.py LOCDIFF PHOTO OUT.gif     needs Pillow; all words and maps are LocDiff's own
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SIZE, GAP = (1000, 420), 16
RED, INK = "#b3203a", "#22323c"


def ask(program, photo, png, *options):
    """The answer as JSON; the map goes to `png`."""
    command = [program, "locate", photo, "--json", "--png", png, "--device", "cpu", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def frame(photo, boxes, png, words, fonts):
    """A photo with boxes on the left, a map on the right, and words below."""
    page = Image.new("RGB", SIZE, "white")
    picture = photo.copy()
    draw = ImageDraw.Draw(picture)
    for corners in boxes:
        corners = [tuple(corner) for corner in corners]
        draw.line([*corners, corners[0]], fill=RED, width=max(3, photo.width // 200))
    picture.thumbnail((440, 320))
    page.paste(picture, (GAP, GAP))
    chart = Image.open(png).convert("RGB")
    # The map alone: the words above it and the legend below leave the right edge white.
    drawn = [row for row in range(chart.height) if min(chart.getpixel((chart.width - 4, row))) < 250]
    chart = chart.crop((0, drawn[0], chart.width, drawn[-1] + 1))
    chart.thumbnail((SIZE[0] - 440 - 3 * GAP, 320))
    page.paste(chart, (440 + 2 * GAP, GAP))
    draw = ImageDraw.Draw(page)
    for row, (line, font, colour) in enumerate(zip(words, fonts, (INK, RED))):
        draw.text((GAP, 352 + 32 * row), line, font=font, fill=colour)
    return page


def main():
    program, path, out = sys.argv[1:]
    photo = Image.open(path).convert("RGB")
    fonts = [ImageFont.load_default(size) for size in (24, 19)]
    with tempfile.TemporaryDirectory() as folder:
        plain, read = f"{folder}/plain.png", f"{folder}/read.png"
        without, with_text = ask(program, path, plain, "--no-text"), ask(program, path, read)
        lines = with_text["text"]
        boxes = [line["corners"] for line in lines]
        first = f"By the picture alone: {without['headline']}"
        says = "; ".join(f'reads "{line["text"]}": {one["says"]}, {one["nats"]:+.1f} nats' for line in lines for one in line["evidence"])
        last = f"With the sign: {with_text['headline']}"
        frames = [frame(photo, [], plain, (first,), fonts), frame(photo, boxes, plain, (first, says), fonts), frame(photo, boxes, read, (last, says), fonts)]
    palette = frames[2].quantize(128)
    frames = [one.quantize(128, palette=palette, dither=Image.Dither.NONE) for one in frames]
    frames[0].save(out, save_all=True, append_images=frames[1:], duration=[2200, 2200, 3600], loop=0, optimize=True)
    print(f"{out}: {Path(out).stat().st_size // 1000} kB")


main()

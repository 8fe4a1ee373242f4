#!/usr/bin/env python3
"""Renders DejaVu Sans into crates/map/assets/font.bin, and prints the colour table of render/colour.rs.

    scripts/fixtures font

Layout: line height, ascent (a byte each), number of glyphs (u16, little-endian), then each glyph: code point (u16), width,
height, left, top, advance (a byte each; left and top are signed, top counts down from the top of the line), then width * height
coverages of 4 bits, two in a byte, the first in the low half.
"""

from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

ASSETS = Path(__file__).resolve().parent.parent / "crates/map/assets"
PIXELS = 24
LETTERS = [*range(0x20, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x180), *range(0x218, 0x21C), *range(0x1EA0, 0x1EFA)]
CHARACTERS = [chr(code) for code in LETTERS] + list("–—‘’…≤≥≈−×πκ")


def glyph(font: ImageFont.FreeTypeFont, character: str) -> bytes:
    canvas = Image.new("L", (80, 80))
    ImageDraw.Draw(canvas).text((20, 20), character, font=font, fill=255)
    left, top, right, bottom = canvas.getbbox() or (20, 20, 20, 20)
    coverage = [round(value / 17) for value in canvas.crop((left, top, right, bottom)).tobytes()]
    coverage += [0] * (len(coverage) % 2)
    packed = bytes(low | high << 4 for low, high in zip(coverage[::2], coverage[1::2]))
    advance = round(font.getlength(character))
    head = ord(character).to_bytes(2, "little")
    return head + bytes([right - left, bottom - top, (left - 20) & 0xFF, (top - 20) & 0xFF, advance]) + packed


def main() -> None:
    path = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"
    font = ImageFont.truetype(str(path), PIXELS)
    ascent, descent = font.getmetrics()
    characters = sorted(set(CHARACTERS))
    data = bytes([ascent + descent, ascent]) + len(characters).to_bytes(2, "little")
    data += b"".join(glyph(font, character) for character in characters)
    (ASSETS / "font.bin").write_bytes(data)
    print(f"font.bin: {len(data)} bytes, {len(characters)} glyphs")
    colours = matplotlib.colormaps["inferno_r"]
    for step in range(17):
        red, green, blue, _ = colours(step / 16, bytes=True)
        print(f"    [{red}, {green}, {blue}],")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws docs/pictures/factors.png: a photo's plain density, the map of towns, and the density with map factors.

    python3 lab/scripts/factors_picture.py LOCDIFF PHOTO OUT.png

Needs numpy and Pillow. The density is that of `locate --json` in the Python package's terms: it is read from GeoTIFF files.
"""
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from map_cells import pixel_at, unit_vectors  # noqa: E402

WEST, EAST, SOUTH, NORTH, SCALE = -12.0, 32.0, 36.0, 62.0, 14  # pixels a degree of latitude
STRETCH = 0.65  # a degree of longitude is shorter
RAMP = np.array([(255, 255, 255), (252, 196, 98), (238, 120, 70), (168, 60, 100), (78, 40, 120)], float)


def density(locdiff, photo, factors):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "density.tif"
        subprocess.run([locdiff, "locate", photo, "--factors", factors, "--geotiff", str(path)], check=True, stdout=subprocess.DEVNULL)
        return np.asarray(Image.open(path), float)


def main():
    locdiff, photo, out = sys.argv[1:]
    rows, columns = int((NORTH - SOUTH) * SCALE), int((EAST - WEST) * SCALE * STRETCH)
    lat, lon = np.meshgrid(np.linspace(NORTH, SOUTH, rows), np.linspace(WEST, EAST, columns), indexing="ij")
    raw = zlib.decompress((ROOT / "crates/map/assets/cells.bin").read_bytes(), -15)
    active = np.unpackbits(np.frombuffer(raw, np.uint8, 98304), bitorder="little").astype(bool)
    towns = np.full(786432, -1)
    towns[active] = np.frombuffer(raw, np.uint8, active.sum(), 98304)
    pixels = pixel_at(8, unit_vectors(lat.ravel(), lon.ravel())).reshape(lat.shape)
    land = active[pixels]

    def colour(share):
        place = np.clip(share, 0, 1) * (len(RAMP) - 1)
        low = np.minimum(place.astype(int), len(RAMP) - 2)
        part = (place - low)[..., None]
        return (1 - part) * RAMP[low] + part * RAMP[low + 1]

    def of(grid):
        height, width = grid.shape
        y = np.clip(((90 - lat) / 180 * height).astype(int), 0, height - 1)
        x = np.clip(((lon + 180) / 360 * width).astype(int), 0, width - 1)
        log = np.log(np.maximum(grid[y, x], 1e-30))
        return np.clip(1 + (log - log.max()) / 6, 0, 1)

    panels = [("the network's density", of(density(locdiff, photo, "none"))), ("the map of towns", np.maximum(towns[pixels], 0) / 7),
              ("both, as far as the picture shows towns", of(density(locdiff, photo, "all")))]
    gap, top = 12, 34
    sheet = Image.new("RGB", (3 * columns + 2 * gap, rows + top), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(18)
    for k, (title, share) in enumerate(panels):
        picture = colour(share)
        edge = land != np.roll(land, 1, 0)
        edge |= land != np.roll(land, 1, 1)
        picture[edge] = 0.6 * picture[edge] + 0.4 * 90
        sheet.paste(Image.fromarray(picture.astype(np.uint8)), (k * (columns + gap), top))
        draw.text((k * (columns + gap), 6), title, fill=(40, 40, 50), font=font)
    sheet.save(out)


main()

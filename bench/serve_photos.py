#!/usr/bin/env python3
"""JPEGs of one size from the photos of a folder, for bench/serve.py and bench/laptop.py: other cuts of them where there are too few.

    bench/serve_photos.py FROM TO [COUNT [WIDTHxHEIGHT [QUALITY]]]     (120, 1414x1061, 85)
"""
import pathlib, random, sys
from PIL import Image

source, target, count = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3] if len(sys.argv) > 3 else 120)
width, height = map(int, (sys.argv[4] if len(sys.argv) > 4 else "1414x1061").split("x"))
quality = int(sys.argv[5]) if len(sys.argv) > 5 else 85
target.mkdir(parents=True, exist_ok=True)


def largest(path):
    """The photo, if it can be read and is no smaller than a seventh of the size."""
    try:
        image = Image.open(path).convert("RGB")
    except OSError:
        return None
    return image if 7 * image.width * image.height >= width * height else None


files = [path for path in sorted(source.glob("*.jp*g")) if largest(path)]
files = [path for path in files if path.stat().st_size > 30_000] or sys.exit(f"no photos in {source}")
chance, made = random.Random(0), 0
while made < count:
    image = largest(files[made % len(files)])
    share = 1 if made < len(files) else chance.uniform(0.7, 1)
    wide, high = share * image.width, share * image.height
    left, top = chance.uniform(0, image.width - wide), chance.uniform(0, image.height - high)
    made += 1
    out = target / f"{made:04}.jpg"
    if not out.exists():
        image.resize((width, height), Image.LANCZOS, box=(left, top, left + wide, top + high)).save(out, quality=quality)
print(f"{made} photos in {target}")

#!/usr/bin/env python3
"""JPEGs of 1.5 megapixels (1414 x 1061, quality 85) for bench/serve.py, from the first photos of a folder.

    bench/serve_photos.py FROM TO [COUNT]
"""
import pathlib, sys
from PIL import Image

source, target, count = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int((sys.argv + ["120"])[3])
target.mkdir(parents=True, exist_ok=True)
made = 0
for path in sorted(source.glob("*.jpg")):
    if made == count:
        break
    try:
        image = Image.open(path).convert("RGB")
    except OSError:
        continue
    made += 1
    out = target / f"{made:04}.jpg"
    if not out.exists():
        image.resize((1414, 1061), Image.LANCZOS).save(out, quality=85)
print(f"{made} photos in {target}")

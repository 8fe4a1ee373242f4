#!/usr/bin/env python3
"""Makes a folder of small pictures of every format, 1 % of them bad, to try `locdiff embed` at length.

    pip install pillow numpy
    python scripts/bad_photos.py FOLDER [COUNT]
    /usr/bin/time -v locdiff embed FOLDER -o e.safetensors

Pictures repeat after 600; picture 100 k + 50 is bad: empty, no picture at all, cut off, or a promise of 30,000 x 30,000 pixels, in turn.
"""
import functools
import io
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

FORMATS = ["jpg", "png", "webp", "tiff", "gif", "bmp"]


@functools.cache
def picture(number, ending):
    random = np.random.default_rng(number)
    width, height = random.integers(64, 320, 2)
    corners = random.integers(0, 256, (4, 5, 3), dtype=np.uint8)
    image = Image.fromarray(corners).resize((int(width), int(height)), Image.BICUBIC)
    out = io.BytesIO()
    image.save(out, {"jpg": "jpeg"}.get(ending, ending))
    return out.getvalue()


def bomb():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1 << 16))) + chunk(b"IEND", b"")


def main():
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    for number in range(count):
        inside = folder / f"{number // 1000:03}"
        inside.mkdir(parents=True, exist_ok=True)
        ending = FORMATS[number % len(FORMATS)]
        contents = picture(number % 600, ending)
        if number % 100 == 50:
            bad = [b"", b"<html>404</html>", contents[: len(contents) // 3], bomb()]
            contents = bad[number // 100 % 4]
        (inside / f"{number:05}.{ending}").write_bytes(contents)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes to fixtures/vision: a made picture as HEIC and AVIF, turned by the container, with an EXIF place, and the pixels
that these libraries read back.

    scripts/fixtures heif

Made with pillow-heif 1.8.1 and Pillow 13.0.0 (AVIF).
"""
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image, ImageOps
from safetensors.numpy import save_file

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "vision"


def main():
    y, x = np.mgrid[0:64, 0:96]
    picture = np.stack([x * 2, y * 3, 255 - x - y], axis=-1)
    picture[10:20, 10:40] = (230, 30, 40)
    picture = Image.fromarray(picture.astype(np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6  # pillow-heif turns this into the container's own turn
    gps = exif.get_ifd(0x8825)
    gps.update({1: "N", 2: (39.0, 59.0, 30.0), 3: "E", 4: (116.0, 16.0, 30.0)})
    exif[0x8825] = gps
    pixels = {}
    pillow_heif.from_pillow(picture).save(OUT / "turned.heic", quality=60, exif=exif.tobytes())
    pixels["heic"] = np.asarray(pillow_heif.open_heif(OUT / "turned.heic"))[:, :, :3].copy()
    picture.save(OUT / "turned.avif", quality=60, exif=exif.tobytes())
    pixels["avif"] = np.asarray(ImageOps.exif_transpose(Image.open(OUT / "turned.avif")).convert("RGB"))
    for end, read in pixels.items():
        print(end, (OUT / f"turned.{end}").stat().st_size, "bytes", read.shape)
    save_file(pixels, OUT / "heif.safetensors")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes to fixtures/vision: pictures with ICC profiles and what Pillow's ImageCms (Little CMS) makes of them; colours
changed by Pillow's ImageEnhance.

    scripts/fixtures profiles

The profiles are written here, byte by byte: no file of anybody's is copied. Made with Pillow 13.0.0.
"""
import io
import struct
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, ImageEnhance
from safetensors.numpy import save_file

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "vision"
D50 = np.array([0.9642, 1.0, 0.8249])
D65 = np.array([0.95047, 1.0, 1.08883])
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])


def xyz(values):
    return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in values)


def curve(gamma):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"


def text(words):
    data = words.encode() + b"\0"
    return b"desc\0\0\0\0" + struct.pack(">I", len(data)) + data + b"\0" * 78


def profile(name, space, tags):
    """An ICC version 2 display profile."""
    tags = {b"desc": text(name), b"cprt": b"text\0\0\0\0CC0\0", b"wtpt": xyz(D50), **tags}
    table, body, offset = b"", b"", 128 + 4 + 12 * len(tags)
    for signature, data in tags.items():
        data += b"\0" * (-len(data) % 4)
        table += signature + struct.pack(">II", offset + len(body), len(data))
        body += data
    size = offset + len(body)
    header = struct.pack(">I4sI4s4s4s", size, b"\0" * 4, 0x02400000, b"mntr", space, b"XYZ ")
    header += struct.pack(">6H4s", 2026, 1, 1, 0, 0, 0, b"acsp") + b"\0" * 28
    header += b"".join(struct.pack(">i", round(v * 65536)) for v in D50)
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


def rgb_profile(name, primaries, gamma):
    """Colorants of these chromaticities with white D65, adapted to D50 as ICC wants it."""
    columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    columns = columns * np.linalg.solve(columns, D65)
    scale = np.diag((BRADFORD @ D50) / (BRADFORD @ D65))
    columns = np.linalg.inv(BRADFORD) @ scale @ BRADFORD @ columns
    tags = {}
    for letter, column in zip("rgb", columns.T):
        tags[f"{letter}XYZ".encode()] = xyz(column)
        tags[f"{letter}TRC".encode()] = curve(gamma)
    return profile(name, b"RGB ", tags)


def dated(icc):
    """A profile with the date of the first run instead of today's, so that every run writes the same bytes."""
    return icc[:24] + struct.pack(">6H", 2026, 11, 15, 6, 16, 58) + icc[36:]


def profiles():
    y, x = np.mgrid[0:20, 0:32]
    pixels = np.stack([8 * x, 255 - 12 * y, (16 * x + 9 * y) % 256], -1).clip(0, 255).astype(np.uint8)
    rgb = Image.fromarray(pixels)
    grey = Image.fromarray(pixels[:, :, 0])
    wide = rgb_profile("wide", [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)], 2.2)
    adobe = rgb_profile("like Adobe RGB", [(0.64, 0.33), (0.21, 0.71), (0.15, 0.06)], 563 / 256)
    dark = profile("grey, gamma 1.8", b"GRAY", {b"kTRC": curve(1.8)})
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
    files = {
        "profile_wide.png": (rgb, wide, {}),
        "profile_adobe.jpg": (rgb, adobe, {"quality": 95, "subsampling": 0}),
        "profile_adobe.webp": (rgb, adobe, {"lossless": True}),
        "profile_adobe.tiff": (rgb, adobe, {"compression": "tiff_lzw"}),
        "profile_grey.png": (grey, dark, {}),
        "profile_srgb.png": (rgb, dated(srgb.tobytes()), {}),
        "profile_damaged.png": (rgb, wide[:200], {}),
    }
    expected = {}
    for name, (image, icc, options) in files.items():
        image.save(OUT / name, icc_profile=icc, **options)
        with Image.open(OUT / name) as opened:
            opened.load()
        if name in ("profile_srgb.png", "profile_damaged.png"):
            expected[name] = np.array(opened.convert("RGB"))
            continue
        source = ImageCms.ImageCmsProfile(io.BytesIO(opened.info["icc_profile"]))
        expected[name] = np.array(ImageCms.profileToProfile(opened, source, srgb, outputMode="RGB"))
        change = np.abs(expected[name].astype(int) - np.array(opened.convert("RGB"))).max()
        assert change > 10, (name, change)  # a fixture that the profile does not change would prove nothing
    save_file(expected, OUT / "profiles.safetensors")


def colours():
    pixels = np.random.default_rng(0).integers(0, 256, (12, 16, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    out = {"input": pixels}
    for name, kind in [("brightness", ImageEnhance.Brightness), ("contrast", ImageEnhance.Contrast), ("saturation", ImageEnhance.Color)]:
        for factor in (0.7, 1.3):
            out[f"{name}_{factor}"] = np.array(kind(image).enhance(factor))
    save_file(out, OUT / "colours.safetensors")


if __name__ == "__main__":
    profiles()
    colours()

#!/usr/bin/env python3
"""Writes fixtures/vision: photos with Pillow's pixels, resized pictures and PyTorch's networks.

    scripts/fixtures vision
    .venv/torch/bin/python scripts/vision_fixtures.py

Made with Pillow 13.0.0, torch 2.15.0.
"""
import json
import struct
import zlib
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from safetensors.numpy import save_file

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "vision"


# ---------------------------------------------------------------- photos
def picture(width, height, seed):
    """A smooth colourful picture: compresses well, and every flip and turn of it looks different."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    waves = [np.sin(x / (3 + seed)) + np.cos(y / 5), np.cos((x + 2 * y) / 9), np.sin(y / 4 - x / 11)]
    return np.clip(np.stack([127 + 60 * w + 40 * (x / width - y / height) for w in waves], -1), 0, 255).astype(np.uint8)


def png16(path, samples):
    """A PNG of 16-bit samples [height, width, channels], which Pillow cannot write."""
    height, width, channels = samples.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in samples)
    header = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + data)


def photos():
    width, height = 24, 17
    pixels = picture(width, height, 0)
    rgb = Image.fromarray(pixels)
    alpha = Image.fromarray(pixels[:, :, 0])
    rgba = rgb.copy()
    rgba.putalpha(alpha)
    palette = rgb.quantize(16)
    save = {
        "rgb.jpg": (rgb, {"quality": 95, "subsampling": 0}),
        "progressive.jpg": (rgb, {"quality": 95, "subsampling": 0, "progressive": True}),
        "grey.jpg": (rgb.convert("L"), {"quality": 95}),
        "cmyk.jpg": (rgb.convert("CMYK"), {"quality": 95}),
        "rgb.png": (rgb, {}),
        "rgba.png": (rgba, {}),
        "grey_alpha.png": (rgba.convert("LA"), {}),
        "palette.png": (palette, {"transparency": 3}),
        "black_white.png": (rgb.convert("1"), {}),
        "lossless.webp": (rgb, {"lossless": True}),
        "lossy.webp": (rgb, {"quality": 90}),
        "rgba.webp": (rgba, {"lossless": True, "exact": True}),
        "lzw.tiff": (rgb, {"compression": "tiff_lzw"}),
        "cmyk.tiff": (rgb.convert("CMYK"), {}),
        "grey.tiff": (rgb.convert("L"), {}),
        "animated.gif": (palette, {"save_all": True, "append_images": [ImageOps.flip(palette)], "duration": 100}),
        "rgb.bmp": (rgb, {}),
    }
    for name, (image, options) in save.items():
        image.save(OUT / name, **options)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        if orientation == 6:
            # 33° 51' 24.84" S, 151° 12' 54" W
            exif.get_ifd(0x8825).update({1: "S", 2: (33.0, 51.0, 24.84), 3: "W", 4: (151.0, 12.0, 54.0)})
        rgb.save(OUT / f"turned_{orientation}.jpg", quality=95, subsampling=0, exif=exif)
    rgb.save(OUT / "turned.png", exif=exif)
    wide = Image.fromarray(picture(118, 68, 0))
    wide.save(OUT / "restarts.jpg", quality=90, subsampling=1, restart_marker_blocks=3)  # crates/vision/src/photo/quarter.rs
    save_names = [*save, *(f"turned_{o}.jpg" for o in range(1, 9)), "turned.png"]
    decoded = {}
    for name in save_names:
        with Image.open(OUT / name) as image:
            decoded[name] = np.array(ImageOps.exif_transpose(image).convert("RGB"))
    # 16 bits: the high byte, as Pillow's raw mode RGB;16B takes it; Pillow would clip the grey ones.
    wide = pixels.astype(np.uint16) * 257 - (pixels.astype(np.uint16) > 0) * 100
    png16(OUT / "rgb16.png", wide)
    png16(OUT / "grey16.png", wide[:, :, :1])
    decoded["rgb16.png"] = (wide >> 8).astype(np.uint8)
    decoded["grey16.png"] = np.repeat(wide[:, :, :1] >> 8, 3, 2).astype(np.uint8)
    save_file(decoded, OUT / "photos.safetensors")


# ---------------------------------------------------------------- resizing
# Pillow 13.0 shrinks the columns first where height - new height > 2 * (width - new width) and the height shrinks: sizes
# on either side of that line, for 61 x 47.
SIZES = [(24, 18), (61, 20), (30, 47), (80, 70), (100, 9), (7, 5), (1, 1), (40, 5), (41, 5), (50, 25), (50, 24), (62, 46), (62, 48)]


def resizing():
    pixels = picture(61, 47, 1)
    pixels[10:14, 20:40] = np.random.default_rng(0).integers(0, 256, (4, 20, 3), dtype=np.uint8)
    pixels[30:, 40:] = 255 * (np.indices((17, 21)).sum(0) % 2)[:, :, None]
    image = Image.fromarray(pixels)
    out = {"input": pixels}
    for width, height in SIZES:
        for name, method in [("bicubic", Image.BICUBIC), ("bilinear", Image.BILINEAR)]:
            out[f"{name}_{width}x{height}"] = np.array(image.resize((width, height), method))
    planes = torch.tensor(pixels).permute(2, 0, 1)[None].float()
    for width, height in [(57, 44), (20, 90)]:
        half = F.interpolate(planes, size=(height, width), mode="bilinear", align_corners=False)
        out[f"half_pixel_{width}x{height}"] = half[0].permute(1, 2, 0).contiguous().numpy()
    save_file(out, OUT / "resize.safetensors")


# ---------------------------------------------------------------- networks
def same(x, weight, bias, stride, groups=1):
    """A convolution with TensorFlow's SAME padding."""
    kernel = weight.shape[-1]
    pads = []
    for size in (x.shape[3], x.shape[2]):
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        pads += [total // 2, total - total // 2]
    return F.conv2d(F.pad(x, pads), weight, bias, stride=stride, groups=groups)


def forward(config, conv, x):
    """`conv(name, x, stride, groups)` applies a convolution with its batch norm."""
    x = F.relu6(conv("_conv_stem", x, 2, 1))
    index, channels = 0, config["stem"]
    for repeat, _kernel, stride, expand, out in config["blocks"]:
        for i in range(repeat):
            name, y, step = f"_blocks.{index}", x, stride if i == 0 else 1
            if expand != 1:
                y = F.relu6(conv(f"{name}._expand_conv", y, 1, 1))
            y = F.relu6(conv(f"{name}._depthwise_conv", y, step, y.shape[1]))
            y = conv(f"{name}._project_conv", y, 1, 1)
            x = y + x if step == 1 and channels == out else y
            index, channels = index + 1, out
    return F.relu6(conv("_conv_head", x, 1, 1)).mean((2, 3))


def networks():
    """Small networks of random weights, already folded: odd sizes, both kernels, strides, residuals, odd widths."""
    cases = {
        "plain": dict(stem=8, head=24, embed=5, size=[13, 13], blocks=[[1, 3, 1, 1, 8]]),
        "strided": dict(stem=16, head=20, embed=7, size=[29, 29], blocks=[[1, 3, 1, 1, 12], [2, 3, 2, 6, 24]]),
        "wide_kernel": dict(stem=8, head=32, embed=16, size=[22, 22], blocks=[[3, 5, 1, 4, 8], [2, 5, 2, 6, 40]]),
        "deep": dict(
            stem=32, head=48, embed=33, size=[40, 40],
            blocks=[[1, 3, 1, 1, 16], [2, 3, 2, 6, 24], [2, 5, 2, 6, 40], [2, 3, 2, 3, 56]],
        ),
    }
    torch.manual_seed(4)
    out = {}
    for case, config in cases.items():
        weights = {}

        def conv(name, x, stride, groups):
            if name not in weights:
                kernel, outs = shapes[name]
                shape = (outs, x.shape[1] // groups, kernel, kernel)
                scale = (3 / (shape[1] * kernel * kernel)) ** 0.5
                weights[name] = (torch.randn(shape, dtype=torch.float64) * scale, torch.randn(outs, dtype=torch.float64) * 0.3)
            return same(x, *weights[name], stride, groups)

        shapes, index, channels = {"_conv_stem": (3, config["stem"])}, 0, config["stem"]
        for repeat, kernel, _stride, expand, outs in config["blocks"]:
            for _ in range(repeat):
                shapes[f"_blocks.{index}._expand_conv"] = (1, channels * expand)
                shapes[f"_blocks.{index}._depthwise_conv"] = (kernel, channels * expand)
                shapes[f"_blocks.{index}._project_conv"] = (1, outs)
                index, channels = index + 1, outs
        shapes["_conv_head"] = (1, config["head"])
        x = torch.randn(2, 3, *config["size"], dtype=torch.float64)
        with torch.no_grad():
            # f32 weights and input, f64 arithmetic: the fixture's own rounding stays out of the comparison.
            x = x.float().double()
            forward(config, conv, x)
            weights = {name: (w.float().double(), b.float().double()) for name, (w, b) in weights.items()}
            embed = torch.randn(config["embed"], config["head"]).double(), torch.randn(config["embed"]).double()
            y = F.linear(forward(config, conv, x), *embed)
        for name, (weight, bias) in [*weights.items(), ("embed", embed)]:
            out[f"{case}/{name}.weight"] = weight.float().numpy()
            out[f"{case}/{name}.bias"] = bias.float().numpy()
        out[f"{case}/input"] = x.permute(0, 2, 3, 1).contiguous().float().numpy()
        out[f"{case}/output"] = y.float().numpy()
    save_file(out, OUT / "networks.safetensors")
    (OUT / "networks.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    photos()
    resizing()
    networks()

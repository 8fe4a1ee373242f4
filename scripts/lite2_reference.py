#!/usr/bin/env python3
"""Writes fixtures/vision/lite2.safetensors: what PyTorch makes of the check picture and of 20 others with streetview-lite2.

    .venv/torch/bin/python scripts/lite2_reference.py ../shared/data/streetview

The network is the unfolded one (f16 weights, batch norms of their own), computed in f64, so that it shares nothing with
the project's engine but the file of weights. The pictures are made of whole numbers alone: crates/vision/tests/lite2.rs
makes the same ones, of many sizes, and sends them through the whole encoder. `check` is the given output of the weights
before they were rounded. Made with Pillow 13.0.0, torch 2.15.0.
"""
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(Path(__file__).resolve().parent))
from vision_fixtures import OUT, forward, same  # noqa: E402

EPS = 1e-3
NORMS = {"_conv_stem": "_bn0", "_conv_head": "_bn1", "_expand_conv": "_bn0", "_depthwise_conv": "_bn1", "_project_conv": "_bn2"}

LITE2 = dict(
    stem=32,
    blocks=[[1, 3, 1, 1, 16], [3, 3, 2, 6, 24], [3, 5, 2, 6, 48], [4, 3, 2, 6, 88], [4, 5, 1, 6, 120], [5, 5, 2, 6, 208], [1, 3, 1, 6, 352]],
)
PICTURES, SIDE = 20, 256


def picture(k):
    """Picture `k`: slanted waves of three colours, a chequerboard and grain, in whole numbers."""
    width, height = 256 + k * 61 % 300, 256 + k * 97 % 260
    y, x = np.mgrid[0:height, 0:width].astype(np.int64)

    def triangle(t, period):
        m = t % (2 * period)
        return np.where(m < period, m, 2 * period - m) * 255 // period

    colours = []
    for c in range(3):
        wave = triangle(x * (k % 5 + 1) + y * (c + 1), 90 + 13 * c) * 2 + triangle(y * (k % 3 + 1) + x * c, 60 + 7 * k)
        board = ((x // (20 + k)) + (y // (15 + 2 * c))) % 2 * (8 * (k % 7))
        grain = ((x * 7919 + y * 104729 + c * 1299709 + k * 15485863) * 2654435761 % 2**32) // 2**27
        colours.append(np.minimum(wave // 3 + board + grain, 255))
    return np.stack(colours, -1).astype(np.uint8)


def preprocess(image):
    """Short side 256 (Pillow bicubic), centre crop 256, (x - 127) / 128."""
    width, height = image.size
    short = min(width, height)
    image = image.convert("RGB").resize((SIDE * width // short, SIDE * height // short), Image.BICUBIC)
    left, top = round((image.width - SIDE) / 2), round((image.height - SIDE) / 2)
    pixels = np.array(image.crop((left, top, left + SIDE, top + SIDE)))
    return (torch.tensor(pixels).permute(2, 0, 1)[None].double() - 127) / 128


def main():
    if len(sys.argv) < 2:
        return print("no folder with the unfolded encoder: the fixture stays as it is")
    shared = Path(sys.argv[1])
    tensors = {name: torch.tensor(value).double() for name, value in load_file(shared / "streetview-lite2.safetensors").items()}

    def conv(name, x, stride, groups):
        *block, layer = name.split(".")
        norm = ".".join([*block, NORMS[layer]])
        y = same(x, tensors[f"{name}.weight"], None, stride, groups)
        mean, var, gamma, beta = (tensors[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias"))
        return F.batch_norm(y, mean, var, gamma, beta, eps=EPS)

    def embed(x):
        with torch.no_grad():
            return F.linear(forward(LITE2, conv, x), tensors["embed.weight"], tensors["embed.bias"])[0].float().numpy()

    axis = torch.arange(SIDE, dtype=torch.float64)
    x, y = axis[None, :].expand(SIDE, SIDE), axis[:, None].expand(SIDE, SIDE)
    waves = [torch.sin(x / 17), torch.cos(y / 23), torch.sin((x + y) / 31)]
    check = embed(torch.stack([100 * wave / 128 for wave in waves])[None])
    given = load_file(shared / "encoder_check.safetensors")["output"]
    print(f"this script's network against the check vector: {np.linalg.norm(check - given) / np.linalg.norm(given):.2e} relative")
    pictures = np.stack([embed(preprocess(Image.fromarray(picture(k)))) for k in range(PICTURES)])
    china = embed(preprocess(Image.open(OUT / "china.jpg")))
    save_file({"check": given, "check_f16": check, "pictures": pictures, "china": china}, OUT / "lite2.safetensors")


if __name__ == "__main__":
    main()

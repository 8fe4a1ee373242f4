#!/usr/bin/env python3
"""Writes models/FOLDER/model.safetensors: a tuned EfficientNet-Lite with its batch norms folded.

    python lab/scripts/vision_fold_encoder.py ../shared/data/streetview/streetview-lite2.safetensors models/streetview-lite2

The folder holds its encoder.json already, which names the version.

A batch norm after a convolution is a factor and a summand for each output channel: `….scale` and `….bias`, f32, beside
the convolution's own f16 weights. The reader multiplies the weights by the factor. Multiplying here and rounding to f16
again would cost 1.9e-3 (relative) of Lite0's check vector; this way it is 1.2e-4. Needs numpy and safetensors.
"""
import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

EPS = 1e-3  # of every batch norm


def norm_of(conv: str) -> str:
    """The batch norm that follows a convolution in the package's naming."""
    return {
        "_conv_stem": "_bn0",
        "_conv_head": "_bn1",
        "_expand_conv": "_bn0",
        "_depthwise_conv": "_bn1",
        "_project_conv": "_bn2",
    }[conv]


def fold(tensors: dict) -> dict:
    """The same network with every batch norm as a factor and a summand of the convolution before it."""
    folded = {}
    for name, weight in tensors.items():
        *block, layer, kind = name.split(".")
        if layer == "embed":
            folded[name] = weight.astype(np.float16 if kind == "weight" else np.float32)
        elif kind == "weight" and "conv" in layer:
            norm = ".".join([*block, norm_of(layer)])
            gamma, beta, mean, var = (
                tensors[f"{norm}.{part}"].astype(np.float64) for part in ("weight", "bias", "running_mean", "running_var")
            )
            scale = gamma / np.sqrt(var + EPS)
            conv = ".".join([*block, layer])
            folded[f"{conv}.weight"] = weight.astype(np.float16)
            folded[f"{conv}.scale"] = scale.astype(np.float32)
            folded[f"{conv}.bias"] = (beta - mean * scale).astype(np.float32)
    return folded


def main():
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    stored = fold(load_file(source))
    for name, value in stored.items():
        assert np.isfinite(value).all(), f"{name} is not finite"
    path = folder / "model.safetensors"
    architecture = json.loads((folder / "encoder.json").read_text())["architecture"]
    save_file(stored, path, metadata={"format": "pt", "architecture": architecture, "batch_norm": "folded"})
    print(f"{path}: {len(stored)} tensors, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the bundled encoder as an ONNX file, for bench/browser.mjs: what onnxruntime-web runs beside our module.

    python bench/browser_onnx.py target/web/encoder.onnx     (torch 2.15.0, onnx 1.23.2, safetensors)
"""
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = [[1, 3, 1, 1, 16], [3, 3, 2, 6, 24], [3, 5, 2, 6, 48], [4, 3, 2, 6, 88], [4, 5, 1, 6, 120], [5, 5, 2, 6, 208], [1, 3, 1, 6, 352]]
SIDE = 256


class Encoder(torch.nn.Module):
    def __init__(self, tensors):
        super().__init__()
        scaled = {}
        for name, value in tensors.items():
            scale = tensors.get(name.replace(".weight", ".scale")) if name.endswith(".weight") else None
            value = value.float() if scale is None else value.float() * scale.float().reshape(-1, *[1] * (value.dim() - 1))
            scaled[name.replace(".", "/")] = torch.nn.Parameter(value, False)
        self.tensors = torch.nn.ParameterDict(scaled)

    def conv(self, name, x, stride, groups):
        weight, bias = (self.tensors[f"{name}.{part}".replace(".", "/")] for part in ("weight", "bias"))
        size, kernel = x.shape[-1], weight.shape[-1]
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        before = total // 2
        if total:
            x = F.pad(x, (before, total - before, before, total - before))
        return F.conv2d(x, weight, bias, stride, groups=groups)

    def forward(self, x):
        x = F.relu6(self.conv("_conv_stem", x, 2, 1))
        index, channels = 0, 32
        for repeat, _, stride, expand, out in BLOCKS:
            for i in range(repeat):
                name, y, step = f"_blocks.{index}", x, stride if i == 0 else 1
                if expand != 1:
                    y = F.relu6(self.conv(f"{name}._expand_conv", y, 1, 1))
                y = F.relu6(self.conv(f"{name}._depthwise_conv", y, step, y.shape[1]))
                y = self.conv(f"{name}._project_conv", y, 1, 1)
                x = y + x if step == 1 and channels == out else y
                index, channels = index + 1, out
        pooled = F.relu6(self.conv("_conv_head", x, 1, 1)).mean((2, 3))
        return F.linear(pooled, self.tensors["embed/weight"].reshape(512, -1), self.tensors["embed/bias"])


encoder = Encoder(load_file(ROOT / "crates/bundled-encoder/streetview-lite2/model.safetensors"))
with torch.no_grad():
    torch.onnx.export(encoder, torch.zeros(1, 3, SIDE, SIDE), sys.argv[1], input_names=["pixels"], output_names=["embedding"], dynamo=False)

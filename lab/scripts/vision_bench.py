#!/usr/bin/env python3
"""The same encoder in onnxruntime, fed by Pillow, on one thread; and the peer of the whole of `locdiff embed` on all cores.

    pip install onnx onnxruntime pillow numpy safetensors
    python lab/scripts/vision_bench.py [PHOTO] [ROUNDS]
    python lab/scripts/vision_bench.py --pipeline LOCDIFF [PHOTOS] [ROUNDS] [THREADS]

Reads the encoder's folder named by the variable ENCODER (models/streetview-lite2) and prints the distance to the
fixture's embedding next to the times. The second form
makes PHOTOS (200; or the name of a folder of JPEGs to use instead) JPEGs of 1 to 2 megapixels from fixtures/vision/china.jpg in a temporary folder and takes turns:
LOCDIFF (the binary) embeds them, then THREADS processes (as many as there are cores) each decode, resize and encode
photo after photo. Starting up is counted in locdiff's processor time only. On a shared machine the processor time of a
photo says more than photos a second: both are printed, the medians and the best of ROUNDS (5) turns.
"""
import json
import math
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from safetensors.numpy import load_file

ROOT = Path(__file__).resolve().parents[2]
ENCODER = Path(os.environ.get("ENCODER", ROOT / "models/streetview-lite2"))
ABOUT = json.loads((ENCODER / "encoder.json").read_text())
SHORT, CROP, SIDE = ABOUT["short_side"], ABOUT["centre_crop"], ABOUT["input_side"]
WIDTH, DEPTH = [(1.0, 1.0), (1.0, 1.1), (1.1, 1.2), (1.2, 1.4), (1.4, 1.8)][int(ABOUT["architecture"][-1])]
LITE0 = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]


def stages():
    """The published scaling: repeats rounded up but in the first and last stage, channels to the nearest 8."""
    for i, (repeat, kernel, stride, expand, out) in enumerate(LITE0):
        channels = int(out * WIDTH / 8 + 0.5) * 8
        channels += 8 * (channels < 0.9 * out * WIDTH)
        yield repeat if i in (0, 6) else math.ceil(repeat * DEPTH - 1e-9), kernel, stride, expand, channels


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
    for repeat, _kernel, stride, expand, out in stages():
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
    made = helper.make_graph(nodes, "lite", [shape("pixels", ["n", 3, SIDE, SIDE])], [shape("embedding", ["n", 512])], constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def halfway(size, to):
    source = np.maximum((np.arange(to) + 0.5) * (size / to) - 0.5, 0)
    first = source.astype(int)
    return first, np.minimum(first + 1, size - 1), (source - first).astype(np.float32)


def preprocess(image):
    width, height = image.size
    short = min(width, height)
    image = image.resize((SHORT * width // short, SHORT * height // short), Image.BICUBIC)
    left, top = round((image.width - CROP) / 2), round((image.height - CROP) / 2)
    pixels = np.asarray(image.crop((left, top, left + CROP, top + CROP)), np.float32)
    if CROP != SIDE:
        a, b, t = halfway(CROP, SIDE)
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


def session_on_one_thread():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = graph(load_file(ENCODER / "model.safetensors"))
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def start_worker():
    global SESSION
    SESSION = session_on_one_thread()
    SESSION.run(None, {"pixels": np.zeros((1, 3, SIDE, SIDE), np.float32)})


def embed_one(path):
    """The embedding of a photo and the seconds of processor time it took."""
    start = time.process_time()
    with Image.open(path) as image:
        pixels = preprocess(image.convert("RGB"))
    return SESSION.run(None, {"pixels": pixels})[0][0], time.process_time() - start


def make_photos(folder, count):
    """JPEGs of 1 to 2 megapixels, each another part of the photo, with some grain as cameras have it."""
    china = Image.open(ROOT / "fixtures/vision/china.jpg").convert("RGB")
    random = np.random.default_rng(0)
    for k in range(count):
        width = int(random.integers(1200, 1680))
        height = int(width * random.uniform(0.65, 0.75))
        left, top = random.uniform(0, 160), random.uniform(0, 60)
        box = (left, top, left + 480, top + 480 * height / width)
        image = china.resize((width, height), Image.BICUBIC, box=box)
        grain = random.normal(0, 4, (height, width, 1))
        Image.fromarray((np.asarray(image) + grain).clip(0, 255).astype(np.uint8)).save(folder / f"{k:05}.jpg", quality=90)


def pipeline(binary, count="200", rounds=5, cores=len(os.sched_getaffinity(0))):
    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        photos.mkdir()
        if count.isdigit():
            make_photos(photos, int(count))
        else:
            for path in sorted(Path(count).glob("*.jpg")):
                (photos / path.name).symlink_to(path.resolve())
        paths = sorted(photos.iterdir())
        count = len(paths)
        megapixels = sum(w * h for w, h in (Image.open(p).size for p in paths)) / count / 1e6
        ours, peers = [], []
        with multiprocessing.Pool(cores, start_worker) as pool:
            pool.map(embed_one, paths[: 4 * cores])  # warm
            for turn in range(rounds):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                out = Path(folder) / "e.safetensors"
                run = subprocess.run([binary, "embed", photos, "-o", out, "--force", "--json", "--device", "cpu", "--encoder", ENCODER, "--jobs", str(cores)], check=True, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                ours.append((json.loads(run.stdout)["photos_per_second"], 1e3 * processor / count))
                start = time.perf_counter()
                results = pool.map(embed_one, paths, chunksize=4)
                rate = count / (time.perf_counter() - start)
                peers.append((rate, 1e3 * sum(seconds for _, seconds in results) / count))
                print(f"turn {turn + 1}: locdiff {ours[-1][0]:.1f} photos/s, {ours[-1][1]:.1f} ms of processor a photo; "
                      f"onnxruntime + Pillow {peers[-1][0]:.1f} photos/s, {peers[-1][1]:.1f} ms", flush=True)
        got, expected = load_file(out)["embeddings"], np.stack([embedding for embedding, _ in results])
        distance = np.linalg.norm(got - expected, axis=1) / np.linalg.norm(expected, axis=1)
    (our_rate, our_ms), (rate, ms) = (np.median(np.array(turns), 0) for turns in (ours, peers))
    best = [max(turn[0] for turn in ours), max(turn[0] for turn in peers), min(turn[1] for turn in ours), min(turn[1] for turn in peers)]
    print(f"{count} photos of {megapixels:.2f} megapixels, {cores} threads, medians of {rounds} turns: "
          f"{our_rate:.1f} and {rate:.1f} photos/s ({our_rate / rate:.2f} times), {our_ms:.1f} and {ms:.1f} ms of processor "
          f"a photo ({ms / our_ms:.2f} times); best turns {best[0]:.1f} and {best[1]:.1f} photos/s ({best[0] / best[1]:.2f} times), "
          f"{best[2]:.1f} and {best[3]:.1f} ms ({best[3] / best[2]:.2f} times); embeddings differ by {np.median(distance):.1e}, at most {distance.max():.1e} relative")


def main():
    if sys.argv[1:2] == ["--pipeline"]:
        return pipeline(sys.argv[2], *sys.argv[3:4], *map(int, sys.argv[4:6]))
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "fixtures/vision/china.jpg"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    session = session_on_one_thread()
    image = timed("decode", rounds, lambda: Image.open(path).convert("RGB"))
    pixels = timed("resize", rounds, lambda: preprocess(image))
    embedding = timed("encode", rounds, lambda: session.run(None, {"pixels": pixels})[0])
    batch = np.repeat(pixels, 16, 0)
    timed("encode 16", -(-rounds // 8), lambda: session.run(None, {"pixels": batch})[0])
    print(f"{path}: {image.width}×{image.height} pixels, one thread, {rounds} rounds, onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    if path.name == "china.jpg" and ENCODER.name == "streetview-lite2":
        expected = load_file(ROOT / "fixtures/vision/lite2.safetensors")["china"]
        print(f"distance to the fixture: {np.linalg.norm(embedding[0] - expected) / np.linalg.norm(expected):.1e} relative")


if __name__ == "__main__":
    main()

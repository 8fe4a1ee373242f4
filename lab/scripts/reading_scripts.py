#!/usr/bin/env python3
"""Teaches the bundled recogniser to tell scripts that it cannot read: a linear layer on the features of its last step.

    reading_scripts.py render --recogniser rec.onnx --towns cities5000.json --fonts FOLDER --photos PHOTO... --count 260 --output train.npz
    reading_scripts.py photos --recogniser rec.onnx --lines lines.jsonl --output real.npz
    reading_scripts.py fit train.npz real.npz --model reading.safetensors

`render` writes words (GeoNames' names of towns, by script) over colours and parts of photos, bent, blurred and compressed, and keeps the
recogniser's features. FOLDER has Debian's fonts-noto-core, fonts-nanum, fonts-noto-cjk, fonts-thai-tlwg, culmus, fonts-dejavu and others,
unpacked by `dpkg -x`. `photos` does so for the lines of lab/examples/read_text.rs of photos in which all lines are Latin, Greek, Han or kana.
`fit` minimises −log of the mean over a line's places of the softmax, adds an output for each script to the last step of the recogniser in the
model's file, and names them in `scripts`; the first, empty name stands for all other scripts. Half of the photos are left out to report
false alarms. Needs numpy, onnx, onnxruntime, Pillow with raqm, fontTools, safetensors. Seed 1.
"""

import argparse
import io
import json
import math
import pathlib
import random

import numpy as np

# Name, first and last letter, letters that a font must have.
SCRIPTS = """Cyrillic 400 52f ДЖЯщ|Arabic 600 6ff بحسعي|Hebrew 590 5ff אשמל|Thai e00 e7f กขชฟ|Lao e80 eff ກຂຊຟ|Khmer 1780 17ff កខគង
Burmese 1000 109f ကခဂင|Devanagari 900 97f कखगम|Bengali 980 9ff কখগম|Gurmukhi a00 a7f ਕਖਗਮ|Gujarati a80 aff કખગમ|Tamil b80 bff கஙமய
Telugu c00 c7f కఖగమ|Kannada c80 cff ಕಖಗಮ|Malayalam d00 d7f കഖഗമ|Sinhala d80 dff කඛගම|Hangul ac00 d7af 가한말|Georgian 10a0 10ff აბგდ
Armenian 530 58f Աբգդ|Ethiopic 1200 137f አበገደ|Latin 41 24f AbcdÉ|Greek 370 3ff ΔΨλω|Han 4e00 9fff 中国山|Kana 3040 30ff あカ"""
ROWS = [one.split() for line in SCRIPTS.splitlines() for one in line.split("|")]
READ = ("Latin", "Greek", "Han", "Kana")
NAMES = ["", *(row[0] for row in ROWS if row[0] not in READ)]


class Recogniser:
    """The features of each place of a line before the last product."""

    def __init__(self, path):
        import onnx
        import onnxruntime

        model = onnx.load(path)
        last = [node for node in model.graph.node if node.op_type == "MatMul"][-1]
        model.graph.output.append(onnx.helper.make_tensor_value_info(last.input[0], onnx.TensorProto.FLOAT, None))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        self.input = self.session.get_inputs()[0].name

    def features(self, picture):
        from PIL import Image

        width = max(1, min(900, math.ceil(48 * picture.width / picture.height)))
        values = np.zeros((48, max(width, 320), 3), np.float32)
        values[:, :width] = np.asarray(picture.resize((width, 48), Image.BILINEAR), np.float32) / 127.5 - 1
        values = np.ascontiguousarray(values[:, :, ::-1].transpose(2, 0, 1)[None])
        return self.session.run(None, {self.input: values})[1][0][: math.ceil(width / 8)].astype(np.float16)


def words_of(towns):
    words = {row[0]: set() for row in ROWS}
    for town in json.loads(pathlib.Path(towns).read_text()).values():
        for name in [*town.get("alternatenames", []), town["name"]]:
            for word in [name, *name.split()]:
                for script, first, last, _ in ROWS:
                    own = [int(first, 16) <= ord(letter) <= int(last, 16) for letter in word if letter not in " -'."]
                    if len(own) >= 2 and all(own) and len(word) <= 22:
                        words[script].add(word)
    return {script: sorted(own) for script, own in words.items()}


def fonts_of(folder):
    from fontTools.ttLib import TTFont

    fonts = {row[0]: [] for row in ROWS}
    for path in sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix in (".ttf", ".otf", ".ttc")):
        rare = any(part in path.name for part in ("ExtraCond", "SemiCond", "ExtraLight", "Thin", "Medium", "SemiBold", "ExtraBold", "Italic"))
        if "Display" in path.name or rare and random.random() < 0.8:
            continue
        letters = TTFont(path, fontNumber=0, lazy=True).getBestCmap() or {}
        for script, _, _, sample in ROWS:
            if all(ord(letter) in letters for letter in sample):
                fonts[script].append(str(path))
    return fonts


def rendered(text, font, backgrounds):
    """A picture of a text as photos have it; nothing if the font fails."""
    from PIL import Image, ImageDraw, ImageFilter, ImageFont

    size = random.randint(28, 72)
    font = ImageFont.truetype(font, size)
    left, top, right, bottom = font.getbbox(text)
    if right - left < 20 or bottom - top < 8:
        return None
    across, down = int(size * random.uniform(0.05, 0.5)), int(size * random.uniform(0, 0.3))
    colour = lambda: tuple(random.randint(0, 255) for _ in range(3))
    light = lambda rgb: np.dot(rgb, (0.3, 0.59, 0.11))
    ground, ink, least = colour(), colour(), random.choice([40, 90, 140])
    while abs(light(ground) - light(ink)) < min(least, 120):
        ground, ink = colour(), colour()
    picture = Image.new("RGB", (right - left + 2 * across, bottom - top + 2 * down), ground)
    if random.random() < 0.45:
        photo = random.choice(backgrounds)
        x, y = (random.randint(0, max(0, side - own)) for side, own in zip(photo.size, picture.size))
        part = photo.crop((x, y, x + picture.width, y + picture.height))
        picture = Image.blend(part, picture, random.uniform(0.2, 0.9))
    ImageDraw.Draw(picture).text((across - left, down - top), text, ink, font, stroke_width=random.choice([0, 0, 0, 1]), stroke_fill=ink)
    if random.random() < 0.5:
        picture = picture.rotate(random.uniform(-4, 4), Image.BICUBIC, fillcolor=ground)
    if random.random() < 0.4:
        slant = random.uniform(-0.15, 0.15)
        picture = picture.transform(picture.size, Image.AFFINE, (1, slant, -slant * picture.height / 2, 0, 1, 0), Image.BILINEAR, fillcolor=ground)
    height = random.choice([14, 20, 28, 40, 60])
    if picture.height > height:
        picture = picture.resize((max(8, int(picture.width * height / picture.height * random.uniform(0.8, 1.15))), height), Image.BILINEAR)
    if random.random() < 0.5:
        picture = picture.filter(ImageFilter.GaussianBlur(random.uniform(0.2, 1.1)))
    values = np.asarray(picture, np.float32)
    values = (values + np.random.randn(*values.shape) * random.choice([2, 6, 14])) * random.uniform(0.6, 1.1) + random.uniform(-20, 30)
    file = io.BytesIO()
    Image.fromarray(values.clip(0, 255).astype(np.uint8)).save(file, "JPEG", quality=random.randint(35, 95))
    return Image.open(file).convert("RGB")


def render(options):
    from PIL import Image

    random.seed(1)
    np.random.seed(1)
    recogniser, words, fonts = Recogniser(options.recogniser), words_of(options.towns), fonts_of(options.fonts)
    backgrounds = [Image.open(path).convert("RGB") for path in options.photos]
    found, labels = [], []
    for _ in range(options.count):
        for script in [*(row[0] for row in ROWS), "Latin", "Latin"]:
            text = " ".join(random.choices(words[script], k=random.choice([1, 1, 1, 2, 3])))[:28]
            if random.random() < 0.12:
                text += f" {random.randint(1, 2030)}"
            if script in ("Cyrillic", "Latin", "Greek", "Armenian") and random.random() < 0.5:
                text = text.upper()
            picture = rendered(text, random.choice(fonts[script]), backgrounds)
            if picture:
                found.append(recogniser.features(picture))
                labels.append(script.lower())
    np.savez(options.output, X=np.concatenate(found), n=[len(one) for one in found], y=labels)


def photos(options):
    from PIL import Image

    recogniser, found, rows = Recogniser(options.recogniser), [], []
    with open(options.lines, encoding="utf-8") as lines:
        for number, photo in enumerate(map(json.loads, lines)):
            picture = Image.open(photo["name"]).convert("RGB") if photo["lines"] else None
            for line in photo["lines"][:30]:
                a, b, c, d = line["corners"]
                size = (max(8, int(96 * math.dist(a, b) / max(math.dist(a, d), 1))), 96)
                found.append(recogniser.features(picture.transform(size, Image.QUAD, (*a, *d, *c, *b), Image.BILINEAR)))
                rows.append(number)
    np.savez(options.output, X=np.concatenate(found), n=[len(one) for one in found], row=rows)


def told(features, head):
    """The mean probabilities of lines."""
    weight, bias = head
    out = []
    for line in features:
        logits = line @ weight.T + bias
        likely = np.exp(logits - logits.max(1, keepdims=True))
        out.append((likely / likely.sum(1, keepdims=True)).mean(0))
    return np.array(out)


def trained(features, labels, shares, steps=1500, decay=3e-4, rate=0.02):
    """Adam on batches of 256 lines that are drawn by their shares."""
    rng = np.random.default_rng(0)
    head = [np.zeros((len(NAMES), features[0].shape[1]), np.float32), np.zeros(len(NAMES), np.float32)]
    means, squares, one_hot = [0.0, 0.0], [0.0, 0.0], np.eye(len(NAMES), dtype=np.float32)
    for step in range(steps):
        chosen = rng.choice(len(features), 256, p=shares / shares.sum())
        places, counts = np.concatenate([features[k] for k in chosen]), [len(features[k]) for k in chosen]
        logits = places @ head[0].T + head[1]
        likely = np.exp(logits - logits.max(1, keepdims=True))
        likely /= likely.sum(1, keepdims=True)
        wanted, line = np.repeat(labels[chosen], counts), np.repeat(np.arange(256), counts)
        own = likely[np.arange(len(wanted)), wanted]
        part = own / (np.bincount(line, own)[line] + 1e-9)
        slope = part[:, None] * (likely - one_hot[wanted]) / 256
        for k, gradient in enumerate((slope.T @ places + decay * head[0], slope.sum(0))):
            means[k] = 0.9 * means[k] + 0.1 * gradient
            squares[k] = 0.99 * squares[k] + 0.01 * gradient**2
            pace = rate * (1 - step / steps) / (1 - 0.9 ** (step + 1))
            head[k] -= (pace * means[k] / (np.sqrt(squares[k] / (1 - 0.99 ** (step + 1))) + 1e-8)).astype(np.float32)
    return head


def lines_of(path):
    file = np.load(path)
    return np.split(file["X"].astype(np.float32), np.cumsum(file["n"])[:-1]), file


def fit(options):
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    made, file = lines_of(options.rendered)
    lower = [name.lower() for name in NAMES]
    labels = np.array([lower.index(name) if name in lower else 0 for name in file["y"]])
    real, file = lines_of(options.real)
    is_test = file["row"] % 2 == 1
    order = np.random.default_rng(1).permutation(len(made))
    train, test = np.split(order, [int(0.8 * len(made))])

    def head_of(rendered_lines, real_lines):
        features = [made[k] for k in rendered_lines] + [real[k] for k in real_lines]
        wanted = np.concatenate([labels[rendered_lines], np.zeros(len(real_lines), int)])
        shares = 1 / np.bincount(wanted, minlength=len(NAMES))[wanted] * np.where(wanted == 0, 6, 1)
        return trained(features, wanted, shares)

    head = head_of(train, np.flatnonzero(~is_test))
    likely, alarms = told([made[k] for k in test], head), told([one for one, own in zip(real, is_test) if own], head)
    for least in (0.5, 0.7, 0.8, 0.9):
        is_told = (likely.argmax(1) > 0) & (likely.max(1) >= least)
        right = (likely.argmax(1) == labels[test])[is_told & (labels[test] > 0)].mean()
        false = ((alarms.argmax(1) > 0) & (alarms.max(1) >= least)).sum()
        print(f"from {least}: {is_told[labels[test] > 0].mean():.3f} of {(labels[test] > 0).sum()} rendered lines told, {right:.3f} of them right; "
              f"{is_told[labels[test] == 0].sum()} of {(labels[test] == 0).sum()} rendered and {false} of {len(alarms)} real lines of other scripts")  # fmt: skip
    weight, bias = head_of(order, np.arange(len(real)))
    with safe_open(options.model, "numpy") as opened:
        metadata = opened.metadata()
    tensors, steps = load_file(options.model), json.loads(metadata["recognise"])
    key, count = f"recognise.{len(steps) - 1}", metadata["characters"].count("\n") + 1
    scale = np.abs(weight).max(1) / 127
    for part, values in (("weight", np.round(weight / scale[:, None]).astype(np.int8)), ("bias", bias), ("scale", scale.astype(np.float32))):
        tensors[f"{key}.{part}"] = np.concatenate([tensors[f"{key}.{part}"][:count], values])
    steps[-1]["outputs"] = count + len(NAMES)
    metadata |= {"recognise": json.dumps(steps, separators=(",", ":")), "scripts": "\n".join(NAMES)}
    save_file(tensors, options.model, metadata)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    for name, call, flags in (("render", render, ("recogniser", "towns", "fonts", "output")), ("photos", photos, ("recogniser", "lines", "output"))):
        part = parts.add_parser(name)
        for flag in flags:
            part.add_argument(f"--{flag}", required=True)
        part.set_defaults(call=call)
        if call is render:
            part.add_argument("--photos", nargs="+", required=True)
            part.add_argument("--count", type=int, default=260)
    part = parts.add_parser("fit")
    part.add_argument("rendered")
    part.add_argument("real")
    part.add_argument("--model", required=True)
    part.set_defaults(call=fit)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()

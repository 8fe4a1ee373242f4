#!/usr/bin/env python3
"""The paper's Figure 1 (4a) beside (4b): how far from a place what is near its encoding decodes to. decoding_maps.py OUT.png

Each picture is a plane through the encoding of one place: two directions towards the encodings of two other places, made orthogonal and of the length
at which half of all places are nearer. A pixel is a vector; its colour is how far from the star the location lies that it decodes to.
(4a) Sphere2Vec-sphereC+ (16 scales, as in lab/src/encoders) with a learned decoder: six layers, fitted to places drawn evenly over the Earth.
(4b) SHDD of degree L with the decoder without learned parts, the maximum of the field.
Needs numpy, scipy, pillow and scikit-learn. The table has, of neighbouring pixels, how far apart they decode; steps of a hundredth of the width.
"""
import argparse

import numpy as np
from PIL import Image, ImageDraw
from sklearn.neural_network import MLPRegressor

from w2_bound import fibonacci, harmonics

EARTH = 6371.0
PIXELS = 101


def sphere_c_plus(points):
    """Sphere2Vec-sphereC+: sines and cosines of latitude and longitude at 16 scales from 0.05 to 1."""
    lat, lon = np.arcsin(np.clip(points[:, 2], -1, 1)), np.arctan2(points[:, 1], points[:, 0])
    columns = []
    for scale in np.geomspace(0.05, 1, 16):
        ps, pc, ls, lc = np.sin(lat / scale), np.cos(lat / scale), np.sin(lon / scale), np.cos(lon / scale)
        columns += [ps, pc, ls, lc, pc * lc, pc * ls]
    return np.stack(columns, 1)


def even(rng, count):
    points = rng.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def km(points, place):
    return EARTH * np.arccos(np.clip(points @ place, -1, 1))


def learned(points, steps, rng):
    """A decoder of six layers, as the paper's: unit vectors by mean squared error, fresh points in every step."""
    mean, deviation = sphere_c_plus(points).mean(0), sphere_c_plus(points).std(0)
    network = MLPRegressor(hidden_layer_sizes=(256,) * 5, learning_rate_init=1e-3, random_state=0)
    for _ in range(steps):
        batch = even(rng, 1024)
        network.partial_fit((sphere_c_plus(batch) - mean) / deviation, batch)

    def decode(vectors):
        found = network.predict((vectors - mean) / deviation)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    return decode


def picture(distance, title):
    """Distances as colours, near is light; the star is in the middle."""
    share = np.clip(distance / (np.pi * EARTH), 0, 1)[..., None]
    stops = np.array([[255, 250, 225], [244, 165, 96], [150, 50, 110], [25, 15, 60]], float)
    at = share[..., 0] * (len(stops) - 1)
    low = np.minimum(at.astype(int), len(stops) - 2)
    colours = stops[low] + (at - low)[..., None] * (stops[low + 1] - stops[low])
    image = Image.new("RGB", (PIXELS * 5, PIXELS * 5 + 34), "white")
    image.paste(Image.fromarray(colours.astype(np.uint8)).resize((PIXELS * 5,) * 2, Image.NEAREST), (0, 34))
    draw = ImageDraw.Draw(image)
    draw.text((6, 10), title, fill="black")
    x = y = PIXELS * 2.5
    corners = [(x + r * np.sin(a), y + 34 - r * np.cos(a)) for a, r in zip(np.arange(10) * np.pi / 5, [9, 4] * 5)]
    draw.polygon(corners, fill="#ffd400", outline="black")
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("-L", "--degree", type=int, default=11)
    parser.add_argument("--steps", type=int, default=3000, help="of the learned decoder, 1,024 places each")
    parser.add_argument("--seeds", type=int, default=3, help="places and directions; the first is drawn")
    args = parser.parse_args()
    survey = even(np.random.default_rng(99), 2000)
    grid = fibonacci(8000)
    basis = harmonics(args.degree, grid)
    # The constant says nothing of the place.
    shdd = lambda points: harmonics(args.degree, points)[:, 1:]
    decoders = {
        "Sphere2Vec-sphereC+, learned decoder": (sphere_c_plus, learned(survey, args.steps, np.random.default_rng(7))),
        f"SHDD, L = {args.degree}, no learned part": (shdd, lambda vectors: grid[(vectors @ basis[:, 1:].T).argmax(1)]),
    }
    steps = {name: [] for name in decoders}
    images, own, monotone = [], {}, {name: [] for name in decoders}
    for seed in range(args.seeds):
        rng = np.random.default_rng(seed)
        place, *others = even(rng, 3)
        for name, (encode, decode) in decoders.items():
            code = encode(place[None])[0]
            reach = np.median(np.linalg.norm(encode(survey) - code, axis=1))
            first, second = (encode(np.array(others)) - code)
            first /= np.linalg.norm(first)
            second -= first * (first @ second)
            second /= np.linalg.norm(second)
            along = np.linspace(-1, 1, PIXELS) * reach
            vectors = code + along[None, :, None] * first + along[:, None, None] * second
            found = decode(vectors.reshape(-1, len(code))).reshape(PIXELS, PIXELS, 3)
            apart = lambda a, b: EARTH * np.arccos(np.clip((a * b).sum(-1), -1, 1))
            steps[name] += [apart(found[1:], found[:-1]).ravel(), apart(found[:, 1:], found[:, :-1]).ravel()]
            away = km(found, place)
            inner = np.hypot(*np.meshgrid(along, along)) < 0.5 * reach
            monotone[name].append(away[inner])
            own.setdefault(name, []).append(km(decode(encode(survey[:500])), survey[:500].T).diagonal())
            if seed == 0:
                images.append(picture(away, f"({'ab'[len(images)]}) {name}"))
    sheet = Image.new("RGB", (sum(image.width for image in images) + 8, images[0].height), "white")
    for k, image in enumerate(images):
        sheet.paste(image, (k * (image.width + 8), 0))
    sheet.save(args.out)
    print("| encoding and decoder | clean codes decode to within, km: median / 90 % | within half the reach: share within 750 / 2,500 km | neighbours: mean km | over 1,000 km |")
    print("|---|---|---|---|---|")
    for name in decoders:
        jump, near, clean = np.concatenate(steps[name]), np.concatenate(monotone[name]), np.concatenate(own[name])
        cells = [f"{np.median(clean):.0f} / {np.quantile(clean, 0.9):.0f}", f"{100 * (near < 750).mean():.0f} / {100 * (near < 2500).mean():.0f} %"]
        print(f"| {name} | {' | '.join(cells)} | {jump.mean():.0f} | {100 * (jump > 1000).mean():.1f} % |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Embeddings with what retrieval says beside them, for a diffusion that is given its neighbours' codes (the paper's future work).

    neighbour_codes.py DATA OUT [COPIES]          (numpy)
    locdiff-lab compare --methods locdiff,locdiff-cs-unet --embeddings OUT/embeddings.safetensors …
    neighbour_table.py test.csv COMPARE-SEED… -- OUT/SEED…

Beside the 512 numbers of each photo stand the similarity-weighted means of the training photos' SHDD codes of degree 7, at three temperatures:
192 numbers, COPIES times: training adds noise of deviation 1 to every number of
the standardised embeddings, and several copies let the codes through it. For a training photo, photos within 25 km of it and pictures with a cosine above 0.995 are left out. The encoder was
tuned on the training photos, so that their neighbours are better than those of new photos; nothing is cross-fitted, and validation chooses
the step and the calibration.
"""
import csv
import json
import struct
import sys
from pathlib import Path

import numpy as np

DEGREE, TEMPERATURES = 7, (0.03, 0.06, 0.12)
OWN_KM, SAME, EARTH_KM = 25.0, 0.995, 6371.0
BLOCK = 1024


def read(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__", None)
    part = lambda own: np.frombuffer(raw[8 + size :][slice(*own["data_offsets"])], np.float16).reshape(own["shape"])
    return {name: part(own).astype(np.float32) for name, own in header.items()}


def write(path, tensors):
    header, at, parts = {}, 0, []
    for name, rows in tensors.items():
        raw = rows.astype(np.float16).tobytes()
        header[name] = {"dtype": "F16", "shape": list(rows.shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        parts.append(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def directions(path):
    rows = list(csv.DictReader(path.open()))
    lat, lon = np.radians(np.array([[float(row["lat"]), float(row["lon"])] for row in rows])).T
    return np.c_[np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)].astype(np.float32)


def codes(points):
    """Real spherical harmonics up to DEGREE, by the normalised recurrence."""
    x, y, z = points.astype(np.float64).T
    out, sectoral = [], {}
    legendre = {(0, 0): np.full(len(z), np.sqrt(0.25 / np.pi))}
    for m in range(DEGREE + 1):
        if m:
            legendre[m, m] = np.sqrt((2 * m + 1) / (2 * m)) * legendre[m - 1, m - 1]  # the sine's power stands in the sectoral part
        for l in range(m + 1, DEGREE + 1):
            a = np.sqrt((4 * l * l - 1) / (l * l - m * m))
            b = np.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1)) if l > m + 1 else 0.0
            legendre[l, m] = a * (z * legendre[l - 1, m] - b * legendre.get((l - 2, m), 0.0))
        power = (x + 1j * y) ** m
        sectoral[m] = (power.real, power.imag)
    for l in range(DEGREE + 1):
        for m in range(-l, l + 1):
            part = sectoral[abs(m)][0 if m >= 0 else 1]
            out.append(legendre[l, abs(m)] * part * (np.sqrt(2.0) if m else 1.0))
    return np.stack(out, 1).astype(np.float32)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main(data, out, copies):
    tensors, places = read(data / "embeddings.safetensors"), directions(data / "train.csv")
    known, of_known = unit(tensors["train"]), codes(places)
    assert np.allclose((of_known**2).sum(1), (DEGREE + 1) ** 2 / (4 * np.pi), rtol=1e-4)
    found = {}
    for name, rows in tensors.items():
        means = np.zeros((len(rows), len(TEMPERATURES) * of_known.shape[1]), np.float32)
        for start in range(0, len(rows), BLOCK):
            here = slice(start, start + BLOCK)
            cosines = unit(rows[here]) @ known.T
            if name.startswith("train"):
                own = (places[here] @ places.T > np.cos(OWN_KM / EARTH_KM)) | (cosines > SAME)
                cosines[own] = -np.inf
            top = cosines.max(1, keepdims=True)
            for k, temperature in enumerate(TEMPERATURES):
                weights = np.exp((cosines - top) / temperature)
                mean = weights @ of_known / weights.sum(1, keepdims=True)
                means[here, k * of_known.shape[1] : (k + 1) * of_known.shape[1]] = mean
        found[name] = np.concatenate([rows] + [means] * copies, 1)
    out.mkdir(parents=True, exist_ok=True)
    write(out / "embeddings.safetensors", found)


main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)

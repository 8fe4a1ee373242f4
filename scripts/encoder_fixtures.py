#!/usr/bin/env python3
"""Write fixtures/baselines/encoders.json: the paper's location encoders by NumPy and SciPy, for lab/src/encoders.

    scripts/fixtures encoders
"""
import json, os
import numpy as np
from scipy.special import sph_harm_y

PLACES = [[48.8566, 2.3522], [-33.4489, -70.6693], [64.1466, -179.25], [-89.0, 133.7]]
S, DFS_S, OCTAVES, LOW, HIGH, TILE, DEGREE = 16, 8, 6, 0.05, 1.0, 15.0, 9
rng = np.random.default_rng(5)
ANCHORS = np.round(np.stack([rng.uniform(-180, 180, 6), rng.uniform(-90, 90, 6)], 1), 3)
FREQUENCIES = np.round(np.stack([rng.normal(0, 4, 6), rng.normal(0, 4, 6), rng.uniform(0, 2 * np.pi, 6)], 1), 4)
WEIGHTS = np.round(rng.uniform(-0.01, 0.01, (6, (DEGREE + 1) ** 2)), 5)
BIASES = np.round(rng.uniform(-0.01, 0.01, 6), 5)


def scales(n):
    return LOW * np.exp(np.log(HIGH / LOW) / (n - 1) * np.arange(n))


def harmonics(lat, lon):
    out = []
    for l in range(DEGREE + 1):
        for m in range(-l, l + 1):
            y = sph_harm_y(l, abs(m), np.pi / 2 - lat, lon)
            sign = (-1) ** m * np.sqrt(2)
            out.append(y.real if m == 0 else sign * (y.real if m > 0 else y.imag))
    return np.array(out)


def encodings(lat_deg, lon_deg):
    lat, lon = np.radians(lat_deg), np.radians(lon_deg)
    xyz = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    a = scales(S)
    ps, pc, ls, lc = np.sin(lat / a), np.cos(lat / a), np.sin(lon / a), np.cos(lon / a)
    rows = lambda *columns: np.stack(columns, 1).ravel()
    grid = (ps, pc, ls, lc)
    mixed = (pc * np.cos(lon), np.cos(lat) * lc, pc * np.sin(lon), np.cos(lat) * ls)
    directions = np.array([[1, 0], [-0.5, 3 ** 0.5 / 2], [-0.5, -(3 ** 0.5) / 2]]) @ np.array([lon, lat])
    theory = np.outer(1 / a, directions)
    octaves = np.outer(2.0 ** np.arange(OCTAVES) * np.pi, xyz)
    b = scales(DFS_S)
    p, q = np.stack([np.sin(lat / b), np.cos(lat / b)], 1), np.stack([np.sin(lon / b), np.cos(lon / b)], 1)
    products = [[pc_ * lc_, pc_ * ls_, ps_ * lc_, ps_ * ls_] for ps_, pc_ in p for ls_, lc_ in q]
    tile = np.zeros((int(180 / TILE), int(360 / TILE)))
    tile[int((lat_deg + 90) // TILE), int((lon_deg + 180) // TILE)] = 1
    squared = (lon_deg - ANCHORS[:, 0]) ** 2 + (lat_deg - ANCHORS[:, 1]) ** 2
    return {
        "tile": tile.ravel(),
        "wrap": [np.sin(np.pi * lon_deg / 180), np.cos(np.pi * lon_deg / 180), np.sin(np.pi * lat_deg / 90), np.cos(np.pi * lat_deg / 90)],
        "rbf": np.exp(-squared / (2 * 20.0 ** 2)),
        "rff": np.sqrt(2 / 6) * np.cos(FREQUENCIES[:, :2] @ np.array([lon, lat]) + FREQUENCIES[:, 2]),
        "grid": rows(*grid),
        "theory": np.stack([np.sin(theory), np.cos(theory)], 2).ravel(),
        "xyz": xyz,
        "nerf": np.stack([np.sin(octaves), np.cos(octaves)], 2).ravel(),
        "sphere-c": rows(ps, pc * lc, pc * ls),
        "sphere-c-plus": rows(*grid, pc * lc, pc * ls),
        "sphere-m": rows(ps, *mixed),
        "sphere-m-plus": rows(*grid, *mixed),
        "dfs": np.concatenate([p.ravel(), q.ravel(), np.ravel(products)]),
        "siren-sh": np.sin(30 * (WEIGHTS @ harmonics(lat, lon) + BIASES)),
    }


def main():
    each = [encodings(*place) for place in PLACES]
    numbers = lambda values: [float(f"{x:.10g}") for x in np.asarray(values, float)]
    fixture = {
        "places": PLACES, "anchors": ANCHORS.tolist(), "frequencies": FREQUENCIES.tolist(),
        "siren_weights": WEIGHTS.tolist(), "siren_biases": BIASES.tolist(),
        "encodings": {f"encoder-{name}": [numbers(one[name]) for one in each] for name in each[0]},
    }
    path = os.path.join(os.path.dirname(__file__), "../fixtures/baselines/encoders.json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(fixture, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Regenerates fixtures/eval/prdc.json with the PyPI package `prdc`, its distance replaced by scikit-learn's haversine
(as plonk does).

    scripts/fixtures eval

The points are made up; some fakes are exactly a real point, some points occur twice.
"""

import json
from pathlib import Path

import numpy as np
from prdc import prdc
from sklearn.metrics.pairwise import haversine_distances

FILE = Path(__file__).resolve().parent.parent / "fixtures/eval/prdc.json"


def compute_pairwise_distance(data_x, data_y=None):
    return haversine_distances(np.radians(data_x), np.radians(data_x if data_y is None else data_y))


prdc.compute_pairwise_distance = compute_pairwise_distance


def places(rng: np.random.Generator, n: int) -> np.ndarray:
    """Towns and loners, some of them about the antimeridian and a pole."""
    towns = np.array([[48.9, 2.4], [-17.5, 179.7], [89.0, 40.0], [40.7, -74.0], [-33.9, 151.2]])
    near = towns[rng.integers(0, len(towns), n)] + rng.normal(size=(n, 2)) * rng.choice([0.3, 3.0], size=(n, 1))
    anywhere = np.stack([np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)], axis=1)
    out = np.where(rng.random((n, 1)) < 0.7, near, anywhere)
    out[:, 0] = 90 - np.abs(90 - out[:, 0])  # over the pole and down again
    out[:, 1] = (out[:, 1] + 180) % 360 - 180
    return out.round(3)


def main() -> None:
    rng = np.random.default_rng(6)
    real, fake = places(rng, 143), places(rng, 143)
    real[7], fake[11], fake[12] = real[3], real[20], real[20]
    whole = {k: prdc.compute_prdc(real, fake, nearest_k=k) for k in (1, 3, 5)}
    # As torch.chunk cuts: 18 rows each, 17 in the last.
    cuts = [slice(start, start + 18) for start in range(0, 143, 18)]
    parts = [prdc.compute_prdc(real[cut], fake[cut], nearest_k=3) for cut in cuts]
    chunked = {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    lists = {"real": real.tolist(), "fake": fake.tolist()}
    FILE.write_text(json.dumps({**lists, "whole": whole, "chunks_8_k_3": chunked}, default=float) + "\n")


if __name__ == "__main__":
    main()

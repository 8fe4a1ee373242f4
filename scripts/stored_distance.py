#!/usr/bin/env python3
"""How far photos embedded straight lie from the stored embeddings of the same photos, row by row.

    locdiff embed im2gps3k.csv --encoder models/streetview-lite2 -o straight.safetensors
    python scripts/stored_distance.py straight.safetensors ../shared/data/streetview/embeddings.safetensors im2gps3k

The stored ones came through a JPEG of quality 78 at 256 pixels and bf16 products. Beside each photo's own distance stands
that to the nearest other photo: an embedding is still its photo's where the first is far below the second.
"""
import sys

import numpy as np
from safetensors.numpy import load_file


def main():
    straight = load_file(sys.argv[1])["embeddings"].astype(np.float64)
    stored = load_file(sys.argv[2])[sys.argv[3]].astype(np.float64)
    assert straight.shape == stored.shape, (straight.shape, stored.shape)
    norm = np.linalg.norm(stored, axis=1)
    relative = np.linalg.norm(straight - stored, axis=1) / norm
    cosine = (straight * stored).sum(1) / (np.linalg.norm(straight, axis=1) * norm)
    squares = (stored**2).sum(1)
    others = (straight**2).sum(1)[:, None] + squares - 2 * straight @ stored.T
    own = others.diagonal().copy()
    nearest = others.argmin(1) == np.arange(len(stored))
    np.fill_diagonal(others, np.inf)
    ratio = np.sqrt(own.clip(0) / others.min(1).clip(1e-12))
    for name, values in (("relative distance", relative), ("cosine", cosine), ("distance / nearest other", ratio)):
        quantiles = np.quantile(values, [0.05, 0.5, 0.95])
        print(f"{name:<26} 5 % {quantiles[0]:.4f}   median {quantiles[1]:.4f}   95 % {quantiles[2]:.4f}   worst {values.min() if name == 'cosine' else values.max():.4f}")
    print(f"{len(stored)} photos, {nearest.mean():.2%} nearest to their own stored embedding")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Peers of `cargo bench -p locdiff-bench --bench gallery`: exact search of 64 queries in 100,000 x 512, all at once and one by one.

    pip install numpy faiss-cpu && OMP_NUM_THREADS=2 python3 bench/gallery.py
"""
import time

import numpy as np

PLACES, DIMENSION, BATCH, TOP = 100_000, 512, 64, 10


def unit(rows, seed):
    x = np.random.default_rng(seed).uniform(-1, 1, (rows, DIMENSION)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def tell(name, search, repeat=5):
    search()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        search()
        times.append((time.perf_counter() - start) / BATCH * 1e3)
    print(f"{name:<28}{np.median(times):8.3f} ms a query (fastest {min(times):.3f})")


def best(scores):
    top = np.argpartition(scores, -TOP, axis=1)[:, -TOP:]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    return np.take_along_axis(top, order, axis=1)


rows, queries = unit(PLACES, 1), unit(BATCH, 2)
tell("numpy, batch of 64", lambda: best(queries @ rows.T))
tell("numpy, one by one", lambda: [best(q[None] @ rows.T) for q in queries])
try:
    import faiss
except ImportError:
    print("faiss: not installed")
else:
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(rows)
    tell("faiss flat, batch of 64", lambda: index.search(queries, TOP))
    tell("faiss flat, one by one", lambda: [index.search(q[None], TOP) for q in queries])

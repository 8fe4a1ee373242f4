#!/usr/bin/env python3
"""Regenerates fixtures/ylm/*.bin: real orthonormal spherical harmonics by scipy, f64.

    scripts/fixtures ylm

With `--check BINARY` it compares `BINARY encode` (the locdiff command) with scipy at every coefficient of many points.

File layout, little endian: u32 points, u32 rows, u32 degree of each row, f64 (lat, lon) of each point in degrees, then point
by point and row by row the 2l+1 harmonics, m = -l..l.
"""
import argparse, pathlib, struct, subprocess, sys, tempfile
import numpy as np
from scipy.special import sph_harm_y

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "ylm"


def points(n, seed):
    rng = np.random.default_rng(seed)
    lat = np.concatenate([[90, -90, 0, 0, 89.999, -45], np.degrees(np.arcsin(rng.uniform(-1, 1, n)))])[:n]
    lon = np.concatenate([[0, 0, 180, -90, 33, 179.999999], rng.uniform(-180, 180, n)])[:n]
    return lat, lon


def row(l, lat, lon):
    """m = -l..l at all points -> [points, 2l+1]. scipy's complex harmonics carry the Condon-Shortley sign."""
    m = np.arange(l + 1)
    y = sph_harm_y(l, m[None, :], np.radians(90 - lat)[:, None], np.radians(lon)[:, None]) * (-1.0) ** m
    cos = np.where(m == 0, y.real, np.sqrt(2) * y.real)
    sin = np.sqrt(2) * y.imag[:, 1:]
    return np.concatenate([sin[:, ::-1], cos], 1)


def write(degree, rows, n):
    lat, lon = points(n, degree)
    blocks = [row(l, lat, lon) for l in rows]
    with open(FOLDER / f"L{degree}.bin", "wb") as f:
        f.write(struct.pack(f"<{2 + len(rows)}I", n, len(rows), *rows))
        f.write(np.stack([lat, lon], 1).astype("<f8").tobytes())
        for i in range(n):
            for b in blocks:
                f.write(b[i].astype("<f8").tobytes())


def check(binary):
    for degree, n in ((15, 500), (47, 200), (127, 40), (255, 12)):
        lat, lon = points(n, 1000 + degree)
        with tempfile.TemporaryDirectory() as d:
            np.save(f"{d}/points.npy", np.stack([lat, lon], 1))
            for dtype in ("f64", "f32"):
                subprocess.run([binary, "encode", f"{d}/points.npy", "--degree", str(degree), "--dtype", dtype,
                                "--out", f"{d}/{dtype}.npy"], check=True, stdout=subprocess.DEVNULL)
            ours, single = np.load(f"{d}/f64.npy"), np.load(f"{d}/f32.npy")
        exact = np.concatenate([row(l, lat, lon) for l in range(degree + 1)], 1)
        relative = (np.abs(single - ours).max(1) / np.abs(ours).max(1)).max()
        print(f"L={degree} n={n}: max |ours - scipy| = {np.abs(ours - exact).max():.2e}, "
              f"f32 within {relative:.2e} of the row maximum")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", metavar="BINARY")
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check)
        sys.exit()
    FOLDER.mkdir(parents=True, exist_ok=True)
    write(15, list(range(16)), 24)
    write(47, list(range(48)), 12)
    write(127, [0, 1, 32, 64, 100, 126, 127], 12)
    write(255, [0, 1, 64, 128, 200, 254, 255], 10)

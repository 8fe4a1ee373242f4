#!/usr/bin/env python3
"""Makes fixtures/toyworld: a world of forty towns that embeddings tell more or less, a small model of it, and its answers.

    lab/scripts/toy_world.py [LOCDIFF]        (target/debug/locdiff unless given; a minute; needs no packages, but the program)

`cargo test -p locdiff-cli --test all regression` holds accuracy, calibration and the answers themselves to what is written here.
"""
import math
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "fixtures/toyworld"
LOCDIFF = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/debug/locdiff")
TOWNS, SIZE, SPREAD_DEGREES = 40, 12, 4.0
random.seed(20)
towns = []
while len(towns) < TOWNS:
    lat, lon = math.degrees(math.asin(random.uniform(-0.85, 0.95))), random.uniform(-180, 180)
    towns.append((lat, lon, [random.gauss(0, 1) for _ in range(SIZE)]))


def photos(count):
    """Some photos are clear, some are not; the unclear ones may be of any town."""
    for _ in range(count):
        lat, lon, look = random.choice(towns)
        blur = random.choice([0.3, 0.8, 1.6])
        row = [x + random.gauss(0, blur) for x in look]
        yield row, lat + random.gauss(0, SPREAD_DEGREES), lon + random.gauss(0, SPREAD_DEGREES)


def write(folder, name, count):
    rows = list(photos(count))
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (count, SIZE)
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    data = b"".join(struct.pack(f"<{SIZE}f", *row) for row, _, _ in rows)
    (folder / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
    wrap = lambda lon: (lon + 180) % 360 - 180
    lines = [f"{max(-90, min(90, lat)):.5f},{wrap(lon):.5f}" for _, lat, lon in rows]
    (folder / f"{name}.csv").write_text("lat,lon\n" + "\n".join(lines) + "\n")


def run(*words):
    print("locdiff", *words)
    subprocess.run([LOCDIFF, *map(str, words)], check=True)


OUT.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    write(folder, "train", 4000)
    write(folder, "validation", 400)
    write(OUT, "photos", 250)
    run("train", "--embeddings", folder / "train.npy", "--locations", folder / "train.csv", "--validation-embeddings",
        folder / "validation.npy", "--validation-locations", folder / "validation.csv", "--out", folder / "run", "--device", "cpu",
        "-L", 11, "--width", 8, "--hidden", 32, "--steps", 600, "--batch", 128, "--lr", "0.003", "--warmup-steps", 40,
        "--ema-decay", "0.99", "--dropout", "0.1", "--validate-every", 200)
    run("calibrate", "--model", folder / "run/best", "--embeddings", folder / "validation.npy", "--truth",
        folder / "validation.csv", "--device", "cpu", "--samples", 4, "--export", OUT / "model")
    run("locate", "--model", OUT / "model", "--embeddings", OUT / "photos.npy", "--device", "cpu", "--samples", 4, "--csv",
        folder / "answers.csv", "--json")
    # Names of places may grow better; the numbers are what must stay.
    import csv
    rows = list(csv.DictReader(open(folder / "answers.csv")))
    keep = ["photo", "lat", "lon", "radius_50_km", "radius_90_km", "probability", "locatability", "can_tell"]
    with open(OUT / "answers.csv", "w") as file:
        writer = csv.DictWriter(file, keep, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)

#!/usr/bin/env python3
"""What clues are worth if they are right: answers with the true country's main language, its driving side, both, or neither.

    lab/scripts/oracle_clues.py LOCDIFF EMBEDDINGS.safetensors TENSOR LOCATIONS.csv [FIRST_ROW]

An oracle gives the clues: language and side are those of the country of the true location, by crates/map/assets/clues.txt. Rows are
answered in groups of equal clues by `locdiff locate --embeddings`. Prints, for each arm, the share within 25, 200 and 750 km and of right
countries, with the difference from no clue and its interval over blocks of 15°. Rows whose location has no country are left out. Needs numpy, scipy, Pillow and safetensors.
"""
import collections, csv, json, math, pathlib, subprocess, sys, tempfile, zlib
import numpy as np
from blocks import blocks
from safetensors import safe_open

ASSETS = pathlib.Path(__file__).resolve().parents[2] / "crates/map/assets"
sys.path.insert(0, str(ASSETS.parents[2] / "scripts"))
import map_cells  # noqa: E402

RADII = (25, 200, 750)


def codes():
    """The codes of countries, in the order of their numbers."""
    data, at, found = zlib.decompress((ASSETS / "countries.bin").read_bytes(), -15), 0, []

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte, at = data[at], at + 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    def text():
        nonlocal at
        length = number()
        at += length
        return data[at - length : at].decode()

    for _ in range(number()):
        found.append(text())
        [text() for _ in range(3)]
        for _ in range(number()):
            for _ in range(number()):
                for _ in range(2 * number()):
                    number()
    return found


def countries(lat, lon):
    """The country codes of locations by cells.bin."""
    data = zlib.decompress((ASSETS / "cells.bin").read_bytes(), -15)
    pixels = 12 << 16
    cells = np.flatnonzero(np.unpackbits(np.frombuffer(data[: pixels // 8], np.uint8), bitorder="little"))
    numbers = np.frombuffer(data, np.uint8, len(cells), pixels // 8 + 3 * len(cells))
    here = map_cells.pixel_at(8, map_cells.unit_vectors(lat, lon))
    at = np.minimum(np.searchsorted(cells, here), len(cells) - 1)
    names = codes() + [""] * 256
    return [names[numbers[k]] if cells[k] == pixel else "" for k, pixel in zip(at, here)]


def clues():
    """By country: its main language and its side."""
    language, side = {}, {}
    for line in (ASSETS / "clues.txt").read_text().splitlines():
        kind, code, names, of = line.split("|")
        if kind == "country":
            side[code] = {"L": "left", "R": "right"}[names]
        elif kind == "language":
            for country, share in (one.split("=") for one in of.split()):
                language[country] = max(language.get(country, (0, "")), (int(share), code))
    return {code: (language[code][1], side[code]) for code in language if code in side}


def km(a, b):
    (la, lo), (lb, lp) = ([math.radians(x) for x in p] for p in (a, b))
    h = math.sin((lb - la) / 2) ** 2 + math.cos(la) * math.cos(lb) * math.sin((lp - lo) / 2) ** 2
    return 6371.0 * 2 * math.asin(min(1.0, math.sqrt(h)))


def answers(program, rows, given):
    """The answers for rows, each with its clues."""
    groups, found = collections.defaultdict(list), [None] * len(rows)
    for k, own in enumerate(given):
        groups[own].append(k)
    for own, members in groups.items():
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/rows.npy"
            np.save(file, rows[members].astype(np.float32))
            flags = [flag for clue in own for flag in ("--clue", clue)]
            ran = subprocess.run([program, "locate", "--embeddings", file, "--json", "-q", *flags], capture_output=True, text=True)
            if ran.returncode:
                sys.exit(ran.stderr)
        for k, line in zip(members, ran.stdout.splitlines()):
            found[k] = json.loads(line)
    return found


def main():
    program, file, tensor, locations, *first = sys.argv[1:]
    skipped = int(first[0]) if first else 0
    with safe_open(file, "np") as tensors:
        rows = tensors.get_tensor(tensor)[skipped:]
    truth = [(float(row["lat"]), float(row["lon"])) for row in csv.DictReader(open(locations))][skipped:]
    table, codes_of = clues(), countries(*np.array(truth).T)
    kept = [k for k, code in enumerate(codes_of) if code in table]
    rows, truth, true = rows[kept], [truth[k] for k in kept], [codes_of[k] for k in kept]
    spoken, driven = ([table[code][k] for code in true] for k in (0, 1))
    arms = {
        "no clue": [() for _ in true],
        "language": [(f"language={one}",) for one in spoken],
        "drives": [(f"drives={one}",) for one in driven],
        "both": [(f"language={a}", f"drives={b}") for a, b in zip(spoken, driven)],
        "wrong side": [("drives=" + {"left": "right", "right": "left"}[one],) for one in driven],
    }
    plain, chance = None, np.random.default_rng(0)
    print(f"{tensor} from row {skipped}: {len(true)} of {len(codes_of)} rows\n| clues | within 25 / 200 / 750 km | country | sure and wrong |\n|---|---|---|---|")
    for name, given in arms.items():
        said = answers(program, rows, given)
        off = np.array([km((one["best"]["lat"], one["best"]["lon"]), at) for one, at in zip(said, truth)])
        hits = np.stack([*(off < radius for radius in RADII), np.array([one["country_code"] == code for one, code in zip(said, true)])], 1)
        held = np.array([next((c["probability"] for c in one["countries"] if c["code"] == code), 0.0) for one, code in zip(said, true)])
        wrong = np.array([max((c["probability"] for c in one["countries"]), default=0) > 0.95 for one in said]) & ~hits[:, 3]
        plain = hits if plain is None else plain
        gain, block = 100 * (hits[:, 3].astype(float) - plain[:, 3]), np.array(blocks(truth))
        times = chance.multinomial(block.max() + 1, np.full(block.max() + 1, 1 / (block.max() + 1)), 1000)[:, block]
        low, high = np.percentile((times * gain).sum(1) / times.sum(1), [2.5, 97.5])
        shares = 100 * hits.mean(0)
        print(f"| {name} | {shares[0]:.1f} / {shares[1]:.1f} / {shares[2]:.1f} | {shares[3]:.1f} ({gain.mean():+.1f} [{low:.1f}, {high:.1f}]); probability of the true one {held.mean():.3f} | {wrong.mean() * 100:.1f} % |")


if __name__ == "__main__":
    main()

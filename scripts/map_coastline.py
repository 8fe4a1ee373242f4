#!/usr/bin/env python3
"""Packs Natural Earth's land and country borders into crates/map/assets/coast_{110m,50m,10m}.bin.

    scripts/fixtures coastline
    python3 scripts/map_coastline.py            # downloads world-atlas from the npm registry
    python3 scripts/map_coastline.py FILE.tgz   # or takes the tarball

Only the standard library is needed. Layout of a file, all numbers unsigned LEB128, signed ones zigzag:
    number of land rings, then each ring:    2 * points + hole, points as deltas
    number of border lines, then each line:  points, points as deltas
A point is (lon, lat) in units of 1/500 degree; the first of a ring or line is a delta from (0, 0). Longitudes are
unwrapped: neighbours are never more than 180 degrees apart, so a ring may leave -180..180. A ring around the south pole
is closed along -90. Rings are not closed explicitly.
"""

import hashlib
import io
import json
import sys
import tarfile
import urllib.request
from pathlib import Path

URL = "https://registry.npmjs.org/world-atlas/-/world-atlas-2.0.2.tgz"
SHA1 = "4bca4a578f3a413bd409c3f07f2054fe7375824f"
ASSETS = Path(__file__).resolve().parent.parent / "crates/map/assets"
UNITS_PER_DEGREE = 500


def decode_arcs(topology: dict) -> list[list[tuple[float, float]]]:
    (scale_x, scale_y), (shift_x, shift_y) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * scale_x + shift_x, y * scale_y + shift_y))
        arcs.append(points)
    return arcs


def stitch(arcs: list, indices: list[int]) -> list[tuple[float, float]]:
    ring: list[tuple[float, float]] = []
    for index in indices:
        points = arcs[index] if index >= 0 else arcs[~index][::-1]
        ring.extend(points if not ring else points[1:])
    return ring


def unwrap(points: list[tuple[float, float]]) -> list[tuple[int, int]]:
    """Rounds, and lets no step in longitude exceed half a turn."""
    half, turn = 180 * UNITS_PER_DEGREE, 360 * UNITS_PER_DEGREE
    result: list[tuple[int, int]] = []
    for lon, lat in points:
        x, y = round(lon * UNITS_PER_DEGREE), round(lat * UNITS_PER_DEGREE)
        if result:
            x += round((result[-1][0] - x) / turn) * turn
            assert abs(x - result[-1][0]) <= half
        if not result or (x, y) != result[-1]:
            result.append((x, y))
    return result


def close(ring: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Drops the repeated first point; a ring that goes once around is closed along the south pole."""
    (first_x, first_y), (last_x, last_y) = ring[0], ring[-1]
    assert first_y == last_y
    if first_x == last_x:
        return ring[:-1]
    assert abs(first_x - last_x) == 360 * UNITS_PER_DEGREE and first_y < 0
    south = -90 * UNITS_PER_DEGREE
    return ring + [(last_x, south), (first_x, south)]


def land_rings(topology: dict) -> list[tuple[bool, list[tuple[int, int]]]]:
    arcs = decode_arcs(topology)
    rings = []
    for geometry in topology["objects"]["land"]["geometries"]:
        polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for polygon in polygons:
            for place, indices in enumerate(polygon):
                ring = close(unwrap(stitch(arcs, indices)))
                if len(ring) >= 3:
                    rings.append((place > 0, ring))
    return rings


def border_lines(topology: dict) -> list[list[tuple[int, int]]]:
    """Arcs that two countries share."""
    users: dict[int, int] = {}
    for geometry in topology["objects"]["countries"]["geometries"]:
        polygons = geometry.get("arcs", [])
        if geometry["type"] == "Polygon":
            polygons = [polygons]
        for index in {i if i >= 0 else ~i for polygon in polygons for ring in polygon for i in ring}:
            users[index] = users.get(index, 0) + 1
    arcs = decode_arcs(topology)
    lines = [unwrap(arcs[index]) for index in sorted(users) if users[index] > 1]
    return [line for line in lines if len(line) >= 2]


def pack(land: dict, countries: dict) -> bytes:
    out = bytearray()

    def number(value: int) -> None:
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)

    def points(line: list[tuple[int, int]]) -> None:
        x = y = 0
        for new_x, new_y in line:
            for delta in (new_x - x, new_y - y):
                number(delta << 1 if delta >= 0 else (-delta << 1) - 1)
            x, y = new_x, new_y

    rings = land_rings(land)
    number(len(rings))
    for hole, ring in rings:
        number(2 * len(ring) + hole)
        points(ring)
    lines = border_lines(countries)
    number(len(lines))
    for line in lines:
        number(len(line))
        points(line)
    return bytes(out)


def main() -> None:
    if len(sys.argv) > 1:
        tarball = Path(sys.argv[1]).read_bytes()
    else:
        with urllib.request.urlopen(URL) as response:
            tarball = response.read()
    if hashlib.sha1(tarball).hexdigest() != SHA1:
        sys.exit(f"the tarball is not world-atlas 2.0.2: its SHA-1 is not {SHA1}")
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        for scale in ("110m", "50m", "10m"):
            load = lambda name: json.load(archive.extractfile(f"package/{name}-{scale}.json"))
            data = pack(load("land"), load("countries"))
            (ASSETS / f"coast_{scale}.bin").write_bytes(data)
            print(f"coast_{scale}.bin: {len(data)} bytes")


if __name__ == "__main__":
    main()

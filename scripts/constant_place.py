"""The share of photos within each radius of one constant place: for each radius the place of a training photo that has most training photos
within it. What a geolocator that never looks at the photo gets. For Im2GPS3k also the best place of its first 1,000 rows, which the model was calibrated with.

    python3 scripts/constant_place.py ../shared/data/streetview      (numpy; test.csv, validation.csv's source b, im2gps3k.csv rows 1000-)
"""

import csv
import sys
from pathlib import Path

import numpy as np

EARTH_KM = 6371.0088


def vectors(path, keep=lambda index, row: True):
    rows = [row for index, row in enumerate(csv.DictReader(path.open())) if keep(index, row)]
    lat, lon = np.radians([[float(row["lat"]), float(row["lon"])] for row in rows]).T
    return np.c_[np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]


def within(a, b, km):
    return a @ b.T >= np.cos(km / EARTH_KM)


folder = Path(sys.argv[1])
train = vectors(folder / "train.csv")
tests = {
    "test": vectors(folder / "test.csv"),
    "validation b": vectors(folder / "validation.csv", lambda _, row: row["source"] == "b"),
    "Im2GPS3k rows 1000-": vectors(folder / "im2gps3k.csv", lambda index, _: index >= 1000),
}
calibration = vectors(folder / "im2gps3k.csv", lambda index, _: index < 1000)


def degrees(place):
    return np.degrees([np.arcsin(place[2]), np.arctan2(place[1], place[0])])


# One place for all radii, then one for each.
score = sum(within(calibration, calibration, km).mean(1) for km in (25, 200, 750, 2500))
place = calibration[score.argmax()]
shares = " / ".join(f"{100 * within(tests['Im2GPS3k rows 1000-'], place[None], km).mean():.1f}" for km in (200, 750, 2500))
print("best of the calibration rows: {:.2f}, {:.2f}:".format(*degrees(place)), f"Im2GPS3k rows 1000- {shares} % within 200 / 750 / 2500 km")
for km in (200, 750, 2500):
    place = calibration[within(calibration, calibration, km).sum(1).argmax()]
    share = 100 * within(tests["Im2GPS3k rows 1000-"], place[None], km).mean()
    print(f"{km} km around {degrees(place).round(2)} of the calibration rows: Im2GPS3k rows 1000- {share:.1f} %")
for km in (200, 750, 2500):
    counts = np.concatenate([within(train[k : k + 1000], train, km).sum(1) for k in range(0, len(train), 1000)])
    place = train[counts.argmax()]
    lat, lon = np.degrees([np.arcsin(place[2]), np.arctan2(place[1], place[0])])
    shares = ", ".join(f"{name} {100 * within(rows, place[None], km).mean():.1f} % of {len(rows)}" for name, rows in tests.items())
    print(f"{km} km around {lat:.2f}, {lon:.2f}: {shares}")

"""Means over photos and seeds with intervals over both: blocks of 5° and seeds are drawn again (1000 times, seed 0). Standard library only."""
import csv
import math
import random

EARTH_KM = 6371.0
SIDE_DEG = 5
DRAWS = 1000


def places(path):
    """Latitude and longitude, row by row."""
    rows = list(csv.DictReader(open(path)))
    return [(float(row["lat"]), float(row["lon"])) for row in rows]


def distance_km(a, b):
    (lat0, lon0), (lat1, lon1) = a, b
    p, q = math.radians(lat0), math.radians(lat1)
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin(math.radians(lon1 - lon0) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(h)))


def blocks(truths):
    """The number of each truth's block."""
    numbers = {}
    return [numbers.setdefault((math.floor(lat / SIDE_DEG), math.floor(lon / SIDE_DEG)), len(numbers)) for lat, lon in truths]


class Resampling:
    """Draws of blocks and seeds, the same for every value."""

    def __init__(self, truths, seeds):
        self.of = blocks(truths)
        self.count = max(self.of) + 1
        rng = random.Random(0)
        self.drawn = []
        for _ in range(DRAWS):
            times = [0] * self.count
            for _ in range(self.count):
                times[rng.randrange(self.count)] += 1
            self.drawn.append((times, [rng.randrange(seeds) for _ in range(seeds)]))

    def mean(self, by_seed):
        """by_seed: for each seed a value a photo. The mean, its 95 % interval, and the standard deviation of the seeds' means."""
        photos = len(self.of)
        sizes = [0] * self.count
        for block in self.of:
            sizes[block] += 1
        sums = []
        for values in by_seed:
            own = [0.0] * self.count
            for block, value in zip(self.of, values):
                own[block] += value
            sums.append(own)
        found = []
        for times, seeds in self.drawn:
            all_photos = sum(t * n for t, n in zip(times, sizes))
            means = [sum(t * s for t, s in zip(times, own)) / all_photos for own in sums]
            found.append(sum(means[seed % len(means)] for seed in seeds) / len(seeds))
        found.sort()
        means = [sum(values) / photos for values in by_seed]
        mean = sum(means) / len(means)
        spread = math.sqrt(sum((m - mean) ** 2 for m in means) / (len(means) - 1)) if len(means) > 1 else 0.0
        return mean, found[int(0.025 * DRAWS)], found[int(0.975 * DRAWS) - 1], spread


def constant_place(out):
    """The place that `locdiff-lab compare` always answers as "constant", from its answers beside the folder: where the training places are
    densest, through the window that validation chose."""
    return places(f"{out}/../compare-0/constant-0.csv")[0]


def shares(answers, truths, km):
    return [1.0 if distance_km(a, b) < km else 0.0 for a, b in zip(answers, truths)]


def cell(mean, low, high, spread=None):
    text = f"{100 * mean:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
    return text if spread is None else f"{text} ± {100 * spread:.1f}"

"""Means over photos and seeds with intervals over both: blocks of 15° and seeds are drawn again (1000 times, seed 0). Standard library only."""
import csv
import math
import random

EARTH_KM = 6371.0
SIDE_DEG = 15
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
        self.times = []
        for _ in range(DRAWS):
            times = [0] * self.count
            for _ in range(self.count):
                times[rng.randrange(self.count)] += 1
            self.times.append(([(block, count) for block, count in enumerate(times) if count], [rng.randrange(seeds) for _ in range(seeds)]))

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
        for times, seeds in self.times:
            all_photos = sum(count * sizes[block] for block, count in times)
            drawn = {seed: sum(count * sums[seed][block] for block, count in times) / all_photos for seed in {seed % len(sums) for seed in seeds}}
            found.append(sum(drawn[seed % len(sums)] for seed in seeds) / len(seeds))
        found.sort()
        means = [sum(values) / photos for values in by_seed]
        mean = sum(means) / len(means)
        spread = math.sqrt(sum((m - mean) ** 2 for m in means) / (len(means) - 1)) if len(means) > 1 else 0.0
        return mean, found[int(0.025 * DRAWS)], found[int(0.975 * DRAWS) - 1], spread


def constant_place(out):
    """The place that `locdiff-lab compare` always answers as "constant", from its answers beside the folder: the best validation place."""
    return places(f"{out}/../compare-0/constant-0.csv")[0]


def morans_i(values, truths, classes=(0, 500, 1000, 2500)):
    """Moran's I of a value a photo, for photos between each two distances of `classes` apart: how far errors are correlated in space."""
    points = [(math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)) for a, b in (map(math.radians, place) for place in truths)]
    mean = sum(values) / len(values)
    rest = [value - mean for value in values]
    variance = sum(value * value for value in rest) / len(rest)
    least = [math.cos(km / EARTH_KM) for km in classes]
    sums, pairs = [0.0] * (len(classes) - 1), [0] * (len(classes) - 1)
    for i, (x, y, z) in enumerate(points):
        for j in range(i):
            u, v, w = points[j]
            cosine = x * u + y * v + z * w
            for k in range(len(sums)):
                if least[k + 1] < cosine <= least[k]:
                    sums[k] += rest[i] * rest[j]
                    pairs[k] += 1
    return [total / max(1, count) / max(variance, 1e-12) for total, count in zip(sums, pairs)]


def density_and_coverage(truths, answers, neighbours=3):
    """Density and coverage of answers among truths (Naeem et al. 2020): balls reach to the third nearest truth, whose rim is outside."""
    def points(of):
        return [(math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)) for a, b in (map(math.radians, place) for place in of)]

    def cosines(a, others):
        x, y, z = a
        return [x * u + y * v + z * w for u, v, w in others]

    real, fake = points(truths), points(answers)
    balls = [sorted(cosines(point, real), reverse=True)[neighbours] for point in real]
    held = [[cosine > ball for cosine in cosines(point, fake)] for point, ball in zip(real, balls)]
    return sum(map(sum, held)) / neighbours / len(answers), sum(map(any, held)) / len(truths)


def level(low, high):
    """What is said of a lead inside its interval."""
    return " level" if low <= 0.0 <= high else ""


def shares(answers, truths, km):
    return [1.0 if distance_km(a, b) < km else 0.0 for a, b in zip(answers, truths)]


def cell(mean, low, high, spread=None):
    text = f"{100 * mean:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
    return text if spread is None else f"{text} ± {100 * spread:.1f}"

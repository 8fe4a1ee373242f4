#!/usr/bin/env python3
"""What left-out tags say of an album's radii (usual_tags of crates/album/src/settings.rs, PART and LOG_HOURS of left_out.rs): pinball losses of one half.

    for part in fit validation; do cargo run --release -p locdiff-album --example traces -- ../shared/data/trips/$part.csv left-out > $part.csv; done
    lab/scripts/fit_left_out.py fit.csv validation.csv

For each file the loss without, then for some numbers of usual tags, parts of what they are off by, and widths in the logarithm of the hours; and the correlation, over the trips of
albums, of the mean share of left-out tags with that of points without a tag. Trips count twice, everyday life once; rates alike; the points of a
person by the root of their number. Last, of all files together, what share of the points of albums with a single tag (10 %) lies within radii that are
read at other shares than one half (one_tag): trips, everyday life, and both with trips twice. Needs numpy.
"""
import collections, csv, sys
import numpy as np


def read(path):
    tags, points = collections.defaultdict(list), collections.defaultdict(list)
    for row in csv.DictReader(open(path)):
        if row["kind"] in "tw":
            key = tuple(row[name] for name in ("kind", "rate", "seed", "album", "trip"))
            (points if row["e"] else tags)[key].append((float(row["hours"]), float(row["share"])))
    return {key: np.array(list_) for key, list_ in tags.items()}, {key: np.array(list_) for key, list_ in points.items()}


def weights(points):
    person = lambda key: (key[0], key[1], key[3].rsplit("-", 1)[0])
    counts, totals = collections.Counter(), collections.Counter()
    for key, list_ in points.items():
        counts[person(key)] += len(list_)
    for key, count in counts.items():
        totals[key[:2]] += count**0.5
    one = lambda key: (2 if key[0] == "t" else 1) / counts[person(key)] ** 0.5 / totals[key[:2]]
    return {key: one(key) for key in points}


def shift(tags, hours, usual, width, part):
    if tags is None:
        return np.zeros(len(hours))
    log = lambda hours: np.log(hours + 0.1)
    weight = np.exp(-0.5 * ((log(tags[:, 0])[None] - log(hours)[:, None]) / width) ** 2)
    return part * weight @ (tags[:, 1] - 0.5) / (weight.sum(1) + usual)


single = {"t": [], "w": []}
for path in sys.argv[1:]:
    tags, points = read(path)
    with_more = {key[:4] for key in tags}
    for key, list_ in points.items():
        if key[1] == "0.1" and key[:4] not in with_more:
            single[key[0]].extend(list_[:, 1])
    weight = weights(points)
    for rate in ("0.1", "0.3"):
        both = [(tags[key][:, 1].mean(), list_[:, 1].mean(), len(list_)) for key, list_ in points.items() if key in tags and key[1] == rate]
        left, open_, count = np.array(both).T
        print(f"{path} {rate}: correlation over {len(both)} trips {np.cov(left, open_, aweights=count)[0, 1] / np.sqrt(np.cov(left, aweights=count) * np.cov(open_, aweights=count)):.3f}")

    def loss(usual, width, part):
        sums = sum(weight[key] * 0.5 * np.abs(list_[:, 1] - 0.5 - shift(tags.get(key), list_[:, 0], usual, width, part)).sum() for key, list_ in points.items())
        return sums / sum(weight[key] * len(list_) for key, list_ in points.items())

    print(f"{path} loss without: {loss(1e12, 2, 1):.5f}")
    for usual, part in ((2, 0.25), (2, 0.5), (4, 0.25), (4, 0.5), (4, 0.75), (8, 0.5), (8, 1), (12, 1), (24, 1)):
        print(f"  usual tags {usual}, part {part}:", "  ".join(f"width {width} {loss(usual, width, part):.5f}" for width in (1, 2, 3)))

for share in np.arange(0.5, 0.61, 0.02):
    trips, everyday = (100 * (np.array(single[kind]) <= share).mean() for kind in "tw")
    print(f"one tag, read at {share:.2f}: trips {trips:.1f} of {len(single['t'])}, everyday {everyday:.1f} of {len(single['w'])}, both {(2 * trips + everyday) / 3:.1f}")

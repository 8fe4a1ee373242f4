#!/usr/bin/env python3
"""The travel prior of albums (crates/album/src/travel.json), fitted to real traces by maximum likelihood.

    lab/scripts/fit_travel.py [--shared ../shared] [--out crates/album/src/travel.json]

Reads data/trips/fit.csv of the shared data (research licence; nothing of it is committed but these numbers), tags 5 to 50 % of each album's
points at random and a third in one block, and fits the weights of the mixture that crates/album/src/prior.rs describes, by L-BFGS with exact
gradients. Trips count twice, everyday life once, life within 30 km half. Prints the mean -log density on validation.csv. Needs numpy and scipy.
"""
import argparse, csv, datetime, json, pathlib
import numpy as np
from scipy.optimize import minimize

EARTH = 6371.0
NEAR_KM = np.array([0.02, 0.08, 0.3, 1.2, 4.5, 15.0])
FAR_KM = np.array([14.0, 50.0, 180.0, 650.0, 2500.0])
BETWEEN = np.array([0.05, 0.15, 0.45])
NARROWEST_KM, SHORTEST_KM = 0.02, 0.05
EACH_SIDE, SURROUNDING_KM = 6, 20.0
MOST, NEAR, FAR, WAYS = 2 * EACH_SIDE, len(NEAR_KM), len(FAR_KM), len(BETWEEN)
NEAR_FEATURES, SURROUNDING_FEATURES, OUTSIDE_FEATURES = 11, 12, 8
SHAPES = {
    "near": (NEAR, NEAR_FEATURES), "surrounding": (SURROUNDING_FEATURES,), "outside": (OUTSIDE_FEATURES,), "far": (FAR, OUTSIDE_FEATURES),
    "far_nearest": (1,), "on_the_way": (WAYS, OUTSIDE_FEATURES), "anywhere": (1,),
}


def load(shared, name):
    albums = {}
    for row in csv.DictReader(open(shared / f"data/trips/{name}.csv")):
        time = datetime.datetime.fromisoformat(row["time"]).replace(tzinfo=datetime.timezone.utc).timestamp()
        albums.setdefault(row["album"], []).append((time / 3600, float(row["lat"]), float(row["lon"])))
    return {name: np.array(sorted(points)) for name, points in albums.items()}


def km(a, b):
    (lat_a, lon_a), (lat_b, lon_b) = np.radians(np.moveaxis(a, -1, 0)), np.radians(np.moveaxis(b, -1, 0))
    half = np.sin((lat_a - lat_b) / 2) ** 2 + np.cos(lat_a) * np.cos(lat_b) * np.sin((lon_a - lon_b) / 2) ** 2
    return 2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0, 1)))


def between(a, b, part):
    def unit(place):
        lat, lon = np.radians(place)
        return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])

    x, y, z = (1 - part) * unit(a) + part * unit(b)
    return np.degrees([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)])


def reach_km(hours):
    """How far one gets, km along each axis: at most about a known place, and at most away from all of them."""
    return 0.2 + 50 * hours, 3 + 120 * np.maximum(hours, hours**1.5)


def log_hours(hours):
    return np.log(hours + 0.03) / 3


def target(times, places, now, extent):
    """The known places around a moment, and their features, as in prior.rs."""
    at = np.searchsorted(times, now)
    index = np.arange(max(0, at - EACH_SIDE), min(len(times), at + EACH_SIDE))
    anchors, hours, before = places[index], np.abs(times[index] - now), times[index] < now
    count, is_between, last, following = len(index), 0 < at < len(times), at - 1, at
    shortest = hours.min()
    distance = km(places[last], places[following]) if is_between else 0.0
    longer = max(abs(times[last] - now), abs(times[following] - now)) if is_between else shortest
    apart = km(anchors[:, None], anchors[None])
    group = np.arange(count)
    for a in range(count):
        for b in range(a):
            if apart[a, b] < SURROUNDING_KM and group[a] != group[b]:
                group[group == group[a]] = group[b]
    names, group = np.unique(group, return_inverse=True)
    near = np.zeros((count, NEAR_FEATURES))
    nearest = np.where(np.eye(count, dtype=bool), 1e9, apart).min(1)
    near[:, 0], near[:, 1], near[:, 2] = 1, log_hours(hours), log_hours(hours) ** 2
    near[:, 3] = np.log((apart < 1).sum(1)) / 1.5
    near[:, 4] = np.log(np.minimum(nearest, 20) + 0.03) / 3 if count > 1 else 1
    near[:, 5] = np.cos(2 * np.pi * hours / 24) / (1 + np.exp(-(hours - 9) / 2))
    near[:, 6] = np.log(min(distance, 20) + 0.05) / 3 if is_between else 0
    near[:, 7], near[:, 8] = is_between, log_hours(longer) if is_between else 0
    near[:, 9], near[:, 10] = np.log(extent + 0.5) / 3, hours <= shortest
    shortest_of = np.array([hours[group == one].min() for one in range(len(names))])
    first = np.argmin(shortest_of)
    surroundings = np.zeros((len(names), SURROUNDING_FEATURES))
    for one in range(len(names)):
        own, log = group == one, log_hours(shortest_of[one])
        others = shortest_of[np.arange(len(names)) != one]
        early, late = hours[own & before], hours[own & ~before]
        both = len(early) > 0 and len(late) > 0
        ends_here = is_between and own[index == last].all() and own[index == following].all()
        surroundings[one] = [
            1, log, log**2, one == first, log_hours(others.min()) - log if len(others) else 0, len(others) > 0, both,
            log_hours(max(early.min(), late.min())) if both else 0, np.log(own.sum()) / 1.5,
            own.mean(), np.log(extent + 0.5) / 3, ends_here,
        ]
    outside = [
        1, log_hours(shortest), log_hours(shortest) ** 2, is_between, np.log(distance + 0.05) / 3 if is_between else 0,
        log_hours(longer) if is_between else 0, np.log(extent + 0.5) / 3, np.log(len(names)) / 1.5,
    ]
    middle = anchors[0]
    if is_between and distance > SHORTEST_KM:
        middle = between(places[last], places[following], (now - times[last]) / max(times[following] - times[last], 1e-6))
    ends = [k for k in range(count) if index[k] in ((last, following) if is_between else ((last,) if at > 0 else (following,)))]
    return anchors, group, near, surroundings, outside, middle, distance, hours, ends


def targets(albums, rates, seed, most=None, in_blocks=False):
    rng, made = np.random.default_rng(seed), []
    for name, points in albums.items():
        for rate in rates:
            count = len(points)
            tagged = rng.random(count) < rate
            if in_blocks:
                size = max(2, int(count * rate))
                begin = rng.integers(0, count - size + 1)
                tagged = (np.arange(count) >= begin) & (np.arange(count) < begin + size)
            if not tagged.any():
                tagged[rng.integers(count)] = True
            times, places = points[tagged, 0], points[tagged, 1:]
            pairs = km(places[:, None], places[None])[np.triu_indices(len(places), 1)]
            extent = np.median(pairs) if len(pairs) else 5.0
            made += [(name, points[k, 1:], *target(times, places, points[k, 0], extent)) for k in np.flatnonzero(~tagged)]
    return [made[k] for k in rng.choice(len(made), most, replace=False)] if most and len(made) > most else made


def gauss(distance, width):
    return -np.log(2 * np.pi * width**2) - 0.5 * (distance / width) ** 2


def pack(made):
    count = len(made)
    data = {
        "near": np.zeros((count, MOST, NEAR_FEATURES)), "is_near": np.zeros((count, MOST), bool), "group": np.zeros((count, MOST), int),
        "surrounding": np.zeros((count, MOST, SURROUNDING_FEATURES)), "is_surrounding": np.zeros((count, MOST), bool),
        "outside": np.zeros((count, OUTSIDE_FEATURES)), "is_end": np.zeros((count, 2), bool), "is_nearest": np.zeros((count, 2)),
    }
    away, away_end, away_middle, distance = np.full((count, MOST), 1e5), np.full((count, 2), 1e5), np.zeros(count), np.zeros(count)
    about, beyond = np.full((count, MOST, 1), 1e5), np.full((count, 2, 1), 1e5)
    for i, (_, truth, anchors, group, near, surroundings, outside, middle, apart, hours, ends) in enumerate(made):
        n = len(anchors)
        data["near"][i, :n], data["is_near"][i, :n], data["group"][i, :n] = near, True, group
        data["surrounding"][i, : len(surroundings)], data["is_surrounding"][i, : len(surroundings)] = surroundings, True
        data["outside"][i], away[i, :n] = outside, km(anchors, truth[None])
        away_middle[i], distance[i], about[i, :n, 0] = km(middle, truth), apart, reach_km(hours)[0]
        for place, k in enumerate(ends):
            away_end[i, place], data["is_end"][i, place], data["is_nearest"][i, place] = away[i, k], True, k == np.argmin(hours)
            beyond[i, place] = reach_km(hours[k])[1]
    data["has_way"] = distance > SHORTEST_KM
    logs = [
        gauss(away[..., None], np.minimum(NEAR_KM, about)).reshape(count, -1), gauss(away_middle[:, None], np.maximum(BETWEEN * distance[:, None], NARROWEST_KM)),
        gauss(away_end[..., None], np.minimum(FAR_KM, beyond)).reshape(count, -1), np.full((count, 1), -np.log(4 * np.pi * EARTH**2)),
    ]
    return data | {"logs": np.concatenate(logs, 1), "count": count}


def unpack(flat):
    parts, begin = {}, 0
    for name, shape in SHAPES.items():
        size = int(np.prod(shape))
        parts[name], begin = flat[begin : begin + size].reshape(shape), begin + size
    return parts


def softmax(logs):
    weights = np.exp(logs - logs.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def weights(flat, data):
    parts, count = unpack(flat), data["count"]
    row = np.arange(count)[:, None]
    logs = np.where(data["is_near"][..., None], np.einsum("nmf,kf->nmk", data["near"], parts["near"]), -np.inf)
    sizes = np.exp(logs - logs.max((1, 2), keepdims=True))
    sums = np.zeros((count, MOST))
    np.add.at(sums, (row, data["group"]), sizes.sum(2))
    inner = sizes / np.maximum(sums[row, data["group"]], 1e-300)[..., None]
    groups = np.where(data["is_surrounding"], data["surrounding"] @ parts["surrounding"], -np.inf)
    way = np.where(data["has_way"][:, None], data["outside"] @ parts["on_the_way"].T, -np.inf)
    which = softmax(np.concatenate([groups, way, (data["outside"] @ parts["outside"])[:, None]], 1))
    far = (data["outside"] @ parts["far"].T)[:, None, :] + (parts["far_nearest"][0] * data["is_nearest"])[..., None]
    far = np.where(data["is_end"][..., None], far, -np.inf).reshape(count, -1)
    return inner, which, softmax(np.concatenate([far, np.full((count, 1), parts["anywhere"][0])], 1))


def objective(flat, data, ridge, importance):
    """Minus the log likelihood with a ridge, and its gradient."""
    count = data["count"]
    row = np.arange(count)[:, None]
    inner, which, outer = weights(flat, data)
    at_tags = (inner * which[row, data["group"]][..., None]).reshape(count, -1)
    all_weights = np.concatenate([at_tags, which[:, MOST:-1], outer * which[:, -1:]], 1)
    with np.errstate(divide="ignore"):
        logs = np.log(all_weights) + data["logs"]
    top = logs.max(1, keepdims=True)
    share = np.exp(logs - top)
    total = share.sum(1, keepdims=True)
    share = share / total * importance[:, None]
    likelihood = ((top + np.log(total))[:, 0] * importance).sum()
    near, way, out = np.split(share, [MOST * NEAR, MOST * NEAR + WAYS], 1)
    near = near.reshape(count, MOST, NEAR)
    of_group = np.zeros((count, MOST))
    np.add.at(of_group, (row, data["group"]), near.sum(2))
    by_near = near - of_group[row, data["group"]][..., None] * inner
    by_which = np.concatenate([of_group, way, out.sum(1)[:, None]], 1) - which * importance[:, None]
    by_out = out - out.sum(1)[:, None] * outer
    by_far = by_out[:, :-1].reshape(count, 2, FAR)
    gradient = {
        "near": np.einsum("nmk,nmf->kf", by_near, data["near"]), "surrounding": np.einsum("nm,nmf->f", by_which[:, :MOST], data["surrounding"]),
        "outside": by_which[:, -1] @ data["outside"], "far": np.einsum("nqk,nf->kf", by_far, data["outside"]),
        "far_nearest": np.array([(by_far.sum(2) * data["is_nearest"]).sum()]), "on_the_way": by_which[:, MOST:-1].T @ data["outside"],
        "anywhere": np.array([by_out[:, -1].sum()]),
    }
    flat_gradient = np.concatenate([gradient[name].ravel() for name in SHAPES])
    return ridge * (flat**2).sum() - likelihood, 2 * ridge * flat - flat_gradient


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, default=root.parent / "shared")
    parser.add_argument("--out", type=pathlib.Path, default=root / "crates/album/src/travel.json")
    args = parser.parse_args()
    fit, validation = load(args.shared, "fit"), load(args.shared, "validation")
    made = targets(fit, [0.05, 0.1, 0.2, 0.3, 0.5], 2, most=24000) + targets(fit, [0.3], 3, most=4000, in_blocks=True)
    kinds = {"t": 2.0, "w": 1.0, "h": 0.5}
    importance = np.array([kinds[one[0].split("-")[-1][0]] for one in made])
    data, flat = pack(made), np.zeros(sum(int(np.prod(shape)) for shape in SHAPES.values()))
    for ridge in (10.0, 2.0):
        flat = minimize(lambda x: objective(x, data, ridge, importance), flat, jac=True, method="L-BFGS-B", options={"maxiter": 250}).x
    for kind in kinds:
        for rate in (0.1, 0.3):
            own = {name: points for name, points in validation.items() if name.split("-")[-1].startswith(kind)}
            held = pack(targets(own, [rate], 70))
            print(kind, rate, f"{objective(flat, held, 0.0, np.ones(held['count']))[0] / held['count']:.3f} nats per km2")
    numbers = {"near_km": NEAR_KM, "far_km": FAR_KM, "between": BETWEEN} | {name: np.round(part, 3) for name, part in unpack(flat).items()}
    lines = [f'  "{name}": {json.dumps(value.tolist() if value.size > 1 else float(value.ravel()[0]))}' for name, value in numbers.items()]
    args.out.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

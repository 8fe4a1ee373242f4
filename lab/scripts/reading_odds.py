#!/usr/bin/env python3
"""Fits the odds that a name on a sign means a place there (`log_odds` in crates/map/src/evidence/names.rs), and tests them by folds.

    lab/scripts/reading_odds.py NAMES.json

NAMES.json is a list of names: {"fold": 0 to 4, by photographer, "places": [[is_right, offset, {feature: value}], ...]}. Features have the numbers
of WEIGHTS. A place is right if it is within 75 km of the photo, an area within twice its deviation, a country if it is the photo's. The offset
is what the photo's other evidence says about the country, in nats. reading_odds.json has the 202 names of Im2GPS3k rows 0-999. No seed plays.
Needs numpy and scipy.
"""
import json, sys
import numpy as np
from scipy.optimize import minimize

# Kinds (town, state, country, landmark, shop), how common the name is as a word (0 to 5), then: the same for a town as a number, the whole
# line, a long whole line, words of the line, length, short, people, people squared, not the town's own name, mended, several words, doubt of
# the reader, dense script (whole, part), beside words of towns, beside streets and dishes, small letter, twice.
WEIGHTS = [-1.2, -0.3, 1, 0.4, 1.2, 0, -0.2, -1.2, -2.5, -3.3, -6.1, 0.3, 0.8, 1.4, 0.3, 0.1, -1.5, 1.3, 0.2, -1.2, -1.1, 0.7, -2, 0.6, -1.1, 0.5, -2, -0.7, 0.8]
# Weights that no photo was looked at for.
PLAIN = [-2, -1.5, 0, -1, 0, 0, -0.5, -1, -2, -3, -4, 0, 0.5, 0, 0, 0, 0, 1, 0, 0, 0, 0, -2, 0, 0, 0, 0, 0, 0]


def loss(weights, names, prior, ridge):
    """The negative log likelihood of which place each name means, or none, and its gradient."""
    sum_, slope = ridge * np.sum((weights - prior) ** 2) / 2, ridge * (weights - prior)
    for right, offset, features in names:
        logits = np.append(features @ weights + offset, 0)  # the last: no place
        share = np.exp(logits - logits.max())
        meant = share * np.append(right, not right.any())
        sum_ -= np.log(meant.sum() / share.sum())
        slope = slope + features.T @ (share / share.sum() - meant / meant.sum())[:-1]
    return sum_, slope


def fit(names, prior, ridge):
    return minimize(loss, prior, args=(names, prior, ridge), jac=True, method="L-BFGS-B").x


def main():
    folds = [[] for _ in range(5)]
    for name in json.load(open(sys.argv[1])):
        right, offset, features = zip(*name["places"])
        rows = [[own.get(str(k), 0) for k in range(len(WEIGHTS))] for own in features]
        folds[name["fold"]].append((np.array(right), np.array(offset), np.array(rows)))
    every = [name for fold in folds for name in fold]
    print(f"{len(every)} names, {sum(name[0].any() for name in every)} right; shipped weights: {loss(np.array(WEIGHTS), every, 0, 0)[0]:.1f} nats")
    for label, prior, ridge in (("plain", PLAIN, 3), ("shipped", WEIGHTS, 10)):
        prior, held_out = np.array(prior, float), 0
        for k, fold in enumerate(folds):
            others = [name for other in folds if other is not fold for name in other]
            held_out += loss(fit(others, prior, ridge), fold, 0, 0)[0]
        print(f"shrunk to the {label} weights: held out {held_out:.1f} nats; of all names: {np.round(fit(every, prior, ridge), 1).tolist()}")


if __name__ == "__main__":
    main()

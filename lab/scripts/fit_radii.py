#!/usr/bin/env python3
"""The levels that radii of albums are read at (HALF of crates/album/src/levels.rs), fitted to how many truths they hold.

    for part in fit validation; do cargo run --release -p locdiff-album --example traces -- ../shared/data/trips/$part.csv left-out > $part.csv; done
    lab/scripts/fit_radii.py fit.csv validation.csv

Reads what the example writes with the present levels, and prints what to add at one half by hours: the quantile regression of the mass within the
error (pinball loss, a ridge); every rate and file counts alike, trips twice. AIM above one half: too small is worse than too large. Needs numpy, scipy.
"""
import csv, pathlib, re, sys
import numpy as np
from scipy.optimize import minimize

RIDGE, SMOOTH, AIM = 0.5, 0.01, 0.018
SOURCE = (pathlib.Path(__file__).resolve().parents[2] / "crates/album/src/levels.rs").read_text()
table = lambda name: np.array([float(x) for x in re.search(rf"const {name}: .*? = \[(.*?)\]", SOURCE)[1].split(",")])
HOURS = np.log(table("HOURS"))


def read(path):
    rows = [row for row in csv.DictReader(open(path)) if row["kind"] in "tw" and row["e"]]
    hours, share = (np.array([float(row[name]) for row in rows]) for name in ("hours", "share"))
    hours = np.log(hours + 1e-3)
    half, nine = np.interp(hours, HOURS, table("HALF")), np.interp(hours, HOURS, table("NINE"))
    beyond = np.where(share < 0.9, half + (nine - half) * (share - 0.5) / 0.4, nine * (1 - share) / 0.1)
    mass = share + np.where(share < 0.5, half * share / 0.5, beyond)
    kinds = [row["kind"] + row["rate"] for row in rows]
    weight = np.array([(2 if kind[0] == "t" else 1) / kinds.count(kind) for kind in sorted(set(kinds))])
    basis = [np.ones(len(rows))] + [np.interp(hours, HOURS, one) for one in np.eye(8)]
    return np.stack(basis, 1), mass, weight[np.unique(kinds, return_inverse=True)[1]]


basis, mass, weight = (np.concatenate(parts) for parts in zip(*map(read, sys.argv[1:])))


def loss(added):
    over = mass - 0.5 - basis @ added
    return (weight * (0.5 * over + SMOOTH * np.logaddexp(0, -over / SMOOTH))).sum() + RIDGE * (added[1:] ** 2).sum()


added = minimize(loss, np.zeros(9), method="L-BFGS-B").x
print("HALF", np.round(added[1:] + added[0] + AIM, 3).tolist())

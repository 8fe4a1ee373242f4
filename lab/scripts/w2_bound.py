#!/usr/bin/env python3
"""How large is C in the paper's W2² ≤ C·KL(q ‖ p), p the density of a clean code? A search beyond densities about one axis.

    lab/scripts/w2_bound.py [--points 500] [--starts 4] [--steps 30] [--seed 0]

Needs numpy, scipy and POT (pip install numpy scipy pot). Two parts; W2 is in radians on the unit sphere.
Small steps, exactly: W2² / KL tends to 2·‖g‖²/Var(g) with g the change of the log density and ‖·‖ the norm of H^-1 weighted by p. Its largest
value over all densities is 2/λ, λ the spectral gap of p, and no C is smaller; over codes g is a sum of harmonics up to degree L. Both fall
into one problem on [0, π] for each order m.
Large steps: codes climb W2² / KL by its gradient (exact transport between equal cells; the potentials are the gradient) from random, two-peaked and
non-zonal starts. A grid of atoms overstates W2, so that the distance is told as a lower bound by potentials that are extended to ten times the points.
"""
import argparse

import numpy as np
import ot
from scipy.linalg import solveh_banded
from scipy.special import gammaln, sph_harm_y

NODES = 10_000


def zonal_field(degree, cosines):
    """Log density of a clean code, by the angle from its place, without its constant."""
    before, here = np.ones_like(cosines), cosines
    total = before + (3 * here if degree else 0)
    for l in range(2, degree + 1):
        before, here = here, ((2 * l - 1) * cosines * here - (l - 1) * before) / l
        total += (2 * l + 1) * here
    return total / (4 * np.pi)


def legendre(degree, m, angles):
    """Harmonics of an order by the angle, normalised, one a column: l = m … L."""
    sine, cosine = np.sin(angles), np.cos(angles)
    top = np.exp(0.5 * (np.log(2 * m + 1) + gammaln(2 * m + 1)) - gammaln(m + 1) - m * np.log(2)) * sine**m
    columns = [top, np.sqrt(2 * m + 3) * cosine * top]
    for l in range(m + 2, degree + 1):
        a = np.sqrt((4 * l * l - 1) / (l * l - m * m))
        b = np.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1))
        columns.append(a * (cosine * columns[-1] - b * columns[-2]))
    return np.array(columns[: degree - m + 1]).T


def small_steps(degree):
    """The largest limit of W2²/KL over all densities and over codes, and the order m that has it."""
    edges = np.linspace(0, np.pi, NODES + 1)
    middles = 0.5 * (edges[1:] + edges[:-1])
    step = edges[1]
    log_p = zonal_field(degree, np.cos(middles))
    oscillation = log_p.max() - log_p.min()
    mass = np.exp(log_p - log_p.max()) * np.sin(middles)
    total = mass.sum()
    mass /= total
    at_edges = np.exp(zonal_field(degree, np.cos(edges[1:-1])) - log_p.max()) * np.sin(edges[1:-1]) / total

    def solve(m, g):
        """u of -div(p ∇u) = p·g, a column for each of g's."""
        if m == 0:  # by its flux, summed from the nearer end: no difference of large numbers
            flow = mass[:, None] * g
            left, right = np.cumsum(flow, 0)[:-1], -np.cumsum(flow[::-1], 0)[::-1][1:]
            flux = np.where((np.cumsum(mass)[:-1] < 0.5)[:, None], left, right)
            u = np.vstack([np.zeros(g.shape[1]), np.cumsum(-flux * step**2 / at_edges[:, None], 0)])
            return u - (mass[:, None] * u).sum(0)
        bands = np.zeros((2, NODES))
        bands[0, 1:] = -at_edges / step**2
        bands[1] = mass * m * m / np.sin(middles) ** 2
        bands[1, 1:] += at_edges / step**2
        bands[1, :-1] += at_edges / step**2
        return solveh_banded(bands, mass[:, None] * g)

    best = {"all": (0.0, 0), "codes": (0.0, 0)}
    for m in range(min(degree, 3) + 1):
        g = legendre(degree, m, middles)
        if m == 0:
            g = g[:, 1:] - (mass[:, None] * g[:, 1:]).sum(0)
        variance, energy = g.T @ (mass[:, None] * g), g.T @ (mass[:, None] * solve(m, g))
        scale = 1 / np.sqrt(np.diag(variance))
        variance, energy = variance * np.outer(scale, scale), energy * np.outer(scale, scale)
        kept = np.linalg.eigh(variance)  # directions in which p hardly varies are left out: they would be rounding
        basis = kept[1][:, kept[0] > 1e-10] / np.sqrt(kept[0][kept[0] > 1e-10])
        value = 2 * np.linalg.eigvalsh(basis.T @ (0.5 * (energy + energy.T)) @ basis)[-1]
        best["codes"] = max(best["codes"], (value, m))
        u = g[:, :1] + 0.1 * g[:, -1:]
        value, before = 0.0, -1.0
        while abs(value - before) > 1e-8 * abs(value):  # inverse iteration: the slowest mode
            u /= np.sqrt((mass[:, None] * u * u).sum())
            after, before = solve(m, u), value
            value, u = 2 * (mass[:, None] * u * after).sum(), after
        best["all"] = max(best["all"], (value, m))
    return best, oscillation


def fibonacci(count):
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], 1)


def harmonics(degree, points):
    """Real harmonics at points, orthonormal on the sphere, one a column."""
    theta, phi = np.arccos(np.clip(points[:, 2], -1, 1)), np.arctan2(points[:, 1], points[:, 0])
    columns = []
    for l in range(degree + 1):
        for m in range(-l, l + 1):
            y = sph_harm_y(l, abs(m), theta, phi)
            columns.append(y.real if m == 0 else np.sqrt(2) * (y.real if m > 0 else y.imag))
    return np.array(columns).T


class Sphere:
    """A grid, its harmonics, and the density of the code of the north pole."""

    def __init__(self, degree, count):
        self.points = fibonacci(count)
        self.basis = harmonics(degree, self.points)[:, 1:]
        self.code = harmonics(degree, np.array([[0.0, 0.0, 1.0]]))[0, 1:]
        self.p = self.density(self.code)

    def density(self, e):
        log = self.basis @ e
        weights = np.exp(log - log.max())
        return weights / weights.sum()

    def squares(self, other):
        return np.arccos(np.clip(self.points @ other.points.T, -1, 1)) ** 2


def large_steps(degree, args, rng):
    """The best code found: W2²/KL by the grid and by its lower bound, KL, and the largest share of the bound with a root."""
    coarse, fine = Sphere(degree, args.points), Sphere(degree, 10 * args.points)
    cost, across = coarse.squares(coarse), fine.squares(coarse)

    def judge(e):
        q = coarse.density(e)
        kl = float(q @ np.log(q / coarse.p))
        w2, log = ot.emd2(q, coarse.p, cost, log=True, numItermax=2_000_000, return_matrix=False, check_marginals=False)
        slope = lambda values: coarse.basis.T @ (q * (values - q @ values))
        return kl, w2, log["u"], slope(log["u"]), slope(np.log(q / coarse.p))

    def bound(e, potential):
        """A lower bound of W2² on the fine grid by potentials: ψ by the coarse ones, and φ by ψ."""
        psi = np.concatenate([(part - potential).min(1) for part in np.array_split(across, 20)])
        phi = np.concatenate([(np.arccos(np.clip(part @ fine.points.T, -1, 1)) ** 2 - psi).min(1) for part in np.array_split(fine.points, 40)])
        q = fine.density(e)
        return float(q @ phi + fine.p @ psi), float(q @ np.log(q / fine.p))

    found, root = [], 0.0
    for start in range(args.starts):
        place = harmonics(degree, fibonacci(40)[rng.integers(40)][None])[0, 1:]
        noise = rng.normal(size=len(coarse.code))
        e = [coarse.code + 0.5 * noise, 0.6 * coarse.code + 0.4 * place, coarse.code * rng.uniform(0.2, 1.0) + 0.2 * noise, noise][start % 4].copy()
        rate, best = 0.3, (0.0, e)
        for _ in range(args.steps):
            kl, w2, potential, w2_slope, kl_slope = judge(e)
            root = max(root, w2 / (np.pi**2 * np.sqrt(kl / 2)))
            if w2 / kl > best[0] and kl > args.least:
                best = (w2 / kl, e.copy())
            else:
                rate *= 0.85
                e = best[1].copy()
            slope = w2_slope / w2 - kl_slope / kl
            if kl <= args.least:
                slope = kl_slope
            e = e + rate * np.linalg.norm(e) * slope / (np.linalg.norm(slope) + 1e-12) * rng.uniform(0.3, 1.0)
        potential = judge(best[1])[2]
        lower, kl = bound(best[1], potential)
        found.append((lower / kl, best[0], kl))
    return max(found), root


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--least", type=float, default=0.3, help="KL below which the grid is too coarse")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--degrees", default="3,5,7,11,15,23")
    parser.add_argument("--large", default="3,5,7")
    args = parser.parse_args()
    print("| L | C of all densities: at least (order) | over small steps of codes (order) | C at most | large steps of codes: W2²/KL, at least (by atoms) at KL | share of π²·√(KL/2) |")
    print("|---|---|---|---|---|---|")
    rng = np.random.default_rng(args.seed)
    for degree in map(int, args.degrees.split(",")):
        best, oscillation = small_steps(degree)
        cells = [f"{best[key][0]:.3g} ({best[key][1]})" for key in ("all", "codes")]
        large = ["", ""]
        if str(degree) in args.large.split(","):
            (lower, atoms, kl), root = large_steps(degree, args, rng)
            large = [f"{lower:.2f} ({atoms:.2f}) at {kl:.2f}", f"{root:.2f}"]
        print(f"| {degree} | {cells[0]} | {cells[1]} | e^{oscillation:.1f} | {large[0]} | {large[1]} |", flush=True)


if __name__ == "__main__":
    main()

"""What the peers of bench/laptop.py and bench/serve.py do with an embedding, in numpy.

- `same`: the work of LocDiff's answer, by the bundled model: the density at 249,671 cells (ducc0 on HEALPix pixels of 51 km, one factor a
  cell), the best five places by windows of 750 km, the radii that hold 50 and 90 % of it, the smallest areas that do, and the probability
  of each of 250 countries. Factors and countries of the cells are made up, which changes no time.
- `head`: a linear layer of 4,096 made-up cells and the best five: hardly more than the embedding.
"""
import json, pathlib

import numpy as np
from safetensors.numpy import load_file

MODEL = pathlib.Path(__file__).resolve().parent.parent / "crates/bundled-model/streetview-l31"
DEGREE, NSIDE, CELLS, COUNTRIES, HEAD = 31, 128, 249_671, 250, 4_096
WINDOW, SHARES = np.cos(750 / 6371), (0.5, 0.9)


def network():
    """From an embedding to the coefficients of the log density."""
    from scipy.special import erf

    weights = {name: value.astype(np.float32) for name, value in load_file(MODEL / "model.safetensors").items()}
    exponent = json.loads((MODEL / "calibration.json").read_text())["evidence"]
    layer = lambda x, k: weights[f"image.{k}.weight"] @ x + weights[f"image.{k}.bias"]  # noqa: E731
    gelu = lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2)))  # noqa: E731
    standard = lambda x: (x - weights["standardisation.mean"]) / weights["standardisation.deviation"]  # noqa: E731
    return lambda x: exponent * layer(gelu(layer(standard(x), 0)), 1)


def same():
    import ducc0

    base = ducc0.healpix.Healpix_Base(NSIDE, "RING")
    geometry, pixels, random = base.sht_info(), 12 * NSIDE**2, np.random.default_rng(0)
    of_cell = np.sort(np.concatenate([np.arange(pixels), random.choice(pixels, CELLS - pixels, replace=False)]))
    factors = random.normal(0, 0.1, CELLS).astype(np.float32)
    country_of = random.integers(0, COUNTRIES, CELLS)
    places = base.pix2vec(np.arange(pixels)).astype(np.float32)[of_cell]
    coefficients_of = network()
    # Real coefficients as ducc0's complex ones, m by m.
    order = [(l, m) for m in range(DEGREE + 1) for l in range(m, DEGREE + 1)]
    cosines, sines = (np.array([l * l + l + sign * m for l, m in order]) for sign in (1, -1))
    of_cosines = np.array([(-1) ** m / np.sqrt(1 if m == 0 else 2) for _, m in order])
    of_sines = of_cosines * np.array([m != 0 for _, m in order])

    def answer(embedding):
        real = coefficients_of(embedding)
        alm = (of_cosines * real[cosines] - 1j * of_sines * real[sines])[None].astype(np.complex64)
        log = ducc0.sht.synthesis(alm=alm, spin=0, lmax=DEGREE, mmax=DEGREE, nthreads=1, **geometry)[0][of_cell] + factors
        density = np.exp(log - log.max())
        density /= density.sum()
        left, found = density.copy(), []
        for _ in range(5):
            best = places[int(left.argmax())]
            near = places @ best > WINDOW
            lat, lon = np.degrees(np.arcsin(best[2])), np.degrees(np.arctan2(best[1], best[0]))
            found.append({"lat": float(lat), "lon": float(lon), "probability": float(left[near].sum())})
            left[near] = 0
        cosine = places @ places[int(density.argmax())]
        order = np.argsort(-cosine)
        within, densest = np.cumsum(density[order]), np.cumsum(np.sort(density)[::-1])
        radii = [6371 * float(np.arccos(np.clip(cosine[order[np.searchsorted(within, share)]], -1, 1))) for share in SHARES]
        areas = [4 * np.pi * 6371**2 / CELLS * int(np.searchsorted(densest, share)) for share in SHARES]
        by_country = np.bincount(country_of, density, COUNTRIES)
        countries = [[int(k), float(by_country[k])] for k in np.argsort(-by_country)]
        return {"hypotheses": found, "radii_km": radii, "areas_km2": areas, "countries": countries}

    return answer


def head():
    random = np.random.default_rng(0)
    layer = random.normal(0, 0.05, (512, HEAD)).astype(np.float32)
    where = np.stack([np.degrees(np.arcsin(random.uniform(-1, 1, HEAD))), random.uniform(-180, 180, HEAD)], 1)

    def answer(embedding):
        logits = embedding @ layer
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        best = np.argsort(shares)[::-1][:5]
        return {"hypotheses": [{"lat": float(where[k, 0]), "lon": float(where[k, 1]), "probability": float(shares[k])} for k in best]}

    return answer


ANSWERS = {"same": same, "head": head}

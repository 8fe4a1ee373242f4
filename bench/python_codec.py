"""Codes of a million places by locdiff, scipy and sphericart's Python package, in one run on the same numbers.

    python bench/python_codec.py [--places 1000000] [--degree 9]

All give (L + 1)² real spherical harmonics a place as an array of [N, (L + 1)²]; the values are compared first. scipy has complex
harmonics only, one (l, m) at a time, and is given the fastest way it has: `sph_harm_y_all`.
"""

import argparse
import time
from collections.abc import Callable

import locdiff
import numpy


def best_of(work: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--places", type=int, default=1_000_000)
    options.add_argument("--degree", type=int, default=9)
    options.add_argument("--times", type=int, default=3)
    options = options.parse_args()
    n, degree = options.places, options.degree
    random = numpy.random.default_rng(0)
    lat, lon = numpy.degrees(numpy.arcsin(random.uniform(-1, 1, n))), random.uniform(-180, 180, n)
    codec = locdiff.Codec(degree)

    from scipy.special import sph_harm_y_all

    def scipy_codes(lat: numpy.ndarray, lon: numpy.ndarray) -> numpy.ndarray:
        theta, phi = numpy.radians(90 - lat), numpy.radians(lon)
        both = sph_harm_y_all(degree, degree, theta, phi)  # [L + 1, 2 L + 1, N], complex
        out = numpy.empty((len(lat), (degree + 1) ** 2))
        for l in range(degree + 1):
            out[:, l * l + l] = both[l, 0].real
            for m in range(1, l + 1):
                sign = (-1) ** m * numpy.sqrt(2)
                out[:, l * l + l + m] = sign * both[l, m].real
                out[:, l * l + l - m] = sign * both[l, m].imag
        return out

    import sphericart

    calculator = sphericart.SphericalHarmonics(degree)

    def points(lat: numpy.ndarray, lon: numpy.ndarray) -> numpy.ndarray:
        theta, phi = numpy.radians(90 - lat), numpy.radians(lon)
        return numpy.stack([numpy.sin(theta) * numpy.cos(phi), numpy.sin(theta) * numpy.sin(phi), numpy.cos(theta)], axis=1)

    few = slice(0, 500)
    ours = codec.encode(lat[few], lon[few], dtype="float64")
    for name, theirs in (("scipy", scipy_codes(lat[few], lon[few])), ("sphericart", calculator.compute(points(lat[few], lon[few])))):
        # Conventions of order and sign differ; the energies of a degree do not.
        for l in range(degree + 1):
            part = slice(l * l, (l + 1) ** 2)
            assert numpy.allclose((ours[:, part] ** 2).sum(1), (theirs[:, part] ** 2).sum(1), atol=1e-9), name

    print(f"{n} places, degree {degree}: {(degree + 1) ** 2} numbers each; {locdiff.threads()} threads; best of {options.times}")
    xyz = points(lat, lon)
    rows = [
        ("locdiff, degrees to float64", lambda: codec.encode(lat, lon, dtype="float64")),
        ("locdiff, degrees to float32", lambda: codec.encode(lat, lon)),
        ("sphericart, degrees to float64", lambda: calculator.compute(points(lat, lon))),
        ("sphericart, x y z to float64", lambda: calculator.compute(xyz)),
        ("scipy, degrees to float64", lambda: scipy_codes(lat, lon)),
    ]
    for name, work in rows:
        times = 1 if name.startswith("scipy") else options.times
        seconds = best_of(work, times)
        print(f"{name:<34} {seconds:8.3f} s {n / seconds / 1e6:8.2f} million places a second")


if __name__ == "__main__":
    main()

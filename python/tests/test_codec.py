"""Codes and densities on numpy's arrays."""

from __future__ import annotations

import locdiff
import numpy
import pytest


def test_codes_are_spherical_harmonics() -> None:
    codec = locdiff.Codec(15)
    random = numpy.random.default_rng(1)
    lat, lon = random.uniform(-89, 89, 200), random.uniform(-180, 180, 200)
    codes = codec.encode(lat, lon, dtype="float64")
    assert codes.shape == (200, codec.dimension) == (200, 256)
    assert numpy.allclose((codes**2).sum(axis=1), 256 / (4 * numpy.pi))
    assert codec.encode(lat, lon).dtype == numpy.float32
    assert numpy.allclose(codec.encode(lat, lon), codes, atol=1e-5)
    places = codec.decode(codes)
    assert numpy.allclose(places[:, 0], lat, atol=1e-6) and numpy.allclose(places[:, 1], lon, atol=1e-5)
    with pytest.raises(locdiff.SettingError, match="latitudes"):
        codec.encode(lat, lon[:3])
    with pytest.raises(locdiff.SettingError):
        codec.encode([95.0], [0.0])
    with pytest.raises(locdiff.SettingError, match="rows must have 256"):
        codec.decode(codes[:, :7])
    with pytest.raises(locdiff.SettingError):
        locdiff.Codec(0)


def test_a_density_is_one() -> None:
    codec = locdiff.Codec(23)
    density = codec.density(codec.encode([-1.29], [36.82])[0])
    pixels = density.healpix(64)
    assert pixels.sum() * 4 * numpy.pi / len(pixels) == pytest.approx(1, abs=1e-3)
    (place, mass), *_ = density.modes(1)
    assert place == pytest.approx((-1.29, 36.82), abs=1e-3) and mass > 0.9
    area, radius = density.region(0.5)
    assert density.mass_within_km(-1.29, 36.82, radius) == pytest.approx(0.5, abs=0.01) and area > 0
    assert density.entropy() < numpy.log(4 * numpy.pi)
    drawn = density.sample(100, seed=3)
    assert drawn.shape == (100, 2) and numpy.abs(drawn[:, 0] + 1.29).mean() < 3
    assert numpy.array_equal(drawn, density.sample(100, seed=3))
    assert density.log_density([-1.29], [36.82])[0] > density.log_density([0.0], [0.0])[0]
    with pytest.raises(locdiff.SettingError, match=r"shape \[2, 2\]: give one dimension"):
        density.log_density([[0.0, 1.0], [2.0, 3.0]], [[0.0, 1.0], [2.0, 3.0]])
    with pytest.raises(locdiff.SettingError, match="power of two"):
        density.healpix(3)

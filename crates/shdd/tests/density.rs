//! The density: normalisation, masses, regions, samples, and that regions cover what they claim.

use crate::common::{self, codec, noisy, random_place, rng, zonal::Zonal};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Rings, UnitVec};
use locdiff_shdd::{Codec, Coefficients};
use std::f64::consts::{PI, TAU};

fn mixture(codec: &Codec) -> Coefficients {
    // Two peaks of different sharpness and some noise: nothing about it is symmetric.
    let mut rng = rng(41);
    let a = codec.encode(LatLon::new(60.0, 178.0).unwrap()).into_vec();
    let b = codec.encode(LatLon::new(-20.0, 30.0).unwrap()).into_vec();
    let values = a.iter().zip(&b).map(|(a, b)| 0.30 * a + 0.29 * b + 0.1 * common::normal(&mut rng)).collect();
    Coefficients::new(values).unwrap()
}

#[test]
fn known_densities_have_known_constants() {
    for l in [1, 5, 23, 47, 127, 255] {
        let codec = codec(l);
        // At the highest degree the sharp one says more, and each takes seconds.
        if l < 255 {
            let uniform = Coefficients::new(vec![0.0; codec.degree().dimension()]).unwrap();
            let density = codec.density(&uniform).unwrap();
            assert!((density.log_z() - (4.0 * PI).ln()).abs() < 1e-6, "L={l}: {}", density.log_z());
            assert!((density.entropy() - 2.531).abs() < 1e-3);
        }
        let clean = codec.encode(LatLon::new(-35.3, 149.1).unwrap());
        let density = codec.density(&clean).unwrap();
        let zonal = Zonal::new(codec.degree());
        assert!((density.log_z() - zonal.log_z).abs() < 1e-7, "L={l}");
        assert!((density.entropy() + zonal.negative_entropy).abs() < 1e-6, "L={l}");
    }
}

#[test]
fn constants_do_not_depend_on_where_the_peak_is() {
    // Poles, faces' edges and corners of the cells, the antimeridian.
    let codec = codec(31);
    let zonal = Zonal::new(codec.degree());
    for (lat, lon) in [(90.0, 0.0), (-90.0, 0.0), (45.0, 0.0), (35.2643897, 45.0), (0.0, 180.0), (0.0, 45.0)] {
        let clean = codec.encode(LatLon::new(lat, lon).unwrap());
        let density = codec.density(&clean).unwrap();
        assert!((density.log_z() - zonal.log_z).abs() < 1e-7, "{lat} {lon}");
        let region = density.credible_region(0.9).unwrap();
        let expected = EARTH_RADIUS_KM / codec.degree().curvature().sqrt() * (2.0 * 10f64.ln()).sqrt();
        assert!((region.radius_km / expected - 1.0).abs() < 0.02, "{lat} {lon}: {} {expected}", region.radius_km);
    }
}

#[test]
fn cap_masses_match_a_fine_quadrature_and_fill_the_sphere() {
    let codec = codec(15);
    let e = mixture(&codec);
    let density = codec.density(&e).unwrap();
    let rings = Rings::gauss_legendre(800, 1600);
    let (points, weights) = (rings.points(), rings.point_weights());
    let q: Vec<f64> = density.log_density(&points).iter().zip(&weights).map(|(l, w)| w * l.exp()).collect();
    let total: f64 = q.iter().sum();
    assert!((total - 1.0).abs() < 1e-7, "{total}");
    for (lat, lon, radius) in [(60.0, 178.0, 0.1), (-20.0, 30.0, 0.2), (0.0, 100.0, 1.0), (80.0, 40.0, 0.6)] {
        let center = LatLon::new(lat, lon).unwrap().to_unit();
        let exact: f64 = points.iter().zip(&q).filter(|(p, _)| p.angle_rad(center) <= radius).map(|(_, q)| q).sum();
        let ours = density.cap_mass(center, radius).unwrap();
        assert!((ours - exact).abs() < 1e-3, "{lat} {lon} {radius}: {ours} {exact}");
    }
    assert!((density.cap_mass(UnitVec::NORTH, PI).unwrap() - 1.0).abs() < 1e-9);
    assert!(density.cap_mass(UnitVec::NORTH, 0.0).is_err());
    assert!(density.cap_mass(UnitVec::NORTH, f64::NAN).is_err());
}

#[test]
fn raster_masses_match_a_fine_quadrature() {
    for l in [15, 47] {
        let codec = codec(l);
        let e = mixture(&codec);
        let density = codec.density(&e).unwrap();
        let raster = density.raster_mass(18, 36);
        assert!((raster.masses.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let rings = Rings::raster(18 * 80, 36 * 80);
        let values = rings.synthesize(&codec.field(&e).unwrap());
        let mut exact = vec![0.0; 18 * 36];
        for (r, ring) in values.chunks(36 * 80).enumerate() {
            for (c, value) in ring.iter().enumerate() {
                exact[r / 80 * 36 + c / 80] += rings.ring_point_weight(r) * (value - density.log_z()).exp();
            }
        }
        for (i, (ours, exact)) in raster.masses.iter().zip(&exact).enumerate() {
            assert!((ours - exact).abs() < 2e-3, "L={l} cell {i}: {ours} {exact}");
        }
    }
}

#[test]
fn modes_find_both_peaks_and_share_the_mass() {
    let codec = codec(23);
    let e = mixture(&codec);
    let density = codec.density(&e).unwrap();
    let modes = density.modes(10);
    assert!((density.modes(usize::MAX).iter().map(|m| m.mass).sum::<f64>() - 1.0).abs() < 1e-6);
    for (lat, lon) in [(60.0, 178.0), (-20.0, 30.0)] {
        let place = LatLon::new(lat, lon).unwrap().to_unit();
        assert!(modes.iter().any(|m| m.mode.point.angle_rad(place) < 0.05), "{lat} {lon}: {modes:?}");
    }
    assert!(modes.windows(2).all(|w| w[0].mass >= w[1].mass));
    assert_eq!(density.modes(1).len(), 1);
}

#[test]
fn sampled_points_reproduce_the_mean_parameters() {
    let codec = codec(15);
    let e = mixture(&codec);
    let density = codec.density(&e).unwrap();
    let points = density.sample(40_000, &mut rng(43));
    let mean = density.mean_parameters().into_vec();
    let sampled = codec.harmonics().weighted_sum(&points, &vec![1.0 / 40_000.0; 40_000]).unwrap();
    // Each coefficient has variance below (2l+1)/4π; the error of the mean is that over n.
    for (k, (m, s)) in mean.iter().zip(&sampled).enumerate() {
        let l = (k as f64).sqrt().floor();
        let deviation = ((2.0 * l + 1.0) / (4.0 * PI) / 40_000.0).sqrt();
        assert!((m - s).abs() < 6.0 * deviation, "coefficient {k}: {m} {s}");
    }
    let again = density.sample(100, &mut rng(43));
    assert_eq!(again, density.sample(100, &mut rng(43)), "the same seed gives the same points");
}

#[test]
fn credible_regions_cover_what_they_claim() {
    // Draw from q, ask for the p % region, count: coverage p ± 1 % over 10,000 draws.
    for (name, l, e) in [
        ("two peaks", 23, mixture(&codec(23))),
        ("clean", 47, codec(47).encode(LatLon::new(40.0, 116.3).unwrap())),
        ("broad noise", 15, {
            let c = codec(15);
            noisy(&c, random_place(&mut rng(3)), 0.0, 0.15, &mut rng(4))
        }),
    ] {
        let codec = codec(l);
        let density = codec.density(&e).unwrap();
        let points = density.sample(10_000, &mut rng(47));
        let log_q = density.log_density(&points);
        let center = density.top_mode().unwrap().point;
        for p in [0.1, 0.25, 0.5, 0.75, 0.9, 0.95] {
            let region = density.credible_region(p).unwrap();
            let inside = log_q.iter().filter(|v| **v >= region.log_density).count() as f64 / 1e4;
            let near = points.iter().filter(|q| q.angle_rad(center) * EARTH_RADIUS_KM <= region.radius_km).count();
            let near = near as f64 / 1e4;
            println!(
                "{name} L={l} p={p}: region covers {inside:.4}, radius {:.0} km covers {near:.4}",
                region.radius_km
            );
            assert!((inside - p).abs() < 0.01, "{name} p={p}: region covers {inside}");
            assert!((near - p).abs() < 0.01, "{name} p={p}: radius covers {near}");
            // The radius is the quantile of the exact cap mass too.
            let cap = density.cap_mass(center, region.radius_km / EARTH_RADIUS_KM).unwrap();
            assert!((cap - p).abs() < 0.004, "{name} p={p}: cap mass {cap}");
            // A region of equal mass cannot be smaller than the densest one.
            let cap_area = TAU * (1.0 - (region.radius_km / EARTH_RADIUS_KM).cos()) * EARTH_RADIUS_KM.powi(2);
            assert!(region.area_km2 <= cap_area * 1.01, "{name} p={p}");
        }
        assert!(density.credible_region(0.0).is_err() && density.credible_region(1.0).is_err());
        assert!(density.credible_region(f64::NAN).is_err());
    }
}

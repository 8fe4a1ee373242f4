//! Which places a density speaks of: its peaks, each with the probability of the land around it.

use locdiff_sphere::Pixels;
use rayon::prelude::*;

/// A peak with the pixels that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Basin {
    /// The pixel of the highest density.
    pub(crate) peak: usize,
    /// The probability of all pixels that belong to it.
    pub(crate) mass: f64,
}

/// Pixels with any probability, densest first.
pub(crate) fn densest_first(log_density: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> =
        (0..log_density.len() as u32).filter(|&i| log_density[i as usize] > f64::NEG_INFINITY).collect();
    let value = |i: u32| log_density[i as usize];
    order.par_sort_unstable_by(|&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    order
}

/// Peaks of a density on pixels and the probability that belongs to each, the most probable first; all together hold
/// `covered` of the probability at least (what lies below is left out). Beside them, the basin that pixel `home`
/// belongs to.
///
/// Pixels are taken in `order`, from the densest down. One without a denser neighbour begins a basin; one that joins several
/// merges those whose peak stands less than `prominence_nats` above it into the highest of them, so that a ripple on a
/// slope is no hypothesis of its own. What cannot be merged is shared: the pixel goes to its densest neighbour's basin.
pub(crate) fn basins(
    pixels: &Pixels,
    log_density: &[f64],
    order: &[u32],
    prominence_nats: f64,
    covered: f64,
    home: usize,
) -> (Vec<Basin>, Option<usize>) {
    let mass = |pixel: usize| log_density[pixel].exp() * pixels.area_sr();
    const NONE: u32 = u32::MAX;
    let mut owner = vec![NONE; log_density.len()];
    let mut found: Vec<Basin> = Vec::new();
    let mut parent: Vec<u32> = Vec::new();
    let mut around = Vec::new();
    let mut near: Vec<u32> = Vec::new();
    let mut total = 0.0;
    for &pixel in order {
        let pixel = pixel as usize;
        pixels.neighbours(pixel, &mut around);
        near.clear();
        let mut densest = (f64::NEG_INFINITY, NONE);
        for &other in &around {
            if owner[other] != NONE {
                let basin = root(&mut parent, owner[other]);
                near.push(basin);
                if log_density[other] > densest.0 {
                    densest = (log_density[other], basin);
                }
            }
        }
        near.sort_unstable();
        near.dedup();
        let mut basin = densest.1;
        if near.is_empty() {
            basin = found.len() as u32;
            found.push(Basin { peak: pixel, mass: 0.0 });
            parent.push(basin);
        } else if near.len() > 1 {
            let height = |b: u32| log_density[found[b as usize].peak];
            let highest =
                near.iter().copied().max_by(|a, b| height(*a).total_cmp(&height(*b))).unwrap_or(basin);
            let ripples: Vec<u32> = near
                .iter()
                .copied()
                .filter(|&b| b != highest && height(b) - log_density[pixel] < prominence_nats)
                .collect();
            for ripple in ripples {
                parent[ripple as usize] = highest;
                found[highest as usize].mass += std::mem::take(&mut found[ripple as usize].mass);
            }
            basin = root(&mut parent, basin);
        }
        owner[pixel] = basin;
        found[basin as usize].mass += mass(pixel);
        total += mass(pixel);
        if total >= covered {
            break;
        }
    }
    let home = (owner[home] != NONE).then(|| found[root(&mut parent, owner[home]) as usize].peak);
    let mut peaks: Vec<Basin> = found
        .into_iter()
        .enumerate()
        .filter(|(i, _)| parent[*i] == *i as u32)
        .map(|(_, basin)| basin)
        .collect();
    peaks.sort_by(|a, b| b.mass.total_cmp(&a.mass));
    let home = home.and_then(|peak| peaks.iter().position(|basin| basin.peak == peak));
    (peaks, home)
}

fn root(parent: &mut [u32], mut basin: u32) -> u32 {
    while parent[basin as usize] != basin {
        parent[basin as usize] = parent[parent[basin as usize] as usize];
        basin = parent[basin as usize];
    }
    basin
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_sphere::LatLon;

    /// Two hills of known mass and a ripple on one of them.
    #[test]
    fn hills_are_found_and_ripples_are_not() {
        let pixels = Pixels::new(6).unwrap();
        let at = |lat, lon| LatLon::new(lat, lon).unwrap().to_unit();
        let hills = [(at(40.0, 10.0), 0.7, 0.05), (at(-20.0, 130.0), 0.3, 0.08)];
        let ripple = at(42.0, 14.5);
        let mut density: Vec<f64> = pixels
            .points()
            .iter()
            .map(|p| {
                let hill = |(c, w, s): &(locdiff_sphere::UnitVec, f64, f64)| {
                    w * (-0.5 * (p.angle_rad(*c) / s).powi(2)).exp() / (std::f64::consts::TAU * s * s)
                };
                let bump = 1.0 + 0.1 * (-0.5 * (p.angle_rad(ripple) / 0.02).powi(2)).exp();
                hills.iter().map(hill).sum::<f64>() * bump
            })
            .collect();
        let total: f64 = density.iter().sum::<f64>() * pixels.area_sr();
        for value in &mut density {
            *value = (*value / total).ln();
        }
        let order = densest_first(&density);
        let home = pixels.index_of(LatLon::new(-21.0, 128.0).unwrap());
        let (found, owner) = basins(&pixels, &density, &order, 0.7, 1.0, home);
        assert_eq!(owner, Some(1));
        assert_eq!(found.len(), 2, "{found:?}");
        for (basin, (center, mass, _)) in found.iter().zip(&hills) {
            assert!((basin.mass - mass).abs() < 0.01, "{basin:?}");
            assert!(pixels.points()[basin.peak].angle_rad(*center) < 0.03);
        }
        // With no prominence asked for, every local maximum counts, and the masses still sum to what is covered.
        let (all, _) = basins(&pixels, &density, &order, 0.0, 0.99, home);
        let sum: f64 = all.iter().map(|b| b.mass).sum();
        assert!(all.len() >= 2 && (0.99..1.0).contains(&sum), "{} {sum}", all.len());
    }
}

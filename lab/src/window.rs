//! The place where a window holds most of a density on pixels, found quickly: a table reads some hundred thousand of them.
//!
//! As `locdiff_answer` does for one answer, with fewer climbs: the heaviest lumps are compared through the window, and mean shift climbs
//! from the best few alone.

use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Pixel, Pixels, UnitVec};

/// Lumps that are compared, and those that are climbed from.
const SEEDS: usize = 12;
const CLIMBS: usize = 3;
/// Lumps are at most this share of the window's deviation wide, and those that seeds are taken from this one.
const LUMP: f64 = 0.6;
const SEED_LUMP: f64 = 1.5;
/// Lumps lighter than this share of the heaviest, and those farther than so many deviations, move nothing.
const LIGHT: f32 = 1e-4;
const AROUND: f64 = 5.0;
const STEPS: usize = 40;
const STILL: f32 = 1e-10;

#[derive(Clone, Copy)]
struct Lump {
    at: [f32; 3],
    mass: f32,
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = dot(v, v).sqrt().max(f32::MIN_POSITIVE);
    v.map(|x| x / length)
}

/// Pixels lumped together up to a width; they are in nested order, so that those of one parent follow one another.
fn lumps(pixels: &Pixels, masses: &[f32], width_rad: f64) -> Vec<Lump> {
    let deepest = pixels.depth();
    let depth = (0..deepest).find(|depth| Pixel::width_rad(*depth) <= width_rad).unwrap_or(deepest);
    let children = 1 << (2 * (deepest - depth));
    let parents = masses.chunks(children).zip(pixels.points().chunks(children));
    let lump = |(masses, points): (&[f32], &[UnitVec])| {
        let (mut at, mut mass) = ([0.0; 3], 0.0);
        for (own, point) in masses.iter().zip(points) {
            mass += own;
            at.iter_mut().zip(point.to_array()).for_each(|(sum, x)| *sum += own * x as f32);
        }
        Lump { at: unit(at), mass }
    };
    let all: Vec<Lump> = parents.map(lump).collect();
    let least = LIGHT * all.iter().map(|lump| lump.mass).fold(0.0, f32::max);
    all.into_iter().filter(|lump| lump.mass >= least && lump.mass > 0.0).collect()
}

/// What the window holds about a place, and the centre of it.
fn held(near: &[Lump], sharpness: f32, here: [f32; 3]) -> (f32, [f32; 3]) {
    let (mut sum, mut centre) = (0.0, [0.0; 3]);
    for Lump { at, mass } in near {
        // 1 − cos by the difference, which keeps its digits where the two are near.
        let d = [at[0] - here[0], at[1] - here[1], at[2] - here[2]];
        let weight = mass * (-0.5 * sharpness * dot(d, d)).exp();
        sum += weight;
        centre.iter_mut().zip(at).for_each(|(sum, x)| *sum += weight * x);
    }
    (sum, unit(centre))
}

/// The place about which a Gaussian window of half the radius' deviation holds most.
pub(crate) fn place(pixels: &Pixels, masses: &[f32], window_km: f64) -> LatLon {
    let deviation = 0.5 * window_km / EARTH_RADIUS_KM;
    let sharpness = deviation.powi(-2) as f32;
    let all = lumps(pixels, masses, LUMP * deviation);
    let mut coarse = lumps(pixels, masses, SEED_LUMP * deviation);
    coarse.sort_by(|a, b| b.mass.total_cmp(&a.mass));
    let (apart, around) = (deviation.cos() as f32, (AROUND * deviation).min(3.0).cos() as f32);
    let mut seeds: Vec<[f32; 3]> = Vec::new();
    for lump in coarse {
        if seeds.len() < SEEDS && seeds.iter().all(|seed| dot(*seed, lump.at) < apart) {
            seeds.push(lump.at);
        }
    }
    let near = |here: [f32; 3]| all.iter().copied().filter(|lump| dot(lump.at, here) > around).collect::<Vec<Lump>>();
    let begin = |seed: [f32; 3]| {
        let near = near(seed);
        let (_, at) = held(&near, sharpness, seed);
        (held(&near, sharpness, at).0, at, near)
    };
    let mut begun: Vec<(f32, [f32; 3], Vec<Lump>)> = seeds.into_iter().map(begin).collect();
    begun.sort_by(|a, b| b.0.total_cmp(&a.0));
    let climbed = begun.into_iter().take(CLIMBS).map(|(_, mut here, near)| {
        let mut value = 0.0;
        for _ in 0..STEPS {
            let (now, next) = held(&near, sharpness, here);
            let d = [next[0] - here[0], next[1] - here[1], next[2] - here[2]];
            (value, here) = (now, next);
            if dot(d, d) < STILL {
                break;
            }
        }
        (value, here)
    });
    let best = climbed.max_by(|a, b| a.0.total_cmp(&b.0)).map_or([0.0, 0.0, 1.0], |(_, here)| here);
    let [x, y, z] = best.map(f64::from);
    UnitVec::new(x, y, z).unwrap_or(UnitVec::NORTH).to_latlon()
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_model::answer::{Globe, Kernels};

    #[test]
    fn the_window_decides_between_a_sharp_and_a_broad_peak() {
        let globe = Globe::new(23).unwrap();
        let at = |lat: f64, lon: f64| LatLon::new(lat, lon).unwrap().to_unit();
        let (paris, lima) = (at(48.86, 2.35), at(-12.05, -77.04));
        let density =
            |place: UnitVec, km: f64| Kernels::new(vec![(place, 1.0)], km).log_densities(globe.pixels().points());
        let (sharp, broad) = (density(paris, 150.0), density(lima, 900.0));
        let masses: Vec<f32> = sharp.iter().zip(&broad).map(|(a, b)| (0.3 * a.exp() + 0.7 * b.exp()) as f32).collect();
        for (window_km, wanted, within_km) in [(300.0, paris, 60.0), (2500.0, lima, 120.0)] {
            let found = place(globe.pixels(), &masses, window_km).to_unit();
            assert!(found.angle_rad(wanted) * EARTH_RADIUS_KM < within_km, "{window_km}");
            let masses: Vec<f64> = masses.iter().map(|mass| f64::from(*mass)).collect();
            let total: f64 = masses.iter().sum();
            let masses: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
            let slow = std::sync::Arc::new(Globe::new(23).unwrap()).peaks(&masses, window_km, 1)[0].place;
            assert!(found.angle_rad(slow.to_unit()) * EARTH_RADIUS_KM < 60.0, "{window_km}");
        }
    }
}

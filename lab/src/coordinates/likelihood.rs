//! The likelihood of a flow: its differential equation backwards from a place to the noise, with the divergence along the way.

use super::path::SCALE;
use anyhow::Result;
use locdiff_shdd::sphere::UnitVec;
use std::f64::consts::PI;

/// Points at which the velocity is asked for each one that moves: itself, then a step forth and back along three axes.
pub(crate) const ASKED: usize = 7;
/// Half the distance over which the divergence is a difference.
const STEP: f64 = 2e-3;
/// Radii at which a density in R³ is evaluated for the density of its directions, less one: closer near the sphere.
const RADII: i32 = 24;

/// Velocities at points, [`ASKED`] for each one that moves, at a node.
pub(crate) type Velocity<'a> = dyn FnMut(&[[f64; 3]], usize) -> Result<Vec<[f64; 3]>> + 'a;

fn moved(x: [f64; 3], by: [f64; 3], share: f64) -> [f64; 3] {
    std::array::from_fn(|i| x[i] + share * by[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    v.map(|x| x / dot(v, v).sqrt())
}

/// The log densities of points at the last of the nodes (times in falling distance from the noise), in R³ or on the unit sphere: noise
/// is normal or uniform. The second-order method of Adams and Bashforth, which asks for each node once.
fn integrate(velocity: &mut Velocity<'_>, nodes: &[f64], ends: &[[f64; 3]], on_sphere: bool) -> Result<Vec<f64>> {
    let mut points = ends.to_vec();
    let mut sums = vec![0.0; ends.len()];
    let mut before: Vec<([f64; 3], f64)> = Vec::new();
    for node in (0..nodes.len()).rev() {
        let axes = |x: [f64; 3]| -> Vec<[f64; 3]> {
            match UnitVec::new(x[0], x[1], x[2]) {
                Ok(at) if on_sphere => <[_; 2]>::from(at.tangents()).to_vec(),
                _ => vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            }
        };
        let mut asked = Vec::with_capacity(ASKED * points.len());
        for &x in &points {
            let start = asked.len();
            asked.push(x);
            for axis in axes(x) {
                asked.extend([STEP, -STEP].map(|step| moved(x, axis, step)));
            }
            asked.resize(start + ASKED, x);
            if on_sphere {
                asked[start..].iter_mut().for_each(|x| *x = unit(*x));
            }
        }
        let mut now = Vec::with_capacity(points.len());
        for (x, found) in points.iter().zip(velocity(&asked, node)?.chunks_exact(ASKED)) {
            let slope = |(k, axis): (usize, [f64; 3])| {
                (dot(found[1 + 2 * k], axis) - dot(found[2 + 2 * k], axis)) / (2.0 * STEP)
            };
            now.push((found[0], axes(*x).into_iter().enumerate().map(slope).sum::<f64>()));
        }
        // The integral of the divergence by the trapezoidal rule.
        let width = |a: usize, b: usize| nodes.get(b).zip(nodes.get(a)).map_or(0.0, |(b, a)| b - a);
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum +=
                0.5 * now[k].1 * (width(node, node + 1) + node.checked_sub(1).map_or(0.0, |last| width(last, node)));
        }
        if node > 0 {
            let step = nodes[node - 1] - nodes[node];
            let ratio = if before.is_empty() { 0.0 } else { 0.5 * step / (nodes[node] - nodes[node + 1]) };
            for (k, x) in points.iter_mut().enumerate() {
                let v = now[k].0;
                let last = before.get(k).map_or(v, |before| before.0);
                *x = moved(*x, std::array::from_fn(|i| v[i] + ratio * (v[i] - last[i])), step);
                if on_sphere {
                    *x = unit(*x);
                }
            }
        }
        before = now;
    }
    let noise = |x: &[f64; 3]| if on_sphere { -(4.0 * PI).ln() } else { -0.5 * dot(*x, *x) - 1.5 * (2.0 * PI).ln() };
    Ok(points.iter().zip(sums).map(|(x, sum)| noise(x) - sum).collect())
}

/// Radii and their weights in an integral over all radii.
fn radii() -> Vec<(f64, f64)> {
    let at = |k: i32| SCALE * (1.0 + 0.9 * (5.0 * f64::from(k) / f64::from(RADII / 2)).sinh() / 5.0_f64.sinh());
    let all: Vec<f64> = (-RADII / 2..=RADII / 2).map(at).collect();
    let width = |k: usize| 0.5 * (all[(k + 1).min(all.len() - 1)] - all[k.saturating_sub(1)]);
    (0..all.len()).map(|k| (all[k], width(k))).collect()
}

/// Points that move for each place.
pub(crate) fn points_a_place(on_sphere: bool) -> usize {
    if on_sphere { 1 } else { radii().len() }
}

/// Log densities of places in nats per steradian. In R³ a place is a direction: its density is the integral over all radii.
pub(crate) fn log_densities(
    velocity: &mut Velocity<'_>,
    nodes: &[f64],
    places: &[UnitVec],
    on_sphere: bool,
) -> Result<Vec<f64>> {
    let directions = places.iter().map(|place| place.to_array());
    if on_sphere {
        return integrate(velocity, nodes, &directions.collect::<Vec<_>>(), true);
    }
    let radii = radii();
    let ends: Vec<[f64; 3]> =
        directions.flat_map(|place| radii.iter().map(move |(r, _)| place.map(|x| r * x))).collect();
    let logs = integrate(velocity, nodes, &ends, false)?;
    let sum = |logs: &[f64]| {
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let each = logs.iter().zip(&radii).map(|(log, (r, width))| (log - top).exp() * r * r * width);
        top + each.sum::<f64>().ln()
    };
    Ok(logs.chunks_exact(radii.len()).map(sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinates::path::{CoordinatePath, TIMES};
    use locdiff_model::{chance, diffusion::Schedule};

    fn nodes() -> Vec<f64> {
        (0..=100).map(|k| f64::from(k) / 100.0).collect()
    }

    #[test]
    fn a_flow_on_the_sphere_has_its_known_density() {
        // ẋ = a(north − z x): z is tanh(artanh z₀ + a t), so that the density is (1 − z₀²)/(1 − z²)/4π.
        let a = 1.5;
        let mut velocity = |points: &[[f64; 3]], _: usize| -> Result<Vec<[f64; 3]>> {
            Ok(points.iter().map(|x| [-a * x[2] * x[0], -a * x[2] * x[1], a * (1.0 - x[2] * x[2])]).collect())
        };
        let places: Vec<UnitVec> = (0..20).map(|k| chance::point([4, 1, k])).collect();
        let found = log_densities(&mut velocity, &nodes(), &places, true).unwrap();
        for (place, log) in places.iter().zip(found) {
            let start = (place.z().atanh() - a).tanh();
            let known = ((1.0 - start * start) / (1.0 - place.z().powi(2)) / (4.0 * PI)).ln();
            assert!((log - known).abs() < 2e-3, "{log} {known}");
        }
    }

    /// Normal data about a point: velocities of a flow and of a diffusion are known, and so is the density of the directions. The steps cost
    /// up to 0.036 nats.
    #[test]
    fn a_flow_and_a_diffusion_in_space_have_their_known_density() {
        let (mean, deviation) = (SCALE, 0.1);
        let schedule = Schedule::cosine(TIMES).unwrap();
        let places: Vec<UnitVec> = (0..10).map(|k| UnitVec::NORTH.step(0.012 * f64::from(k), 0.003)).collect();
        let known = |place: &UnitVec, mean: f64, deviation: f64| {
            let at = |k: i32| {
                let r = f64::from(k) * 1e-3;
                let squared = r * r - 2.0 * r * mean * place.z() + mean * mean;
                r * r * (-0.5 * squared / deviation.powi(2)).exp() * 1e-3
            };
            ((1..4000).map(at).sum::<f64>() / (2.0 * PI * deviation.powi(2)).powf(1.5)).ln()
        };
        let centred = |x: &[f64; 3], share: f64, by: f64| [by * x[0], by * x[1], by * (x[2] - share * mean)];
        let times = nodes();
        let mut flow = |points: &[[f64; 3]], node: usize| -> Result<Vec<[f64; 3]>> {
            let t = times[node];
            let variance = (t * deviation).powi(2) + (1.0 - t).powi(2);
            let by = (t * deviation * deviation - (1.0 - t)) / variance;
            Ok(points.iter().map(|x| moved(centred(x, t, by), [0.0, 0.0, mean], 1.0)).collect())
        };
        let found = log_densities(&mut flow, &nodes(), &places, false).unwrap();
        for (place, log) in places.iter().zip(found) {
            assert!((log - known(place, mean, deviation)).abs() < 0.05, "{log} {}", known(place, mean, deviation));
        }
        let (angles, numbers) = CoordinatePath::DiffusionR3.nodes(&schedule);
        let mut diffusion = |points: &[[f64; 3]], node: usize| -> Result<Vec<[f64; 3]>> {
            let t = numbers[node] as usize;
            let (signal, noise) = (schedule.signal(t), schedule.noise(t));
            let by = signal * deviation.powi(2) / ((signal * deviation).powi(2) + noise.powi(2));
            let v = |x: &[f64; 3]| -> [f64; 3] {
                let clean = moved(centred(x, signal, by), [0.0, 0.0, mean], 1.0);
                std::array::from_fn(|i| signal * (x[i] - signal * clean[i]) / noise - noise * clean[i])
            };
            // The angle falls from noise to place.
            Ok(points.iter().map(|x| v(x).map(|v| -v)).collect())
        };
        let found = log_densities(&mut diffusion, &angles, &places, false).unwrap();
        let (signal, noise) = (schedule.signal(0), schedule.noise(0));
        for (place, log) in places.iter().zip(found) {
            let known = known(place, signal * mean, (signal * deviation).hypot(noise));
            assert!((log - known).abs() < 0.05, "{log} {known}");
        }
    }
}

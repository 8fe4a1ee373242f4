//! Circles around runs of points: what is far away is passed over together.

use std::{f64::consts::PI, ops::Range};

/// Points of a short run, and short runs of a long one.
const SHORT: usize = 16;
const LONG: usize = 16;
/// Far above the rounding of angles, far below anything on a map.
const MARGIN_RAD: f64 = 1e-7;

/// Points of unit length, best in nested order, in runs with a circle around each.
#[derive(Debug)]
pub(crate) struct Circles {
    count: usize,
    long: Vec<Circle>,
    short: Vec<Circle>,
}

#[derive(Debug)]
struct Circle {
    centre: [f64; 3],
    radius_rad: f64,
    cos: f64,
    sin: f64,
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Circles {
    /// Around so many points.
    pub(crate) fn new(count: usize, point: impl Fn(usize) -> [f64; 3]) -> Self {
        let circle = |run: Range<usize>| {
            let centre = point(run.start.midpoint(run.end));
            let least = run.map(|k| dot(centre, point(k))).fold(1.0, f64::min);
            let radius_rad = least.max(-1.0).acos() + MARGIN_RAD;
            Circle { centre, radius_rad, cos: radius_rad.cos(), sin: radius_rad.sin() }
        };
        let runs = |size: usize| (0..count).step_by(size).map(move |start| start..(start + size).min(count));
        Self { count, long: runs(SHORT * LONG).map(circle).collect(), short: runs(SHORT).map(circle).collect() }
    }

    /// The points that may lie within a distance of one, as ranges in rising order.
    pub(crate) fn near(&self, point: [f64; 3], radius_rad: f64) -> impl Iterator<Item = Range<usize>> {
        let (sin, cos) = radius_rad.sin_cos();
        let is_near = move |circle: &Circle| {
            radius_rad + circle.radius_rad >= PI || dot(circle.centre, point) >= circle.cos * cos - circle.sin * sin
        };
        let long = self.long.iter().zip((0..).step_by(LONG)).filter(move |(circle, _)| is_near(circle));
        let short = long.flat_map(move |(_, first)| (first..).zip(self.short[first..].iter().take(LONG)));
        let near = short.filter(move |(_, circle)| is_near(circle));
        near.map(move |(run, _)| SHORT * run..(SHORT * (run + 1)).min(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::Pixel;

    /// Nothing within the distance is passed over, and little beyond it is not.
    #[test]
    fn what_is_near_is_found() {
        let points: Vec<[f64; 3]> =
            (0..12 << 10).map(|index| Pixel { depth: 5, index }.centre().to_array()).filter(|p| p[2] < 0.9).collect();
        let circles = Circles::new(points.len(), |k| points[k]);
        for (k, radius_rad) in [(17, 0.0), (4000, 1e-3), (900, 0.2), (8000, 2.0), (10, PI)] {
            let found: Vec<usize> = circles.near(points[k], radius_rad).flatten().collect();
            assert!(found.is_sorted());
            let within = |reach: f64| (0..points.len()).filter(move |i| dot(points[*i], points[k]) >= reach.min(PI).cos());
            assert!(within(radius_rad).all(|i| found.binary_search(&i).is_ok()), "{k}, {radius_rad}");
            assert!(found.len() <= within(radius_rad + 0.35).count(), "{k}, {radius_rad}");
        }
    }
}

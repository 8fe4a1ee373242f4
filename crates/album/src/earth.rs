//! The coarse part of all messages: values on Gauss–Legendre rings, where convolution with a heat kernel is exact.

use crate::{Result, blob::Blob, blob::variance_of_km};
use locdiff_map::places::Countries;
use locdiff_model::answer::Calibration;
use locdiff_shdd::Coefficients;
use locdiff_shdd::sphere::{Degree, EARTH_RADIUS_KM, Field, FieldPlan, LatLon, Rings, SphericalHarmonics, UnitVec};
use rayon::prelude::*;
use std::{f64::consts::PI, f64::consts::TAU, sync::OnceLock};

/// Rings and the degree that their quadrature carries exactly; points are about 200 km apart, as fine as densities of L = 31 are.
const RINGS: usize = 96;
const LONGITUDES: usize = 192;
/// Blobs narrower than this are no matter for the grid.
const NARROWEST_KM: f64 = 260.0;

/// How much rarer photos are at sea than on land.
pub(crate) const AT_SEA: f64 = 0.01;

/// Rings, transforms, and the density without a photo.
#[derive(Debug)]
pub(crate) struct Earth {
    pub(crate) rings: Rings,
    pub(crate) points: Vec<UnitVec>,
    /// Area of each point, sr.
    pub(crate) areas: Vec<f64>,
    plan: FieldPlan,
    harmonics: SphericalHarmonics,
    own: FieldPlan,
    /// Density without a photo at the points, and as a function.
    pub(crate) background: Vec<f64>,
    background_field: (Field, f64, f64),
    /// The share of land of each point's cell, seas as [`AT_SEA`].
    pub(crate) land: Vec<f64>,
    /// Density of photos of any kind without one: the background, on land.
    pub(crate) usual: Vec<f64>,
}

impl Earth {
    pub(crate) fn new(calibration: &Calibration) -> Result<Self> {
        let rings = Rings::gauss_legendre(RINGS, LONGITUDES);
        let degree = Degree::new(RINGS - 1)?;
        let own = FieldPlan::new(calibration.background.degree());
        let areas = rings.point_weights();
        let field = own.field(calibration.background.as_slice())?;
        let values = rings.synthesize(&field);
        let floor = calibration.plain_factors()[0].floor;
        let log_scale = (1.0 - floor).ln() - log_sum(&values, &areas);
        let even = floor / (4.0 * PI);
        let background: Vec<f64> = values.iter().map(|value| (value + log_scale).exp() + even).collect();
        let points = rings.points();
        let land = land_of(&points);
        let wide = |(background, land): (&f64, &f64)| (0.8 * background + 0.2 / (4.0 * PI)) * land;
        let mut usual: Vec<f64> = background.iter().zip(&land).map(wide).collect();
        let total: f64 = usual.iter().zip(&areas).map(|(value, area)| value * area).sum();
        usual.iter_mut().for_each(|value| *value /= total);
        let (plan, harmonics) = (FieldPlan::new(degree), SphericalHarmonics::new(degree));
        let background_field = (field, log_scale, even);
        Ok(Self { rings, points, areas, plan, harmonics, own, background, background_field, land, usual })
    }

    /// The field of a photo's natural parameters, and its values at the points.
    pub(crate) fn field(&self, e: &Coefficients) -> Result<(Field, Vec<f64>)> {
        let field = self.own.field(e.as_slice())?;
        let values = self.rings.synthesize(&field);
        Ok((field, values))
    }

    /// Density without a photo.
    pub(crate) fn background_at(&self, points: &[UnitVec]) -> Vec<f64> {
        let (field, log_scale, even) = &self.background_field;
        field.values(points).into_iter().map(|value| (value + log_scale).exp() + even).collect()
    }

    /// The mean over where photos are taken.
    pub(crate) fn expected(&self, values: &[f64]) -> f64 {
        values.iter().zip(&self.usual).zip(&self.areas).map(|((value, usual), area)| value * usual * area).sum()
    }

    pub(crate) fn integral(&self, values: &[f64]) -> f64 {
        values.iter().zip(&self.areas).map(|(value, area)| value * area).sum()
    }

    /// Blobs wider than this belong on the grid.
    pub(crate) fn is_wide(variance: f64) -> bool {
        variance.sqrt() * EARTH_RADIUS_KM > NARROWEST_KM
    }

    /// The grid after jumps of some widths (km along each axis) at some rates an hour, exact in harmonics, one factor a degree.
    pub(crate) fn jumped(&self, grid: &[f64], hours: f64, jumps: &[(f64, f64)]) -> Result<Vec<f64>> {
        let stay = (-hours * jumps.iter().map(|(rate, _)| rate).sum::<f64>()).exp();
        let mut sum = self.rings.analyze(&self.plan, grid)?;
        for l in 0..=self.plan.degree().get() {
            let left: f64 = jumps.iter().map(|(rate, km)| rate * (1.0 - heat(l, variance_of_km(*km)))).sum();
            let factor = (-hours * left).exp() - stay;
            sum[l * l..(l + 1) * (l + 1)].iter_mut().for_each(|c| *c *= factor);
        }
        let moved = self.rings.synthesize(&self.plan.field(&sum)?);
        // What rings below zero is no probability.
        Ok(grid.iter().zip(moved).map(|(grid, moved)| stay * grid + moved.max(0.0)).collect())
    }

    /// Wide blobs as a grid.
    pub(crate) fn wide(&self, blobs: &[Blob]) -> Result<Vec<f64>> {
        let lmax = self.plan.degree().get();
        let mut sum = vec![0.0; (lmax + 1) * (lmax + 1)];
        for blob in blobs {
            let code = self.harmonics.at(blob.centre);
            for l in 0..=lmax {
                let factor = blob.mass * heat(l, blob.variance);
                (l * l..(l + 1) * (l + 1)).for_each(|k| sum[k] += factor * code[k]);
            }
        }
        let values = self.rings.synthesize(&self.plan.field(&sum)?);
        Ok(values.into_iter().map(|value| value.max(0.0)).collect())
    }

    /// The grid's value at a point, linear between its four neighbours.
    pub(crate) fn value_at(&self, grid: &[f64], point: UnitVec) -> f64 {
        let z = self.rings.z();
        let below = z.partition_point(|ring| *ring > point.z()).clamp(1, z.len() - 1);
        let above = below - 1;
        let share = ((z[above] - point.z()) / (z[above] - z[below])).clamp(0.0, 1.0);
        let turn = point.y().atan2(point.x()).rem_euclid(TAU) / TAU * LONGITUDES as f64;
        let (west, part) = (turn.floor() as usize % LONGITUDES, turn.fract());
        let on = |ring: usize| {
            let row = &grid[ring * LONGITUDES..][..LONGITUDES];
            row[west] * (1.0 - part) + row[(west + 1) % LONGITUDES] * part
        };
        on(above) * (1.0 - share) + on(below) * share
    }

    /// Adds a blob to a grid: its mass on the points within three deviations, no fewer than the cell's own neighbours.
    pub(crate) fn add(&self, grid: &mut [f64], blob: &Blob) {
        let cell = PI / RINGS as f64;
        let variance = blob.variance.max(0.3 * cell * cell);
        let reach = 3.0 * variance.sqrt();
        let centre = blob.centre;
        let (z, colatitude) = (self.rings.z(), centre.z().clamp(-1.0, 1.0).acos());
        let first = z.partition_point(|ring| ring.acos() < colatitude - reach);
        let end = z.partition_point(|ring| ring.acos() <= colatitude + reach);
        let turn = centre.y().atan2(centre.x()).rem_euclid(TAU) / TAU * LONGITUDES as f64;
        let mut near: Vec<(usize, f64)> = Vec::new();
        for ring in first..end {
            let around = (1.0 - z[ring] * z[ring]).sqrt();
            let most = LONGITUDES as i64 / 2;
            let half = (((reach / around / TAU) * LONGITUDES as f64).ceil() as i64 + 1).min(most);
            let middle = turn.round() as i64;
            for k in middle - half..middle + half {
                let index = ring * LONGITUDES + k.rem_euclid(LONGITUDES as i64) as usize;
                let angle = self.points[index].angle_rad(centre);
                if angle <= reach {
                    near.push((index, (-0.5 * angle * angle / variance).exp()));
                }
            }
        }
        let total: f64 = near.iter().map(|(index, weight)| weight * self.areas[*index]).sum();
        for (index, weight) in near {
            grid[index] += blob.mass * weight / total;
        }
    }

    /// Nine places spread over the cell of a point.
    pub(crate) fn within_cell(&self, index: usize) -> [UnitVec; 9] {
        within_cell(self.points[index])
    }
}

pub(crate) fn within_cell(point: UnitVec) -> [UnitVec; 9] {
    let place = point.to_latlon();
    let (height, width) = (180.0 / RINGS as f64, 360.0 / LONGITUDES as f64);
    std::array::from_fn(|k| {
        let (i, j) = ((k / 3) as f64 - 1.0, (k % 3) as f64 - 1.0);
        let lat = (place.lat_deg() + i * height / 3.0).clamp(-90.0, 90.0);
        let lon = (place.lon_deg() + j * width / 3.0 + 540.0).rem_euclid(360.0) - 180.0;
        LatLon::new(lat, lon).map_or(point, LatLon::to_unit)
    })
}

/// Whether a place is on land.
pub(crate) fn is_land(point: UnitVec) -> bool {
    Countries::bundled().at(point.to_latlon()).is_some()
}

/// The land in each cell, no less than [`AT_SEA`].
fn land_of(points: &[UnitVec]) -> Vec<f64> {
    static LAND: OnceLock<Vec<f64>> = OnceLock::new();
    let share = |point: &UnitVec| {
        let on_land = within_cell(*point).into_iter().filter(|place| is_land(*place)).count();
        (on_land as f64 / 9.0).max(AT_SEA)
    };
    LAND.get_or_init(|| points.par_iter().map(share).collect()).clone()
}

fn heat(l: usize, variance: f64) -> f64 {
    (-0.5 * (l * (l + 1)) as f64 * variance).exp()
}

/// Log of the integral of the exponential.
pub(crate) fn log_sum(values: &[f64], areas: &[f64]) -> f64 {
    let top = values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    top + values.iter().zip(areas).map(|(value, area)| area * (value - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn flat() -> Earth {
        Earth::new(&Calibration::none(Coefficients::new(vec![0.0; 16]).unwrap())).unwrap()
    }

    /// A wide blob on the grid has its variance and its mass.
    #[test]
    fn a_wide_blob_is_a_heat_kernel() {
        let earth = flat();
        let lima = LatLon::new(-12.0, -77.0).unwrap().to_unit();
        let grid = earth.wide(&[Blob::at_km(lima, 800.0, 1.0)]).unwrap();
        assert!((earth.integral(&grid) - 1.0).abs() < 1e-6);
        let squares: Vec<f64> = grid.iter().zip(&earth.points).map(|(v, p)| v * p.angle_rad(lima).powi(2)).collect();
        let deviation = (earth.integral(&squares) / 2.0).sqrt() * EARTH_RADIUS_KM;
        assert!((deviation / 800.0 - 1.0).abs() < 0.01, "{deviation}");
    }

    /// What has no room among the blobs keeps its mass, its place and its width.
    #[test]
    fn a_blob_on_the_grid_is_as_wide_as_it_was() {
        let earth = flat();
        for (lat, lon, wide) in [(48.0, 2.0, 150.0), (-12.0, 179.9, 230.0), (89.0, 10.0, 200.0), (-89.9, 0.0, 3.0)] {
            let centre = LatLon::new(lat, lon).unwrap().to_unit();
            let mut grid = vec![0.0; earth.points.len()];
            earth.add(&mut grid, &Blob::at_km(centre, wide, 0.7));
            assert!((earth.integral(&grid) - 0.7).abs() < 1e-9);
            let squares: Vec<f64> =
                grid.iter().zip(&earth.points).map(|(v, p)| v * p.angle_rad(centre).powi(2)).collect();
            let deviation = (earth.integral(&squares) / 2.0 / 0.7).sqrt() * EARTH_RADIUS_KM;
            let wanted = f64::max(wide, 110.0);
            assert!((deviation / wanted - 1.0).abs() < 0.15, "{lat} {lon}: {deviation} {wanted}");
        }
    }
}

//! A value in every cell of a window.

use crate::{MapError, Window};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};

/// Values at the cell centres of a window, row after row from north to south.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    window: Window,
    values: Vec<f64>,
}

impl Raster {
    /// A raster from its values in the order of [`Window::points`]. Fails if there is not one value for each cell.
    pub fn new(window: Window, values: Vec<f64>) -> Result<Self, MapError> {
        if values.len() != window.len() {
            return Err(MapError::Values { rows: window.rows(), columns: window.columns(), got: values.len() });
        }
        Ok(Self { window, values })
    }

    /// A raster of a function's values.
    pub fn from_fn(window: Window, value: impl Fn(UnitVec) -> f64) -> Self {
        Self { window, values: window.points().into_iter().map(value).collect() }
    }

    /// The window.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// The values, row after row from north to south.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The value of a cell.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        assert!(column < self.window.columns(), "column {column} of {}", self.window.columns());
        self.values[row * self.window.columns() + column]
    }

    /// The largest value that is not NaN, −∞ if there is none.
    pub fn max(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Log densities smoothed by a Gaussian of about `sigma_km`; the raster itself if its cells are wider than that. What is
    /// 40 nats (natural logarithms of the density) below the top stays there.
    #[must_use]
    pub fn smoothed(&self, sigma_km: f64) -> Self {
        const PASSES: usize = 3;
        /// Columns that are smoothed at a time.
        const LANES: usize = 8;
        const DEPTH_NATS: f64 = 40.0;
        let (window, columns, top) = (&self.window, self.window.columns(), self.max());
        // As many cells on both sides that three running means have this deviation.
        let half = |cell_deg: f64| {
            let cells = (sigma_km / EARTH_RADIUS_KM).to_degrees() / cell_deg;
            (0.5 * ((4.0 * cells * cells + 1.0).sqrt() - 1.0)).round() as usize
        };
        let mut values: Vec<f64> = self.values.iter().map(|value| (value - top).exp()).collect();
        for _ in 0..PASSES {
            for (row, line) in values.chunks_exact_mut(columns).enumerate() {
                let cell_deg = window.cell_width_deg() * window.row_lat_deg(row).to_radians().cos().max(0.01);
                running_mean(line.as_chunks_mut::<1>().0, half(cell_deg).min(columns / 2), window.goes_around());
            }
            let half = half(window.cell_height_deg()).min(window.rows() / 2);
            for first in (0..columns).step_by(LANES) {
                let own = first..(first + LANES).min(columns);
                let mut lines = vec![[0.0; LANES]; window.rows()];
                let pairs = lines.iter_mut().zip(values.chunks_exact(columns));
                pairs.for_each(|(lanes, row)| lanes[..own.len()].copy_from_slice(&row[own.clone()]));
                running_mean(&mut lines, half, false);
                let pairs = lines.iter().zip(values.chunks_exact_mut(columns));
                pairs.for_each(|(lanes, row)| row[own.clone()].copy_from_slice(&lanes[..own.len()]));
            }
        }
        let log = |value: f64| top + value.max((-DEPTH_NATS).exp()).ln();
        Self { window: self.window, values: values.into_iter().map(log).collect() }
    }

    /// The value above which the cells have this area; the least value if they have less together.
    pub fn level_of_area(&self, area_km2: f64) -> f64 {
        let rows = self.values.chunks(self.window.columns()).enumerate();
        let row = |(row, line): (usize, &[f64])| {
            let area_sr = self.window.cell_area_sr(row);
            line.iter().map(|value| (*value, area_sr)).collect::<Vec<_>>()
        };
        let (mut cells, mut left_sr) =
            (rows.flat_map(row).collect::<Vec<_>>(), area_km2 / (EARTH_RADIUS_KM * EARTH_RADIUS_KM));
        let mut rest = &mut cells[..];
        // The half that has the level is halved again: that takes a tenth of sorting all.
        while rest.len() > 1 {
            rest.select_nth_unstable_by(rest.len() / 2, |a, b| b.0.total_cmp(&a.0));
            let half = rest.len() / 2;
            let (above, below) = std::mem::take(&mut rest).split_at_mut(half);
            let held_sr: f64 = above.iter().map(|(_, area_sr)| area_sr).sum();
            rest = if left_sr < held_sr { above } else { below };
            left_sr -= if left_sr < held_sr { 0.0 } else { held_sr };
        }
        rest[0].0
    }

    /// The value at a place by bilinear interpolation between centres, constant beyond the outermost; across the
    /// seam where the window goes around. `right` and `down` count cells from the north-western corner.
    pub(crate) fn sample(&self, down: f64, right: f64) -> f64 {
        self.mixed(self.rows_about(down), self.columns_about(right))
    }

    pub(crate) fn rows_about(&self, down: f64) -> Between {
        between(down, self.window.rows(), false)
    }

    pub(crate) fn columns_about(&self, right: f64) -> Between {
        between(right, self.window.columns(), self.window.goes_around())
    }

    pub(crate) fn mixed(&self, (top, bottom, part_y): Between, (left, after, part_x): Between) -> f64 {
        let mix = |a: f64, b: f64, t: f64| if t == 0.0 { a } else { a * (1.0 - t) + b * t };
        let row = |row| mix(self.get(row, left), self.get(row, after), part_x);
        mix(row(top), row(bottom), part_y)
    }
}

/// Two rows or columns about a place, and the share of the second.
type Between = (usize, usize, f64);

fn between(at: f64, count: usize, goes_around: bool) -> Between {
    if goes_around {
        let at = (at - 0.5).rem_euclid(count as f64);
        let first = (at.floor() as usize).min(count - 1);
        return (first, (first + 1) % count, at.fract());
    }
    let at = (at - 0.5).clamp(0.0, (count - 1) as f64);
    (at.floor() as usize, (at.floor() as usize + 1).min(count - 1), at.fract())
}

/// Replaces each value of some lines next to each other by the mean of those up to `half` cells away, fewer at the ends of lines
/// that do not go around.
fn running_mean<const N: usize>(lines: &mut [[f64; N]], half: usize, goes_around: bool) {
    let count = lines.len();
    if half == 0 || count == 0 {
        return;
    }
    let (mut sums, mut sum) = (Vec::with_capacity(count + 2 * half + 1), [0.0; N]);
    sums.push(sum);
    for k in 0..count + 2 * half {
        // The lines with their ends on both sides.
        let values = if goes_around {
            lines[(k + count - half) % count]
        } else {
            lines.get(k.wrapping_sub(half)).copied().unwrap_or([0.0; N])
        };
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        sums.push(sum);
    }
    for (k, values) in lines.iter_mut().enumerate() {
        let inside = if goes_around { 2 * half + 1 } else { (k + half + 1).min(count) - k.saturating_sub(half) };
        let (before, after) = (&sums[k], &sums[k + 2 * half + 1]);
        *values = std::array::from_fn(|lane| (after[lane] - before[lane]) / inside as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    /// Cells that are likely and unlikely in turn become one bump, whose outline has the area that is asked for.
    #[test]
    fn smoothing_takes_away_cells_and_keeps_the_rest() {
        let place = LatLon::new(50.0, 179.0).unwrap().to_unit();
        let ragged =
            |p: UnitVec| -20.0 * p.angle_rad(place).powi(2) + (1e4 * (p.x() + 2.0 * p.y() + 3.0 * p.z())).sin();
        let raster = Raster::from_fn(Window::globe(180, 360).unwrap(), ragged);
        let smooth = raster.smoothed(300.0);
        let jumps =
            |raster: &Raster| (20..60).map(|row| (raster.get(row, 359) - raster.get(row + 1, 359)).abs()).sum::<f64>();
        assert!(jumps(&smooth) < 0.3 * jumps(&raster), "{} {}", jumps(&smooth), jumps(&raster));
        assert!((smooth.get(40, 0) - smooth.get(40, 357)).abs() < 0.25, "the same on both sides of the antimeridian");
        assert!((raster.smoothed(10.0).get(40, 3) - raster.get(40, 3)).abs() < 1e-9);
        let outline = crate::contour_polygons(&smooth, smooth.level_of_area(4e6));
        let area: f64 = outline.iter().map(locdiff_shdd::sphere::Polygon::area_km2).sum();
        assert!((area / 4e6 - 1.0).abs() < 0.05, "{area}");
    }

    #[test]
    fn samples_meet_the_centres_and_cross_the_seam() {
        let raster = |window: Result<Window, MapError>, values: &[f64]| Raster::new(window?, values.to_vec());
        let globe = raster(Window::globe(2, 4), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
        for (down, right, value) in
            [(0.5, 1.5, 2.0), (1.0, 1.0, 3.5), (0.5, 0.0, 2.5), (0.5, 4.0, 2.5), (-3.0, 0.5, 1.0)]
        {
            assert_eq!(globe.sample(down, right), value);
        }
        let part = raster(Window::new(0.0, 2.0, 0.0, 2.0, 1, 2), &[1.0, 2.0]).unwrap();
        assert_eq!((part.sample(0.5, -1.0), part.sample(0.5, 9.0)), (1.0, 2.0));
        assert!(raster(Window::globe(4, 8), &[0.0; 31]).is_err());
    }

    #[test]
    fn the_maximum_knows_nan_and_minus_infinity() {
        let window = Window::new(-1.0, 1.0, 0.0, 4.0, 1, 4).unwrap();
        let raster = Raster::new(window, vec![f64::NAN, 0.0, f64::NEG_INFINITY, -1.0]).unwrap();
        assert_eq!(raster.max(), 0.0);
    }
}

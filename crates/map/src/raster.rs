//! A value in every cell of a window.

use crate::{MapError, Window};
use locdiff_shdd::sphere::UnitVec;

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

    /// The value at a place by bilinear interpolation between centres, constant beyond the outermost; across the
    /// seam where the window goes around. `right` and `down` count cells from the north-western corner.
    pub(crate) fn sample(&self, down: f64, right: f64) -> f64 {
        let (rows, columns) = (self.window.rows(), self.window.columns());
        let y = (down - 0.5).clamp(0.0, (rows - 1) as f64);
        let (top, fraction_y) = (y.floor() as usize, y.fract());
        let bottom = (top + 1).min(rows - 1);
        let (left, after, fraction_x) = if self.window.goes_around() {
            let x = (right - 0.5).rem_euclid(columns as f64);
            let left = (x.floor() as usize).min(columns - 1);
            (left, (left + 1) % columns, x.fract())
        } else {
            let x = (right - 0.5).clamp(0.0, (columns - 1) as f64);
            let left = x.floor() as usize;
            (left, (left + 1).min(columns - 1), x.fract())
        };
        let mix = |a: f64, b: f64, t: f64| if t == 0.0 { a } else { a * (1.0 - t) + b * t };
        let upper = mix(self.get(top, left), self.get(top, after), fraction_x);
        let lower = mix(self.get(bottom, left), self.get(bottom, after), fraction_x);
        mix(upper, lower, fraction_y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

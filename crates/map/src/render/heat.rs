//! A density as colour.

use super::{canvas::Canvas, colour::heat_colour, view::View};
use crate::Raster;

/// How a raster's values become colour: what is at the top is dark, what is a thousandth of it or less is transparent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heat {
    is_log: bool,
}

impl Heat {
    /// A factor of a thousand.
    const RANGE_NATS: f64 = 6.907755278982137;

    /// The values are log densities, up to a constant.
    pub const fn log_density() -> Self {
        Self { is_log: true }
    }

    /// The values are densities, up to a factor.
    pub const fn density() -> Self {
        Self { is_log: false }
    }

    /// 1 at the top, 0 where colour ends; `None` for what is NaN.
    pub(crate) fn share(self, value: f64, top: f64) -> Option<f64> {
        let below_nats = if self.is_log { top - value } else { (top / value.max(0.0)).ln() };
        let share = if value >= top { 1.0 } else { 1.0 - below_nats / Self::RANGE_NATS };
        (!share.is_nan()).then_some(share)
    }

    pub(super) fn draw(self, canvas: &mut Canvas, view: &View, raster: &Raster) {
        let top = raster.max();
        if top == f64::NEG_INFINITY || (!self.is_log && top <= 0.0) {
            return; // nothing but NaN, or no mass at all
        }
        let window = raster.window();
        let turn_cells = 360.0 / window.cell_width_deg();
        for y in 0..canvas.height {
            let down = (window.north_deg() - view.window.row_lat_deg(y)) / window.cell_height_deg();
            if !(0.0..=window.rows() as f64).contains(&down) {
                continue;
            }
            for x in 0..canvas.width {
                let right = (view.window.column_lon_deg(x) - window.west_deg()) / window.cell_width_deg();
                let right = right.rem_euclid(turn_cells);
                if right > window.columns() as f64 {
                    continue;
                }
                if let Some(share) = self.share(raster.sample(down, right), top) {
                    let (colour, opacity) = heat_colour(share);
                    canvas.blend(x, y, colour, opacity);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_and_log_densities_look_the_same() {
        for value in [1.0, 0.5, 0.01, 1e-9] {
            let linear = Heat::density().share(value, 1.0).unwrap();
            let log = Heat::log_density().share(f64::ln(value), 0.0).unwrap();
            assert!((linear - log).abs() < 1e-12);
        }
        assert_eq!(Heat::density().share(1.0, 1.0), Some(1.0));
        assert_eq!(Heat::log_density().share(-Heat::RANGE_NATS, 0.0), Some(0.0));
        assert_eq!(Heat::density().share(0.0, 1.0), Some(f64::NEG_INFINITY));
        assert_eq!(Heat::log_density().share(f64::NAN, 1.0), None);
    }
}

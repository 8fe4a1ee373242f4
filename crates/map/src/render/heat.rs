//! A density as colour: what is at the top is dark, what is a thousandth of it or less is transparent.

use super::{canvas::Canvas, colour::heat_colour, view::View};
use crate::Raster;

/// A factor of a thousand.
pub(super) const RANGE_NATS: f64 = 6.907755278982137;

/// For a log density 1 at the top, 0 where colour ends; `None` for what is NaN.
pub(crate) fn heat_share(value: f64, top: f64) -> Option<f64> {
    let share = if value >= top { 1.0 } else { 1.0 - (top - value) / RANGE_NATS };
    (!share.is_nan()).then_some(share)
}

pub(super) fn draw_heat(canvas: &mut Canvas, view: &View, raster: &Raster) {
    let top = raster.max();
    if top == f64::NEG_INFINITY {
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
            if let Some(share) = heat_share(raster.sample(down, right), top) {
                let (colour, opacity) = heat_colour(share);
                canvas.blend(x, y, colour, opacity);
            }
        }
    }
}

//! Draws of a density that is known: a control for whatever is read off samples.

use crate::{Result, locdiff::LocDiff, reading::CommonReading};
use locdiff_model::{answer::Globe, chance};
use locdiff_shdd::sphere::{Pixels, UnitVec};
use rayon::prelude::*;

/// Places drawn of the density that a reading makes of a single evaluation, `samples` for each row one after the other.
pub(crate) fn ideal_draws(
    model: &LocDiff,
    globe: &Globe,
    reading: &CommonReading,
    embeddings: &[f32],
    (samples, seed): (usize, u64),
) -> Result<Vec<UnitVec>> {
    let codes = model.evidence(embeddings, 0.0)?;
    let fields = codes.iter().map(|code| model.codec().field(code)).collect::<Result<Vec<_>, _>>()?;
    let pixels = globe.pixels();
    let values: Vec<Vec<f64>> = fields.iter().map(|field| pixels.values(field)).collect();
    Ok(draws(pixels, &values, reading, (samples, seed)))
}

pub(crate) fn draws(
    pixels: &Pixels,
    log_densities: &[Vec<f64>],
    reading: &CommonReading,
    (samples, seed): (usize, u64),
) -> Vec<UnitVec> {
    let draws = log_densities.par_iter().enumerate().flat_map_iter(|(photo, values)| {
        let mut below = reading.masses(values);
        for k in 1..below.len() {
            below[k] += below[k - 1];
        }
        let own = |number: usize| {
            let uniform = |what: u64| chance::uniform(&[seed, photo as u64, number as u64, what]);
            let pixel = below.partition_point(|sum| *sum <= uniform(0)).min(below.len() - 1);
            // Anywhere in a pixel, which is a square of about this half width.
            let half = 0.5 * pixels.area_sr().sqrt();
            let [x, y, z] = pixels.points()[pixel].to_array();
            let moved = [1, 2, 3].map(|axis| half * (2.0 * uniform(axis) - 1.0));
            UnitVec::new(x + moved[0], y + moved[1], z + moved[2]).unwrap_or(pixels.points()[pixel])
        };
        (0..samples).map(own).collect::<Vec<UnitVec>>()
    });
    draws.collect()
}

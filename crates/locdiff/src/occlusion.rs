//! Which parts of a photo support its answer, and the sampling steps as locations.

use crate::{EmbeddedPhoto, LocateOptions, Locator, error::Result};
use locdiff_model::{ModelError, Reading, TraceStep, answer::ReadText};
use locdiff_shdd::{Decoder, sphere::EARTH_RADIUS_KM, sphere::LatLon};
use locdiff_vision::Photo;
use rayon::prelude::*;

const PARTS: usize = 8;
/// Samples of an animation and its steps: enough to see where they gather.
const SAMPLES: usize = 24;
const STEPS: usize = 16;

/// Effect of each part of a photo on its location, by [`Locator::occlusion`]: the log density there, minus that with the part painted over.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Occlusion {
    /// Location of the whole photo.
    pub at: LatLon,
    /// Number of parts from top to bottom.
    pub rows: usize,
    /// Number of parts from left to right.
    pub columns: usize,
    /// Effect of each part, row by row, in nats: positive parts support the location, negative ones contradict it.
    pub nats: Vec<f64>,
}

impl Locator {
    /// Paints over one part of a photo after the other, in its mean colour, and measures the change in log density. A photo of 8 × 6 parts takes
    /// the time of 49 photos. Half of the neighbours is painted too. Fails as [`Locator::answer`] does.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{Locator, LocateOptions, Photo, PhotoLimits};
    /// # let path = "../../fixtures/vision/china.jpg";
    /// let photo = Photo::open(path.as_ref(), &PhotoLimits::default())?;
    /// let parts = Locator::bundled()?.occlusion(&photo, &LocateOptions::default())?;
    /// assert_eq!((parts.rows, parts.columns, parts.nats.len()), (5, 8, 40));
    /// assert!(parts.nats.iter().any(|nats| *nats > 0.0));
    /// # }
    /// # Ok::<(), locdiff::LocateError>(())
    /// ```
    pub fn occlusion(&self, photo: &Photo, options: &LocateOptions) -> Result<Occlusion> {
        let options = &options.resolved()?;
        let (width, height) = (photo.width() as usize, photo.height() as usize);
        let longer = width.max(height);
        let [rows, columns] = [height, width].map(|side| ((PARTS * side + longer / 2) / longer).clamp(2, PARTS));
        let seen = self.embed(photo, options)?;
        let whole = self.answer(&seen, options)?;
        // Text is read once: a line counts unless its middle is painted over.
        let unread = options.clone().text(false);
        let before = self.log_densities_at(whole.best, &[&seen], options)?[0];
        let small = self.encoder().map_or(photo, |encoder| encoder.looks_at(photo));
        let colour = mean_colour(small.rgb());
        let mut nats = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            let block: Result<Vec<EmbeddedPhoto>> = (0..columns)
                .into_par_iter()
                .map(|column| {
                    let span = |k: usize, count: usize, side: u32| {
                        let side = side as usize;
                        let (from, to) = ((2 * k).saturating_sub(1), 2 * k + 3);
                        (from * side / (2 * count), (to * side).div_ceil(2 * count).min(side))
                    };
                    let (x, y) = (span(column, columns, photo.width()), span(row, rows, photo.height()));
                    let is_inside = |at: f32, span: (usize, usize)| span.0 as f32 <= at && at < span.1 as f32;
                    let middle =
                        |line: &ReadText, axis: usize| line.corners.iter().map(|at| at[axis]).sum::<f32>() / 4.0;
                    let is_left = |line: &&ReadText| !is_inside(middle(line, 0), x) || !is_inside(middle(line, 1), y);
                    let text = seen.text.iter().filter(is_left).cloned().collect();
                    let spans = (span(column, columns, small.width()), span(row, rows, small.height()));
                    Ok(EmbeddedPhoto { text, ..self.embed(&small.painted(spans.0, spans.1, colour), &unread)? })
                })
                .collect();
            let after = self.log_densities_at(whole.best, &block?.iter().collect::<Vec<_>>(), options)?;
            nats.extend(after.iter().map(|log| before - log));
        }
        Ok(Occlusion { at: whole.best, rows, columns, nats })
    }

    /// Returns the backward process of 24 samples, noisiest step first: the time step, and the location of each sample's code. Fails as
    /// [`Locator::answer`] does.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{Locator, LocateOptions, Photo, PhotoLimits};
    /// # let path = "../../fixtures/vision/china.jpg";
    /// let (locator, options) = (Locator::bundled()?, LocateOptions::default());
    /// let photo = Photo::open(path.as_ref(), &PhotoLimits::default())?;
    /// let steps = locator.sampled_steps(&locator.embed(&photo, &options)?, &options)?;
    /// assert!(steps.windows(2).all(|pair| pair[0].0 > pair[1].0 && pair[0].1.len() == pair[1].1.len()));
    /// # }
    /// # Ok::<(), locdiff::LocateError>(())
    /// ```
    pub fn sampled_steps(&self, photo: &EmbeddedPhoto, options: &LocateOptions) -> Result<Vec<(usize, Vec<LatLon>)>> {
        let samples = SAMPLES.max(photo.views.len());
        let mut asked = options.resolved()?.samples(samples);
        asked.steps = STEPS;
        if asked.known().is_some() || !asked.clue.is_empty() {
            let remedy = "samples know no region, prior or clue: leave out one of them";
            return Err(locdiff_base::setting("steps", "with prior knowledge", remedy));
        }
        let steps = self.trace(photo, &asked)?;
        let codec = self.predictor().codec();
        let decoder = Decoder::Exact { window_rad: Some(Reading::default().window_km / EARTH_RADIUS_KM) };
        let step = |TraceStep { t, samples, .. }: TraceStep| {
            let found = codec.decode_batch(&samples, &decoder).map_err(ModelError::from)?;
            Ok((t, found.into_iter().map(|mode| mode.point.to_latlon()).collect()))
        };
        steps.into_iter().map(step).collect()
    }
}

pub(crate) fn mean_colour(rgb: &[u8]) -> [u8; 3] {
    let (pixels, _) = rgb.as_chunks::<3>();
    let count = pixels.len().max(1) as u64;
    std::array::from_fn(|k| (pixels.iter().map(|pixel| u64::from(pixel[k])).sum::<u64>() / count) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_painted_and_nothing_else() {
        let photo = Photo::from_rgb(4, 3, (0..36).collect()).unwrap();
        let done = photo.painted((1, 3), (0, 2), [9, 9, 9]);
        let changed: Vec<usize> =
            (0..12).filter(|k| done.rgb()[3 * k..3 * k + 3] != photo.rgb()[3 * k..3 * k + 3]).collect();
        assert_eq!(changed, [1, 2, 5, 6]);
        assert_eq!(mean_colour(&[0, 10, 20, 2, 20, 40]), [1, 15, 30]);
    }

    /// A part's effect is what a whole answer for the painted photo would lose there.
    #[cfg(feature = "bundled")]
    #[test]
    fn a_part_is_worth_what_the_density_loses() {
        let path = "../../fixtures/vision/china.jpg";
        let photo = Photo::open(path.as_ref(), &locdiff_vision::PhotoLimits::default()).unwrap();
        let (locator, options) = (Locator::bundled().unwrap(), LocateOptions::default().text(false));
        let parts = locator.occlusion(&photo, &options).unwrap();
        let (width, height) = (photo.width() as usize, photo.height() as usize);
        // The first part, with half of its neighbours.
        let end = |side: usize, count: usize| (3 * side).div_ceil(2 * count);
        let (x, y) = ((0, end(width, parts.columns)), (0, end(height, parts.rows)));
        let without = photo.painted(x, y, mean_colour(photo.rgb()));
        let log = |photo: &Photo| {
            let answer = locator.answer(&locator.embed(photo, &options).unwrap(), &options).unwrap();
            answer.from_density.unwrap().density.log_density(&[parts.at.to_unit()])[0]
        };
        let lost = log(&photo) - log(&without);
        assert!((parts.nats[0] - lost).abs() < 1e-9, "{} and {lost}", parts.nats[0]);
        assert!(parts.nats.iter().any(|nats| (nats - lost).abs() > 1e-3));
    }
}

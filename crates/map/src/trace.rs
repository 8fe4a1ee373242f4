//! A density that changes: the steps of the backward process as an animation.

use crate::{MapError, MapImage, Raster, Window, render::GlobeImage};
use gif::{Encoder, Frame, Repeat};
use locdiff_shdd::sphere::LatLon;

/// Steps with their log densities on the whole Earth, first to last.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    caption: String,
    frames: Vec<(String, Raster)>,
    answer: Option<LatLon>,
}

impl Trace {
    /// A trace without steps yet, by what its densities are.
    pub fn new(caption: &str) -> Self {
        Self { caption: caption.to_owned(), frames: Vec::new(), answer: None }
    }

    /// Adds a step: a label such as "t = 0.98", and log densities up to a constant. All steps have one window.
    pub fn push(&mut self, label: &str, log_density: Raster) {
        self.frames.push((label.to_owned(), log_density));
    }

    /// Where it ends: marked at the end of the animation.
    #[must_use]
    pub fn answer(self, place: LatLon) -> Self {
        Self { answer: Some(place), ..self }
    }

    /// An endless animation of 4 seconds on a globe that turns to the answer, `side` pixels wide and high, then a rest at its
    /// last step. Fails for more pixels than a GIF can have, or none.
    pub fn to_gif(&self, side: usize) -> Result<Vec<u8>, MapError> {
        const MOMENTS: usize = 40;
        const HUNDREDTHS: u16 = 10;
        const LAST_HUNDREDTHS: u16 = 250;
        /// The globe turns so far.
        const TURN_DEG: f64 = 80.0;
        const WORLD_ROWS: usize = 540;
        /// Of NeuQuant's 1 (best) to 30 (fastest).
        const SPEED: i32 = 10;
        const WHOLE: &str = "an animation of a checked size goes into memory";
        let size = u16::try_from(side).ok().filter(|size| *size > 0 && *size < 4096);
        let size = size.ok_or(MapError::Cells { rows: side, columns: side })?;
        let world = MapImage::new(Window::globe(WORLD_ROWS, 2 * WORLD_ROWS)?);
        let globe = GlobeImage::new(world.to_rgb(), WORLD_ROWS, side);
        let mut encoder = Encoder::new(Vec::new(), size, size, &[]).expect(WHOLE);
        encoder.set_repeat(Repeat::Infinite).expect(WHOLE);
        let moments = if self.frames.is_empty() { 0 } else { MOMENTS };
        let [lat, lon] = self.answer.map_or([0.0; 2], |place| [place.lat_deg(), place.lon_deg()]);
        for moment in 0..moments {
            let passed = moment as f64 / (MOMENTS - 1) as f64;
            let is_last = moment + 1 == MOMENTS;
            // The first steps do most: they take longer.
            let (label, raster) = self.at(passed * passed * (self.frames.len() - 1) as f64)?;
            let left = (1.0 - passed) * (1.0 - passed);
            let east = (lon - TURN_DEG * left + 540.0).rem_euclid(360.0) - 180.0;
            let Ok(centre) = LatLon::new((0.8 - 0.4 * left) * lat, east) else { continue };
            let marked = self.answer.filter(|_| is_last);
            let rgb = globe.draw(&raster, centre, &format!("{label}\n{}", self.caption), marked);
            let mut frame = Frame::from_rgb_speed(size, size, &rgb, SPEED);
            frame.delay = if is_last { LAST_HUNDREDTHS } else { HUNDREDTHS };
            encoder.write_frame(&frame).expect(WHOLE);
        }
        Ok(encoder.into_inner().expect(WHOLE))
    }

    /// The label and log density between two steps, each with its peak at 0.
    fn at(&self, moment: f64) -> Result<(&str, Raster), MapError> {
        let step = (moment as usize).min(self.frames.len() - 1);
        let (before, after) = (&self.frames[step].1, &self.frames[(step + 1).min(self.frames.len() - 1)].1);
        let (part, tops) = (moment - step as f64, [before.max(), after.max()]);
        let pairs = before.values().iter().zip(after.values());
        let mixed = pairs.map(|(a, b)| (1.0 - part) * (a - tops[0]) + part * (b - tops[1])).collect();
        Ok((
            &self.frames[(moment.round() as usize).min(self.frames.len() - 1)].0,
            Raster::new(*before.window(), mixed)?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let place = LatLon::new(48.0, 11.0).unwrap();
        let mut trace = Trace::new("of a test").answer(place);
        for kappa in [0.1, 3.0, 40.0] {
            let window = Window::globe(30, 60).unwrap();
            trace.push(&format!("κ = {kappa}"), Raster::from_fn(window, |p| kappa * p.dot(place.to_unit())));
        }
        trace
    }

    #[test]
    fn a_decoder_reads_the_animation() {
        let film = trace().to_gif(160).unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(film.as_slice()).unwrap();
        assert_eq!((decoder.width(), decoder.height()), (160, 160));
        let (mut delays, mut dark) = (Vec::new(), Vec::new());
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            delays.push(frame.delay);
            dark.push(frame.buffer.chunks_exact(4).filter(|pixel| pixel[1] < 90).count());
        }
        assert_eq!((delays.len(), delays.iter().sum::<u16>()), (40, 640));
        // The first step is dark all over, the last about the place alone.
        assert!(dark[0] > 5000 && (1..3000).contains(&dark[39]), "{} {}", dark[0], dark[39]);
    }

    #[test]
    fn sizes_that_no_film_has_are_refused() {
        for side in [0, 40_000, usize::MAX] {
            assert!(matches!(trace().to_gif(side), Err(MapError::Cells { .. })), "{side}");
        }
    }
}

//! A density that changes: the steps of the backward process as an animation, a page, or a sheet of maps.

use crate::{Heat, HtmlMarker, HtmlPhoto, MapError, MapImage, Raster, Window, render::GlobeImage, sheet_png};
use gif::{Encoder, Frame, Repeat};
use locdiff_shdd::sphere::LatLon;

/// Steps with their log densities on the whole Earth, first to last.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    name: String,
    caption: String,
    frames: Vec<(String, Raster)>,
    answer: Option<(LatLon, String)>,
}

impl Trace {
    /// A trace without steps yet, by the photo's name and what its densities are.
    pub fn new(name: &str, caption: &str) -> Self {
        Self { name: name.to_owned(), caption: caption.to_owned(), frames: Vec::new(), answer: None }
    }

    /// Adds a step: a label such as "t = 0.98", and log densities up to a constant. All steps have one window.
    pub fn push(&mut self, label: &str, log_density: Raster) {
        self.frames.push((label.to_owned(), log_density));
    }

    /// Where it ends, in words: marked on the page and at the end of the animation.
    #[must_use]
    pub fn answer(mut self, place: LatLon, label: &str) -> Self {
        self.answer = Some((place, label.to_owned()));
        self
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
        let [lat, lon] = self.answer.as_ref().map_or([0.0; 2], |(place, _)| [place.lat_deg(), place.lon_deg()]);
        for moment in 0..moments {
            let passed = moment as f64 / (MOMENTS - 1) as f64;
            let is_last = moment + 1 == MOMENTS;
            // The first steps do most: they take longer.
            let (label, raster) = self.at(passed * passed * (self.frames.len() - 1) as f64)?;
            let left = (1.0 - passed) * (1.0 - passed);
            let east = (lon - TURN_DEG * left + 540.0).rem_euclid(360.0) - 180.0;
            let Ok(centre) = LatLon::new((0.8 - 0.4 * left) * lat, east) else { continue };
            let marked = self.answer.as_ref().filter(|_| is_last).map(|(place, _)| *place);
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

    /// Maps of at most `most` steps, evenly spread from the first to the last, `columns` beside each other and each `rows`
    /// pixels high. Fails with [`MapError::Cells`] for maps or sheets of a size that cannot be drawn.
    pub fn to_png(&self, most: usize, columns: usize, rows: usize) -> Result<Vec<u8>, MapError> {
        let window = Window::globe(rows, rows.saturating_mul(2))?;
        let (last, shown) = (self.frames.len().saturating_sub(1), most.clamp(1, self.frames.len().max(1)));
        let indices = (1..=shown).map(|k| if shown == 1 { last } else { (k - 1) * last / (shown - 1) });
        let images: Vec<_> = indices.filter(|k| *k < self.frames.len()).map(|k| self.image(k, window)).collect();
        sheet_png(&images, columns)
    }

    /// The map of a step; the answer is marked on the last.
    fn image(&self, index: usize, window: Window) -> MapImage {
        let (label, raster) = &self.frames[index];
        let image = MapImage::new(window)
            .heat(raster.clone(), Heat::log_density())
            .title(&format!("{label}\n{}", self.caption));
        match &self.answer {
            Some((place, _)) if index + 1 == self.frames.len() => image.marker(*place),
            _ => image,
        }
    }

    /// A page with a slider and a play button that begins with the first step; see [`HtmlPhoto`].
    pub fn to_html(&self) -> String {
        let mut photo = HtmlPhoto::new(&self.name).fact("colour", &self.caption);
        for (label, raster) in &self.frames {
            photo = photo.frame(label, raster, Heat::log_density());
        }
        if let Some((place, label)) = &self.answer {
            photo = photo.summary(label).marker(HtmlMarker::new(*place, label));
        }
        photo.to_html(format!("{} – step by step", self.name).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let place = LatLon::new(48.0, 11.0).unwrap();
        let mut trace = Trace::new("<script>.jpg", "of a test").answer(place, "in Munich");
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
        for (most, maps) in [(1, 1), (2, 2), (3, 3), (9, 3)] {
            let sheet = trace().to_png(most, 1, 60).unwrap();
            let height = u32::from_be_bytes(sheet[20..24].try_into().unwrap());
            assert!((60 * maps..70 * maps).contains(&height), "{most}: {height} pixels");
        }
        let page = trace().to_html();
        assert!(page.contains("κ = 40") && !page.contains("<script>.jpg"));
    }
}

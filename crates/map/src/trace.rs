//! A density that changes: the steps of the backward process as a film, a page, or a sheet of maps.

use crate::{Heat, HtmlMap, HtmlMarker, HtmlPhoto, MapError, MapImage, Raster, Window, sheet_png};
use gif::{Encoder, Frame, Repeat};
use locdiff_shdd::sphere::LatLon;

/// Steps with their log densities, first to last.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    name: String,
    frames: Vec<(String, Raster)>,
    answer: Option<(LatLon, String)>,
}

impl Trace {
    /// A trace without steps yet, by the photo's name.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), frames: Vec::new(), answer: None }
    }

    /// Adds a step: a label such as "t = 0.98", and log densities up to a constant.
    pub fn push(&mut self, label: &str, log_density: Raster) {
        self.frames.push((label.to_owned(), log_density));
    }

    /// Where it ends, in words: marked on the page and in the film's last frame.
    #[must_use]
    pub fn answer(mut self, place: LatLon, label: &str) -> Self {
        self.answer = Some((place, label.to_owned()));
        self
    }

    /// An endless film of the world, `rows` pixels high and twice as wide. Fails for more rows than a GIF can have, or none.
    pub fn to_gif(&self, rows: usize) -> Result<Vec<u8>, MapError> {
        const HUNDREDTHS: u16 = 18;
        const LAST_HUNDREDTHS: u16 = 250;
        /// Of NeuQuant's 1 (best) to 30 (fastest).
        const SPEED: i32 = 10;
        const WHOLE: &str = "a film of a checked size goes into memory";
        let columns = rows.saturating_mul(2);
        let size = u16::try_from(columns).ok().filter(|&columns| columns > 0);
        let width = size.ok_or(MapError::Cells { rows, columns })?;
        let window = Window::globe(rows, columns)?;
        let mut encoder = Encoder::new(Vec::new(), width, width / 2, &[]).expect(WHOLE);
        encoder.set_repeat(Repeat::Infinite).expect(WHOLE);
        for index in 0..self.frames.len() {
            let is_last = index + 1 == self.frames.len();
            let mut frame = Frame::from_rgb_speed(width, width / 2, &self.image(index, window).to_rgb(), SPEED);
            frame.delay = if is_last { LAST_HUNDREDTHS } else { HUNDREDTHS };
            encoder.write_frame(&frame).expect(WHOLE);
        }
        Ok(encoder.into_inner().expect(WHOLE))
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
        let image = MapImage::new(window).heat(raster.clone(), Heat::log_density()).title(label);
        match &self.answer {
            Some((place, _)) if index + 1 == self.frames.len() => image.marker(*place),
            _ => image,
        }
    }

    /// A page with a slider and a play button; see [`HtmlMap`].
    pub fn to_html(&self) -> String {
        let mut photo = HtmlPhoto::new(&self.name);
        for (label, raster) in &self.frames {
            photo = photo.frame(label, raster, Heat::log_density());
        }
        if let Some((place, label)) = &self.answer {
            photo = photo.summary(label).marker(HtmlMarker::new(*place, label));
        }
        HtmlMap::new(format!("{} – step by step", self.name).as_str()).photo(photo).to_html()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let place = LatLon::new(48.0, 11.0).unwrap();
        let mut trace = Trace::new("<script>.jpg").answer(place, "in Munich");
        for kappa in [0.1, 3.0, 200.0] {
            let window = Window::globe(30, 60).unwrap();
            trace.push(&format!("κ = {kappa}"), Raster::from_fn(window, |p| kappa * p.dot(place.to_unit())));
        }
        trace
    }

    #[test]
    fn a_decoder_reads_the_film() {
        let film = trace().to_gif(240).unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(film.as_slice()).unwrap();
        assert_eq!((decoder.width(), decoder.height()), (480, 240));
        let mut frames = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            frames.push((frame.delay, frame.buffer.to_vec()));
        }
        assert_eq!(frames.iter().map(|frame| frame.0).collect::<Vec<_>>(), [18, 18, 250]);
        // Far from the place the first step is dark and the last is plain sea.
        let pixel = |frame: usize, row: usize, column: usize| {
            let at = 4 * (row * 480 + column);
            <[u8; 3]>::try_from(&frames[frame].1[at..at + 3]).unwrap().map(i32::from)
        };
        let (first, last) = (pixel(0, 180, 360), pixel(2, 180, 360));
        let apart: i32 = first.iter().zip(last).map(|(a, b)| (a - b).abs()).sum();
        assert!(apart > 150, "{first:?} {last:?}");
    }

    #[test]
    fn sizes_that_no_film_has_are_refused() {
        for rows in [0, 40_000, usize::MAX] {
            assert!(matches!(trace().to_gif(rows), Err(MapError::Cells { .. })), "{rows}");
        }
        for (most, maps) in [(1, 1), (2, 2), (3, 3), (9, 3)] {
            let sheet = trace().to_png(most, 1, 60).unwrap();
            let height = u32::from_be_bytes(sheet[20..24].try_into().unwrap());
            assert!((60 * maps..70 * maps).contains(&height), "{most}: {height} pixels");
        }
        let page = trace().to_html();
        assert!(page.contains("κ = 200") && !page.contains("<script>.jpg"));
    }
}

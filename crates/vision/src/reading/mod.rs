//! Reads text in photos: where lines are, and what they say.
//!
//! A detector (PP-OCRv6) finds lines in the photo made smaller. If the photo is larger and there are any, it looks again,
//! closer, at the part that holds them. A recogniser reads each line, turned upright. Both run on the calling thread except
//! that lines are read by all threads of the pool. The result has the same bits whatever the number of threads.

mod crop;
mod detect;
mod kernels;
mod network;
mod recognise;
#[cfg(test)]
mod tests;

use crate::{Photo, Result, network::Pool, preprocessing::resize::ResizeFilter, preprocessing::resize::window};
use detect::{Found, Least};
use locdiff_base::TensorFile;
use network::{Buffers, Map, Network, unsound};
use rayon::prelude::*;
use std::{io::Cursor, ops::Range};

/// The longer side of the photo at the first look.
const FIRST_SIDE: f64 = 896.0;
/// The longer side that it may have at the second look, and the pixels.
const SECOND_SIDE: f64 = 2048.0;
const SECOND_PIXELS: f64 = 2_000_000.0;
/// The shorter side of a smaller photo at the second look, if that does not make it larger than twice its size.
const SECOND_SHORT_SIDE: f64 = 736.0;
/// The detector's sides are multiples of this.
const GRID: u32 = 32;
/// What is looked at again reaches so many pixels beyond the lines.
const MARGIN: f32 = 320.0;
/// Lines that are read of a photo, at the most: the highest.
const MOST_LINES: usize = 200;
/// Lines below this confidence are left out.
const LEAST_CONFIDENCE: f32 = 0.3;
/// A line below this confidence is read upside down, too. Those of turned lines are more often upside down.
const SURE: f32 = 0.9;
const SURE_TURNED: f32 = 0.9;
/// A line below the first confidence is of a script that the recogniser cannot read if that is at least so probable.
const UNREAD: [f32; 2] = [0.93, 0.55];
/// Pixels of a line's picture for each place of the recogniser.
const PLACE: usize = 8;
/// A line that is so many times higher than wide runs down or up.
const TURNED: f32 = 1.5;

/// A line of text in a photo.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextLine {
    /// What it says. It may hold characters of any script, and those that change the direction of writing. "(Thai letters)" is a line of
    /// a script that cannot be read; its confidence is the probability of that script.
    pub text: String,
    /// The mean probability of its characters, from 0 to 1.
    pub confidence: f32,
    /// Corners of the rectangle around it as (x, y) in pixels of the photo, clockwise from the upper left of the upright text.
    /// They may lie a little outside the photo.
    pub corners: [[f32; 2]; 4],
}

/// The networks that read text in photos (PP-OCRv6 tiny and small, Apache-2.0), as `lab/scripts/reading_model.py` writes them.
pub fn reader_weights() -> &'static [u8] {
    include_bytes!("../../reading/reading.safetensors")
}

/// Finds and reads text in photos.
///
/// ```
/// use locdiff_vision::{Photo, TextReader};
/// let reader = TextReader::new(locdiff_vision::reader_weights())?;
/// let blank = Photo::from_rgb(64, 64, vec![128; 3 * 64 * 64])?;
/// assert!(reader.read(&blank).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TextReader {
    /// A smaller detector.
    glance: Network,
    detector: Network,
    recogniser: Network,
    /// The first stands for no character.
    characters: Vec<char>,
    /// Scripts that are told but not read; the first stands for all others.
    scripts: Vec<String>,
    buffers: Pool<Buffers>,
}

impl TextReader {
    /// Opens the bytes of a model, as `lab/scripts/reading_model.py` writes it. Fails if it is damaged.
    pub fn new(model: &[u8]) -> Result<Self> {
        let file = TensorFile::new(Cursor::new(model), model.len() as u64);
        let mut file = file.map_err(|error| unsound(error.to_string()))?;
        let [glance, detector, recogniser] =
            ["glance", "detect", "recognise"].map(|name| Network::read(&mut file, name));
        let (glance, detector, recogniser) = (glance?, detector?, recogniser?);
        let mut texts = file.header().texts();
        let scripts: Vec<String> = texts
            .remove("scripts")
            .into_iter()
            .flat_map(|all| all.split('\n').map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let characters = texts.remove("characters").unwrap_or_default();
        let characters: Vec<char> = characters.split('\n').map(|text| text.chars().next().unwrap_or('\0')).collect();
        let known = characters.len() + scripts.len();
        if recogniser.outputs() != known || [&glance, &detector].iter().any(|network| network.outputs() != 1) {
            let outputs = recogniser.outputs();
            return Err(unsound(format!("{outputs} outputs for {known} characters and scripts")));
        }
        Ok(Self { glance, detector, recogniser, characters, scripts, buffers: Pool::default() })
    }

    /// The lines of a photo from top to bottom, at most 200.
    pub fn read(&self, photo: &Photo) -> Vec<TextLine> {
        let mut found = self.find(photo);
        if found.len() > MOST_LINES {
            let height = |found: &Found| found.sides().into_iter().fold(f32::INFINITY, f32::min);
            found.sort_by(|a, b| height(b).total_cmp(&height(a)));
            found.truncate(MOST_LINES);
        }
        found.sort_by(|a, b| {
            let [a, b] = [a, b].map(|found| found.corners[0]);
            a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0]))
        });
        found.par_iter().filter_map(|found| self.read_line(photo, found)).collect()
    }

    /// Rectangles around lines, in pixels of the photo.
    fn find(&self, photo: &Photo) -> Vec<Found> {
        let (width, height) = (photo.width(), photo.height());
        let [long, short] = [width.max(height), width.min(height)].map(f64::from);
        let first = scaled(width, height, (FIRST_SIDE / long).min(1.0));
        let found = self.look(&self.glance, Least::GLANCE, photo, first, [0..first.0, 0..first.1]);
        if found.is_empty() {
            return found;
        }
        let most = (SECOND_SIDE / long).min((SECOND_PIXELS / (long * short)).sqrt());
        let second = scaled(width, height, (SECOND_SHORT_SIDE / short).clamp(1.0, 2.0).min(most));
        // The part of the larger picture that holds all lines.
        let part = |k: usize, side: u32, from: u32| {
            let places =
                found.iter().flat_map(|found| found.corners).map(|corner| corner[k] * side as f32 / from as f32);
            let [low, high] = places.fold([side as f32, 0.0], |[low, high], at| [low.min(at), high.max(at)]);
            let low = (low - MARGIN).max(0.0) as u32 / GRID * GRID;
            low.min(side - GRID)..((high + MARGIN) as u32).next_multiple_of(GRID).clamp(low + GRID, side)
        };
        self.look(&self.detector, Least::LINE, photo, second, [part(0, second.0, width), part(1, second.1, height)])
    }

    /// The lines in a part of the photo made as large as `to`.
    fn look(
        &self,
        network: &Network,
        least: Least,
        photo: &Photo,
        to: (u32, u32),
        [across, down]: [Range<u32>; 2],
    ) -> Vec<Found> {
        let span = |range: &Range<u32>| range.start as usize..range.end as usize;
        let rgb = window(photo, to, span(&across), span(&down), ResizeFilter::Bilinear);
        let mut picture = Map::picture([down.len(), across.len()]);
        let values = picture.values_mut().iter_mut().zip(&rgb);
        values.for_each(|(value, &byte)| *value = crop::normalised(f32::from(byte)));
        let mut found = self.buffers.with(|buffers| {
            let map = network.run(picture, buffers);
            let found = detect::find_lines(map.values(), across.len(), least);
            buffers.give_back(map);
            found
        });
        let factors = [photo.width() as f32 / to.0 as f32, photo.height() as f32 / to.1 as f32];
        let first = [across.start as f32, down.start as f32];
        for corner in found.iter_mut().flat_map(|found| &mut found.corners) {
            *corner = [0, 1].map(|k| (corner[k] + first[k]) * factors[k]);
        }
        found
    }

    fn read_line(&self, photo: &Photo, found: &Found) -> Option<TextLine> {
        let [across, down] = found.sides();
        let is_turned = down >= TURNED * across;
        let turn = usize::from(is_turned);
        let (mut line, mut script) = self.attempt(photo, found, turn);
        if line.confidence < if is_turned { SURE_TURNED } else { SURE } {
            let (other, other_script) = self.attempt(photo, found, turn + 2);
            if is_turned && other_script.1 > script.1 {
                script = other_script;
            }
            if other.confidence > line.confidence {
                line = other;
            }
        }
        if line.confidence < UNREAD[0] && script.0 > 0 && script.1 >= UNREAD[1] {
            return Some(TextLine {
                text: format!("({} letters)", self.scripts[script.0]),
                confidence: script.1,
                ..line
            });
        }
        (line.confidence >= LEAST_CONFIDENCE && !line.text.is_empty()).then_some(line)
    }

    /// The line as it reads from the corner of this number, its likeliest script and the probability of that.
    fn attempt(&self, photo: &Photo, found: &Found, turn: usize) -> (TextLine, (usize, f32)) {
        let corners = std::array::from_fn(|k| found.corners[(k + turn) % 4]);
        let [length, height] = Found { corners, ..*found }.sides();
        let width = crop::width_of(length, height);
        let picture = crop::cut(photo, &corners, width);
        let ((text, confidence), script) = self.buffers.with(|buffers| {
            let logits = self.recogniser.run(picture, buffers);
            let (values, counts) = (logits.values(), [self.characters.len(), self.scripts.len()]);
            let read = recognise::decode(values, logits.stride, &self.characters);
            let script = recognise::script(values, logits.stride, counts[0], counts[1], width.div_ceil(PLACE));
            buffers.give_back(logits);
            (read, script)
        });
        (TextLine { text, confidence, corners }, script)
    }
}

/// A size multiplied by a factor, in multiples of [`GRID`].
fn scaled(width: u32, height: u32, factor: f64) -> (u32, u32) {
    let side = |side: u32| (f64::from(side) * factor / f64::from(GRID)).round().max(1.0) as u32 * GRID;
    (side(width), side(height))
}

//! Many photos, batch after batch: one is decoded while the network is at the one before. A device that decodes JPEG files gets
//! the files themselves, all others pixels.

use super::Encoder;
use crate::{Photo, PhotoFacts, PhotoLimits, Result, network::Started, photo::plain_jpeg, photo::reduced_for};
use locdiff_base::timed;
use locdiff_nn::photos::{Jpeg, Picture, TakenJpeg};

/// A photo that [`Encoder::prepare`] has read.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) picture: Picture,
    /// What it is called in messages, and what it may ask for: the device may leave it to the host.
    name: String,
    limits: PhotoLimits,
}

/// Photos that an encoder has begun with.
pub struct Begun(Vec<Started>);

impl Begun {
    /// Whether the embeddings are there, so that [`Begun::finish`] waits for no device.
    pub fn is_ready(&self) -> bool {
        self.0.iter().all(|batch| batch.running.is_none())
    }

    /// The embeddings, in the photos' order, or why there is none; waits for them. Fails if the device does.
    pub fn finish(self) -> Result<Vec<Result<Vec<f32>>>> {
        let batches = self.0.into_iter().map(Started::finish).collect::<Result<Vec<_>>>()?;
        Ok(batches.into_iter().flatten().collect())
    }
}

impl Prepared {
    /// A picture already resized and normalised, `[side, side, 3]`.
    pub fn pixels(pixels: Vec<f32>) -> Self {
        Self { picture: Picture::Pixels(pixels), name: String::new(), limits: PhotoLimits::default() }
    }
}

impl Encoder {
    /// Looks for the device's decoder, which takes a moment: [`Encoder::prepare`] would.
    pub fn warm_up(&self) {
        timed("opening the decoder", || self.network.decoder());
    }

    /// A photo's file made ready for [`Encoder::begin`], and what it says of itself. Fails as [`Photo::decode`] and
    /// [`Encoder::preprocess`] do.
    pub fn prepare(&self, contents: Vec<u8>, name: &str, limits: &PhotoLimits) -> Result<(Prepared, PhotoFacts)> {
        let prepared = |picture| Prepared { picture, name: name.to_owned(), limits: *limits };
        let contents = match self.taken(contents, limits) {
            Ok(jpeg) => {
                let facts = PhotoFacts::read(&jpeg.file);
                return Ok((prepared(Picture::Jpeg(jpeg)), facts));
            }
            Err(contents) => contents,
        };
        let photo = Photo::decode_for(Some(self.preprocessing.shorter_side()), &contents, name, limits)?;
        Ok((prepared(Picture::Pixels(self.preprocess(&photo)?)), photo.facts().clone()))
    }

    /// The file for the device's decoder, or back where it is not taken.
    fn taken(&self, contents: Vec<u8>, limits: &PhotoLimits) -> std::result::Result<TakenJpeg, Vec<u8>> {
        let Some(decoder) = self.network.decoder() else { return Err(contents) };
        let side = self.preprocessing.shorter_side();
        let Some((frame, orientation)) = plain_jpeg(&contents, limits) else { return Err(contents) };
        let ((width, height), halved) = (frame.size, frame.blocks.map(|blocks| blocks.map(|count| count == 2)));
        let (seen, shrink) = reduced_for(frame.size, side).unwrap_or((frame.size, 1));
        let upright = |(width, height): (u32, u32)| if orientation > 4 { (height, width) } else { (width, height) };
        let Some([across, down]) = self.preprocessing.taps(upright(frame.size), upright(seen)) else {
            return Err(contents);
        };
        let size = (width as usize, height as usize);
        let jpeg = Jpeg { file: contents, size, shrink: shrink as usize, halved, orientation, across, down };
        decoder.take(jpeg, self.input_side())
    }

    /// What the network saw of the last photos of [`Encoder::begin`], on a CUDA device: what a test looks at. Fails if
    /// the device does.
    #[doc(hidden)]
    pub fn last_pixels(&self) -> Result<Vec<f32>> {
        self.network.last_pixels()
    }

    /// Begins with photos, and returns while a device works on them; waits only where several batches are under way.
    /// The CPU has their embeddings when it returns. Fails if the device does.
    pub fn begin(&self, photos: Vec<Prepared>) -> Result<Begun> {
        let mut rest = photos.into_iter();
        let mut started = Vec::new();
        loop {
            let batch: Vec<Prepared> = rest.by_ref().take(self.network.batch()).collect();
            if batch.is_empty() {
                return Ok(Begun(started));
            }
            let (pictures, words): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|photo| (photo.picture, (photo.name, photo.limits))).unzip();
            let on_host = |k: usize, jpeg: &Jpeg| {
                let (name, limits) = &words[k];
                self.preprocess(&Photo::decode(&jpeg.file, name, limits)?)
            };
            started.push(self.network.start(pictures, &self.preprocessing, &on_host)?);
        }
    }
}

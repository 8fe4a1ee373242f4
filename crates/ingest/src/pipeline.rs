//! Photos to embeddings, in batches: while one is encoded the next is decoded, and no third is begun.

use crate::{EmbedSettings, PhotoSource, Result, outcome::EmbedOutcome};
use locdiff_sphere::LatLon;
use locdiff_vision::{Encoder, VisionError};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// What is done to every photo.
pub(crate) struct Pipeline<'a> {
    pub(crate) encoder: &'a Encoder,
    pub(crate) settings: &'a EmbedSettings,
    /// Told of every photo that was read, from any thread.
    pub(crate) was_read: &'a (dyn Fn() + Sync),
}

/// A photo on its way to the encoder.
enum Prepared {
    Pixels { pixels: Vec<f32>, gps: Option<LatLon> },
    Done(EmbedOutcome),
}

impl Pipeline<'_> {
    /// Takes the photos from number `first` on, gives `write` the outcomes of each batch in order. False if it was
    /// stopped before the end.
    pub(crate) fn run(
        &self,
        photos: &[PhotoSource],
        first: usize,
        stop: &AtomicBool,
        mut write: impl FnMut(&[EmbedOutcome]) -> Result<()>,
    ) -> Result<bool> {
        let batch_photos = self.settings.photos_per_batch();
        std::thread::scope(|scope| {
            // No room in between: the batch that is ready waits until the one before is encoded.
            let (give, take) = mpsc::sync_channel::<Vec<Prepared>>(0);
            scope.spawn(move || {
                for (k, batch) in photos[first..].chunks(batch_photos).enumerate() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let number = first + k * batch_photos;
                    let prepare = |(i, photo)| self.prepare(photo, (number + i) as u64);
                    let prepared = batch.par_iter().enumerate().map(prepare).collect();
                    if give.send(prepared).is_err() {
                        return; // writing failed
                    }
                }
            });
            let mut done = first;
            for batch in take {
                let outcomes = self.encode(batch)?;
                write(&outcomes)?;
                done += outcomes.len();
            }
            Ok(done == photos.len())
        })
    }

    /// Decodes a photo and makes what the network shall see of it and of its other views.
    fn prepare(&self, photo: &PhotoSource, number: u64) -> Prepared {
        let pixels = || -> std::result::Result<Prepared, VisionError> {
            let decoded = photo.read(&self.settings.limits)?;
            let gps = decoded.gps();
            if self.settings.require_place && gps.is_none() && photo.place().is_none() {
                return Ok(Prepared::Done(EmbedOutcome::WithoutPlace));
            }
            let mut pixels = self.encoder.preprocess(&decoded)?;
            let EmbedSettings { augmentation, seed, augment, .. } = self.settings;
            for view in 1..=*augment {
                let view = augmentation.view(&decoded, *seed, number, view)?;
                pixels.extend(self.encoder.preprocess(&view)?);
            }
            Ok(Prepared::Pixels { pixels, gps })
        };
        let prepared = pixels().unwrap_or_else(|error| Prepared::Done(EmbedOutcome::Bad(error.to_string())));
        (self.was_read)();
        prepared
    }

    fn encode(&self, batch: Vec<Prepared>) -> Result<Vec<EmbedOutcome>> {
        let parts: Vec<&[f32]> = batch
            .iter()
            .filter_map(|photo| match photo {
                Prepared::Pixels { pixels, .. } => Some(pixels.as_slice()),
                Prepared::Done(_) => None,
            })
            .collect();
        let embeddings = if parts.is_empty() { Vec::new() } else { self.encoder.embed_pixels(&parts.concat())? };
        let mut embeddings = embeddings.chunks_exact(self.settings.augment as usize + 1);
        let outcome = |photo| match photo {
            Prepared::Done(outcome) => outcome,
            Prepared::Pixels { gps, .. } => {
                let values = embeddings.next().expect("an embedding for each view").concat();
                if values.iter().all(|value| value.is_finite()) {
                    EmbedOutcome::Embedded { values, gps }
                } else {
                    EmbedOutcome::Bad("the encoder's answer is not finite: its weights are damaged".to_owned())
                }
            }
        };
        Ok(batch.into_iter().map(outcome).collect())
    }
}

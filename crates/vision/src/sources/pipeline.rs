//! Photos to embeddings, in batches: while the encoder is at some, the next is read, and no other is begun.

use crate::sources::{EmbedSettings, PhotoSource, Result, outcome::EmbedOutcome};
use locdiff_base::timed;
use locdiff_shdd::sphere::LatLon;
use crate::{Begun, Encoder, Prepared, VisionError};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// Batches that a device may have before the first of them is written.
const UNDER_WAY: usize = 2;

/// What is done to every photo.
pub(crate) struct Pipeline<'a> {
    pub(crate) encoder: &'a Encoder,
    pub(crate) settings: &'a EmbedSettings,
    /// Told of every photo that was read, from any thread.
    pub(crate) was_read: &'a (dyn Fn() + Sync),
}

/// A photo that was read.
enum Read {
    /// It and its other views, as the encoder takes them.
    Views {
        views: Vec<Prepared>,
        gps: Option<LatLon>,
    },
    Done(EmbedOutcome),
}

/// A photo that the encoder has, or never gets.
enum Given {
    Photo(Option<LatLon>),
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
            // No room in between: the batch that is read waits until the encoder has begun with the one before.
            let (give, take) = mpsc::sync_channel::<Vec<Read>>(0);
            scope.spawn(move || {
                for (k, batch) in photos[first..].chunks(batch_photos).enumerate() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let number = first + k * batch_photos;
                    let read = |(i, photo)| self.read(photo, (number + i) as u64);
                    let batch = timed("reading", || batch.par_iter().enumerate().map(read).collect());
                    if timed("reading: waiting to go on", || give.send(batch)).is_err() {
                        return; // writing failed
                    }
                }
            });
            let (begin, finish) = mpsc::sync_channel(UNDER_WAY);
            scope.spawn(move || {
                for batch in take {
                    let begun = timed("beginning", || self.begin(batch));
                    if begin.send(begun).is_err() {
                        return;
                    }
                }
            });
            let mut done = first;
            for begun in finish {
                let (given, begun) = begun?;
                let outcomes = timed("waiting for embeddings", || self.finish(given, begun))?;
                timed("journal", || write(&outcomes))?;
                done += outcomes.len();
            }
            Ok(done == photos.len())
        })
    }

    /// Reads a photo and makes what the network shall see of it and of its other views.
    fn read(&self, photo: &PhotoSource, number: u64) -> Read {
        let read = self.views(photo, number).unwrap_or_else(|error| Read::Done(EmbedOutcome::Bad(error.to_string())));
        (self.was_read)();
        read
    }

    fn views(&self, photo: &PhotoSource, number: u64) -> std::result::Result<Read, VisionError> {
        let EmbedSettings { augmentation, seed, augment, limits, .. } = self.settings;
        let lacks_place = |gps: Option<LatLon>| self.settings.require_place && gps.is_none() && photo.place().is_none();
        if *augment == 0 {
            let (view, facts) = self.encoder.prepare(photo.contents(limits)?, &photo.called_in_messages(), limits)?;
            let gps = photo.file_path().map_or(facts.gps, |path| facts.with_sidecars(path).gps);
            let left_out = || Read::Done(EmbedOutcome::WithoutPlace);
            return Ok(if lacks_place(gps) { left_out() } else { Read::Views { views: vec![view], gps } });
        }
        let decoded = photo.read(limits)?;
        let gps = decoded.gps();
        if lacks_place(gps) {
            return Ok(Read::Done(EmbedOutcome::WithoutPlace));
        }
        let mut pixels = self.encoder.preprocess(&decoded)?;
        for view in 1..=*augment {
            pixels.extend(self.encoder.preprocess(&augmentation.view(&decoded, *seed, number, view)?)?);
        }
        Ok(Read::Views { views: Prepared::pictures(&pixels, self.encoder.input_side()), gps })
    }

    fn begin(&self, batch: Vec<Read>) -> Result<(Vec<Given>, Begun)> {
        let mut all = Vec::new();
        let given = batch.into_iter().map(|photo| match photo {
            Read::Done(outcome) => Given::Done(outcome),
            Read::Views { views, gps } => {
                all.extend(views);
                Given::Photo(gps)
            }
        });
        Ok((given.collect(), self.encoder.begin(all)?))
    }

    fn finish(&self, given: Vec<Given>, begun: Begun) -> Result<Vec<EmbedOutcome>> {
        let mut embeddings = begun.finish()?.into_iter();
        let views = self.settings.augment as usize + 1;
        let mut values = || embeddings.by_ref().take(views).collect::<std::result::Result<Vec<_>, VisionError>>();
        let outcome = |photo| match photo {
            Given::Done(outcome) => outcome,
            Given::Photo(gps) => match values().map(|values| values.concat()) {
                Ok(values) if values.iter().all(|value| value.is_finite()) => EmbedOutcome::Embedded { values, gps },
                Ok(_) => EmbedOutcome::Bad("the encoder's answer is not finite: its weights are damaged".to_owned()),
                Err(error) => EmbedOutcome::Bad(error.to_string()),
            },
        };
        Ok(given.into_iter().map(outcome).collect())
    }
}

//! What makes parts: a locator or an encoder, opened once for any number of shards.

#[cfg(not(feature = "bundled"))]
use crate::BatchError;
use crate::part::Part;
use crate::sealed::sum;
use crate::{Job, Result, Task};
use locdiff::{
    Calibration, Device, EmbeddedPhoto, Encoder, Fingerprint, LocateError, LocateOptions, Locator, Model,
    failure_json,
};
use locdiff_ingest::{PhotoLimits, PhotoSource, PhotoStream, ReadPhoto};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// What makes parts of a job.
pub struct Worker {
    kind: Kind,
    limits: PhotoLimits,
    maker: String,
    encoder: Fingerprint,
}

enum Kind {
    Locate(Box<Locator>, LocateOptions),
    Embed(Box<Encoder>),
}

/// Photos that the encoder takes at a time.
const EMBED_AT_ONCE: usize = 32;

impl Worker {
    /// Opens what a job asks for.
    ///
    /// # Errors
    /// Folders that cannot be used, or a failure of the device.
    pub fn open(job: &Job, device: &Device) -> Result<Self> {
        let settings = job.settings();
        let encoder = match &settings.encoder {
            Some(folder) => Encoder::open_on(folder, device).map_err(LocateError::from)?,
            None => bundled_encoder(device)?,
        };
        let version = env!("CARGO_PKG_VERSION");
        let by: Fingerprint = (**encoder.fingerprint()).clone();
        let (kind, maker) = match job.task() {
            Task::Embed => (Kind::Embed(Box::new(encoder)), format!("locdiff {version}, {by}")),
            Task::Locate => {
                let model = match &settings.model {
                    Some(folder) => locdiff::open_model(folder, device)?,
                    None => bundled_model(device)?,
                };
                let about = identity(&model);
                let locator = Locator::new(model, Some(encoder))?;
                (
                    Kind::Locate(Box::new(locator), settings.options()?),
                    format!("locdiff {version}, {by}, model {about}"),
                )
            }
        };
        Ok(Self { kind, limits: settings.limits(), maker, encoder: by })
    }

    /// What came of photos; `None` where `stop` became true. `taken` is told of each.
    pub(crate) fn make(
        &self,
        photos: Vec<PhotoSource>,
        stop: &AtomicBool,
        taken: impl Fn(),
    ) -> Result<Option<Part>> {
        let (maker, encoder) = (self.maker.clone(), self.encoder.clone());
        let mut part = Part { maker, encoder, lines: Vec::new(), columns: 0, rows: Vec::new() };
        if let Kind::Embed(encoder) = &self.kind {
            part.columns = encoder.embedding();
        }
        let mut stream = PhotoStream::new(photos, self.limits);
        loop {
            let most = self.photos_per_block();
            match &self.kind {
                Kind::Locate(locator, options) => {
                    let embed = |ReadPhoto { source, photo }| {
                        if stop.load(Ordering::SeqCst) {
                            return (source, None);
                        }
                        let embedded = photo
                            .map_err(LocateError::from)
                            .and_then(|photo| Ok(locator.embed(&photo, options)?.with_name(source.name())));
                        (source, Some(embedded))
                    };
                    let (sources, embedded): (Vec<_>, Vec<_>) =
                        stream.work_on(most, embed).into_iter().unzip();
                    if sources.is_empty() {
                        return Ok(Some(part));
                    }
                    let Some(embedded) = embedded.into_iter().collect() else {
                        return Ok(None);
                    };
                    sources.iter().for_each(|_| taken());
                    locate_block(locator, options, &sources, embedded, &mut part)?;
                }
                Kind::Embed(encoder) => {
                    let block: Vec<ReadPhoto> = stream.by_ref().take(most).collect();
                    if block.is_empty() {
                        return Ok(Some(part));
                    }
                    if stop.load(Ordering::SeqCst) {
                        return Ok(None);
                    }
                    let count = block.len();
                    embed_block(encoder, block, &mut part)?;
                    (0..count).for_each(|_| taken());
                }
            }
        }
    }

    fn photos_per_block(&self) -> usize {
        match &self.kind {
            Kind::Locate(locator, _) => locator.photos_per_block(),
            Kind::Embed(_) => EMBED_AT_ONCE,
        }
    }

    /// The encoder that makes the embeddings of an embedding job.
    pub fn encoder(&self) -> Option<&Encoder> {
        match &self.kind {
            Kind::Locate(locator, _) => locator.encoder(),
            Kind::Embed(encoder) => Some(encoder),
        }
    }
}

fn locate_block(
    locator: &Locator,
    options: &LocateOptions,
    sources: &[PhotoSource],
    embedded: Vec<std::result::Result<EmbeddedPhoto, LocateError>>,
    part: &mut Part,
) -> Result<()> {
    for (source, answer) in sources.iter().zip(locator.answer_each(embedded, options)) {
        part.lines.push(match answer {
            Ok(answer) => answer.to_json().to_string(),
            Err(error) if error.is_about_photo() => {
                failure_json(source.name(), &reason(source, &error)).to_string()
            }
            Err(error) => return Err(error.into()),
        });
    }
    Ok(())
}

fn embed_block(encoder: &Encoder, block: Vec<ReadPhoto>, part: &mut Part) -> Result<()> {
    let mut photos = Vec::new();
    let mut objects: Vec<Value> = Vec::new();
    for ReadPhoto { source, photo } in block {
        match photo.map_err(LocateError::from) {
            Ok(photo) => {
                let own = photo.gps().map(|gps| (gps, "exif"));
                let place = source.place().map(|(place, from)| (place, from.name())).or(own);
                let at = place.map(|(at, from)| json!([at.lat_deg(), at.lon_deg(), from]));
                objects.push(json!({ "photo": source.name(), "at": at }));
                photos.push(photo);
            }
            Err(error) if error.is_about_photo() => {
                objects.push(failure_json(source.name(), &reason(&source, &error)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    for embedding in encoder.embed(&photos).map_err(LocateError::from)? {
        part.rows.extend(embedding.values());
    }
    part.lines.extend(objects.iter().map(Value::to_string));
    Ok(())
}

/// Why a photo has no answer, under the name it has in tables.
fn reason(source: &PhotoSource, error: &LocateError) -> String {
    let path = source.path().display().to_string();
    let message = error.to_string();
    let message = if path == source.name() { message } else { message.replace(&path, source.name()) };
    if message.contains(source.name()) { message } else { format!("{}: {message}", source.name()) }
}

/// A model by its settings and its calibration, which holds what the model says without a photo.
fn identity((model, calibration): &(Model, Option<Calibration>)) -> String {
    let config = format!("{:?}", model.config());
    let calibration = calibration.as_ref().filter(|one| one.is_fitted()).map(|one| format!("{one:?}"));
    sum((config + &calibration.unwrap_or_default()).as_bytes())
}

#[cfg(feature = "bundled")]
fn bundled_model(device: &Device) -> Result<(Model, Option<Calibration>)> {
    Ok(locdiff::bundled_model(device)?)
}

#[cfg(feature = "bundled")]
fn bundled_encoder(device: &Device) -> Result<Encoder> {
    Ok(locdiff::bundled_encoder(device)?)
}

#[cfg(not(feature = "bundled"))]
fn bundled_model(_: &Device) -> Result<(Model, Option<Calibration>)> {
    Err(BatchError::NotBundled)
}

#[cfg(not(feature = "bundled"))]
fn bundled_encoder(_: &Device) -> Result<Encoder> {
    Err(BatchError::NotBundled)
}

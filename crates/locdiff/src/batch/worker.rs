//! What makes parts: a locator or an encoder, opened once for any number of shards.

use crate::batch::{Job, Result, Task, part::Part, sealed::sum};
use crate::{Control, DeviceSpec, LocateError, LocateOptions, Locator, Origin, Read, Source, pipeline::EmbedSources};
use locdiff_io::data::Fingerprint;
use locdiff_nn::Device;
use locdiff_vision::{Encoder, sources::PhotoSource};
use serde_json::{Value, json};
use std::sync::Arc;

/// Worker on a job's shards: a locator or an encoder. The module has an [example](crate::batch).
pub struct Worker {
    kind: Kind,
    options: Arc<LocateOptions>,
    maker: String,
    encoder: Fingerprint,
}

enum Kind {
    Locate(Box<Locator>),
    Embed { encoder: Box<Encoder>, on_gpu: bool },
}

impl Worker {
    /// Opens the job's model or encoder on a device; `auto` prefers the device that the job names. Fails if a folder cannot be used, or the
    /// device fails.
    pub fn open(job: &Job, device: DeviceSpec) -> Result<Self> {
        let settings = job.settings();
        settings.check_no_album()?;
        let mut opened = settings.locator.clone();
        opened.device = if device == DeviceSpec::Auto { opened.device } else { device };
        let options = Arc::new(settings.locate.resolved()?);
        let version = env!("CARGO_PKG_VERSION");
        if job.task() == Task::Embed {
            let device = Device::open_with(opened.device, opened.precision).map_err(LocateError::from)?;
            let encoder = Box::new(opened.open_encoder(&device)?);
            let by: Fingerprint = (**encoder.fingerprint()).clone();
            let maker = format!("locdiff {version}, {by}");
            let kind = Kind::Embed { encoder, on_gpu: device.is_cuda() };
            return Ok(Self { kind, options, maker, encoder: by });
        }
        let locator = Locator::open(&opened)?;
        locator.check(&options)?;
        let by = locator.encoder().map(|encoder| (**encoder.fingerprint()).clone());
        let by = by.ok_or_else(|| LocateError::of_source("the job's locator has no encoder"))?;
        let about = identity(&locator);
        let maker = format!("locdiff {version}, {by}, model {about}");
        Ok(Self { kind: Kind::Locate(Box::new(locator)), options, maker, encoder: by })
    }

    /// What came of photos; `None` if it was stopped.
    pub(crate) fn make(&self, photos: Vec<PhotoSource>, control: Control<'_>) -> Result<Option<Part>> {
        let (maker, encoder) = (self.maker.clone(), self.encoder.clone());
        let mut part = Part { maker, encoder, lines: Vec::new(), columns: 0, rows: Vec::new() };
        let sources = photos.into_iter().map(Source::from);
        match &self.kind {
            Kind::Locate(locator) => {
                let mut run = locator.locate_all(sources, &self.options)?.with_control(control);
                while let Some(block) = run.next_block()? {
                    part.lines.extend(block.iter().map(|located| located.to_json().to_string()));
                }
            }
            Kind::Embed { encoder, on_gpu } => {
                part.columns = encoder.embedding();
                let mut run = EmbedSources::new(Some(encoder), *on_gpu, sources, self.options.clone(), control);
                while let Some(block) = run.next_block()? {
                    for read in block {
                        add_row(read, &mut part);
                    }
                }
            }
        }
        Ok(if control.is_stopped() { None } else { Some(part) })
    }

    /// Returns the encoder of an embedding job.
    pub fn encoder(&self) -> Option<&Encoder> {
        match &self.kind {
            Kind::Locate(locator) => locator.encoder(),
            Kind::Embed { encoder, .. } => Some(encoder),
        }
    }
}

fn add_row(Read { origin, photo, .. }: Read, part: &mut Part) {
    let line: Value = match photo {
        Ok(photo) => {
            part.rows.extend(photo.views.first().into_iter().flat_map(crate::Embedding::values));
            let at = place(&origin, photo.gps);
            json!({ "photo": origin.called(), "at": at })
        }
        Err(error) => origin.failure_json(&error),
    };
    part.lines.push(line.to_string());
}

/// Where a photo was taken, by what is beside it, else by itself.
fn place(origin: &Origin, own: Option<crate::LatLon>) -> Option<Value> {
    let beside = origin.place.map(|(place, from)| (place, from.name()));
    let (at, from) = beside.or(own.map(|gps| (gps, "exif")))?;
    Some(json!([at.lat_deg(), at.lon_deg(), from]))
}

/// A model by its settings and its calibration, which holds what the model says without a photo.
fn identity(locator: &Locator) -> String {
    let config = format!("{:?}", locator.model().config());
    let calibration = Some(locator.reader().calibration()).filter(|one| one.is_fitted()).map(|one| format!("{one:?}"));
    sum((config + &calibration.unwrap_or_default()).as_bytes())
}

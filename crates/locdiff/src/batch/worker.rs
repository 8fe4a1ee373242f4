//! What makes parts: a locator or an encoder, opened once for any number of shards.

use crate::batch::{Job, Result, Task, part::Part, sealed::sum};
use crate::{Control, DeviceSpec, LocateError, LocateOptions, Locator, Origin, Read, Source, pipeline::EmbedSources};
use locdiff_io::data::Fingerprint;
use locdiff_nn::Device;
use locdiff_vision::Encoder;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Worker on a job's shards: a locator or an encoder. The module has an [example](crate::batch).
pub struct Worker {
    kind: Kind,
    options: Arc<LocateOptions>,
    maker: String,
    encoder: Fingerprint,
}

/// Photos that a GPU embeds at a time.
const ON_GPU: usize = 128;

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

    /// A part with nothing in it.
    pub(crate) fn blank(&self) -> Part {
        let columns = if let Kind::Embed { encoder, .. } = &self.kind { encoder.embedding() } else { 0 };
        let (maker, encoder) = (self.maker.clone(), self.encoder.clone());
        Part { maker, encoder, lines: Vec::new(), columns, rows: Vec::new() }
    }

    /// Answers photos until none is left or it is stopped, and adds a line for each to `part`. Calls `added` after each. The next
    /// photos are read and embedded meanwhile.
    pub(crate) fn make<'a>(
        &'a self,
        photos: impl Iterator<Item = Source> + Send + 'a,
        control: Control<'a>,
        part: &mut Part,
        added: &mut dyn FnMut(&mut Part) -> Result<()>,
    ) -> Result<()> {
        let options = &self.options;
        let mut run = match &self.kind {
            Kind::Locate(locator) => locator.read(photos, Arc::clone(options), control),
            Kind::Embed { encoder, on_gpu } => {
                EmbedSources::new(Some(encoder), *on_gpu, photos, Arc::clone(options), control)
            }
        };
        if run.embedder.in_batches {
            run.most = ON_GPU;
        }
        // An embedding has no text.
        run.embedder.reads_text &= matches!(self.kind, Kind::Locate(_));
        let mut next = run.next_block()?;
        while let Some(block) = next {
            let lines = |block: Vec<Read>| -> Result<Vec<(String, Vec<f32>)>> {
                let Kind::Locate(locator) = &self.kind else { return Ok(block.into_iter().map(row).collect()) };
                let answered = locator.answer_read(block, options)?;
                Ok(answered.par_iter().map(|located| (located.to_json().to_string(), Vec::new())).collect())
            };
            let (lines, following) = std::thread::scope(|scope| {
                let reading = scope.spawn(|| run.next_block());
                (lines(block), reading.join())
            });
            for (line, row) in lines? {
                if part.lines.is_empty() {
                    added(part)?; // shards without photos before this one
                }
                part.lines.push(line);
                part.rows.extend(row);
                added(part)?;
            }
            next = following.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(())
    }

    /// Returns the encoder of an embedding job.
    pub fn encoder(&self) -> Option<&Encoder> {
        match &self.kind {
            Kind::Locate(locator) => locator.encoder(),
            Kind::Embed { encoder, .. } => Some(encoder),
        }
    }
}

/// What a part says of a photo, and its embedding.
fn row(Read { origin, photo, .. }: Read) -> (String, Vec<f32>) {
    let (line, row) = match photo {
        Ok(photo) => {
            let at = place(&origin, photo.gps);
            let row = photo.views.first().map_or_else(Vec::new, |view| view.values().to_vec());
            (json!({ "photo": origin.called(), "at": at }), row)
        }
        Err(error) => (origin.failure_json(&error), Vec::new()),
    };
    (line.to_string(), row)
}

/// Returns a photo's location: by a file next to it, else by its own tag.
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

//! A run over photos: embedded in batches, journalled, written in the end.

use super::error::Result;
use super::{EmbedCounts, EmbedError, EmbedFiles, EmbedSettings, journal::EmbedJournal, outcome::EmbedOutcome};
use crate::{Control, LocateError, LocateOptions, Progress, Source, pipeline::EmbedSources, pipeline::Views};
use locdiff_base::timed;
use locdiff_vision::{Encoder, Photo, sources::PhotoSource, sources::Photos};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, sync::atomic::AtomicBool, sync::atomic::AtomicUsize, sync::atomic::Ordering};

/// A run that embeds photos into files. A resumed run ends with the same bytes.
///
/// ```
/// use locdiff::embed::{EmbedFiles, EmbedRun, EmbedSettings};
/// use locdiff_vision::sources::Photos;
/// use locdiff_vision::Encoder;
/// use std::sync::atomic::AtomicBool;
/// # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
/// # let folder = tempfile::tempdir().unwrap();
/// let encoder = Encoder::open(&root.join("models/streetview-lite2"))?;
/// let photos = Photos::gather(&[root.join("fixtures/vision/china.jpg")], None)?;
/// let files = EmbedFiles::beside(folder.path().join("china.safetensors"));
/// let settings = EmbedSettings::default();
/// let run = EmbedRun::new(&photos, &files, &settings, false);
/// run.check(&[""; 0])?;
/// let counts = run.run(&encoder, &AtomicBool::new(false), |_| {})?;
/// assert_eq!(counts.map(|counts| counts.rows), Some(1));
/// let embeddings = locdiff_io::data::RowFile::open(&files.embeddings, None)?;
/// assert_eq!(embeddings.encoder(), Some(&**encoder.fingerprint()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EmbedRun<'a> {
    photos: &'a Photos,
    files: &'a EmbedFiles,
    settings: &'a EmbedSettings,
    resume: bool,
}

impl<'a> EmbedRun<'a> {
    /// Prepares a run. `resume` continues an interrupted run, if there is one.
    pub fn new(photos: &'a Photos, files: &'a EmbedFiles, settings: &'a EmbedSettings, resume: bool) -> Self {
        Self { photos, files, settings, resume }
    }

    /// Returns the number of photos.
    pub fn count(&self) -> usize {
        self.photos.sources().len()
    }

    /// Fails if an output cannot be written, or would overwrite a photo or one of `inputs`.
    pub fn check(&self, inputs: &[impl AsRef<Path>]) -> Result<()> {
        let photos = self.photos.sources().iter().map(PhotoSource::path);
        self.files.check(self.settings, photos.chain(inputs.iter().map(AsRef::as_ref)))
    }

    /// Embeds the photos and writes the files. `progress` is called after each photo and batch, from any thread. Returns `None` if `stop` became
    /// true; finished photos stay in the journal. Fails if another run uses the journal, a file cannot be written, the encoder fails, or no photo
    /// can be used.
    pub fn run(
        &self,
        encoder: &Encoder,
        stop: &AtomicBool,
        progress: impl Fn(EmbedCounts) + Sync,
    ) -> Result<Option<EmbedCounts>> {
        let sources = self.photos.sources();
        let (described, ()) =
            rayon::join(|| timed("describing the run", || self.describe(encoder)), || encoder.warm_up());
        let batch = self.settings.photos_per_batch();
        let mut journal = EmbedJournal::open(self.files.journal(), &described?, sources.len(), batch, self.resume)?;
        let resumed = journal.done;
        let (read, done) = (AtomicUsize::new(resumed), AtomicUsize::new(resumed));
        let counts = || {
            let (read, done) = (read.load(Ordering::Relaxed), done.load(Ordering::Relaxed));
            EmbedCounts { resumed, done, read, ..EmbedCounts::default() }
        };
        let tell = || progress(counts());
        tell();
        let was_read = |_: Progress| {
            read.fetch_add(1, Ordering::Relaxed);
            tell();
        };
        let mut stage = self.stage(encoder, resumed, stop, Control::new().with_progress(&was_read));
        while let Some(block) = stage.next_block()? {
            let outcomes: Vec<EmbedOutcome> = block.into_iter().map(|read| read.photo.into()).collect();
            timed("journal", || journal.append(&outcomes))?;
            done.store(journal.done, Ordering::Relaxed);
            tell();
        }
        if journal.done < sources.len() {
            return Ok(None);
        }
        let columns = encoder.embedding();
        let write = || self.files.write(self.settings, sources, &journal, columns, encoder.fingerprint());
        let EmbedCounts { rows, bad, left_out, without_place, .. } = timed("writing the files", write)?;
        let first = if rows == 0 { journal.outcomes()?.next() } else { None };
        journal.remove()?;
        if rows == 0 {
            let first = match first {
                Some(EmbedOutcome::Bad(reason)) => reason,
                _ => "the first has no location, and a location was required".to_owned(),
            };
            return Err(EmbedError::NoneUsable { photos: sources.len(), list: self.files.bad.clone(), first });
        }
        Ok(Some(EmbedCounts { rows, bad, left_out, without_place, ..counts() }))
    }

    /// The photos from number `first` on, in batches. A batch is whole or not begun, whenever it is stopped.
    fn stage<'b>(
        &'b self,
        encoder: &'b Encoder,
        first: usize,
        stop: &'b AtomicBool,
        control: Control<'b>,
    ) -> EmbedSources<'b> {
        let EmbedSettings { augment, augmentation, seed, require_place, limits, .. } = self.settings;
        let batch = self.settings.photos_per_batch();
        let goes_on = move |k: usize| !k.is_multiple_of(batch) || !stop.load(Ordering::SeqCst);
        let rest = self.photos.sources()[first..].iter().enumerate();
        let sources = rest.map_while(move |(k, photo)| goes_on(k).then(|| Source::from(photo.clone())));
        let options = Arc::new(LocateOptions::default());
        let views = Views { others: *augment, augmentation: augmentation.clone(), seed: *seed, by_number: true };
        let stage = EmbedSources::new(Some(encoder), true, sources, options, control);
        stage.for_files((first, batch), views, *limits, *require_place)
    }

    /// Describes everything that finished records depend on. A run continues only if all of it is unchanged.
    fn describe(&self, encoder: &Encoder) -> Result<Value> {
        // The encoder is known by what it answers, whatever files it came from and wherever it runs.
        let mut answer = crc32fast::Hasher::new();
        for value in encoder.embed(&[Photo::test_picture()]).map_err(LocateError::from)?[0].values() {
            answer.update(&value.to_le_bytes());
        }
        let mut list = crc32fast::Hasher::new();
        for photo in self.photos.sources() {
            photo.add_to(&mut list);
        }
        let EmbedSettings { augment, augmentation, seed, batch, require_place, limits, .. } = self.settings;
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "encoder": format!("{} {:08x}", encoder.architecture(), answer.finalize()),
            "number of photos": self.photos.sources().len(),
            "set of photos": format!("{:08x}", list.finalize()),
            "augment": augment,
            "mirror": augmentation.mirror,
            "seed": seed,
            "batch": batch,
            "need of a location": require_place,
            "limit of pixels": limits.max_pixels,
        }))
    }
}

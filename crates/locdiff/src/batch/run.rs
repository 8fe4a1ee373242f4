//! Shards into parts.

use crate::batch::part::{Origin, Part};
use crate::batch::{BatchError, Job, Result, Worker, manifest, sealed::damaged};
use locdiff_base::{LockError, OutputLock, inside};
use std::sync::atomic::{AtomicBool, Ordering};

/// Makes parts of a job.
pub struct Run<'a> {
    job: &'a Job,
    worker: &'a Worker,
}

/// What came of shards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Runs {
    /// Parts made.
    pub made: usize,
    /// Parts that were there and whole.
    pub skipped: usize,
    /// Shards that another run works on.
    pub busy: usize,
    /// Photos of the parts made.
    pub photos: usize,
    /// It was stopped before the end.
    pub is_stopped: bool,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A shard was begun.
    Begun {
        /// Its number.
        shard: u32,
        /// Its photos.
        photos: usize,
    },
    /// A photo was read.
    Photo,
    /// A part is there and whole.
    Skipped {
        /// Its number.
        shard: u32,
        /// Its photos.
        photos: usize,
    },
    /// A part was there, is not whole or of other settings, and is made again.
    Anew {
        /// Its number.
        shard: u32,
    },
}

/// What came of a shard.
enum One {
    Made(usize),
    Skipped,
    Stopped,
}

impl<'a> Run<'a> {
    /// Of a job, by a worker.
    pub fn new(job: &'a Job, worker: &'a Worker) -> Self {
        Self { job, worker }
    }

    /// Makes the parts of shards one after another. Where several are asked for, those that another run works on are left to
    /// it; where one is, that is an error.
    ///
    /// # Errors
    /// A shard that there is not, a damaged manifest, a file that cannot be written, a failure of the device. Photos that
    /// cannot be used are no errors: their lines say why.
    pub fn shards(
        &self,
        shards: impl IntoIterator<Item = u32>,
        stop: &AtomicBool,
        progress: impl Fn(Progress) + Sync,
    ) -> Result<Runs> {
        let shards: Vec<u32> = shards.into_iter().collect();
        shards.iter().try_for_each(|shard| self.job.check_shard(*shard))?;
        let mut runs = Runs::default();
        for shard in &shards {
            if stop.load(Ordering::SeqCst) {
                runs.is_stopped = true;
                break;
            }
            match self.shard(*shard, stop, &progress) {
                Ok(One::Made(photos)) => {
                    runs.made += 1;
                    runs.photos += photos;
                }
                Ok(One::Skipped) => runs.skipped += 1,
                Ok(One::Stopped) => runs.is_stopped = true,
                Err(BatchError::Locked(LockError::InUse { .. })) if shards.len() > 1 => runs.busy += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    fn shard(&self, shard: u32, stop: &AtomicBool, progress: &(impl Fn(Progress) + Sync)) -> Result<One> {
        let path = self.job.part_path(shard);
        // A job may come from somebody else: no part is written through a link.
        inside(self.job.folder(), &format!("parts/{shard:05}")).map_err(|reason| damaged(&path, reason))?;
        // Held until the part is there: two runs of one shard do not do the work twice.
        let _lock = OutputLock::file(&path)?;
        let manifest = manifest::read(&self.job.manifest_path(shard), shard, self.job.base())?;
        let photos = manifest.photos.len();
        let origin = Origin { shard, manifest: manifest.sum, settings: self.job.key() };
        if path.exists() {
            if Part::read(&path, &origin, photos).is_ok() {
                progress(Progress::Skipped { shard, photos });
                return Ok(One::Skipped);
            }
            progress(Progress::Anew { shard });
        }
        progress(Progress::Begun { shard, photos });
        match self.worker.make(manifest.photos, stop, &|| progress(Progress::Photo))? {
            Some(part) => part.write(&path, origin).map(|()| One::Made(photos)),
            None => Ok(One::Stopped),
        }
    }
}

//! Shards into parts.

use crate::batch::{BatchError, Job, Result, Worker, manifest};
use crate::{Control, Progress, batch::part::Origin, batch::part::Part, batch::sealed::damaged};
use locdiff_base::{LockError, OutputLock, inside};
use std::sync::atomic::AtomicBool;

/// Result of [`Worker::run`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Runs {
    /// Parts made.
    pub made: usize,
    /// Parts that existed and were whole.
    pub skipped: usize,
    /// Shards that another run works on.
    pub busy: usize,
    /// Photos of the parts made.
    pub photos: usize,
    /// Whether the run was stopped before its end.
    pub is_stopped: bool,
}

impl Worker {
    /// Makes the parts of shards one after another. A shard that another run works on is skipped; if it is the only one, the call fails. Fails if
    /// the job has no such shard, its manifest is damaged, a file cannot be written, or the device fails. Photos that cannot be used get a line
    /// with the reason.
    pub fn run(
        &self,
        job: &Job,
        shards: impl IntoIterator<Item = u32>,
        stop: &AtomicBool,
        progress: impl Fn(Progress) + Sync,
    ) -> Result<Runs> {
        let shards: Vec<u32> = shards.into_iter().collect();
        shards.iter().try_for_each(|shard| job.check_shard(*shard))?;
        let control = Control::new().with_stop(stop).with_progress(&progress);
        let mut runs = Runs::default();
        for shard in &shards {
            if control.is_stopped() {
                runs.is_stopped = true;
                break;
            }
            match self.shard(job, *shard, control, &mut runs) {
                Err(BatchError::Locked(LockError::InUse { .. })) if shards.len() > 1 => runs.busy += 1,
                done => done?,
            }
        }
        Ok(runs)
    }

    fn shard(&self, job: &Job, shard: u32, control: Control<'_>, runs: &mut Runs) -> Result<()> {
        let path = job.part_path(shard);
        // A job may come from somebody else: no part is written through a link.
        inside(job.folder(), &format!("parts/{shard:05}")).map_err(|reason| damaged(&path, reason))?;
        // Held until the part is there: two runs of one shard do not do the work twice.
        let _lock = OutputLock::file(&path)?;
        let manifest = manifest::read(&job.manifest_path(shard), shard, job.base())?;
        let photos = manifest.photos.len();
        let origin = Origin { shard, manifest: manifest.sum, settings: job.key() };
        if path.exists() {
            if Part::read(&path, &origin, photos).is_ok() {
                control.advance(Progress::ShardSkipped(photos));
                runs.skipped += 1;
                return Ok(());
            }
            control.advance(Progress::ShardAgain(shard));
        }
        match self.make(manifest.photos, control)? {
            Some(part) => {
                part.write(&path, origin)?;
                runs.made += 1;
                runs.photos += photos;
            }
            None => runs.is_stopped = true,
        }
        Ok(())
    }
}

//! Shards into parts.

use crate::batch::{BatchError, Job, Result, Worker, manifest};
use crate::{Control, Progress, Source, batch::part::Origin, batch::part::Part, batch::sealed::damaged};
use locdiff_base::{LockError, OutputLock, inside};
use locdiff_vision::sources::PhotoSource;
use std::sync::atomic::AtomicBool;
use std::{collections::VecDeque, path::PathBuf, sync::Mutex, sync::MutexGuard, sync::PoisonError};

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
        let count = shards.len();
        let opened = Mutex::new(Opened { is_alone: count == 1, ..Opened::default() });
        let photos = ShardPhotos { job, control, opened: &opened, left: shards.into(), photos: None };
        let mut part = self.blank();
        let mut whole = |part: &mut Part| {
            // Shards without photos are whole from the beginning.
            while let Some((_lock, path, origin)) = lock(&opened).take_whole(part.lines.len()) {
                std::mem::replace(part, self.blank()).write(&path, origin)?;
            }
            Ok(())
        };
        self.make(photos, control, &mut part, &mut whole)?;
        if !control.is_stopped() {
            whole(&mut part)?;
        }
        let Opened { mut runs, failed, .. } = opened.into_inner().unwrap_or_else(PoisonError::into_inner);
        runs.is_stopped = control.is_stopped() && runs.made + runs.skipped + runs.busy < count;
        failed.map_or(Ok(runs), Err)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A shard whose part is being made. Its lock is held until the part is there: two runs of one shard do not do the work twice.
type UnderWay = (OutputLock, PathBuf, Origin);

/// What became of the shards that were opened.
#[derive(Default)]
struct Opened {
    is_alone: bool,
    /// With their numbers of photos, oldest first.
    under_way: VecDeque<(usize, UnderWay)>,
    runs: Runs,
    failed: Option<BatchError>,
}

impl Opened {
    /// The oldest shard, if so many lines are all of it.
    fn take_whole(&mut self, lines: usize) -> Option<UnderWay> {
        let (photos, shard) = self.under_way.pop_front_if(|(photos, _)| *photos == lines)?;
        self.runs.made += 1;
        self.runs.photos += photos;
        Some(shard)
    }
}

/// The photos of shards one after another: a shard is opened when its first photo is asked for, while the answers of the one before are
/// still made.
struct ShardPhotos<'a> {
    job: &'a Job,
    control: Control<'a>,
    opened: &'a Mutex<Opened>,
    left: VecDeque<u32>,
    photos: Option<std::vec::IntoIter<PhotoSource>>,
}

impl Iterator for ShardPhotos<'_> {
    type Item = Source;

    fn next(&mut self) -> Option<Source> {
        loop {
            if let Some(photo) = self.photos.as_mut().and_then(Iterator::next) {
                return Some(photo.into());
            }
            let shard = self.left.pop_front()?;
            if self.control.is_stopped() {
                return None;
            }
            let photos = self.open(shard);
            let mut opened = lock(self.opened);
            match photos {
                Ok(photos) => self.photos = photos.map(Vec::into_iter),
                Err(BatchError::Locked(LockError::InUse { .. })) if !opened.is_alone => opened.runs.busy += 1,
                Err(error) => {
                    opened.failed = Some(error);
                    self.left.clear();
                }
            }
        }
    }
}

impl ShardPhotos<'_> {
    /// The photos of a shard, unless its part is there.
    fn open(&self, shard: u32) -> Result<Option<Vec<PhotoSource>>> {
        let job = self.job;
        let path = job.part_path(shard);
        // A job may come from somebody else: no part is written through a link.
        inside(job.folder(), &format!("parts/{shard:05}")).map_err(|reason| damaged(&path, reason))?;
        let file_lock = OutputLock::file(&path)?;
        let manifest = manifest::read(&job.manifest_path(shard), shard, job.base())?;
        let photos = manifest.photos.len();
        let origin = Origin { shard, manifest: manifest.sum, settings: job.key() };
        if path.exists() {
            if Part::read(&path, &origin, photos).is_ok() {
                self.control.advance(Progress::ShardSkipped(photos));
                lock(self.opened).runs.skipped += 1;
                return Ok(None);
            }
            self.control.advance(Progress::ShardAgain(shard));
        }
        lock(self.opened).under_way.push_back((photos, (file_lock, path, origin)));
        Ok(Some(manifest.photos))
    }
}

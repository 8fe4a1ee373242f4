//! Photos into shards.

use crate::FlatOptions;
use crate::batch::job::{MOST_PHOTOS_A_SHARD, MOST_SHARDS};
use crate::batch::{BatchError, JOB_FILE, Job, Result, Task, manifest};
use locdiff_base::{OutputLock, WriteError, setting};
use locdiff_vision::sources::Photos;
use std::{fs, path::Path};

/// Makes a job in a folder: the photos in their order, so many a shard. A job that is there is refused, see [`BatchError::Exists`].
///
/// # Errors
/// A folder that holds a job, is in use by another run or cannot be written, a photo that is in no file, settings out of range.
pub fn plan(photos: &Photos, folder: &Path, task: Task, settings: FlatOptions, shard_photos: usize) -> Result<Job> {
    if shard_photos == 0 || shard_photos > MOST_PHOTOS_A_SHARD {
        let remedy = format!("1 to {MOST_PHOTOS_A_SHARD}");
        return Err(setting::<BatchError>("photos of a shard", shard_photos, remedy));
    }
    if task == Task::Embed && settings.locate.views != 1 {
        return Err(setting::<BatchError>("views", settings.locate.views, "embeddings are of the photo itself: 1"));
    }
    settings.check_no_album()?;
    settings.locate.resolved()?;
    let sources = photos.sources();
    let shards = sources.len().div_ceil(shard_photos);
    let shards = u32::try_from(shards).ok().filter(|shards| *shards <= MOST_SHARDS).ok_or_else(|| {
        setting::<BatchError>("photos of a shard", shard_photos, format!("more: {shards} shards are too many"))
    })?;
    if folder.join(JOB_FILE).exists() {
        return Err(BatchError::Exists { folder: folder.to_owned() });
    }
    let cannot = |path: &Path, reason| WriteError::new(&path.display().to_string(), reason);
    for inner in ["manifest", "parts"] {
        let inner = folder.join(inner);
        fs::create_dir_all(&inner).map_err(|reason| cannot(&inner, reason))?;
    }
    let _lock = OutputLock::folder(folder)?;
    let base = std::env::current_dir().map_err(|reason| cannot(Path::new("."), reason))?;
    let settings = settings.anchored(&base);
    // The job's own file comes last: without it there is no job.
    let counts = (sources.len() as u64, shards);
    for (shard, sources) in (0_u32..).zip(sources.chunks(shard_photos)) {
        let path = folder.join("manifest").join(format!("{shard:05}.jsonl"));
        manifest::write(&path, shard, sources)?;
    }
    Job::create(folder, task, settings, counts, base)
}

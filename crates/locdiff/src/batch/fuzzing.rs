//! Entry points of the fuzz targets: any bytes in the place of a job's files, and bytes with a checksum that holds, so that what
//! lies behind it is reached, too.

use crate::batch::{Job, Result, job, manifest, part::Origin, part::Part, sealed};
use locdiff_io::data::Fingerprint;
use std::path::Path;

fn checked<T>(result: Result<T>) -> Option<T> {
    result.map_err(|error| assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}")).ok()
}

/// A job's description.
pub fn batch_job(bytes: &[u8]) {
    let sealed = sealed::seal(job::FORMAT, serde_json::json!({}), bytes);
    for bytes in [bytes.to_vec(), sealed] {
        if let Some(job) = checked(Job::parse(Path::new("job"), bytes)) {
            assert!(job.shards() > 0);
            checked(job.settings().locate.resolved().map_err(crate::batch::BatchError::from));
        }
    }
}

/// A shard's list of photos.
pub fn batch_manifest(bytes: &[u8]) {
    let photos = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let sealed = sealed::seal(manifest::FORMAT, manifest::Head { shard: 0, photos }, bytes);
    for file in [bytes.to_vec(), sealed] {
        if let Some(found) = checked(manifest::parse(Path::new("00000.jsonl"), file, 0, Path::new("/base"))) {
            assert!(found.photos.len() <= bytes.len());
        }
    }
}

/// What came of a shard: the first byte says how many photos it is of.
pub fn batch_part(bytes: &[u8]) {
    let (count, text) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first as usize % 8, rest));
    let origin = Origin { shard: 0, manifest: "m".to_owned(), settings: "s".to_owned() };
    let lines = String::from_utf8_lossy(text).lines().map(str::to_owned).collect();
    let part = Part {
        maker: "fuzz".to_owned(),
        encoder: Fingerprint::new("fuzz", 1),
        lines,
        columns: count,
        rows: text.iter().map(|byte| f32::from(*byte)).collect(),
    };
    for file in [bytes.to_vec(), part.to_bytes(origin.clone())] {
        if let Some(part) = checked(Part::parse(Path::new("00000"), file, &origin, part.lines.len())) {
            checked(part.objects(Path::new("00000")));
        }
    }
}

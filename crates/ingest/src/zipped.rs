//! Zip shards, as OpenStreetView-5M is published: found by their directory and read where they lie.

use crate::shard::{Description, Shard};
use crate::{IngestError, PhotoSource, Result, source::is_picture};
use std::io::{self, BufReader};
use std::{fs::File, path::Path, sync::Arc};
use zip::{CompressionMethod, ZipArchive};

/// No archive of photos has more members.
const MOST_MEMBERS: usize = 20_000_000;

/// The pictures of an archive in its order, with the places in the members beside them, and how many members are neither.
pub(crate) fn photos(path: &Path) -> Result<(Vec<PhotoSource>, usize)> {
    let archive: Arc<Path> = Arc::from(path);
    let wrong = |reason: String| IngestError::Zip { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|reason| IngestError::Read { file: path.display().to_string(), reason })?;
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|error| wrong(error.to_string()))?;
    if zip.len() > MOST_MEMBERS {
        return Err(wrong(format!("it has {} members", zip.len())));
    }
    let mut shard = Shard::default();
    for k in 0..zip.len() {
        let member = zip.by_index_raw(k).map_err(|error| wrong(error.to_string()))?;
        if !member.is_file() {
            continue;
        }
        let name = member.name().map_err(|error| wrong(error.to_string()))?.into_owned();
        let is_beside = Description::of(&name).is_some();
        if is_picture(Path::new(&name)) {
            let start = member.data_start().ok_or_else(|| wrong(format!("{name} has no data")))?;
            let source = PhotoSource::member(&archive, &name, start, member.compressed_size());
            let source = match member.compression() {
                _ if member.encrypted() => source.unreadable("it is encrypted"),
                CompressionMethod::Stored => source,
                CompressionMethod::Deflated => source.deflated(member.size()),
                other => source.unreadable(&format!("it is packed with {other}")),
            };
            shard.picture(&name, source);
        } else if is_beside {
            drop(member);
            let mut member = zip.by_index(k).map_err(|error| wrong(error.to_string()))?;
            shard.describe(&name, &mut member).map_err(|error: io::Error| wrong(error.to_string()))?;
        } else {
            shard.other();
        }
    }
    Ok(shard.finish())
}

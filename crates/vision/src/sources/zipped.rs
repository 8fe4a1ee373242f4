//! Zip shards, as OpenStreetView-5M is published: found by their directory and read where they lie.

use crate::sources::shard::{Description, Shard};
use crate::sources::{IngestError, PhotoSource, Result, source::is_picture};
use locdiff_base::ensure;
use std::{fs::File, io, io::BufReader, path::Path, sync::Arc};
use zip::{CompressionMethod, ZipArchive};

/// No archive of photos has more members.
const MOST_MEMBERS: usize = 20_000_000;

/// The pictures of an archive in its order, with the places in the members beside them, and how many members are neither.
pub(crate) fn photos(path: &Path) -> Result<(Vec<PhotoSource>, usize)> {
    let archive: Arc<Path> = Arc::from(path);
    let wrong = |reason: String| IngestError::Zip { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|reason| IngestError::Read { file: path.display().to_string(), reason })?;
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|error| wrong(error.to_string()))?;
    ensure!(zip.len() <= MOST_MEMBERS, wrong(format!("it has {} members", zip.len())));
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
            shard.others += 1;
        }
    }
    Ok(shard.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PhotoLimits, VisionError};
    use std::io::Write;
    use zip::{ZipWriter, write::SimpleFileOptions};

    #[test]
    fn members_that_unpack_to_more_than_a_photo_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let mut zip = ZipWriter::new(File::create(&path).unwrap());
        for (name, bytes) in [("bomb.jpg", 40 << 20), ("small.jpg", 1 << 20)] {
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
            zip.start_file(name, options).unwrap();
            zip.write_all(&vec![0; bytes]).unwrap();
        }
        zip.finish().unwrap();
        let (found, _) = photos(&path).unwrap();
        let refused = |k: usize, limits: &PhotoLimits| found[k].read(limits).unwrap_err();
        let limits = PhotoLimits::default();
        let bomb = refused(0, &limits);
        assert!(matches!(bomb, VisionError::TooManyBytes { bytes: 0x280_0000, .. }), "{bomb}");
        // Below every limit it is unpacked, and is no picture; above the photo's own, or with a false size, it is not.
        assert!(matches!(refused(1, &limits), VisionError::UnknownFormat { .. }));
        let tight = PhotoLimits { max_bytes: 1 << 19, ..limits };
        assert!(matches!(refused(1, &tight), VisionError::TooManyBytes { bytes: 0x10_0000, .. }));
        let lie = found[0].clone().deflated(100);
        assert!(lie.read(&limits).unwrap_err().to_string().contains("its size differs"));
    }
}

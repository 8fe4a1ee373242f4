//! What tells inputs apart: the names, sizes and times of files, and checksums of what stages make.

use crate::{recipe::error::Result, recipe::error::cannot};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{io::Read, time::UNIX_EPOCH};
use twox_hash::XxHash3_128;

/// A checksum in words.
pub(crate) fn sum(bytes: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(bytes))
}

/// The checksum of files' contents, in their order.
pub(crate) fn sum_of_files(files: impl IntoIterator<Item = PathBuf>) -> Result<String> {
    let mut hasher = XxHash3_128::new();
    let mut block = vec![0; 1 << 20];
    for path in files {
        let path = path.as_path();
        let mut file = File::open(path).map_err(cannot(path))?;
        loop {
            let count = file.read(&mut block).map_err(cannot(path))?;
            if count == 0 {
                break;
            }
            hasher.write(&block[..count]);
        }
        hasher.write(b"|");
    }
    Ok(format!("{:032x}", hasher.finish_128()))
}

/// What tells a file or a folder of a user's from another: names below it, sizes and times of change. Contents are not read: they
/// are hundreds of gigabytes.
pub(crate) fn of_path(path: &Path) -> Result<String> {
    let mut total = (0_u128, 0_u64);
    add(path, path, &mut total)?;
    Ok(format!("{} files {:032x}", total.1, total.0))
}

/// Adds what lies at a path; a sum, because the order of a folder's entries is any.
fn add(root: &Path, path: &Path, total: &mut (u128, u64)) -> Result<()> {
    let metadata = fs::metadata(path).map_err(cannot(path))?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path).map_err(cannot(path))? {
            let inner = entry.map_err(cannot(path))?.path();
            // A link that leads nowhere changes nothing: no photo is read from it.
            if inner.exists() {
                add(root, &inner, total)?;
            }
        }
        return Ok(());
    }
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    let text = format!("{name}|{}|{}", metadata.len(), time.map_or(0, |time| time.as_nanos()));
    total.0 = total.0.wrapping_add(XxHash3_128::oneshot(text.as_bytes()));
    total.1 += 1;
    Ok(())
}

//! Files of a job: a line of JSON that says what they hold, with a checksum, then what they hold.

use crate::batch::{BatchError, Result};
use locdiff_base::{AtomicFile, ensure, excerpt, read_bounded};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::Path;
use twox_hash::XxHash3_128;

#[derive(Serialize, Deserialize)]
struct Seal<H> {
    format: String,
    version: u32,
    #[serde(flatten)]
    head: H,
    /// Checksum of everything after the first line.
    xxh3: String,
}

const VERSION: u32 = 1;

pub(crate) fn sum(bytes: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(bytes))
}

pub(crate) fn seal<H: Serialize>(format: &str, head: H, body: &[u8]) -> Vec<u8> {
    let seal = Seal { format: format.to_owned(), version: VERSION, head, xxh3: sum(body) };
    let mut bytes = serde_json::to_vec(&seal).expect("a head of texts and numbers");
    bytes.push(b'\n');
    bytes.extend(body);
    bytes
}

pub(crate) fn write<H: Serialize>(path: &Path, format: &str, head: H, body: &[u8]) -> Result<()> {
    Ok(AtomicFile::write_whole(path, &seal(format, head, body))?)
}

/// A file that was read: what it says of itself, what it holds, and the checksum of that.
pub(crate) struct Opened<H> {
    pub(crate) head: H,
    pub(crate) body: Vec<u8>,
    pub(crate) sum: String,
}

pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_bounded(path, most).map_err(|reason| BatchError::Read { path: path.to_owned(), reason })
}

/// Opens the bytes of a sealed file. Fails if they differ from the bytes that were written.
pub(crate) fn open<H: DeserializeOwned>(path: &Path, format: &str, mut bytes: Vec<u8>) -> Result<Opened<H>> {
    let damaged = |reason: String| damaged(path, reason);
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| damaged("it has no first line".to_owned()))?;
    let seal: Seal<H> = serde_json::from_slice(&bytes[..end])
        .map_err(|error| damaged(format!("its first line is not understood ({})", excerpt(&error.to_string()))))?;
    if seal.format != format || seal.version != VERSION {
        let met = excerpt(&format!("{} {}", seal.format, seal.version));
        return Err(damaged(format!("it is a {met}, not a {format} {VERSION}")));
    }
    bytes.drain(..=end);
    let sum = sum(&bytes);
    ensure!(sum == seal.xxh3, damaged("its checksum does not hold".to_owned()));
    Ok(Opened { head: seal.head, body: bytes, sum })
}

pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> BatchError {
    let remedy = "copy it again, or delete it and make it again";
    BatchError::Damaged { path: path.to_owned(), reason: reason.into(), remedy }
}

//! Downloads ranges of a file in pieces, and resumes interrupted runs.

use super::error::{GetError, unreadable, unwritable};
use super::remote::{Head, Opened, Place, Remote};
use locdiff_base::{AtomicFile, ensure, own_file, read_bounded};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::{fs, fs::File, fs::OpenOptions, io::Read, io::Write, ops::Range, path::Path, path::PathBuf, time::Duration};

const PIECE: u64 = 64 << 20;
/// Tries without a byte of progress.
const TRIES: u32 = 4;

pub(super) struct Transfer<'a> {
    pub(super) remote: &'a Remote,
    pub(super) place: &'a Place,
    pub(super) head: &'a Head,
    /// Which bytes, in order and apart from each other.
    pub(super) ranges: &'a [Range<u64>],
    /// The file that receives the ranges, one after the other.
    pub(super) part: &'a Path,
    /// The SHA-256 of the whole file, and who says so.
    pub(super) sha256: Option<(&'a str, &'static str)>,
    pub(super) pause: Duration,
}

/// What a part belongs to: another version of the file, or other ranges, start from the beginning.
#[derive(Serialize, Deserialize, PartialEq)]
struct Mark {
    address: String,
    bytes: u64,
    version: Option<String>,
    ranges: Vec<(u64, u64)>,
}

impl Transfer<'_> {
    fn wanted(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    fn mark(&self) -> Mark {
        let ranges = self.ranges.iter().map(|range| (range.start, range.end)).collect();
        let (address, version) = (self.place.to_string(), self.head.version.clone());
        Mark { address, bytes: self.head.bytes, version, ranges }
    }

    pub(super) fn done(&self) -> u64 {
        let text = read_bounded(&mark_path(self.part), 1 << 20).ok();
        let mark = text.and_then(|text| serde_json::from_slice::<Mark>(&text).ok());
        let length = fs::metadata(self.part).map_or(0, |there| there.len());
        if mark.is_some_and(|mark| mark == self.mark()) && length <= self.wanted() { length } else { 0 }
    }

    /// Downloads the missing bytes and compares the hash. Calls `progress` with the number of new bytes; if it returns false, stops.
    pub(super) fn run(&self, progress: &mut dyn FnMut(u64) -> bool) -> Result<(), GetError> {
        let begun = self.done();
        for own in [self.part, &mark_path(self.part)] {
            own_file(own).map_err(unwritable(own))?;
        }
        let text = serde_json::to_string(&self.mark()).expect("plain data");
        AtomicFile::write_whole(&mark_path(self.part), text.as_bytes())?;
        let open = OpenOptions::new().create(true).write(true).truncate(false).open(self.part);
        let mut file = open.map_err(unwritable(self.part))?;
        file.set_len(begun).map_err(unwritable(self.part))?;
        let (mut done, mut failures) = (begun, 0);
        while done < self.wanted() {
            ensure!(progress(0), GetError::Stopped);
            let before = done;
            let result = self.piece(&mut file, &mut done, progress);
            file.flush().map_err(unwritable(self.part))?;
            match result {
                Ok(()) => failures = 0,
                Err(Broken::Fatal(error)) => return Err(error),
                Err(Broken::Connection(reason)) => {
                    failures = if done > before { 1 } else { failures + 1 };
                    if failures == TRIES {
                        let address = self.place.to_string();
                        return Err(GetError::BrokeOff { address, done, bytes: self.wanted(), reason });
                    }
                    std::thread::sleep(self.pause * failures);
                }
            }
        }
        file.sync_all().map_err(unwritable(self.part))?;
        match self.sha256.filter(|_| self.wanted() == self.head.bytes) {
            Some(wanted) => self.compare(&sha256_of(self.part)?, wanted),
            None => Ok(()),
        }
    }

    /// Downloads a piece of a range, or the whole file if the server does not support ranges.
    fn piece(&self, file: &mut File, done: &mut u64, progress: &mut dyn FnMut(u64) -> bool) -> Result<(), Broken> {
        use std::io::{Seek, SeekFrom};
        let (from, end) = self.position(*done);
        let to = end.min(from + PIECE);
        let Opened { mut input, from: begin } = match self.remote.open(self.place, self.head, from, to) {
            Ok(opened) => opened,
            Err(error @ GetError::Unreachable { .. }) if *done > 0 => {
                return Err(Broken::Connection(error.to_string()));
            }
            Err(error) => return Err(Broken::Fatal(error)),
        };
        let mut at = begin;
        let stop = if begin == from { to } else { self.head.bytes };
        if begin != from {
            *done = 0;
        }
        let sought = file.set_len(*done).and_then(|()| file.seek(SeekFrom::Start(*done)));
        sought.map_err(|error| Broken::Fatal(unwritable(self.part)(error)))?;
        let mut hash = (begin != from).then(|| Context::new(&SHA256));
        let mut buffer = vec![0; 256 << 10];
        while at < stop {
            let count = match input.read(&mut buffer) {
                Ok(0) => return Err(Broken::Connection("the connection was closed".to_owned())),
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Broken::Connection(locdiff_base::one_line(&error.to_string()))),
            };
            if let Some(hash) = &mut hash {
                hash.update(&buffer[..count]);
            }
            let came = at..at + count as u64;
            for range in self.ranges {
                let common = came.start.max(range.start)..came.end.min(range.end);
                if common.start < common.end {
                    let bytes = &buffer[(common.start - at) as usize..(common.end - at) as usize];
                    file.write_all(bytes).map_err(|error| Broken::Fatal(unwritable(self.part)(error)))?;
                    *done += bytes.len() as u64;
                }
            }
            at = came.end;
            ensure!(progress(count as u64), Broken::Fatal(GetError::Stopped));
        }
        match (hash, self.sha256) {
            (Some(hash), Some(wanted)) => self.compare(&hex(hash.finish().as_ref()), wanted).map_err(Broken::Fatal),
            _ => Ok(()),
        }
    }

    /// Returns the position of the byte after `done`, and the end of its range.
    fn position(&self, done: u64) -> (u64, u64) {
        let mut left = done;
        for range in self.ranges {
            let length = range.end - range.start;
            if left < length {
                return (range.start + left, range.end);
            }
            left -= length;
        }
        (self.head.bytes, self.head.bytes)
    }

    fn compare(&self, met: &str, (wanted, whose): (&str, &'static str)) -> Result<(), GetError> {
        if met.eq_ignore_ascii_case(wanted) {
            return Ok(());
        }
        let _ = fs::remove_file(self.part);
        let _ = fs::remove_file(mark_path(self.part));
        let (met, wanted) = (met.to_owned(), wanted.to_owned());
        Err(GetError::Hash { address: self.place.to_string(), met, wanted, whose })
    }
}

enum Broken {
    /// Another try may go on.
    Connection(String),
    Fatal(GetError),
}

fn mark_path(part: &Path) -> PathBuf {
    part.with_added_extension("json")
}

pub(super) fn sha256_of(path: &Path) -> Result<String, GetError> {
    let mut file = File::open(path).map_err(unreadable(path))?;
    let (mut hash, mut buffer) = (Context::new(&SHA256), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).map_err(unreadable(path))? {
            0 => return Ok(hex(hash.finish().as_ref())),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

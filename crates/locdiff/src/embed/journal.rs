//! Results so far, in a file next to the output: a run that was killed continues from here and ends with the same bytes.
//!
//! A line of JSON with the settings, then a record a photo in the photos' order: length and checksum, then the outcome.
//! Records are appended a batch at a time. An incomplete batch is made again. So the same photos always share a batch,
//! however often a run is interrupted.

use super::{EmbedError, error::Result, outcome::EmbedOutcome};
use locdiff_base::{OutputLock, ensure, own_file, private};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::{fs::File, fs::OpenOptions, io, path::Path, path::PathBuf};

pub(crate) struct EmbedJournal {
    path: PathBuf,
    file: File,
    /// Where the records begin.
    start: u64,
    pub(crate) done: usize,
    _lock: OutputLock,
}

impl EmbedJournal {
    /// Opens the journal of a run with these settings over `count` photos in batches of `batch`. With `resume`, finished
    /// batches stay.
    pub(crate) fn open(path: PathBuf, settings: &Value, count: usize, batch: usize, resume: bool) -> Result<Self> {
        let cannot = |reason| EmbedError::Journal { path: path.clone(), reason };
        let lock = OutputLock::file(&path)?;
        own_file(&path).map_err(cannot)?;
        let open = private(&mut OpenOptions::new()).read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(cannot)?;
        let mut head = settings.to_string().into_bytes();
        head.push(b'\n');
        let mut this = Self { path: path.clone(), file, start: head.len() as u64, done: 0, _lock: lock };
        if this.file.metadata().map_err(cannot)?.len() == 0 {
            this.file.write_all(&head).map_err(cannot)?;
            return Ok(this);
        }
        ensure!(resume, EmbedError::Unfinished { path });
        let mut reader = BufReader::new(&this.file);
        let mut line = Vec::new();
        reader.by_ref().take(1 << 16).read_until(b'\n', &mut line).map_err(cannot)?;
        compare(&path, &line, settings)?;
        let (mut end, mut whole_end) = (this.start, this.start);
        let mut found = 0;
        while let Some((bytes, _)) = next_record(&mut reader) {
            found += 1;
            end += bytes;
            if found % batch == 0 || found == count {
                (whole_end, this.done) = (end, found);
            }
        }
        this.file.set_len(whole_end).map_err(cannot)?;
        this.file.seek(SeekFrom::Start(whole_end)).map_err(cannot)?;
        Ok(this)
    }

    pub(crate) fn append(&mut self, batch: &[EmbedOutcome]) -> Result<()> {
        let mut bytes = Vec::new();
        for outcome in batch {
            let payload = outcome.to_bytes();
            bytes.extend((payload.len() as u32).to_le_bytes());
            bytes.extend(crc32fast::hash(&payload).to_le_bytes());
            bytes.extend(payload);
        }
        self.file.write_all(&bytes).map_err(|reason| self.failed(reason))?;
        self.done += batch.len();
        Ok(())
    }

    pub(crate) fn outcomes(&self) -> Result<impl Iterator<Item = EmbedOutcome>> {
        let failed = |reason| self.failed(reason);
        let mut file = File::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(self.start)).map_err(failed)?;
        let mut records = BufReader::with_capacity(1 << 16, file);
        Ok(std::iter::from_fn(move || next_record(&mut records).map(|(_, outcome)| outcome)))
    }

    /// Removes the file: the run is complete.
    pub(crate) fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|reason| self.failed(reason))
    }

    fn failed(&self, reason: io::Error) -> EmbedError {
        EmbedError::Journal { path: self.path.clone(), reason }
    }
}

/// Refuses a journal of other settings, and says which.
fn compare(path: &Path, line: &[u8], settings: &Value) -> Result<()> {
    let Ok(Value::Object(before)) = serde_json::from_slice(line) else {
        return Err(EmbedError::NoJournal { path: path.to_owned() });
    };
    for (key, now) in settings.as_object().into_iter().flatten() {
        let was = before.get(key).unwrap_or(&Value::Null);
        if was != now {
            return Err(EmbedError::OtherSetting {
                path: path.to_owned(),
                setting: key.clone(),
                before: was.to_string(),
                now: now.to_string(),
            });
        }
    }
    Ok(())
}

/// The next record and its length in the file; `None` at the end, or where a record is cut off or damaged.
fn next_record(input: &mut impl Read) -> Option<(u64, EmbedOutcome)> {
    /// No embedding is longer, however many views it has.
    const LONGEST: u32 = 1 << 30;
    let mut head = [0; 8];
    input.read_exact(&mut head).ok()?;
    let [length, sum] = [head.first_chunk()?, head.last_chunk()?].map(|four| u32::from_le_bytes(*four));
    if length > LONGEST {
        return None;
    }
    let mut payload = Vec::new();
    input.take(length.into()).read_to_end(&mut payload).ok()?;
    let is_whole = payload.len() == length as usize && crc32fast::hash(&payload) == sum;
    Some((8 + u64::from(length), EmbedOutcome::from_bytes(&payload).filter(|_| is_whole)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;
    use serde_json::json;

    fn outcomes() -> Vec<EmbedOutcome> {
        let gps = LatLon::new(-33.5, 151.25).ok();
        vec![
            EmbedOutcome::Embedded { values: vec![1.0, -2.5], gps },
            EmbedOutcome::Bad("cut off, Zürich".to_owned()),
            EmbedOutcome::WithoutPlace,
            EmbedOutcome::Embedded { values: vec![0.0, 3.0], gps: None },
            EmbedOutcome::Bad(String::new()),
        ]
    }

    /// Wherever the file is cut, whole batches before the cut stay, and the rest can be added again.
    #[test]
    fn any_cut_leaves_whole_batches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.partial");
        let settings = json!({"seed": 1});
        let open = |resume| EmbedJournal::open(path.clone(), &settings, 5, 2, resume);
        let mut journal = open(false).unwrap();
        for batch in outcomes().chunks(2) {
            journal.append(batch).unwrap();
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let mut seen = Vec::new();
        for cut in settings.to_string().len() + 1..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = open(true).unwrap();
            seen.push(journal.done);
            for batch in outcomes()[journal.done..].chunks(2) {
                journal.append(batch).unwrap();
            }
            assert_eq!(journal.outcomes().unwrap().collect::<Vec<_>>(), outcomes());
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        assert!(seen.is_sorted());
        seen.dedup();
        assert_eq!(seen, [0, 2, 4, 5]);
    }

    #[test]
    fn another_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.partial");
        let open = |settings: Value, resume| EmbedJournal::open(path.clone(), &settings, 5, 2, resume);
        let message = |settings, resume| open(settings, resume).err().unwrap().to_string();
        let first = open(json!({"seed": 1}), true).unwrap();
        assert!(message(json!({"seed": 1}), true).contains("in use by another run"));
        drop(first);
        assert!(message(json!({"seed": 1}), false).contains("resume it"));
        assert!(message(json!({"seed": 2}), true).contains("another seed (1, now 2)"));
        std::fs::write(&path, "holiday").unwrap();
        assert!(message(json!({"seed": 1}), true).contains("is not a journal"));
    }
}

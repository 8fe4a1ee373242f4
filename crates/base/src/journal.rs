//! Acts in a file of JSON lines, so that they can be undone.

use crate::{AtomicFile, WriteError, own_file, private, read_bounded};
use serde::{Serialize, de::DeserializeOwned};
use std::{fs, io, marker::PhantomData, path::Path, path::PathBuf};
use std::{fs::File, fs::OpenOptions, io::Read, io::Seek, io::SeekFrom, io::Write};

/// Far more than any run writes.
const MOST_BYTES: u64 = 1 << 30;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
pub enum JournalError {
    #[error("{file}: {reason}", file = file.display())]
    Unusable { file: PathBuf, reason: String },
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A file of entries, one per line. The first entry creates it, for its owner alone; entries are appended to a file that exists. An entry is on
/// the disk before [`Journal::append`] returns: append it before the act, and an interrupt leaves no act without an entry.
#[derive(Debug)]
pub struct Journal<E> {
    path: PathBuf,
    file: Option<File>,
    entries: PhantomData<fn(E) -> E>,
}

impl<E: Serialize + DeserializeOwned> Journal<E> {
    /// The journal in a file. Nothing is read or written yet.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, entries: PhantomData }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an entry and flushes it to the disk. Fails if the file cannot be written.
    pub fn append(&mut self, entry: &E) -> Result<(), JournalError> {
        Ok(self.append_inner(entry).map_err(|reason| {
            self.file = None; // the line may be cut: the next entry begins a new one
            self.failed(reason)
        })?)
    }

    fn append_inner(&mut self, entry: &E) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let file = if let Some(file) = &mut self.file {
            file
        } else {
            own_file(&self.path)?;
            let mut file = private(&mut OpenOptions::new()).create(true).read(true).append(true).open(&self.path)?;
            if is_cut(&mut file)? {
                line.insert(0, b'\n');
            }
            self.file.insert(file)
        };
        file.write_all(&line)?;
        file.sync_data()
    }

    /// All entries, in their order. A line that an interrupt cut is left out: its act never happened. Fails, with its
    /// number, for a line that is no entry or that `check` refuses, and for a file that cannot be read, is too large or a link of either kind.
    pub fn entries(&self, check: impl Fn(&E) -> Result<(), String>) -> Result<Vec<E>, JournalError> {
        let unusable = |reason| JournalError::Unusable { file: self.path.clone(), reason };
        let bytes = own_file(&self.path).and_then(|()| read_bounded(&self.path, MOST_BYTES));
        let bytes = bytes.map_err(|error| unusable(error.to_string()))?;
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            match serde_json::from_slice(line) {
                Ok(entry) => {
                    check(&entry).map_err(|reason| unusable(format!("line {number}: {reason}")))?;
                    entries.push(entry);
                }
                // Empty, or cut.
                Err(error) if error.is_eof() => {}
                Err(error) => return Err(unusable(format!("line {number} is not an entry of a journal ({error})"))),
            }
        }
        Ok(entries)
    }

    /// Replaces all entries, whole or not at all; without any the file is removed. Fails if the file cannot be changed.
    pub fn rewrite(&mut self, entries: &[E]) -> Result<(), JournalError> {
        self.file = None;
        if entries.is_empty() {
            return Ok(fs::remove_file(&self.path).map_err(|reason| self.failed(reason))?);
        }
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, entry).map_err(|error| self.failed(error.into()))?;
            lines.push(b'\n');
        }
        Ok(AtomicFile::write_whole(&self.path, &lines)?)
    }

    fn failed(&self, reason: io::Error) -> WriteError {
        WriteError::new(&self.path.display().to_string(), reason)
    }
}

/// Whether the last line has no end.
fn is_cut(file: &mut File) -> io::Result<bool> {
    let mut last = *b"\n";
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_lines_are_left_out_and_other_lines_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let open = || Journal::<(String, u32)>::at(&path);
        assert!(open().entries(|_| Ok(())).unwrap_err().to_string().contains("journal.jsonl"));
        open().append(&("é".to_owned(), 1)).unwrap();
        // An interrupt in the middle of a character, then another run.
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&whole[..], &whole[..3]].concat()).unwrap();
        assert_eq!(open().entries(|_| Ok(())).unwrap(), [("é".to_owned(), 1)]);
        let mut journal = open();
        journal.append(&("b".to_owned(), 2)).unwrap();
        journal.append(&("c".to_owned(), 3)).unwrap();
        assert_eq!(journal.entries(|_| Ok(())).unwrap().len(), 3);
        let few = |entry: &(String, u32)| if entry.1 < 2 { Ok(()) } else { Err("too many".to_owned()) };
        assert!(journal.entries(few).unwrap_err().to_string().contains(": too many"));
        journal.rewrite(&[("b".to_owned(), 2)]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "[\"b\",2]\n");
        journal.append(&("d".to_owned(), 4)).unwrap();
        assert_eq!(open().entries(|_| Ok(())).unwrap(), [("b".to_owned(), 2), ("d".to_owned(), 4)]);
        for bad in ["[\"a\",1]\nx,y\n", "[\"a\",1]\n[1]\n", "[\"a\",1]\n\u{0}\n"] {
            fs::write(&path, bad).unwrap();
            let message = open().entries(|_| Ok(())).unwrap_err().to_string();
            assert!(message.contains("line 2"), "{message}");
        }
        open().rewrite(&[]).unwrap();
        assert!(!path.exists());
        #[cfg(unix)]
        {
            fs::write(folder.path().join("other"), "").unwrap();
            std::os::unix::fs::symlink("other", &path).unwrap();
            assert!(open().entries(|_| Ok(())).unwrap_err().to_string().contains("it is a link"));
            assert!(open().append(&("a".to_owned(), 1)).is_err());
            assert_eq!(fs::read(folder.path().join("other")).unwrap(), b"");
        }
    }
}

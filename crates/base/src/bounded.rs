//! Reading files that a user named: regular ones only, and never more than was agreed on.

use crate::ensure;
use std::{fs, fs::File, fs::FileType, io, io::Read, path::Path};

/// What a thing on the disk is that is neither a regular file nor a folder: reading it may never end.
pub fn special_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_file() || kind.is_dir() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let is_device = kind.is_char_device() || kind.is_block_device();
        let kinds = [(kind.is_fifo(), "a named pipe"), (kind.is_socket(), "a socket"), (is_device, "a device")];
        if let Some((_, name)) = kinds.into_iter().find(|(is_kind, _)| *is_kind) {
            return Some(name);
        }
    }
    Some("no regular file")
}

/// The whole of a regular file of at most `most` bytes; links are followed. Fails for anything else.
pub fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    ensure!(!metadata.is_dir(), io::ErrorKind::IsADirectory.into());
    if let Some(kind) = special_kind(metadata.file_type()) {
        return Err(io::Error::other(format!("it is {kind}, not a regular file")));
    }
    ensure!(metadata.len() <= most, too_large(most));
    let mut contents = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    // The file may grow while it is read.
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut contents)?;
    if contents.len() as u64 > most { Err(too_large(most)) } else { Ok(contents) }
}

/// [`read_bounded`] as text. Fails as [`read_bounded`] does, and for bytes that are not UTF-8.
pub fn read_text_bounded(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(read_bounded(path, most)?).map_err(not_text)
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_pipes_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let message = |path: &Path| read_bounded(path, 10).unwrap_err().to_string();
        assert_eq!(message(Path::new("/dev/zero")), "it is a device, not a regular file");
        assert_eq!(message(&pipe), "it is a named pipe, not a regular file");
        assert!(message(folder.path()).contains("directory"));
        // Files that say they have no bytes and have some.
        assert!(message(Path::new("/proc/self/maps")).contains("more than 10 bytes"));
        let path = folder.path().join("x");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text_bounded(&path, 10).unwrap_err().to_string().contains("UTF-8"));
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(read_bounded(&path, 100).unwrap(), b"{}");
        assert!(read_bounded(&path, 1).unwrap_err().to_string().contains("more than 1 bytes"));
    }
}

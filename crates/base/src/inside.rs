//! Names of files in a file of ours, such as a journal. They stay inside their folder, even if somebody else wrote the file.

use crate::{ensure, special_kind};
use std::{fs, io, path::Path, path::PathBuf};

/// The file that a name means inside a folder: relative, with `/` between folders, no `..`, nothing absolute, no link anywhere on the
/// way, and a regular file where there is one already. The error says in words what is wrong with the name.
pub fn inside(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let shown = crate::excerpt(name);
    let bytes = name.as_bytes();
    let is_drive = bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if is_drive || name.contains(['\0', '\\']) || name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(format!("'{shown}' is not a name inside the folder"));
    }
    let mut path = folder.to_owned();
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        let kind = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(format!("'{shown}' cannot be looked at: {error}")),
        };
        ensure!(!kind.is_symlink(), format!("'{shown}' leads over a link"));
        if parts.peek().is_none() && (kind.is_dir() || special_kind(kind).is_some()) {
            return Err(format!("'{shown}' is not a regular file"));
        }
    }
    Ok(path)
}

/// Checks that a file of our own, such as a journal, a lock or a part, is absent or a regular file with one name. Fails for links of
/// both kinds, folders and devices: writing there would change something else.
pub fn own_file(path: &Path) -> io::Result<()> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    let reason = match there.file_type() {
        kind if kind.is_symlink() => "it is a link, which leads elsewhere: remove it",
        kind if !kind.is_file() => "it is not a regular file: remove it",
        _ if name_count(&there) > 1 => "it has a second name (a hard link): remove it",
        _ => return Ok(()),
    };
    Err(io::Error::other(reason))
}

/// The number of names (hard links) of a file.
pub fn name_count(file: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(file);
    #[cfg(not(unix))]
    return u64::from(file.is_file());
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_folders_are_refused() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("d");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(outer.path().join("x"), "x").unwrap();
        symlink("../x", folder.join("link")).unwrap();
        symlink("../nowhere", folder.join("dangling")).unwrap();
        symlink("..", folder.join("up")).unwrap();
        for name in ["link", "dangling", "up/x", "up", "sub"] {
            assert!(inside(&folder, name).is_err(), "{name}");
        }
        assert!(inside(&folder, "sub/new").is_ok() && inside(&folder, "new/new").is_ok());
        for name in ["", "/etc/passwd", "../a.jpg", "a/../../b", "./a", "a//b", "a/", "C:x", "C:\\x", "a\\b", "a\0b"] {
            assert!(inside(&folder, name).is_err(), "{name}");
        }
        assert_eq!(inside(&folder, "day 1/a.jpg").unwrap(), folder.join("day 1/a.jpg"));
        assert!(inside(&folder, &"a".repeat(300)).is_err(), "no system takes it");
        fs::hard_link(outer.path().join("x"), folder.join("second")).unwrap();
        for name in ["link", "dangling", "up", "sub", "second"] {
            assert!(own_file(&folder.join(name)).is_err(), "{name}");
        }
        fs::write(folder.join("own"), "").unwrap();
        assert!(own_file(&folder.join("own")).is_ok() && own_file(&folder.join("new")).is_ok());
    }
}

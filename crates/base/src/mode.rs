//! Who may read what is made of other files: nobody who may not read those.

use std::{fs::DirBuilder, fs::Metadata, fs::OpenOptions, io, path::Path};

/// Makes new files readable by their owner alone.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes new files readable by those at most who may read another one; their owner may write them.
pub(crate) fn no_wider<'o>(options: &'o mut OpenOptions, like: &Metadata) -> &'o mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(like.permissions().mode() & 0o666 | 0o600);
    }
    #[cfg(not(unix))]
    let _ = like;
    options
}

/// Makes a folder of our own that its owner alone may enter, also if it was there before. Fails if the system refuses.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    make_folder(folder, None)?;
    #[cfg(unix)]
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Makes a folder, and those above it, if need be: for its owner alone, or for those at most who may enter the folder `like`. Fails if
/// the system refuses.
pub fn make_folder(folder: &Path, like: Option<&Metadata>) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        builder.mode(like.map_or(0, |like| like.permissions().mode() & 0o777) | 0o700);
    }
    #[cfg(not(unix))]
    let _ = like;
    builder.recursive(true).create(folder)
}

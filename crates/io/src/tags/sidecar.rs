//! The files beside a photo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The photo's path with `.xmp` after it, as darktable and digiKam look for it.
///
/// ```
/// use std::path::Path;
/// assert_eq!(locdiff_io::tags::sidecar_path(Path::new("a/b.jpg")), Path::new("a/b.jpg.xmp"));
/// ```
pub fn sidecar_path(photo: &Path) -> PathBuf {
    let mut path: OsString = photo.as_os_str().to_owned();
    path.push(".xmp");
    path.into()
}

/// The photo's path with `.xmp` for its ending, as Lightroom and Camera Raw have it.
///
/// ```
/// use std::path::Path;
/// assert_eq!(locdiff_io::tags::adobe_sidecar_path(Path::new("a/b.jpg")), Path::new("a/b.xmp"));
/// ```
pub fn adobe_sidecar_path(photo: &Path) -> PathBuf {
    photo.with_extension("xmp")
}

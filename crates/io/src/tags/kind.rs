//! Files of an album by their names, and those beside a photo.

use std::{ffi::OsString, path::Path, path::PathBuf};

/// What a file's name says that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaKind {
    /// A picture.
    Picture,
    /// A camera's RAW file: located by the preview in it, tagged by a sidecar.
    Raw,
    /// A video: passed over; see [`PhotoFacts::of_video`](crate::tags::PhotoFacts::of_video).
    Video,
    /// An XMP file beside a photo.
    Sidecar,
    /// Something else.
    Other,
}

/// HEIC and AVIF are among them where they cannot be decoded, too: they are listed as bad, with the remedy.
const PICTURES: &str = "jpg jpeg jpe jfif png webp tif tiff gif bmp heic heif avif";
const RAWS: &str = "cr2 cr3 nef arw dng raf orf";
const VIDEOS: &str = "mp4 mov m4v avi mkv webm 3gp 3g2 mts m2ts mpg mpeg wmv flv ogv";

impl MediaKind {
    /// By the ending of a name.
    ///
    /// ```
    /// use locdiff_io::tags::MediaKind;
    /// let kind = |name: &str| MediaKind::of(name.as_ref());
    /// assert_eq!(kind("IMG_1.CR2"), MediaKind::Raw);
    /// assert_eq!(kind("IMG_1.CR2.xmp"), MediaKind::Sidecar);
    /// assert_eq!([kind("a.MOV"), kind("b.Jpg"), kind("jpg")], [MediaKind::Video, MediaKind::Picture, MediaKind::Other]);
    /// ```
    pub fn of(name: &Path) -> Self {
        let ending = name.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let is_in = |list: &str| list.split(' ').any(|known| known == ending);
        match () {
            () if is_in(PICTURES) => Self::Picture,
            () if is_in(RAWS) => Self::Raw,
            () if is_in(VIDEOS) => Self::Video,
            () if ending == "xmp" => Self::Sidecar,
            () => Self::Other,
        }
    }

    /// Whether it is a photo to locate.
    pub fn is_photo(self) -> bool {
        matches!(self, Self::Picture | Self::Raw)
    }
}

/// Whether a photo's place goes into a sidecar only, because files of its kind are never written.
pub fn sidecar_only(photo: &Path) -> bool {
    MediaKind::of(photo) == MediaKind::Raw
}

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

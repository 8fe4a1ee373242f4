//! Everything in the file of a photo or a video that says where it was taken, and copies without it. Tags are overwritten where they
//! stand, nothing is encoded again: pixels keep their bytes.

mod boxes;
mod containers;
mod exif;
mod finding;
mod iptc;
mod xmp;

pub use finding::{LocationFinding, LocationScrub};

use crate::tags::files::{attributes, parent, target_change};
use crate::tags::tree::Tree;
use crate::tags::{MediaKind, Overwrite, PhotoFacts, Result, TagError, blocks::is_tiff, heif_kind, raw_kind};
use locdiff_base::{AtomicFile, WriteError, make_folder, read_bounded};
use std::{fs::File, io, io::Cursor, io::Read, io::Seek, io::SeekFrom, io::Write, path::Path, path::PathBuf};

const RAW: &str = "RAW files are never changed";
/// Photos are smaller, in bytes.
const MOST_BYTES: u64 = 1 << 30;

fn is_film(head: &[u8]) -> bool {
    let begins = head
        .get(4..8)
        .is_some_and(|kind| b"ftyp moov mdat wide free skip".split(|c| *c == b' ').any(|known| known == kind));
    begins && heif_kind(head).is_none() && raw_kind(head).is_none()
}

/// The path of each file's copy in a folder: as seen from the folders that were given, with a number if two have one name.
pub fn copy_paths(given: &[PathBuf], files: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let mut tree = Tree::of(given);
    files.iter().map(|file| folder.join(tree.name(file).unwrap_or_default())).collect()
}

impl LocationScrub {
    /// Looks at the contents of a photo or video.
    pub fn of(contents: &[u8]) -> Self {
        let mut scrub = Self::default();
        match contents {
            _ if raw_kind(contents).is_some() => {
                let facts = PhotoFacts::read(contents);
                facts.gps.iter().for_each(|at| scrub.note_position("EXIF", Some(*at), 0.0, 0.0));
                facts.taken.offset.iter().for_each(|zone| scrub.note("time-zone", "EXIF", zone));
                scrub.damage = Some(RAW.to_owned());
            }
            [0xff, 0xd8, ..] => containers::jpeg(contents, &mut scrub),
            [0x89, b'P', b'N', b'G', ..] => containers::chunks(contents, true, &mut scrub),
            [b'R', b'I', b'F', b'F', ..] if contents.get(8..12) == Some(b"WEBP") => {
                containers::chunks(contents, false, &mut scrub);
            }
            _ if is_tiff(contents) => {
                let new = exif::scrubbed(contents, true, &mut scrub);
                scrub.replace(contents, 0..contents.len(), new);
            }
            _ if heif_kind(contents).is_some() => boxes::heif(contents, &mut scrub),
            _ if is_film(contents) => boxes::film_file(&mut Cursor::new(contents), contents.len() as u64, &mut scrub),
            _ => scrub.damage = Some("it is not a JPEG, PNG, WebP, TIFF, HEIC, AVIF, MP4 or MOV file".to_owned()),
        }
        scrub.in_order()
    }

    /// Looks at a file; of a video only its tables are read. Fails if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |source| TagError::Read { file: path.display().to_string(), source };
        let mut file = File::open(path).map_err(failed)?;
        let mut head = Vec::new();
        Read::take(&mut file, 4096).read_to_end(&mut head).map_err(failed)?;
        if is_film(&head) {
            let (length, mut scrub) = (file.seek(SeekFrom::End(0)).map_err(failed)?, Self::default());
            boxes::film_file(&mut file, length, &mut scrub);
            return Ok(scrub.in_order());
        }
        let is_other_film = MediaKind::of(path) == MediaKind::Video;
        Ok(Self::of(&if is_other_film { head } else { read_bounded(path, MOST_BYTES).map_err(failed)? }))
    }

    fn in_order(mut self) -> Self {
        self.patches.sort_by_key(|(range, _)| range.start);
        if self.patches.windows(2).any(|pair| pair[0].0.end > pair[1].0.start) {
            self.damage = Some("its tables are damaged".to_owned());
        }
        if let Some(reason) = self.damage.clone().filter(|reason| reason != RAW) {
            self.note("hidden", "file", &format!("not all of it could be looked at: {reason}"));
        }
        self
    }

    /// The contents without location. Fails for damaged files, RAW files and files of other kinds, which messages call `name`.
    pub fn cleaned(&self, contents: &[u8], name: &str) -> Result<Vec<u8>> {
        let mut clean = Vec::with_capacity(contents.len());
        self.splice(name, &mut Cursor::new(contents), &mut clean)?;
        let left = Self::of(&clean).findings.into_iter().next();
        let refused = |left: LocationFinding| TagError::NotCleaned { file: name.to_owned(), reason: left.says };
        left.map_or(Ok(clean), |left| Err(refused(left)))
    }

    /// Writes a copy without location, with the times and permissions of the photo. It appears whole or not at all. Fails as
    /// [`LocationScrub::cleaned`] does, and if the copy would be the photo itself, or exists and may not be replaced.
    /// With `instead`, a JPEG file, the copy holds that, and its name ends so. Returns its path.
    pub fn write_clean(&self, photo: &Path, copy: &Path, over: Overwrite, instead: Option<&[u8]>) -> Result<PathBuf> {
        let copy = if instead.is_some() { copy.with_extension("jpg") } else { copy.to_owned() };
        let name = photo.display().to_string();
        self.check(&name)?;
        target_change(photo, &copy, over)?;
        let like = attributes(photo)?;
        let failed = |reason| WriteError::new(&copy.display().to_string(), reason);
        make_folder(parent(&copy), Some(&attributes(parent(photo))?)).map_err(failed)?;
        let mut file = AtomicFile::create_like(&copy, &like)?;
        if let Some(bytes) = instead {
            file.write_all(bytes).map_err(failed)?;
        } else {
            let source = File::open(photo).map_err(|source| TagError::Read { file: name.clone(), source });
            self.splice(&name, &mut source?, &mut file)?;
        }
        file.take_attributes(&like)?;
        file.commit()?;
        Ok(copy)
    }

    fn check(&self, name: &str) -> Result<()> {
        let refused = |reason: &String| TagError::NotCleaned { file: name.to_owned(), reason: reason.clone() };
        self.damage.as_ref().map_or(Ok(()), |reason| Err(refused(reason)))
    }

    fn splice(&self, name: &str, source: &mut (impl Read + Seek), out: &mut impl Write) -> Result<()> {
        self.check(name)?;
        let failed = |reason| WriteError::new(name, reason);
        let mut at = 0;
        for (range, bytes) in &self.patches {
            io::copy(&mut source.by_ref().take(range.start - at), out).map_err(failed)?;
            out.write_all(bytes).map_err(failed)?;
            at = source.seek(SeekFrom::Start(range.end)).map_err(failed)?;
        }
        io::copy(source, out).map(drop).map_err(|reason| failed(reason).into())
    }
}

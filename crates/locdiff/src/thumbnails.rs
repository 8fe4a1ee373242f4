//! How large the small pictures of a page are.

use locdiff_vision::Photo;

/// What a small picture of a photo may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thumbnails {
    /// Pixels of the longer side that are tried.
    sides: &'static [u32],
    /// The most bytes of a file.
    bytes: usize,
}

/// The pictures of an album's page have no more bytes together, as JPEG files.
const PAGE_BYTES: usize = 12 << 20;

impl Thumbnails {
    /// For a page on which few are looked at.
    pub(crate) const LARGE: Self = Self { sides: &[160], bytes: 20_000 };

    /// For a page of so many photos: 12 MB of pictures at the most.
    pub(crate) fn of_page(photos: usize) -> Self {
        Self { sides: &[96, 64, 48], bytes: (PAGE_BYTES / photos.max(1)).min(6_000) }
    }

    /// A photo as a small JPEG file; `None` where it cannot be made that small.
    pub(crate) fn of(&self, photo: &Photo) -> Option<Vec<u8>> {
        self.sides.iter().find_map(|&side| photo.thumbnail(side, self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pictures_are_small() {
        let photo = Photo::test_picture();
        assert!(Thumbnails::of_page(2000).of(&photo).unwrap().len() <= 6_000);
        assert!(Thumbnails::of_page(20_000).of(&photo).is_none_or(|small| small.len() <= 629));
    }
}

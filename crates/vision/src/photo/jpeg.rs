//! Whether a JPEG file is whole (the decoder fills the missing part of a cut file with grey and says nothing), and whether a device's
//! decoder may take it.

/// The byte after 0xFF that ends a picture.
const END_OF_IMAGE: u8 = 0xD9;
const START_OF_SCAN: u8 = 0xDA;
const BASELINE: u8 = 0xC0;

/// Whether the markers of a JPEG file lead to its end-of-image marker. What follows that marker (previews, depth maps)
/// is of no concern.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    end(bytes).is_some()
}

/// Where the end-of-image marker stops.
fn end(bytes: &[u8]) -> Option<usize> {
    let mut at = 2; // after the start-of-image marker
    loop {
        // A marker: any number of 0xFF, then its code.
        let skip = bytes.get(at..)?.iter().position(|&b| b != 0xFF)?;
        let code = bytes[at + skip];
        at += skip + 1;
        match code {
            END_OF_IMAGE => return Some(at),
            0x01 | 0xD0..=0xD8 => continue, // no payload
            _ => at += usize::from(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?)).max(2),
        }
        if code == START_OF_SCAN {
            // Compressed data: 0xFF 0x00 is a plain 0xFF, 0xFF 0xD0…0xD7 a restart; any other marker ends it.
            let is_end = |pair: &[u8]| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xD0..=0xD7 | 0xFF);
            at += bytes.get(at..)?.windows(2).position(is_end)?;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Whether the chroma has half the columns, half the rows; `None` for greys.
    pub(crate) halved: Option<[bool; 2]>,
}

/// The frame of a baseline file; `None` for any other, and for chroma that is neither whole nor halved.
pub(crate) fn frame(bytes: &[u8]) -> Option<Frame> {
    let mut at = 2;
    loop {
        let &[marker, code, high, low] = bytes.get(at..)?.first_chunk()?;
        let length = usize::from(u16::from_be_bytes([high, low]));
        match code {
            _ if marker != 0xFF => return None,
            BASELINE => {
                let (&[bits, y1, y0, x1, x0, _], components) =
                    bytes.get(at + 4..at + 2 + length)?.split_first_chunk()?;
                let (height, width) = (u16::from_be_bytes([y1, y0]), u16::from_be_bytes([x1, x0]));
                let sampling = components.as_chunks::<3>().0.iter().map(|component| component[1]);
                let halved = match sampling.collect::<Vec<_>>()[..] {
                    [_] => None,
                    [luma @ (0x11 | 0x12 | 0x21 | 0x22), 0x11, 0x11] => Some([luma & 0x20 != 0, luma & 0x02 != 0]),
                    _ => return None,
                };
                let frame = Frame { width: width.into(), height: height.into(), halved };
                return (bits == 8 && width > 0 && height > 0).then_some(frame);
            }
            // Tables, comments and what applications add.
            0xC4 | 0xDB | 0xDD | 0xE0..=0xEF | 0xFE => at += 2 + length,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, frame, is_whole};

    #[test]
    fn baseline_files_alone_have_a_frame() {
        let read = |name: &str| locdiff_testing::fixture_bytes(&format!("vision/{name}"));
        let frame_of = |name: &str| frame(&read(name));
        assert_eq!(frame_of("china.jpg"), Some(Frame { width: 640, height: 427, halved: Some([false, false]) }));
        assert_eq!(frame_of("grey.jpg").unwrap().halved, None);
        for name in ["progressive.jpg", "cmyk.jpg", "rgb.png"] {
            assert_eq!(frame_of(name), None, "{name}");
        }
        let photo = read("china.jpg");
        assert!((0..150).all(|end| frame(&photo[..end]).is_none()));
    }

    #[test]
    fn every_cut_is_seen() {
        let photo = include_bytes!("../../../../fixtures/vision/rgb.jpg");
        assert!(is_whole(photo));
        assert!((0..photo.len()).all(|end| !is_whole(&photo[..end])));
        assert!(is_whole(&[photo.as_slice(), b"trailer"].concat()));
    }
}

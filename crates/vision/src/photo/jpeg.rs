//! Whether a JPEG file is whole: the decoder fills the missing part of a cut file with grey and says nothing.

/// The byte after 0xFF that ends a picture.
const END_OF_IMAGE: u8 = 0xD9;
const START_OF_SCAN: u8 = 0xDA;
/// Bytes that are looked at together.
const PIECE: usize = 64;

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
            let from = bytes.get(at..)?;
            // Most pieces have no 0xFF, which is seen at once.
            let piece = |start: usize| {
                let has_marker = from[start..from.len().min(start + PIECE)].contains(&0xFF);
                let place = || from[start..].windows(2).take(PIECE).position(is_end);
                if has_marker { place().map(|place| start + place) } else { None }
            };
            at += (0..from.len()).step_by(PIECE).find_map(piece)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn every_cut_is_seen() {
        let photo = include_bytes!("../../../../fixtures/vision/rgb.jpg");
        assert!(is_whole(photo));
        assert!((0..photo.len()).all(|end| !is_whole(&photo[..end])));
        assert!(is_whole(&[photo.as_slice(), b"trailer"].concat()));
    }
}

//! When and by which camera a photo says it was taken: EXIF data, as they stand there.

use exif::{Exif, In, Reader, Tag, Value};

/// What EXIF data say of the moment; texts as they stand in the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Taken {
    /// `DateTimeOriginal`, such as `2024:05:12 13:45:10`.
    pub time: Option<String>,
    /// Its offset from UTC, such as `+02:00`.
    pub offset: Option<String>,
    /// Maker, model and number of the camera.
    pub camera: Option<String>,
}

/// No text of a camera is longer.
const LONGEST: usize = 64;

impl Taken {
    /// From a block of EXIF data.
    pub(crate) fn read(exif: Vec<u8>) -> Self {
        let read = Reader::new().continue_on_error(true).read_raw(exif);
        let Ok(exif) = read.or_else(|error| error.distill_partial_result(|_| {})) else {
            return Self::default();
        };
        let first = |tags: [Tag; 2]| tags.into_iter().find_map(|tag| text(&exif, tag));
        let parts = [Tag::Make, Tag::Model, Tag::BodySerialNumber];
        let camera: Vec<String> = parts.into_iter().filter_map(|tag| text(&exif, tag)).collect();
        Self {
            time: first([Tag::DateTimeOriginal, Tag::DateTimeDigitized]),
            offset: first([Tag::OffsetTimeOriginal, Tag::OffsetTime]),
            camera: (!camera.is_empty()).then(|| camera.join(" ")),
        }
    }
}

fn text(exif: &Exif, tag: Tag) -> Option<String> {
    let Value::Ascii(lines) = &exif.get_field(tag, In::PRIMARY)?.value else { return None };
    let line =
        String::from_utf8_lossy(lines.first()?).chars().filter(|c| !c.is_control()).take(LONGEST).collect::<String>();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Taken;

    /// EXIF data with a model, a time and an offset.
    fn exif(time: &[u8], offset: &[u8]) -> Vec<u8> {
        let entry = |tag: u16, kind: u16, count: u32, value: u32| {
            [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value.to_le_bytes()].concat()
        };
        let mut bytes = b"II*\0\x08\0\0\0".to_vec();
        bytes.extend([2, 0]);
        bytes.extend(entry(0x0110, 2, 4, u32::from_le_bytes(*b"X1\0\0")));
        bytes.extend(entry(0x8769, 4, 1, 38));
        bytes.extend([0; 4]);
        bytes.extend([2, 0]);
        bytes.extend(entry(0x9003, 2, 20, 68));
        bytes.extend(entry(0x9011, 2, 7, 88));
        bytes.extend([0; 4]);
        bytes.extend(time);
        bytes.extend(offset);
        bytes
    }

    #[test]
    fn time_offset_and_camera_are_read() {
        let taken = Taken::read(exif(b"2024:05:12 13:45:10\0", b"+02:00\0"));
        assert_eq!(taken.time.as_deref(), Some("2024:05:12 13:45:10"));
        assert_eq!(taken.offset.as_deref(), Some("+02:00"));
        assert_eq!(taken.camera.as_deref(), Some("X1"));
        assert_eq!(Taken::read(b"nonsense".to_vec()), Taken::default());
        let half = exif(b"2024:05:12 13:45:10\0", b"+02:00\0")[..60].to_vec();
        assert_eq!(Taken::read(half).time, None);
    }
}

//! The segments of a JPEG file before its picture.

/// Markers and payloads up to the start of the compressed data.
pub(crate) fn segments(file: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = file.strip_prefix(b"\xff\xd8").unwrap_or_default();
    std::iter::from_fn(move || {
        while rest.get(1) == Some(&0xff) {
            rest = &rest[1..]; // any number of 0xFF may stand before a marker
        }
        let (&[start, marker, high, low], _) = rest.split_first_chunk()?;
        if start != 0xff || matches!(marker, 0xd9 | 0xda) {
            return None;
        }
        let end = 2 + usize::from(u16::from_be_bytes([high, low]));
        let payload = rest.get(4..end)?;
        rest = &rest[end..];
        Some((marker, payload))
    })
}

/// Pixels of a picture that every decoder reads: no lossless one, as RAW files have.
pub(crate) fn pixels(file: &[u8]) -> Option<u64> {
    let is_frame = |marker| matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
    let (marker, frame) = segments(file).find(|(marker, _)| is_frame(*marker))?;
    let &[_, a, b, c, d] = frame.first_chunk()?;
    let pixels = u64::from(u16::from_be_bytes([a, b])) * u64::from(u16::from_be_bytes([c, d]));
    (marker <= 0xc2 && pixels > 0).then_some(pixels)
}

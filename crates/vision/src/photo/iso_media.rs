//! HEIC and AVIF by their first bytes: they are named in the message instead of being an unknown something.

/// "HEIC" or "AVIF" where the file-type box of an ISO media file lists a brand of theirs.
pub(crate) fn kind(contents: &[u8]) -> Option<&'static str> {
    let (length, rest) = contents.split_first_chunk::<4>()?;
    let brands = rest.strip_prefix(b"ftyp")?;
    let length = (u32::from_be_bytes(*length) as usize).saturating_sub(8).min(brands.len());
    let brands = || brands[..length].as_chunks::<4>().0.iter();
    if brands().any(|brand| matches!(brand, b"avif" | b"avis")) {
        return Some("AVIF");
    }
    let heic = |brand: &[u8; 4]| {
        matches!(brand, b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1")
    };
    brands().any(heic).then_some("HEIC")
}

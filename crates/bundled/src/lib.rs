//! Files of `models/` inside the binary, so that nothing has to be downloaded or found at run time.

/// `encoder.json` and `model.safetensors` of the default encoder, `models/streetview-lite0`.
///
/// ```
/// use locdiff_vision::Encoder;
/// use std::path::Path;
/// let (description, weights) = locdiff_bundled::encoder();
/// let encoder = Encoder::from_bytes(
///     (Path::new("the bundled encoder.json"), description),
///     (Path::new("the bundled model.safetensors"), weights),
/// )?;
/// assert_eq!(encoder.embedding(), 512);
/// # Ok::<(), locdiff_vision::VisionError>(())
/// ```
pub fn encoder() -> (&'static [u8], &'static [u8]) {
    (
        include_bytes!("../../../models/streetview-lite0/encoder.json"),
        include_bytes!("../../../models/streetview-lite0/model.safetensors"),
    )
}

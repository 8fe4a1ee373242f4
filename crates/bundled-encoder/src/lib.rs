//! The default image encoder inside the binary: nothing has to be downloaded or found at run time.
//!
//! A crate of its own, because with the model beside it the package would pass the registry's limit of 10 MiB.

/// The folder of this crate that is built in. To build in another one, name it here, and exclude the other in Cargo.toml.
macro_rules! bundled {
    () => {
        "streetview-lite2"
    };
}

/// The name of the default encoder.
///
/// ```
/// assert!(locdiff_bundled_encoder::NAME.starts_with("streetview-lite"));
/// ```
pub const NAME: &str = bundled!();

/// `encoder.json` and `model.safetensors` of the default encoder.
///
/// ```
/// use locdiff_vision::Encoder;
/// use std::path::Path;
/// let (description, weights) = locdiff_bundled_encoder::encoder();
/// let encoder = Encoder::from_bytes(
///     (Path::new("the bundled encoder.json"), description),
///     (Path::new("the bundled model.safetensors"), weights),
/// )?;
/// assert_eq!(encoder.embedding(), 512);
/// # Ok::<(), locdiff_vision::VisionError>(())
/// ```
pub fn encoder() -> (&'static [u8], &'static [u8]) {
    (
        include_bytes!(concat!("../", bundled!(), "/encoder.json")),
        include_bytes!(concat!("../", bundled!(), "/model.safetensors")),
    )
}

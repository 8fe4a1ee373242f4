#![no_main]

use locdiff_vision::{Photo, PhotoLimits};

// Any bytes as a photo: a picture within the limits or an error of one line, never a panic. The limit on memory is the
// fuzzer's: run it with -rss_limit_mb=512.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = PhotoLimits { max_pixels: 1 << 20, max_bytes: 1 << 24 };
    match Photo::decode(bytes, "fuzz", &limits) {
        Ok(photo) => {
            let pixels = u64::from(photo.width()) * u64::from(photo.height());
            assert!(pixels <= limits.max_pixels && photo.rgb().len() as u64 == 3 * pixels);
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}"),
    }
});

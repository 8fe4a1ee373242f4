//! JPEG by `zune-jpeg`, as `image` decodes it, but compiled here: `image`'s copy is not optimised (see the release profile).

use image::error::{DecodingError, LimitError, LimitErrorKind, UnsupportedError, UnsupportedErrorKind};
use image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageResult};
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

/// The file. A type of our own, so that the decoder's generic functions are compiled for it here and not taken from `image`.
#[derive(Clone, Copy)]
struct File<'a>(&'a [u8]);

impl AsRef<[u8]> for File<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

pub(super) struct JpegDecoder<'a> {
    file: File<'a>,
    colours: ColorSpace,
    coded: ColorSpace,
    size: (u32, u32),
    exif: Option<Vec<u8>>,
    icc: Option<Vec<u8>>,
}

fn options() -> DecoderOptions {
    DecoderOptions::default().set_strict_mode(false).set_max_width(usize::MAX).set_max_height(usize::MAX)
}

impl<'a> JpegDecoder<'a> {
    pub(super) fn new(contents: &'a [u8]) -> ImageResult<Self> {
        let file = File(contents);
        let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(file), options());
        decoder.decode_headers().map_err(failure)?;
        let (width, height) = decoder.dimensions().expect("the head was read");
        // What `image` has no type for becomes RGB.
        let coded = decoder.input_colorspace().expect("the head was read");
        let colours = match coded {
            same @ (ColorSpace::RGB | ColorSpace::RGBA | ColorSpace::Luma | ColorSpace::LumaA) => same,
            _ => ColorSpace::RGB,
        };
        let size = (width as u32, height as u32);
        Ok(Self { file, colours, coded, size, exif: decoder.exif().cloned(), icc: decoder.icc_profile() })
    }

    /// Whether it has luma and chroma, or luma alone: neither RGB nor inks.
    pub(super) fn is_luma_chroma(&self) -> bool {
        matches!(self.coded, ColorSpace::YCbCr | ColorSpace::Luma)
    }
}

impl ImageDecoder for JpegDecoder<'_> {
    fn dimensions(&self) -> (u32, u32) {
        self.size
    }

    fn color_type(&self) -> ColorType {
        match self.colours {
            ColorSpace::RGBA => ColorType::Rgba8,
            ColorSpace::Luma => ColorType::L8,
            ColorSpace::LumaA => ColorType::La8,
            _ => ColorType::Rgb8,
        }
    }

    fn icc_profile(&mut self) -> ImageResult<Option<Vec<u8>>> {
        Ok(self.icc.clone())
    }

    fn exif_metadata(&mut self) -> ImageResult<Option<Vec<u8>>> {
        Ok(self.exif.clone())
    }

    fn read_image(self, buffer: &mut [u8]) -> ImageResult<()> {
        let options = options().jpeg_set_out_colorspace(self.colours);
        let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(self.file), options);
        decoder.decode_into(buffer).map_err(failure)
    }

    fn read_image_boxed(self: Box<Self>, buffer: &mut [u8]) -> ImageResult<()> {
        (*self).read_image(buffer)
    }
}

fn failure(error: DecodeErrors) -> ImageError {
    let format = ImageFormat::Jpeg.into();
    match error {
        DecodeErrors::Unsupported(what) => {
            let kind = UnsupportedErrorKind::GenericFeature(format!("{what:?}"));
            ImageError::Unsupported(UnsupportedError::from_format_and_kind(format, kind))
        }
        DecodeErrors::LargeDimensions(_) => ImageError::Limits(LimitError::from_kind(LimitErrorKind::DimensionError)),
        error => ImageError::Decoding(DecodingError::new(format, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::DynamicImage;
    use std::io::Cursor;

    /// Head, pixels and messages against `image`'s own decoder, for whole files and for damaged ones.
    #[test]
    fn as_image_decodes() {
        for name in ["china.jpg", "rgb.jpg", "grey.jpg", "cmyk.jpg", "progressive.jpg", "profile_adobe.jpg"] {
            let whole = locdiff_testing::fixture_bytes(&format!("vision/{name}"));
            let mut damaged = whole.clone();
            damaged.iter_mut().skip(whole.len() / 3).step_by(97).for_each(|byte| *byte ^= 0x55);
            for file in [&whole[..], &damaged, &whole[..whole.len() / 2], &whole[..20]] {
                let theirs = image::codecs::jpeg::JpegDecoder::new(Cursor::new(file));
                let (mut ours, mut theirs) = match (JpegDecoder::new(file), theirs) {
                    (Ok(ours), Ok(theirs)) => (ours, theirs),
                    (ours, theirs) => {
                        assert_eq!(ours.err().map(|e| e.to_string()), theirs.err().map(|e| e.to_string()));
                        continue;
                    }
                };
                assert_eq!(ours.orientation().unwrap(), theirs.orientation().unwrap());
                assert_eq!(ours.exif_metadata().unwrap(), theirs.exif_metadata().unwrap());
                assert_eq!(ours.icc_profile().unwrap(), theirs.icc_profile().unwrap());
                let pixels = [DynamicImage::from_decoder(ours), DynamicImage::from_decoder(theirs)];
                let [ours, theirs] = pixels.map(|pixels| pixels.map_err(|error| error.to_string()));
                assert!(ours == theirs, "{name}");
            }
        }
    }
}

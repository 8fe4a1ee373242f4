//! Photos: decoded by content, turned upright, as sRGB bytes, within limits.

mod baseline;
mod codes;
mod colour;
#[cfg(feature = "heif")]
mod heif;
#[cfg(not(feature = "heif"))]
#[path = "no_heif.rs"]
mod heif;
mod jpeg;
mod jpeg_decoder;
mod limits;
mod pixels;
mod reduced;
mod seen;
mod thumbnail;

pub use heif::libheif_version;
pub use limits::PhotoLimits;
pub(crate) use reduced::reduced_for;

use crate::{Result, VisionError};
use baseline::Baseline;
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageResult, Limits as DecoderLimits, RgbImage, codecs,
};
use image::{error::ImageFormatHint, metadata::Orientation};
use locdiff_io::tags::{PhotoFacts, Taken, heif_kind, raw_kind, raw_preview};
use locdiff_shdd::sphere::LatLon;
use std::{fs, io::Cursor, path::Path};

/// A larger colour profile is passed over as a damaged one is. Those of printers have 3 MB at the most.
const MOST_PROFILE_BYTES: usize = 16 << 20;

type AnyDecoder<'a> = Box<dyn ImageDecoder + 'a>;

/// An upright picture of sRGB bytes, row by row. [`Photo::from_rgb`] has an example.
#[derive(Debug, Clone, PartialEq)]
pub struct Photo {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
    facts: PhotoFacts,
    /// What an encoder looks at of a large JPEG file.
    reduced: Option<Box<Photo>>,
    /// Width and height of the photo that this was reduced from, or its own.
    whole: (u32, u32),
}

impl Photo {
    /// Reads and decodes a file: JPEG, PNG, WebP, TIFF, GIF (its first frame) or BMP, detected by content. HEIC and AVIF need libheif. RAW files
    /// give their largest JPEG preview. XMP sidecars count ([`PhotoFacts`]). Colours become sRGB. Fails with a [`VisionError`] that names the
    /// file.
    pub fn open(path: &Path, limits: &PhotoLimits) -> Result<Self> {
        let contents = Self::contents(path, limits)?;
        let photo = Self::decode(&contents, &path.display().to_string(), limits)?;
        Ok(Self { facts: photo.facts.with_sidecars(path), ..photo })
    }

    /// Reads the bytes of a file. Fails with a [`VisionError`] that names the file if it is unreadable, or above a limit.
    pub fn contents(path: &Path, limits: &PhotoLimits) -> Result<Vec<u8>> {
        let file = path.display().to_string();
        let read = |source| VisionError::Read { file: file.clone(), source };
        let bytes = fs::metadata(path).map_err(read)?.len();
        if bytes > limits.max_bytes {
            return Err(VisionError::TooManyBytes { file, bytes, max_bytes: limits.max_bytes });
        }
        locdiff_base::read_bounded(path, limits.max_bytes).map_err(read)
    }

    /// Decodes a file already in memory; `name` stands for it in messages. Fails as [`Photo::open`] does.
    pub fn decode(contents: &[u8], name: &str, limits: &PhotoLimits) -> Result<Self> {
        Self::decode_for(None, contents, name, limits)
    }

    /// Decodes what an encoder looks at that wants so many pixels along the shorter side: only the reduced one, if that is enough.
    pub(crate) fn decode_for(side: Option<u32>, contents: &[u8], name: &str, limits: &PhotoLimits) -> Result<Self> {
        let (bytes, max_bytes) = (contents.len() as u64, limits.max_bytes);
        if bytes > max_bytes {
            return Err(VisionError::TooManyBytes { file: name.to_owned(), bytes, max_bytes });
        }
        let facts = PhotoFacts::read(contents);
        let preview = preview(contents, name)?;
        let Some((format, mut decoder)) = head(preview.unwrap_or(contents), name, limits)? else {
            let kind = heif_kind(contents).unwrap_or("HEIC");
            return Self::from_heif(heif::decode(contents, name, kind, limits)?, facts);
        };
        let failed = |error| failure(&error, name, format);
        let orientation = match preview {
            // Most previews do not say how the camera was held, but their files do.
            Some(preview) if PhotoFacts::read(preview).orientation.is_none() => {
                facts.orientation.and_then(Orientation::from_exif).unwrap_or(Orientation::NoTransforms)
            }
            _ => decoder.orientation().map_err(failed)?,
        };
        let profile = match format {
            ImageFormat::Tiff => colour::tiff_profile(contents),
            _ => decoder.icc_profile().unwrap_or_default(),
        };
        let profile = profile.filter(|profile| profile.len() <= MOST_PROFILE_BYTES);
        let finished = |mut rgb: RgbImage| {
            if let Some(profile) = &profile {
                colour::to_srgb(&mut rgb, profile);
            }
            let (width, height, rgb) = pixels::upright(rgb, orientation);
            Self::from_rgb(width, height, rgb)
        };
        let (width, height) = decoder.dimensions();
        let whole = if orientation.to_exif() > 4 { (height, width) } else { (width, height) };
        let reduced = reduced::of_large(preview.unwrap_or(contents)).map(finished).transpose()?;
        let reduced = match (reduced.map(|reduced| Self { whole, ..reduced }), side) {
            (Some(reduced), Some(side)) if reduced.is_enough_for(side) => return Ok(Self { facts, ..reduced }),
            (reduced, _) => reduced.map(Box::new),
        };
        let rgb = pixels::to_rgb(DynamicImage::from_decoder(decoder).map_err(failed)?);
        Ok(Self { facts, reduced, ..finished(rgb)? })
    }

    /// The width and height that a file's head says, held against the limits, without decoding a pixel; `None` for HEIC and
    /// AVIF, whose decoder alone knows. Fails as [`Photo::open`] does, as far as the head shows it.
    ///
    /// ```
    /// use locdiff_vision::{Photo, PhotoLimits};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
    /// let contents = std::fs::read(path)?;
    /// let size = Photo::size(&contents, "china.jpg", &PhotoLimits::default())?;
    /// assert_eq!(size, Some((640, 427)));
    /// let small = PhotoLimits { max_pixels: 1000, ..PhotoLimits::default() };
    /// assert!(Photo::size(&contents, "china.jpg", &small).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn size(contents: &[u8], name: &str, limits: &PhotoLimits) -> Result<Option<(u32, u32)>> {
        let picture = preview(contents, name)?.unwrap_or(contents);
        Ok(head(picture, name, limits)?.map(|(_, decoder)| decoder.dimensions()))
    }

    /// The library has turned it already, whatever its EXIF data say of turns.
    fn from_heif(decoded: heif::Decoded, facts: PhotoFacts) -> Result<Self> {
        let heif::Decoded { width, height, mut rgb, icc } = decoded;
        if let Some(icc) = icc {
            colour::to_srgb(&mut rgb, &icc);
        }
        Ok(Self { facts, ..Self::from_rgb(width, height, rgb)? })
    }

    /// A photo of these pixels: `3 * width * height` bytes, row by row from the top. Fails with
    /// [`VisionError::PixelCount`] for another number of bytes, or no pixels.
    ///
    /// ```
    /// use locdiff_vision::Photo;
    /// assert!(Photo::from_rgb(2, 1, vec![0; 6]).is_ok() && Photo::from_rgb(2, 1, vec![0; 5]).is_err());
    /// ```
    pub fn from_rgb(width: u32, height: u32, rgb: Vec<u8>) -> Result<Self> {
        let (wanted, got) = (3 * u64::from(width) * u64::from(height), rgb.len() as u64);
        if wanted == 0 || wanted != got {
            return Err(VisionError::PixelCount { width, height, wanted, got });
        }
        Ok(Self { width, height, rgb, facts: PhotoFacts::default(), reduced: None, whole: (width, height) })
    }

    /// A colourful picture that is the same everywhere, to try an encoder with.
    pub fn test_picture() -> Self {
        const SIDE: u32 = 256;
        let pixel = |i: u32| {
            let (x, y) = (i % SIDE, i / SIDE);
            [x as u8, y as u8, (x * y / 64) as u8]
        };
        let rgb = (0..SIDE * SIDE).flat_map(pixel).collect();
        Self { width: SIDE, height: SIDE, rgb, facts: PhotoFacts::default(), reduced: None, whole: (SIDE, SIDE) }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The pixels, row by row from the top, three bytes each.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// What the photo says of its place, its time and its camera.
    pub fn facts(&self) -> &PhotoFacts {
        &self.facts
    }

    pub(crate) fn into_rgb(self) -> Vec<u8> {
        self.rgb
    }

    /// Where the photo says it was taken; to report, never to predict from.
    pub fn gps(&self) -> Option<LatLon> {
        self.facts.gps
    }

    /// When and by which camera it says it was taken.
    pub fn taken(&self) -> &Taken {
        &self.facts.taken
    }
}

/// The size and the blocks of a whole baseline JPEG file within the limits whose colours are luma and chroma of sRGB, and its EXIF
/// orientation: a device may decode it. `None` for all others, and for those that [`Photo::decode`] refuses by their heads.
pub(crate) fn plain_jpeg<'a>(contents: &'a [u8], limits: &PhotoLimits) -> Option<(Baseline<'a>, u8)> {
    let frame = Baseline::read(contents)?;
    let (width, height) = frame.size;
    let pixels = u64::from(width) * u64::from(height);
    let is_small = pixels <= limits.max_pixels && (contents.len() as u64).max(3 * pixels) <= limits.max_bytes;
    if !is_small || raw_kind(contents).is_some() || image::guess_format(contents).ok()? != ImageFormat::Jpeg {
        return None;
    }
    let mut decoder = jpeg_decoder::JpegDecoder::new(contents).ok()?;
    let is_plain = decoder.is_luma_chroma()
        && decoder.dimensions() == frame.size
        && decoder.icc_profile().ok()?.is_none_or(|icc| colour::changes_nothing(&icc))
        && jpeg::is_whole(contents);
    is_plain.then_some((frame, decoder.orientation().ok()?.to_exif()))
}

fn preview<'a>(contents: &'a [u8], name: &str) -> Result<Option<&'a [u8]>> {
    let Some(kind) = raw_kind(contents) else { return Ok(None) };
    raw_preview(contents).map(Some).ok_or_else(|| VisionError::NoPreview { file: name.to_owned(), kind })
}

/// The decoder of a file, before it decodes: what it announces is within the limits. `None` for HEIC and AVIF.
fn head<'a>(contents: &'a [u8], name: &str, limits: &PhotoLimits) -> Result<Option<(ImageFormat, AnyDecoder<'a>)>> {
    let file = name.to_owned();
    if contents.is_empty() {
        return Err(VisionError::Empty { file });
    }
    let format = match image::guess_format(contents) {
        Ok(format) if format.reading_enabled() => format,
        _ if heif_kind(contents).is_some() => return Ok(None),
        _ => return Err(VisionError::UnknownFormat { file }),
    };
    if format == ImageFormat::Jpeg && !jpeg::is_whole(contents) {
        return Err(VisionError::Truncated { file });
    }
    let failed = |error| failure(&error, name, format);
    let mut decoder_limits = DecoderLimits::no_limits();
    decoder_limits.max_alloc = Some(limits.max_bytes);
    let mut decoder = decoder(contents, format, &decoder_limits).map_err(failed)?;
    let (width, height) = decoder.dimensions();
    let max_pixels = limits.max_pixels;
    if u64::from(width) * u64::from(height) > max_pixels {
        return Err(VisionError::TooManyPixels { file, width, height, max_pixels });
    }
    let bytes = decoder.total_bytes();
    if bytes > limits.max_bytes {
        return Err(VisionError::TooManyBytes { file, bytes, max_bytes: limits.max_bytes });
    }
    decoder.set_limits(decoder_limits).map_err(failed)?;
    Ok(Some((format, decoder)))
}

fn decoder<'a>(contents: &'a [u8], format: ImageFormat, limits: &DecoderLimits) -> ImageResult<AnyDecoder<'a>> {
    let reader = Cursor::new(contents);
    let mut decoder: AnyDecoder<'a> = match format {
        ImageFormat::Jpeg => Box::new(jpeg_decoder::JpegDecoder::new(contents)?),
        ImageFormat::Png => Box::new(codecs::png::PngDecoder::with_limits(reader, png_limits(contents))?),
        ImageFormat::WebP => Box::new(codecs::webp::WebPDecoder::new(reader)?),
        ImageFormat::Tiff => Box::new(codecs::tiff::TiffDecoder::new(reader)?),
        ImageFormat::Gif => Box::new(codecs::gif::GifDecoder::new(reader)?),
        ImageFormat::Bmp => Box::new(codecs::bmp::BmpDecoder::new(reader)?),
        other => return Err(ImageError::Unsupported(ImageFormatHint::Exact(other).into())),
    };
    decoder.set_limits(limits.clone())?;
    Ok(decoder)
}

/// The memory that the decoder of a PNG file may take in addition to the pixels: copies of its chunks, a profile, and one row of 8 bytes
/// a pixel.
fn png_limits(contents: &[u8]) -> DecoderLimits {
    let width = contents.get(16..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let mut limits = DecoderLimits::no_limits();
    limits.max_alloc = Some(MOST_PROFILE_BYTES as u64 + 2 * contents.len() as u64 + 8 * u64::from(width));
    limits
}

fn failure(error: &ImageError, name: &str, format: ImageFormat) -> VisionError {
    let file = name.to_owned();
    if let ImageError::IoError(io) = error
        && io.kind() == std::io::ErrorKind::UnexpectedEof
    {
        return VisionError::Truncated { file };
    }
    let format = match format {
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Png => "PNG",
        ImageFormat::WebP => "WebP",
        ImageFormat::Tiff => "TIFF",
        ImageFormat::Gif => "GIF",
        _ => "BMP",
    };
    let reason = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    VisionError::Decode { file, format, reason }
}

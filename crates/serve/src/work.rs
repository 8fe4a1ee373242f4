//! What is to be done with photos or embeddings.

use bytes::Bytes;
use locdiff::{AlbumOptions, EmbeddedPhoto, Embedding, LatLon, LocateError, LocateOptions, Source, StatedPlace};
use locdiff_album::Track;

/// What a form says of a photo beside its bytes; it goes before what the photo itself says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct GivenFacts {
    /// In words of EXIF or ISO 8601, which have been understood.
    pub(crate) time: Option<String>,
    pub(crate) gps: Option<LatLon>,
    pub(crate) camera: Option<String>,
}

/// What is known of an album beside its photos.
#[derive(Debug, Default)]
pub(crate) struct AlbumFacts {
    /// Logs of positions as files: their names and contents.
    pub(crate) tracks: Vec<(String, Bytes)>,
    pub(crate) places: Vec<StatedPlace>,
}

impl AlbumFacts {
    /// The options with them, and with what is asked of photos. Tracks are read.
    pub(crate) fn options(&self, asked: &AlbumOptions, photos: &LocateOptions) -> Result<AlbumOptions, LocateError> {
        let mut options = asked.clone();
        options.photos = photos.clone();
        options.places.clone_from(&self.places);
        let logs = self.tracks.iter().map(|(name, contents)| Track::parse(contents, name));
        options.logs = logs.collect::<Result<_, _>>()?;
        Ok(options)
    }
}

/// A photo as it came.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) name: Option<String>,
    pub(crate) contents: Bytes,
    /// What decoding it takes, in pixels.
    pub(crate) pixels: u64,
    pub(crate) given: GivenFacts,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Work {
    Locate(Vec<Upload>),
    LocateEmbeddings(Vec<Vec<f32>>),
    Embed(Vec<Upload>),
    /// Photos of one place.
    Steps(Vec<Upload>),
    /// Photos of one trip.
    Album(Vec<Upload>, AlbumFacts),
    /// The same as embeddings.
    AlbumEmbeddings(Vec<EmbeddedPhoto>, AlbumFacts),
    /// A photo made small.
    Preview(Vec<Upload>),
    /// A photo, part by part.
    Occlusion(Vec<Upload>),
    /// What gives a photo away.
    Expose(Vec<Upload>),
}

impl Upload {
    /// The photo as the library takes it; its bytes are shared.
    fn source(&self) -> Source {
        let GivenFacts { time, gps, camera } = self.given.clone();
        Source::bytes(self.name.as_deref(), self.contents.clone())
            .with_pixels(self.pixels)
            .with_time_text(time)
            .with_gps(gps)
            .with_camera(camera)
    }
}

impl Work {
    /// Photos or embeddings as the library takes them.
    pub(crate) fn sources(&self) -> Result<Vec<Source>, LocateError> {
        if let Self::AlbumEmbeddings(photos, _) = self {
            return Ok(photos.iter().cloned().map(Source::embedded).collect());
        }
        let Self::LocateEmbeddings(rows) = self else {
            return Ok(self.photos().iter().map(Upload::source).collect());
        };
        let row = |(row, values): (usize, &Vec<f32>)| {
            let photo = EmbeddedPhoto::from(Embedding::new(values.clone(), None)?);
            Ok(Source::embedded(photo.with_name(format!("row {}", row + 1))))
        };
        rows.iter().enumerate().map(row).collect()
    }

    /// The photos; none where embeddings came.
    pub(crate) fn photos(&self) -> &[Upload] {
        match self {
            Self::Locate(photos)
            | Self::Embed(photos)
            | Self::Steps(photos)
            | Self::Album(photos, _)
            | Self::Preview(photos)
            | Self::Occlusion(photos)
            | Self::Expose(photos) => photos,
            Self::LocateEmbeddings(_) | Self::AlbumEmbeddings(..) => &[],
        }
    }

    /// How many photos or embeddings.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::LocateEmbeddings(rows) => rows.len(),
            Self::AlbumEmbeddings(photos, _) => photos.len(),
            _ => self.photos().len(),
        }
    }

    /// How many photos it counts as in the queue: those of an album that are embedded already take a small part of a photo's time.
    pub(crate) fn weight(&self) -> usize {
        const ALIKE: usize = 256;
        const PARTS: usize = 40;
        match self {
            Self::AlbumEmbeddings(photos, _) => photos.len().div_ceil(ALIKE),
            // Each part is a photo of its own.
            Self::Occlusion(photos) => PARTS * photos.len(),
            _ => self.len(),
        }
    }
}

//! A photo as its embedding.

use locdiff_album::{PhotoTime, TimeSource, time_in_name};
use locdiff_io::data::Embedding;
use locdiff_map::clues::ClueTime;
use locdiff_model::{Query, answer::ReadText};
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::Taken;

/// A photo's embeddings, from [`Locator::embed`](crate::Locator::embed).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct EmbeddedPhoto {
    /// Name of the photo, if it has one.
    pub name: Option<String>,
    /// Location in its metadata: reported, never used.
    pub gps: Option<LatLon>,
    /// Time and camera in its metadata, for albums.
    pub taken: Taken,
    /// Embedding of the photo, or of several views of it.
    pub views: Vec<Embedding>,
    /// Embedding for retrieval, if it differs from the model's.
    pub retrieval: Option<Embedding>,
    /// Lines of text in the photo.
    pub text: Vec<ReadText>,
    /// Key of its noise. Photos with the same key draw the same noise; 0 draws independent noise.
    pub key: u64,
}

impl EmbeddedPhoto {
    /// When the photo was taken, by its EXIF data, else by the digits in its name. A file's date says when it was copied, and is not used.
    pub(crate) fn own_time(&self) -> PhotoTime {
        let taken = &self.taken;
        let exif = taken.time.as_deref().and_then(|time| PhotoTime::read(time, taken.offset.as_deref()).ok());
        let in_name = || self.name.as_deref().and_then(time_in_name);
        match exif {
            Some(time) if time.is_moment() => {
                PhotoTime { source: if time.is_utc { TimeSource::Exif } else { TimeSource::Clock }, ..time }
            }
            // The name may know the hour of a day, and a day that a clock never set does not.
            Some(time) => in_name().filter(|name| time.span().contains(&name.seconds)).unwrap_or(time),
            None => in_name().unwrap_or(PhotoTime::UNKNOWN),
        }
    }

    /// That time for clues, as the photo's clock had it if its offset is unknown.
    pub(crate) fn clue_time(&self) -> Option<ClueTime> {
        let time = self.own_time();
        let known = ClueTime { seconds: time.seconds + time.ahead_s, is_utc: time.is_utc };
        (time.source != TimeSource::Unknown).then_some(known)
    }

    /// Wraps the embeddings of a photo's views, or the one embedding of the photo.
    pub fn new(views: Vec<Embedding>) -> Self {
        Self { name: None, gps: None, taken: Taken::default(), views, retrieval: None, text: Vec::new(), key: 0 }
    }

    /// Combines photos of one location: the density is the geometric mean of theirs. That is cautious, as such photos err together. Their own
    /// metadata is left out. There must be at least as many samples as views.
    ///
    /// ```
    /// use locdiff::{EmbeddedPhoto, Embedding};
    /// let photo = |name: &str| Ok::<_, Box<dyn std::error::Error>>(EmbeddedPhoto::from(Embedding::new(vec![1.0], None)?).with_name(name));
    /// let both = EmbeddedPhoto::together([photo("a.jpg")?, photo("b.jpg")?]);
    /// assert_eq!((both.views.len(), both.name.as_deref()), (2, Some("a.jpg + b.jpg")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn together(photos: impl IntoIterator<Item = Self>) -> Self {
        let (mut names, mut views, mut text) = (Vec::new(), Vec::new(), Vec::new());
        for photo in photos {
            names.extend(photo.name);
            views.extend(photo.views);
            text.extend(photo.text);
        }
        Self { name: (!names.is_empty()).then(|| names.join(" + ")), text, ..Self::new(views) }
    }

    /// Sets the name.
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets the location in the metadata.
    pub fn with_gps(self, gps: Option<LatLon>) -> Self {
        Self { gps, ..self }
    }

    /// Sets time and camera.
    pub fn with_taken(self, taken: Taken) -> Self {
        Self { taken, ..self }
    }

    pub(crate) fn query(&self) -> Query<'_> {
        if self.key == 0 { Query::of(&self.views) } else { Query { views: &self.views, key: self.key, tilts: &[] } }
    }

    /// What retrieval searches with: its own embedding, or the mean of the views.
    pub(crate) fn for_retrieval(&self) -> Vec<f32> {
        if let Some(own) = &self.retrieval {
            return own.values().to_vec();
        }
        let count = self.views.len() as f32;
        let mut mean = vec![0.0; self.views.first().map_or(0, Embedding::dimension)];
        for view in &self.views {
            mean.iter_mut().zip(view.values()).for_each(|(mean, value)| *mean += value / count);
        }
        mean
    }
}

impl From<Embedding> for EmbeddedPhoto {
    fn from(embedding: Embedding) -> Self {
        Self::new(vec![embedding])
    }
}

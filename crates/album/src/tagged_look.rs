//! What photos with tags look like, in order of time.

use crate::{known::KnownPlace, photo::AlbumPhoto};
use locdiff_shdd::sphere::UnitVec;

/// An embedding of length 1.
pub(crate) fn unit(embedding: &[f32]) -> Vec<f64> {
    let length = embedding.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    embedding.iter().map(|value| f64::from(*value) / length.max(1e-12)).collect()
}

/// A photo with a tag, of the album or beside it.
pub(crate) struct TaggedLook<'a> {
    pub(crate) time_s: f64,
    pub(crate) place: UnitVec,
    pub(crate) embedding: &'a [f32],
}

/// All of them, in order of time.
pub(crate) fn tagged<'a>(photos: &[&'a AlbumPhoto], times: &[f64], known: &'a [KnownPlace]) -> Vec<TaggedLook<'a>> {
    let own = photos.iter().zip(times).filter_map(|(photo, time_s)| {
        Some(TaggedLook { time_s: *time_s, place: photo.gps?.to_unit(), embedding: &photo.embedding })
    });
    let others = known.iter().filter(|known| !known.embedding.is_empty()).map(|known| TaggedLook {
        time_s: known.time_s,
        place: known.at.to_unit(),
        embedding: &known.embedding,
    });
    let mut all: Vec<TaggedLook<'a>> = own.chain(others).collect();
    all.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    all
}

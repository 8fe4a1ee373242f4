//! The columns of the table of answers.

use locdiff::{Answer, GalleryWord, Match};

/// What every table of answers has.
pub(super) const COLUMNS: [&str; 11] = [
    "photo",
    "lat",
    "lon",
    "radius_50_km",
    "radius_90_km",
    "probability",
    "locatability",
    "can_tell",
    "place",
    "country",
    "error",
];

/// What is added where a gallery takes part.
pub(super) const GALLERY_COLUMNS: [&str; 8] = [
    "answered_by",
    "gallery_share",
    "match_row",
    "match_name",
    "match_lat",
    "match_lon",
    "match_km",
    "match_similarity",
];

/// The photo's name.
pub(super) fn name(answer: &Answer) -> &str {
    answer.photo.as_deref().unwrap_or_default()
}

/// The fields of an answer.
pub(super) fn row(answer: &Answer) -> [String; COLUMNS.len()] {
    [
        name(answer).to_owned(),
        format!("{:.6}", answer.best.lat_deg()),
        format!("{:.6}", answer.best.lon_deg()),
        format!("{:.1}", answer.radius_50_km),
        format!("{:.1}", answer.radius_90_km),
        format!("{:.4}", answer.hypotheses.first().map_or(0.0, |h| h.probability)),
        format!("{:.4}", answer.locatability),
        answer.can_tell.to_string(),
        answer.place.clone(),
        answer.country.clone().unwrap_or_default(),
        String::new(),
    ]
}

/// The fields of what a gallery said.
pub(super) fn gallery_fields(word: &GalleryWord) -> [String; 8] {
    let of = |write: &dyn Fn(&Match) -> String| word.matched.as_ref().map_or(String::new(), write);
    [
        word.answered_by.name().to_owned(),
        format!("{:.4}", word.share),
        of(&|found| found.row.to_string()),
        of(&|found| found.name.clone().unwrap_or_default()),
        of(&|found| format!("{:.6}", found.at.lat_deg())),
        of(&|found| format!("{:.6}", found.at.lon_deg())),
        of(&|found| format!("{:.1}", found.distance_km)),
        of(&|found| format!("{:.4}", found.similarity)),
    ]
}

//! Retrieval and samples, which change an answer in addition to the model's density.

use locdiff_model::answer::{Answer, AnsweredBy, FromDensity, GalleryContribution, Match, Neighbour};
use locdiff_retrieval::gallery::{Hit, HybridAnswer};
use locdiff_shdd::sphere::{LatLon, haversine_km};

pub(crate) enum Retrieved {
    /// It was not asked.
    Nothing,
    /// The gallery's photos most alike: LocDiff+kNN.
    Neighbours(Vec<Hit>, Vec<Neighbour>),
    /// It was not asked: the place is the one that samples mean together.
    Sampled(LatLon),
    /// The place that LocDiff-H settled.
    Settled(HybridAnswer),
}

/// A gallery's hits as what densities are made of.
pub(crate) fn neighbours(hits: &[Hit]) -> Vec<Neighbour> {
    hits.iter().map(|hit| Neighbour { place: hit.place.to_unit(), similarity: f64::from(hit.score) }).collect()
}

impl Retrieved {
    pub(crate) fn neighbours(&self) -> &[Neighbour] {
        match self {
            Self::Neighbours(_, neighbours) => neighbours,
            _ => &[],
        }
    }

    pub(crate) fn place(&self) -> Option<LatLon> {
        match self {
            Self::Settled(settled) => Some(settled.place),
            Self::Sampled(place) => Some(*place),
            _ => None,
        }
    }

    pub(crate) fn contribution(&self, answer: &Answer) -> Option<GalleryContribution> {
        match self {
            Self::Nothing | Self::Sampled(_) => None,
            Self::Neighbours(hits, _) => {
                let FromDensity { density, window_km, .. } = answer.from_density.as_ref()?;
                let (best, window_km) = (answer.best, *window_km);
                let own = density.gallery_mass_within_km(best, window_km).unwrap_or(0.0);
                let all = density.mass_within_km(best, window_km);
                let near = hits.iter().find(|hit| haversine_km(hit.place, best) <= window_km);
                let matched = near.or(hits.first()).map(|hit| matching(hit.row, hit.place, f64::from(hit.score), best));
                Some(GalleryContribution::new(if all > 0.0 { (own / all).clamp(0.0, 1.0) } else { 0.0 }, matched))
            }
            Self::Settled(settled) => {
                let HybridAnswer { place, row, similarity, confidence } = *settled;
                let matched = row.map(|row| matching(row, place, similarity, answer.best));
                let answered_by = if row.is_some() { AnsweredBy::Gallery } else { AnsweredBy::Model };
                Some(GalleryContribution { answered_by, ..GalleryContribution::new(confidence, matched) })
            }
        }
    }
}

/// What the places of a model had to do with its answer: the first of them.
pub(crate) fn first_place(hit: &Hit, answer: &Answer) -> GalleryContribution {
    let matched = Some(matching(hit.row, hit.place, f64::from(hit.score), answer.best));
    GalleryContribution { answered_by: AnsweredBy::Model, share: 1.0, matched }
}

fn matching(row: usize, at: LatLon, similarity: f64, best: LatLon) -> Match {
    Match { row: row + 1, name: None, at, distance_km: haversine_km(at, best), similarity }
}

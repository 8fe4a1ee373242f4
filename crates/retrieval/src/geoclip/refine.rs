//! Better places than a gallery has: GeoCLIP's location encoder is a function of the place.

use crate::{gallery::Hit, gallery::Result, geoclip::GeoClip, geoclip::GeoClipRetriever};
use locdiff_shdd::sphere::{LatLon, Pixel, haversine_km};
use std::collections::BTreeSet;

/// So many of the best places are refined, none so near to a better one.
const STARTS: usize = 8;
const APART_KM: f64 = 50.0;
/// Pixels of 25 km at first, and of 400 m at last.
const DEPTHS: std::ops::RangeInclusive<u8> = 8..=14;
/// The score is flat where it differs by less about the best pixel.
const FLAT: f32 = 2e-4;

impl GeoClipRetriever {
    /// The places about the best ones where a photo's score is highest, on ever finer pixels, until it is flat. Only
    /// those whose score is better than their start's are given. Fails for an embedding of another size, or if the device fails.
    pub fn refine(&self, embedding: &[f32], best: &[Hit]) -> Result<Vec<(LatLon, f32)>> {
        let photo = self.vector(embedding)?;
        let mut starts: Vec<Hit> = Vec::new();
        for hit in best {
            if starts.len() < STARTS && starts.iter().all(|start| haversine_km(start.place, hit.place) > APART_KM) {
                starts.push(*hit);
            }
        }
        let mut found: Vec<(LatLon, f32)> = starts.iter().map(|hit| (hit.place, hit.score)).collect();
        let mut going: Vec<usize> = (0..found.len()).collect();
        for depth in DEPTHS {
            let around: Vec<Vec<LatLon>> = going.iter().map(|&k| about(found[k].0, depth)).collect();
            let scores = scores(self.model(), &photo, &around.concat())?;
            let (mut first, mut still) = (0, Vec::new());
            for (&k, places) in going.iter().zip(&around) {
                let own = &scores[first..first + places.len()];
                first += places.len();
                let (mut low, mut high) = (found[k].1, found[k].1);
                for (place, score) in places.iter().zip(own) {
                    (low, high) = (low.min(*score), high.max(*score));
                    if *score > found[k].1 {
                        found[k] = (*place, *score);
                    }
                }
                if high - low > FLAT {
                    still.push(k);
                }
            }
            going = still;
        }
        let better = found.into_iter().zip(&starts).filter(|((_, score), start)| *score > start.score);
        Ok(better.map(|(found, _)| found).collect())
    }
}

/// The centres of the pixel that holds a place and of those around it.
fn about(place: LatLon, depth: u8) -> Vec<LatLon> {
    let (at, width) = (place.to_unit(), Pixel::width_rad(depth));
    let steps = (-1..=1).flat_map(|a| (-1..=1).map(move |b| (f64::from(a) * width, f64::from(b) * width)));
    let pixels: BTreeSet<Pixel> = steps.map(|(a, b)| Pixel::holding(at.step(a, b).to_latlon(), depth)).collect();
    pixels.into_iter().map(|pixel| pixel.centre().to_latlon()).collect()
}

/// The cosines of a photo's vector, of length 1, and those of places.
fn scores(model: &GeoClip, photo: &[f32], places: &[LatLon]) -> Result<Vec<f32>> {
    let vectors = model.embed_places(places)?;
    let cosine = |vector: &[f32]| {
        let (mut dot, mut square) = (0.0, 0.0);
        for (a, b) in photo.iter().zip(vector) {
            dot += f64::from(*a) * f64::from(*b);
            square += f64::from(*b).powi(2);
        }
        (dot / square.sqrt().max(1e-30)) as f32
    };
    Ok(vectors.chunks_exact(model.dimension()).map(cosine).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::EARTH_RADIUS_KM;

    #[test]
    fn pixels_about_a_place_are_nine_that_touch() {
        for (lat, lon) in [(48.86, 2.35), (-33.9, 179.99), (0.0, 0.0)] {
            let place = LatLon::new(lat, lon).unwrap();
            let around = about(place, 10);
            let width_km = Pixel::width_rad(10) * EARTH_RADIUS_KM;
            assert!((6..=9).contains(&around.len()), "{}", around.len());
            assert!(around.iter().all(|other| haversine_km(place, *other) < 2.5 * width_km));
        }
    }
}

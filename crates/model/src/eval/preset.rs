//! The rules by which published numbers were made.

use crate::eval::Result;
use locdiff_base::{Named, named};
use locdiff_shdd::sphere::{LatLon, geodesic_km, haversine_km};
use serde::Serialize;
use std::fmt;

/// The radii in km at which accuracy is reported: street, city, region, country, continent.
pub const RADII_KM: [f64; 5] = [1.0, 25.0, 200.0, 750.0, 2500.0];

/// What the radii are called.
pub(crate) const RADIUS_NAMES: [&str; 5] = ["street", "city", "region", "country", "continent"];

named! {
    /// A code base whose published numbers can be compared with.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Preset: "preset" {
        #[default]
        Plonk = "plonk", "haversine, nearer than the radius";
        Osv5m = "osv5m", "OpenStreetView-5M: as plonk";
        Geoclip = "geoclip", "geodesic on WGS-84, the radius itself counts";
        Pigeon = "pigeon", "haversine, nearer than the radius, GeoScore rounded per photo";
    }
}

impl Preset {
    /// Its rules.
    pub const fn rules(self) -> Rules {
        let edge_counts = matches!(self, Self::Geoclip);
        let distance = if edge_counts { DistanceRule::Wgs84 } else { DistanceRule::Haversine };
        Rules { distance, edge_counts, rounds_score: matches!(self, Self::Pigeon) }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far apart two places are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DistanceRule {
    /// Great circle on the sphere of 6371 km.
    #[default]
    Haversine,
    /// Geodesic on the WGS-84 ellipsoid.
    Wgs84,
}

/// Distance, what counts as within a radius, and the GeoScore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Rules {
    pub(crate) distance: DistanceRule,
    /// Whether a distance of exactly the radius is within it.
    pub(crate) edge_counts: bool,
    /// Whether a photo's GeoScore is a whole number.
    pub(crate) rounds_score: bool,
}

impl Rules {
    /// The distance in km.
    pub fn distance_km(&self, a: LatLon, b: LatLon) -> f64 {
        match self.distance {
            DistanceRule::Haversine => haversine_km(a, b),
            DistanceRule::Wgs84 => geodesic_km(a, b),
        }
    }

    /// Distances of answers from truths, one per photo; ∞ where there is no answer. Fails if the lists differ in length.
    pub fn errors_km(&self, truths: &[LatLon], answers: &[Option<LatLon>]) -> Result<Vec<f64>> {
        crate::eval::error::expect_len("answers", answers.len(), truths.len())?;
        let pairs = truths.iter().zip(answers);
        Ok(pairs.map(|(truth, answer)| answer.map_or(f64::INFINITY, |a| self.distance_km(*truth, a))).collect())
    }

    /// Whether a distance is within a radius.
    pub fn is_within(&self, distance_km: f64, radius_km: f64) -> bool {
        if self.edge_counts { distance_km <= radius_km } else { distance_km < radius_km }
    }

    /// 5000·exp(−d / 1492.7 km): 5000 for a hit, 0 for no answer.
    pub fn geoscore(&self, distance_km: f64) -> f64 {
        let score = 5000.0 * (-distance_km / 1492.7).exp();
        if self.rounds_score { score.round() } else { score }
    }
}

named! {
    /// A published set of test photos.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Benchmark: "benchmark" {
        Im2gps = "im2gps", "237 photos, geoclip's rules";
        Im2gps3k = "im2gps3k", "2,997 photos, geoclip's rules";
        Yfcc4k = "yfcc4k", "4,536 photos, plonk's rules";
        Yfcc26k = "yfcc26k", "25,600 photos, geoclip's rules";
        Gws15k = "gws15k", "14,955 street views, geoclip's rules";
        Osv5m = "osv5m", "210,122 street views, osv5m's rules with GeoScore and mean distance";
    }
}

impl Benchmark {
    /// Its photos, its name in tables, and whose rules its published tables follow: the paper's main table is GeoCLIP's,
    /// that of generative methods plonk's.
    const fn facts(self) -> (usize, &'static str, Preset) {
        match self {
            Self::Im2gps => (237, "Im2GPS", Preset::Geoclip),
            Self::Im2gps3k => (2_997, "Im2GPS3k", Preset::Geoclip),
            Self::Yfcc4k => (4_536, "YFCC4k", Preset::Plonk),
            Self::Yfcc26k => (25_600, "YFCC26k", Preset::Geoclip),
            Self::Gws15k => (14_955, "GWS15k", Preset::Geoclip),
            Self::Osv5m => (210_122, "OSV-5M", Preset::Osv5m),
        }
    }

    /// How many photos its list has; another number is another set.
    pub const fn photos(self) -> usize {
        self.facts().0
    }

    /// What it is called in tables.
    pub const fn title(self) -> &'static str {
        self.facts().1
    }

    /// Whose rules its published tables follow.
    pub const fn preset(self) -> Preset {
        self.facts().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_names_and_rules() {
        for (preset, name, _) in Preset::ALL {
            assert_eq!((Preset::from_name(name), preset.name()), (Ok(*preset), *name));
        }
        let message = Preset::from_name("im2gps").unwrap_err().to_string();
        assert_eq!(message, "preset = im2gps cannot be used: choose plonk, osv5m, geoclip or pigeon");
        let (a, b) = (LatLon::new(0.0, 0.0).unwrap(), LatLon::new(1.0, 0.0).unwrap());
        // A degree of latitude at the equator: 111.195 km on the sphere, 110.574 km on the ellipsoid.
        assert!((Preset::Plonk.rules().distance_km(a, b) - 111.195).abs() < 1e-3);
        assert!((Preset::Geoclip.rules().distance_km(a, b) - 110.574).abs() < 1e-3);
        let [plonk, geoclip, pigeon] = [Preset::Plonk, Preset::Geoclip, Preset::Pigeon].map(Preset::rules);
        assert!(!plonk.is_within(25.0, 25.0) && geoclip.is_within(25.0, 25.0));
        assert_eq!(pigeon.geoscore(100.0), plonk.geoscore(100.0).round());
        let im2gps3k = Benchmark::from_name("im2gps3k").unwrap();
        assert_eq!((im2gps3k.photos(), im2gps3k.preset()), (2997, Preset::Geoclip));
    }

    #[test]
    fn no_answer_scores_nothing() {
        let rules = Preset::Plonk.rules();
        let place = LatLon::new(1.0, 2.0).unwrap();
        let errors = rules.errors_km(&[place, place], &[Some(place), None]).unwrap();
        assert_eq!(errors, [0.0, f64::INFINITY]);
        assert_eq!((rules.geoscore(0.0), rules.geoscore(f64::INFINITY)), (5000.0, 0.0));
        assert!(!rules.is_within(f64::INFINITY, 1e9));
        let message = rules.errors_km(&[place], &[]).unwrap_err().to_string();
        assert_eq!(message, "answers: 0 given for 1 photos: give one per photo");
    }
}

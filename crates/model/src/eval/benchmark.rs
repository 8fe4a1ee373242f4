//! Published sets of test photos, and the rules by which they are reported.

use crate::eval::Preset;
use locdiff_base::named;
use serde::Serialize;

named! {
    /// A published set of test photos.
    ///
    /// ```
    /// use locdiff_base::Named;
    /// use locdiff_model::eval::{Benchmark, Preset};
    /// let im2gps3k = Benchmark::from_name("im2gps3k").unwrap();
    /// assert_eq!((im2gps3k.photos(), im2gps3k.preset()), (2997, Preset::Geoclip));
    /// ```
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
    /// How many photos its list has; another number is another set.
    pub const fn photos(self) -> usize {
        match self {
            Self::Im2gps => 237,
            Self::Im2gps3k => 2_997,
            Self::Yfcc4k => 4_536,
            Self::Yfcc26k => 25_600,
            Self::Gws15k => 14_955,
            Self::Osv5m => 210_122,
        }
    }

    /// Whose rules its published tables follow: the paper's main table is GeoCLIP's, its table of generative methods plonk's. A
    /// photo that is missing or has no answer is within no radius.
    pub const fn preset(self) -> Preset {
        match self {
            Self::Yfcc4k => Preset::Plonk,
            Self::Osv5m => Preset::Osv5m,
            Self::Im2gps | Self::Im2gps3k | Self::Yfcc26k | Self::Gws15k => Preset::Geoclip,
        }
    }

    /// What it is called in tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Im2gps => "Im2GPS",
            Self::Im2gps3k => "Im2GPS3k",
            Self::Yfcc4k => "YFCC4k",
            Self::Yfcc26k => "YFCC26k",
            Self::Gws15k => "GWS15k",
            Self::Osv5m => "OSV-5M",
        }
    }
}

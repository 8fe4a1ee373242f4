//! The three option types in one flat object, as job files, pickled answers and Python keywords write them.

use crate::{AlbumOptions, LocateOptions, LocatorOptions, error::Result, home::by_name, home::is_name};
use locdiff_base::setting;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Map, Value};
use std::path::Path;

/// All options as one flat object: the form of job files and of Python keywords.
///
/// ```
/// use locdiff::FlatOptions;
/// let flat: FlatOptions = serde_json::from_str(r#"{"model": "geoclip", "within": ["Japan"], "one_trip": true}"#)?;
/// assert_eq!((flat.locate.within.len(), flat.album.one_trip), (1, true));
/// assert!(serde_json::from_str::<FlatOptions>(r#"{"withing": ["Japan"]}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct FlatOptions {
    /// Options of the locator.
    #[serde(flatten)]
    pub locator: LocatorOptions,
    /// Options of each photo.
    #[serde(flatten)]
    pub locate: LocateOptions,
    /// Options of an album, except `photos`: see [`FlatOptions::of_album`].
    #[serde(flatten)]
    pub album: AlbumOptions,
}

/// The names of the options that open a locator, that ask about photos, and of albums.
const NAMES: [&str; 3] = [
    "model encoder device precision gallery geoclip gallery_rule hybrid",
    "views samples sampler steps guidance seed pool refine hypotheses window_km factors within prior prior_km clue time why text ignore_text max_megapixels",
    "same_place folder_is_place one_trip known tracks track_offset_s places trust_clocks clock_offset_s",
];

impl FlatOptions {
    /// Returns the names of the options of a locator, of photos, and of albums.
    pub fn names() -> [Vec<&'static str>; 3] {
        NAMES.map(|names| names.split(' ').collect())
    }

    /// Combines options of a locator and of photos, without an album.
    pub fn new(locator: LocatorOptions, locate: LocateOptions) -> Self {
        Self { locator, locate, album: AlbumOptions::default() }
    }

    /// Returns the options of an album.
    pub fn of_album(self) -> AlbumOptions {
        AlbumOptions { photos: self.locate, ..self.album }
    }

    /// Fails if an option of an album is not the default: for work that answers photos one by one.
    pub fn check_no_album(&self) -> Result<()> {
        let told = serde_json::to_value(&self.album).unwrap_or_default();
        let Some((name, value)) = told.as_object().and_then(|told| told.iter().next()) else { return Ok(()) };
        let remedy = format!("photos are answered one by one here, {name} is for albums: leave it out");
        Err(setting("album option", value, remedy))
    }

    /// Makes all paths absolute, relative to `base`.
    pub fn anchored(mut self, base: &Path) -> Self {
        let Self { locator, locate, album } = &mut self;
        for path in [&mut locator.model, &mut locator.encoder, &mut locator.geoclip].into_iter().flatten() {
            if !base.join(&*path).exists() {
                *path = by_name(path);
            }
            // A name that is not fetched here may be fetched where a job runs.
            if !is_name(path) || base.join(&*path).exists() {
                *path = base.join(&*path);
            }
        }
        for path in [&mut locator.gallery, &mut locate.prior].into_iter().flatten().chain(&mut album.tracks) {
            *path = base.join(&*path);
        }
        for text in &mut locate.within {
            let file = base.join(&*text);
            if file.is_file() {
                *text = file.to_string_lossy().into_owned();
            }
        }
        self
    }
}

impl<'de> Deserialize<'de> for FlatOptions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut parts = [Map::new(), Map::new(), Map::new()];
        for (name, value) in Map::deserialize(from)? {
            let lists = Self::names();
            let Some(part) = lists.iter().position(|list| list.contains(&&*name)) else {
                let known: Vec<String> = lists.concat().iter().map(|name| format!("`{name}`")).collect();
                return Err(D::Error::custom(format!("unknown field `{name}`, expected one of {}", known.join(", "))));
            };
            parts[part].insert(name, value);
        }
        let [locator, locate, album] = parts.map(Value::from);
        let locator = serde_json::from_value(locator).map_err(D::Error::custom)?;
        let locate = serde_json::from_value(locate).map_err(D::Error::custom)?;
        Ok(Self { locator, locate, album: serde_json::from_value(album).map_err(D::Error::custom)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceSpec, GalleryRule, Pooling, Precision};
    use locdiff_model::diffusion::Sampler;

    #[test]
    fn options_survive_their_file() {
        let mut flat = FlatOptions::default();
        flat.locator.device = DeviceSpec::Cuda(1);
        flat.locator.precision = Some(Precision::Int8);
        flat.locator.gallery_rule = GalleryRule::Paper;
        flat.locator.hybrid.radius_km = Some(5.0);
        flat.locate.sampler = Sampler::Ddpm;
        (flat.locate.steps, flat.locate.pool, flat.locate.prior_km) = (200, Some(Pooling::Mean), 7.0);
        (flat.locate.text, flat.locate.ignore_text) = (false, vec!["Paris".to_owned()]);
        (flat.locate.clue, flat.locate.why) = (vec!["drives=left".to_owned()], true);
        flat.album.clock_offset_s = Some(3600.0);
        let text = serde_json::to_string(&flat).unwrap();
        assert_eq!(serde_json::from_str::<FlatOptions>(&text).unwrap(), flat);
        for bad in [r#"{"pool": "man"}"#, r#"{"device": "gpu"}"#, r#"{"photos": {}}"#] {
            assert!(serde_json::from_str::<FlatOptions>(bad).is_err(), "{bad}");
        }
        assert_eq!(serde_json::from_str::<FlatOptions>("{}").unwrap(), FlatOptions::default());
    }

    /// Every key that 0.3 wrote, and the text of its defaults.
    #[test]
    fn the_keys_of_0_3_are_read() {
        let old = r#"{"model":"m","encoder":"e","device":"cpu","precision":"int8","gallery":"g","geoclip":"c",
            "gallery_rule":"hybrid","hybrid":{"around_answer":true,"radius_km":1.0,"temperature":null,"weight":null,
            "confidence":0.5},"views":2,"samples":8,"sampler":"ddpm","steps":9,"guidance":0.5,"seed":3,"pool":"mean",
            "refine":true,"hypotheses":7,"window_km":50.0,"within":["Japan"],"prior":"p.csv","prior_km":9.0,
            "max_megapixels":50,"same_place":true,"folder_is_place":true,"one_trip":true,
            "known":[{"name":"x","time_s":1.0,"at":{"lat":1.0,"lon":2.0},"deviation_km":1.0}],"tracks":["a.gpx"],
            "track_offset_s":5.0,"places":[{"place":"Kyoto","from":null,"to":null}],"trust_clocks":true,
            "clock_offset_s":60.0}"#;
        let old: Map<String, Value> = serde_json::from_str(old).unwrap();
        let mut names = FlatOptions::names().concat();
        names.retain(|name| !["factors", "clue", "time", "why", "text", "ignore_text"].contains(name)); // since 0.4
        names.sort_unstable();
        assert_eq!(old.keys().map(String::as_str).collect::<Vec<_>>(), names);
        for (name, value) in &old {
            // `known` is only ever filled in memory; its form is locdiff_album's.
            if name != "known" {
                let one = Map::from_iter([(name.clone(), value.clone())]);
                let read: FlatOptions = serde_json::from_value(one.into()).unwrap();
                assert_ne!(read, FlatOptions::default(), "{name}");
            }
        }
        let usual = r#"{"model":null,"encoder":null,"views":1,"samples":16,"guidance":0.0,"seed":0,"hypotheses":5,"window_km":null,"within":[],"max_megapixels":100}"#;
        assert_eq!(serde_json::to_string(&FlatOptions::default()).unwrap(), usual, "checksums of jobs are made of it");
    }
}

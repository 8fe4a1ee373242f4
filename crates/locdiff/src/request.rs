//! What is asked of photos. Every default of every door stands here.

use crate::{Knowledge, KnownPlace, LocateError, LocateOptions, Pooling, Region, SampleOptions, Sampler};
use crate::{home::by_name, stated::StatedPlace};
use locdiff_album::Track;
use locdiff_base::named;
use locdiff_nn::{DeviceSpec, Precision};
use locdiff_vision::PhotoLimits;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What is asked of photos: which model answers, and how. The command's flags, the server's query, a job's file and Python's
/// keywords all become one of these; its fields are their names.
///
/// ```
/// use locdiff::Request;
/// let mut request = Request::default();
/// request.within = vec!["Japan".to_owned()];
/// let text = serde_json::to_string(&request)?;
/// assert_eq!(serde_json::from_str::<Request>(&text)?, request);
/// assert!(serde_json::from_str::<Request>(r#"{"withing": ["Japan"]}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with each other")]
pub struct Request {
    /// Folder of a model, or its name in the data folder; `None` is the bundled one.
    pub model: Option<PathBuf>,
    /// Folder of an encoder, or its name in the data folder; `None` is the bundled one, or the one that the model names.
    pub encoder: Option<PathBuf>,
    /// Where the model and the encoder run: `auto`, `cpu`, `cuda` or `cuda:N`.
    #[serde(with = "device", skip_serializing_if = "is_default")]
    pub device: DeviceSpec,
    /// The arithmetic of products; `None` is the device's own.
    #[serde(with = "optional_name", skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// A gallery beside the model: a folder, or with `geoclip` a file of places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gallery: Option<PathBuf>,
    /// GeoCLIP's folder, where the gallery's vectors are GeoCLIP's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geoclip: Option<PathBuf>,
    /// What the gallery does: see [`GalleryRule`].
    #[serde(with = "named", skip_serializing_if = "is_default")]
    pub gallery_rule: GalleryRule,
    /// Changes to the rules `hybrid` and `paper`.
    #[serde(skip_serializing_if = "is_default")]
    pub hybrid: HybridChanges,
    /// Views of each photo (crops, colours) that one density is made of; 1 is the photo alone.
    pub views: usize,
    /// Draws of noise that the evidence is the mean of, or samples where the place comes from samples.
    pub samples: usize,
    /// The sampler, where the place comes from samples.
    #[serde(with = "named", skip_serializing_if = "is_usual_sampler")]
    pub sampler: Sampler,
    /// Its steps.
    #[serde(skip_serializing_if = "is_usual_steps")]
    pub steps: usize,
    /// Classifier-free guidance; 0 is none, for which radii are calibrated.
    pub guidance: f32,
    /// Seed of noise and views.
    pub seed: u64,
    /// How samples become one place; `None` reads the place off the density, without sampling.
    #[serde(with = "optional_name", skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pooling>,
    /// GeoCLIP: look for better places than its own about the best of them.
    #[serde(skip_serializing_if = "is_default")]
    pub refine: bool,
    /// The most places to list.
    pub hypotheses: usize,
    /// The radius of the window that the density is seen through; `None` is the calibration's.
    pub window_km: Option<f64>,
    /// Regions, in one of which it must be.
    pub within: Vec<String>,
    /// Weights on places: an Esri ASCII raster (`.asc`), or a CSV with lat, lon and weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<PathBuf>,
    /// How far a CSV's places reach.
    #[serde(skip_serializing_if = "is_usual_prior_km")]
    pub prior_km: f64,
    /// The largest photo, in millions of pixels.
    pub max_megapixels: u32,
    /// An album's photos are all of one place, whenever they were taken.
    #[serde(skip_serializing_if = "is_default")]
    pub same_place: bool,
    /// The photos of each folder, or of each named album, are of one place.
    #[serde(skip_serializing_if = "is_default")]
    pub folder_is_place: bool,
    /// An album is one trip, however long the pauses in it; else it is cut at long pauses and jumps.
    #[serde(skip_serializing_if = "is_default")]
    pub one_trip: bool,
    /// Places known of other times than the album's photos'.
    #[serde(skip_serializing_if = "is_default")]
    pub known: Vec<KnownPlace>,
    /// Logs of positions of an album's time: GPX, GeoJSON, Timeline.json or Records.json.
    #[serde(skip_serializing_if = "is_default")]
    pub tracks: Vec<PathBuf>,
    /// The same, read before.
    #[serde(skip)]
    pub logs: Vec<Track>,
    /// How many seconds an album's clocks are ahead of the logs; `None` finds it where that is clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track_offset_s: Option<f64>,
    /// Where an album's photos of some times were taken, as somebody knows.
    #[serde(skip_serializing_if = "is_default")]
    pub places: Vec<StatedPlace>,
    /// An album's clocks are left alone, also where one contradicts the others by hours.
    #[serde(skip_serializing_if = "is_default")]
    pub trust_clocks: bool,
    /// How many seconds an album's clocks that give no offset are ahead of UTC; `None` leaves their times local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_offset_s: Option<f64>,
}

named! {
    /// What a gallery does for an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum GalleryRule: "gallery rule" {
        #[default]
        Mix = "mix", "one density of the model and the gallery (LocDiff+kNN)";
        /// It settles the place near the samples, by density times retrieval: LocDiff-H.
        Hybrid = "hybrid", "retrieval near the samples, times the model's density (LocDiff-H)";
        Paper = "paper", "the best match near a sample: LocDiff-H as the paper has it";
    }
}

/// Changes to LocDiff-H; what is absent is the rule's own.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HybridChanges {
    /// Candidates lie around the model's answer, not around every sample.
    pub around_answer: bool,
    /// Candidates lie within this distance.
    pub radius_km: Option<f64>,
    /// Temperature of the softmax over cosines.
    pub temperature: Option<f64>,
    /// Weight of the model's log density.
    pub weight: Option<f64>,
    /// Below this share of probability around the best candidate the model's own answer stands.
    pub confidence: Option<f64>,
}

const PRIOR_KM: f64 = 100.0;

impl Default for Request {
    fn default() -> Self {
        let SampleOptions { samples, sampler, steps, guidance, seed } = SampleOptions::default();
        Self {
            model: None,
            encoder: None,
            device: DeviceSpec::Auto,
            precision: None,
            gallery: None,
            geoclip: None,
            gallery_rule: GalleryRule::Mix,
            hybrid: HybridChanges::default(),
            views: 1,
            samples,
            sampler,
            steps,
            guidance,
            seed,
            pool: None,
            refine: false,
            hypotheses: 5,
            window_km: None,
            within: Vec::new(),
            prior: None,
            prior_km: PRIOR_KM,
            max_megapixels: 100,
            same_place: false,
            folder_is_place: false,
            one_trip: false,
            known: Vec::new(),
            tracks: Vec::new(),
            logs: Vec::new(),
            track_offset_s: None,
            places: Vec::new(),
            trust_clocks: false,
            clock_offset_s: None,
        }
    }
}

impl Request {
    /// How a locator answers it. Files that `within` and `prior` name are read.
    ///
    /// # Errors
    /// Regions and priors that cannot be used; settings out of range or that do not go together.
    pub fn options(&self) -> Result<LocateOptions, LocateError> {
        let knowledge = self.knowledge(Region::parse)?;
        let Some(path) = &self.prior else { return self.with_knowledge(knowledge) };
        let known = crate::prior::with_prior(knowledge.unwrap_or_default(), path, self.prior_km)?;
        self.with_knowledge(Some(known))
    }

    /// The same for a request from outside: no file is read, whatever the regions are called, and a prior is refused.
    ///
    /// # Errors
    /// As [`Request::options`], and for a prior.
    pub fn options_without_files(&self) -> Result<LocateOptions, LocateError> {
        if let Some(path) = &self.prior {
            let remedy = "no file is read for a request from outside";
            return Err(locdiff_base::setting("prior", path.display(), remedy));
        }
        if let Some(path) = self.tracks.first() {
            let remedy = "no file is read for a request from outside";
            return Err(locdiff_base::setting("track", path.display(), remedy));
        }
        self.with_knowledge(self.knowledge(Region::in_words)?)
    }

    /// The most that a photo may ask for.
    pub fn limits(&self) -> PhotoLimits {
        PhotoLimits::of_megapixels(self.max_megapixels)
    }

    /// The same with whole paths, so that they mean the same wherever it is answered.
    #[must_use]
    pub fn anchored(mut self, base: &Path) -> Self {
        for path in [&mut self.model, &mut self.encoder] {
            // What is no path there may be the name of a model.
            *path = path.take().map(|path| if base.join(&path).exists() { base.join(path) } else { by_name(&path) });
        }
        for path in [&mut self.model, &mut self.encoder, &mut self.gallery, &mut self.geoclip, &mut self.prior] {
            *path = path.take().map(|path| base.join(path));
        }
        for path in &mut self.tracks {
            *path = base.join(&*path);
        }
        for text in &mut self.within {
            let file = base.join(&*text);
            if file.is_file() {
                *text = file.to_string_lossy().into_owned();
            }
        }
        self
    }

    fn knowledge(
        &self,
        parse: impl Fn(&str) -> Result<Region, locdiff_map::places::PlacesError>,
    ) -> Result<Option<Knowledge>, LocateError> {
        if self.within.is_empty() {
            return Ok(None);
        }
        let regions: Vec<Region> = self.within.iter().map(|text| parse(text)).collect::<Result<_, _>>()?;
        Ok(Some(Knowledge::new().within(Region::union(&regions))))
    }

    fn with_knowledge(&self, knowledge: Option<Knowledge>) -> Result<LocateOptions, LocateError> {
        let Self { samples, sampler, steps, guidance, seed, .. } = *self;
        let mut options = LocateOptions::default()
            .with_sampling(SampleOptions { samples, sampler, steps, guidance, seed })
            .with_views(self.views)
            .with_hypotheses(self.hypotheses)
            .with_window_km(self.window_km);
        options.limits = self.limits();
        options.pooling = self.pool;
        options.refine = self.refine;
        if let Some(knowledge) = knowledge {
            options = options.with_knowledge(knowledge);
        }
        options.check()?;
        Ok(options)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_usual_sampler(sampler: &Sampler) -> bool {
    *sampler == SampleOptions::default().sampler
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_usual_steps(steps: &usize) -> bool {
    *steps == SampleOptions::default().steps
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_usual_prior_km(km: &f64) -> bool {
    *km == PRIOR_KM
}

/// A choice by its name.
mod named {
    use locdiff_base::Named;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<T: Named, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(value.name())
    }

    pub(super) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::from_name(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// A choice by its name, where there is one.
mod optional_name {
    use locdiff_base::Named;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "as serde calls it")]
    pub(super) fn serialize<T: Named, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.serialize_str(value.name()),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        name.map(|name| T::from_name(&name).map_err(D::Error::custom)).transpose()
    }
}

/// A device as a user names it.
mod device {
    use locdiff_nn::DeviceSpec;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(device: &DeviceSpec, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(device)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DeviceSpec, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_its_file() {
        let mut request = Request {
            device: DeviceSpec::Cuda(1),
            precision: Some(Precision::Int8),
            gallery_rule: GalleryRule::Paper,
            sampler: Sampler::Ddpm,
            steps: 200,
            pool: Some(Pooling::Mean),
            prior_km: 7.0,
            ..Request::default()
        };
        request.hybrid.radius_km = Some(5.0);
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
        assert!(serde_json::from_str::<Request>(r#"{"pool": "man"}"#).is_err());
        assert!(serde_json::from_str::<Request>(r#"{"device": "gpu"}"#).is_err());
        assert_eq!(serde_json::from_str::<Request>("{}").unwrap(), Request::default());
    }

    #[test]
    fn a_request_from_outside_opens_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("area.geojson");
        let area = r#"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}"#;
        std::fs::write(&file, area).unwrap();
        let within = vec![file.to_string_lossy().into_owned()];
        let request = Request { within, ..Request::default() };
        assert!(request.options().is_ok(), "the file itself is fine");
        assert!(matches!(request.options_without_files(), Err(LocateError::Places(_))));
        let request = Request { prior: Some(file), ..Request::default() };
        assert!(request.options_without_files().is_err());
    }
}

//! What is asked of photos.

use crate::{Knowledge, LocateError, Pooling, error::Result, names::is_default, names::named, names::optional_name};
use locdiff_base::{Named, named, setting};
use locdiff_map::{clues::Clue, clues::ClueTime, evidence::Evidence, places::PlacesError, places::Region};
use locdiff_model::{SampleOptions, answer::ReadOptions, diffusion::Sampler};
use locdiff_vision::PhotoLimits;
use serde::{Deserialize, Serialize};
use std::{path::Path, path::PathBuf, sync::Arc};

/// Options of each photo: region, prior, views, hypotheses, sampling, limits.
///
/// Job files, HTTP parameters and Python keywords use the same names as the fields.
///
/// ```
/// use locdiff::LocateOptions;
/// let options = LocateOptions::new().within("Japan").hypotheses(3);
/// assert_eq!((options.within, options.hypotheses), (vec!["Japan".to_owned()], 3));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag in every interface")]
pub struct LocateOptions {
    /// Views of each photo (crops, colours) that one density is made of. 1 is the photo alone.
    pub views: usize,
    /// Number of noise draws that are averaged, or of samples if the location comes from samples.
    pub samples: usize,
    /// The sampler, if the location comes from samples.
    #[serde(with = "named", skip_serializing_if = "is_usual_sampler")]
    pub sampler: Sampler,
    /// Steps of the sampler.
    #[serde(skip_serializing_if = "is_usual_steps")]
    pub steps: usize,
    /// Classifier-free guidance. Radii are calibrated for 0, which is none.
    pub guidance: f32,
    /// Seed of noise and views.
    pub seed: u64,
    /// How samples become one location (the paper's Algorithm 2 is [`Pooling::Mean`] over several views). `None` reads the location off the
    /// density, without sampling.
    #[serde(with = "optional_name", skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pooling>,
    /// Whether GeoCLIP searches for better locations near its best ones.
    #[serde(skip_serializing_if = "is_default")]
    pub refine: bool,
    /// The largest number of hypotheses.
    pub hypotheses: usize,
    /// Radius in km of the circle that the best location holds most probability in. `None` is the calibration's.
    pub window_km: Option<f64>,
    /// Map factors of the density: towns, coast and climate that the picture shows, or none.
    #[serde(with = "named", skip_serializing_if = "is_default")]
    pub factors: MapFactorChoice,
    /// Regions; the photo was taken in one of them.
    pub within: Vec<String>,
    /// Weights of locations: an Esri ASCII raster (`.asc`), or a CSV with lat, lon and weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<PathBuf>,
    /// Radius in km that each location of a CSV prior covers.
    #[serde(skip_serializing_if = "is_usual_prior_km")]
    pub prior_km: f64,
    /// What is known about the photos, such as `language=Polish` or `drives!=left`. At most 50.
    #[serde(skip_serializing_if = "is_default")]
    pub clue: Vec<String>,
    /// When the photos were taken, for clues of the sun and the season. `None` takes the time of each photo.
    #[serde(skip_serializing_if = "is_default")]
    pub time: Option<String>,
    /// Whether answers say what each factor of the density did.
    #[serde(skip_serializing_if = "is_default")]
    pub why: bool,
    /// Whether text in photos is read and used.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub text: bool,
    /// Lines of text that are not used, as they were read.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_text: Vec<String>,
    /// The largest photo, in millions of pixels.
    pub max_megapixels: u32,
    #[serde(skip)]
    pub(crate) with_trace: bool,
    /// What the answers are restricted by, once it is resolved.
    #[serde(skip)]
    pub(crate) restricted_by: Vec<String>,
    #[serde(skip)]
    knowledge: Option<SharedKnowledge>,
}

named! {
    /// Choice of map factors, see [`LocateOptions`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum MapFactorChoice: "choice of map factors" {
        #[default]
        All = "all", "towns, coast and climate, if the model has learned them";
        None = "none", "the plain density of the network";
    }
}

/// Knowledge is a function: it equals itself alone.
#[derive(Debug, Clone)]
struct SharedKnowledge(Arc<Knowledge>);

impl PartialEq for SharedKnowledge {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

const PRIOR_KM: f64 = 100.0;

impl Default for LocateOptions {
    fn default() -> Self {
        let SampleOptions { samples, sampler, steps, guidance, seed } = SampleOptions::default();
        Self {
            views: 1,
            samples,
            sampler,
            steps,
            guidance,
            seed,
            pool: None,
            refine: false,
            hypotheses: ReadOptions::default().hypotheses,
            window_km: None,
            factors: MapFactorChoice::All,
            within: Vec::new(),
            prior: None,
            prior_km: PRIOR_KM,
            clue: Vec::new(),
            time: None,
            why: false,
            text: true,
            ignore_text: Vec::new(),
            max_megapixels: 100,
            with_trace: false,
            restricted_by: Vec::new(),
            knowledge: None,
        }
    }
}

impl LocateOptions {
    /// Creates the defaults of all interfaces.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restricts the answer to a region. Repeat to allow several.
    pub fn within(mut self, region: impl Into<String>) -> Self {
        self.within.push(region.into());
        self
    }

    /// Weighs locations by a file: see [`LocateOptions::prior`].
    pub fn prior(self, file: impl Into<PathBuf>) -> Self {
        Self { prior: Some(file.into()), ..self }
    }

    /// Adds what is known about the photos: see [`LocateOptions::clue`].
    pub fn clue(mut self, clue: impl Into<String>) -> Self {
        self.clue.push(clue.into());
        self
    }

    /// Weighs locations by knowledge that a program holds itself. It excludes `within` and `prior`.
    pub fn knowledge(self, knowledge: impl Into<Arc<Knowledge>>) -> Self {
        Self { knowledge: Some(SharedKnowledge(knowledge.into())), ..self }
    }

    /// Sets the number of views of each photo.
    pub fn views(self, views: usize) -> Self {
        Self { views, ..self }
    }

    /// Sets the number of noise draws or samples.
    pub fn samples(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    /// Takes the location from samples, which become one location by this rule.
    pub fn pool(self, pooling: Pooling) -> Self {
        Self { pool: Some(pooling), ..self }
    }

    /// Records the backward process of each photo, in [`crate::Located::trace`].
    pub fn with_trace(self, with_trace: bool) -> Self {
        Self { with_trace, ..self }
    }

    /// Sets whether text in photos is read and used.
    pub fn text(self, text: bool) -> Self {
        Self { text, ..self }
    }

    /// Sets the seed of noise and views.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the largest number of hypotheses.
    pub fn hypotheses(self, hypotheses: usize) -> Self {
        Self { hypotheses, ..self }
    }

    /// Reads the regions and files that the options name, once for many calls. Otherwise every call reads them. Fails if a region or prior cannot
    /// be used, or options are out of range or contradict each other.
    pub fn resolved(&self) -> Result<Self> {
        let mut known = self.region(Region::parse)?;
        if let Some(path) = &self.prior {
            known = Some(crate::prior::with_prior(known.unwrap_or_default(), path, self.prior_km)?);
        }
        self.with_known(known)
    }

    /// Resolves options from outside without reading files. Fails as [`LocateOptions::resolved`] does, and if there is a prior.
    pub fn resolved_without_files(&self) -> Result<Self> {
        match &self.prior {
            Some(path) => Err(setting("prior", path.display(), "no file is read for a request from outside")),
            None => self.with_known(self.region(Region::in_words)?),
        }
    }

    fn region(&self, parse: fn(&str) -> Result<Region, PlacesError>) -> Result<Option<Knowledge>> {
        if self.within.is_empty() {
            return Ok(None);
        }
        let regions: Vec<Region> = self.within.iter().map(|text| parse(text)).collect::<Result<_, _>>()?;
        Ok(Some(Knowledge::new().within(Region::union(&regions))))
    }

    fn with_known(&self, known: Option<Knowledge>) -> Result<Self> {
        let mut resolved = Self { within: Vec::new(), prior: None, ..self.clone() };
        // Files by their names alone: a job has whole paths, and says the same.
        let is_file = |text: &Path| text.extension().is_some_and(|end| end == "geojson" || end == "json");
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let region = |text: &String| if is_file(text.as_ref()) { name(text.as_ref()) } else { text.clone() };
        resolved.restricted_by.extend(self.within.iter().map(region).chain(self.prior.as_deref().map(name)));
        if self.knowledge.is_some() && known.is_some() {
            let remedy = "a region or prior goes with it: put that into the knowledge";
            return Err(setting("knowledge", "of the program's own", remedy));
        }
        resolved.knowledge = known.map(|known| SharedKnowledge(Arc::new(known))).or(resolved.knowledge);
        resolved.check()?;
        Ok(resolved)
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.sampling().check()?;
        if self.views == 0 || self.views > self.samples {
            return Err(setting("views", self.views, format!("1 to the number of samples, {}", self.samples)));
        }
        if let Some(window_km) = self.window_km.filter(|window_km| !(1.0..=20_000.0).contains(window_km)) {
            return Err(setting("window", format!("{window_km} km"), "1 to 20000 km"));
        }
        let is_restricted = self.knowledge.is_some() || !self.within.is_empty() || self.prior.is_some();
        self.clues(Some(ClueTime { seconds: 1.0, is_utc: true }))?;
        if self.pool.is_some() && (is_restricted || !self.clue.is_empty()) {
            let remedy = "samples know no region, prior or clue: leave out one of them";
            return Err(setting("pooling", "with prior knowledge", remedy));
        }
        Ok(())
    }

    /// What clues say about a photo of this time, unless the options have a time. Fails on clues and times that cannot be used, and on clues that
    /// need a time if there is none.
    pub(crate) fn clues(&self, own: Option<ClueTime>) -> Result<Vec<Evidence>> {
        let read = |text: &String| {
            let remedy = "write it as 2024-05-12 13:45:10, with Z or an offset such as +02:00 if that is known";
            ClueTime::parse(text).ok_or_else(|| setting::<LocateError>("time", text, remedy))
        };
        let time = self.time.as_ref().map(read).transpose()?.or(own);
        let clues = Clue::parse_all(&self.clue, time)?;
        Ok(clues.iter().flat_map(Clue::evidence).cloned().collect())
    }

    /// Fails if a sampler or its steps are given, and no sample is made.
    pub(crate) fn check_sampler(&self, makes_samples: bool) -> Result<()> {
        let remedy = "no samples are made here: set pool, or leave it out";
        let steps = (!is_usual_steps(&self.steps)).then(|| ("steps", self.steps.to_string()));
        let sampler = (!is_usual_sampler(&self.sampler)).then(|| ("sampler", self.sampler.name().to_owned()));
        match sampler.or(steps).filter(|_| !makes_samples && self.pool.is_none() && !self.with_trace) {
            Some((what, value)) => Err(setting(what, value, remedy)),
            None => Ok(()),
        }
    }

    pub(crate) fn sampling(&self) -> SampleOptions {
        let Self { samples, sampler, steps, guidance, seed, .. } = *self;
        SampleOptions { samples, sampler, steps, guidance, seed }
    }

    pub(crate) fn reading(&self) -> ReadOptions {
        let reading = ReadOptions::default().with_hypotheses(self.hypotheses);
        self.window_km.map_or(reading.clone(), |window_km| reading.with_window_km(window_km))
    }

    pub(crate) fn limits(&self) -> PhotoLimits {
        PhotoLimits::of_megapixels(self.max_megapixels)
    }

    pub(crate) fn known(&self) -> Option<Arc<Knowledge>> {
        self.knowledge.as_ref().map(|shared| shared.0.clone())
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn options_from_outside_open_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("area.geojson");
        let area = r#"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}"#;
        std::fs::write(&file, area).unwrap();
        let options = LocateOptions::new().within(file.to_string_lossy());
        assert!(options.resolved().is_ok(), "the file itself is fine");
        assert_eq!(options.resolved_without_files().unwrap_err().kind(), ErrorKind::Region);
        assert!(LocateOptions::new().prior(file).resolved_without_files().is_err());
    }

    #[test]
    fn nothing_that_is_asked_is_ignored() {
        let japan = || LocateOptions::new().within("Japan");
        assert!(japan().resolved().unwrap().known().is_some());
        assert_eq!(japan().resolved().unwrap().restricted_by, ["Japan"]);
        assert!(japan().knowledge(Knowledge::new()).resolved().is_err(), "which of the two holds?");
        assert!(japan().pool(Pooling::Mean).resolved().is_err());
        let left = || LocateOptions::new().clue("drives=left");
        assert!(left().resolved().is_ok() && left().pool(Pooling::Mean).resolved().is_err());
        for bad in ["drives=up", "langauge=Polish"] {
            assert_eq!(LocateOptions::new().clue(bad).resolved().unwrap_err().kind(), ErrorKind::Setting, "{bad}");
        }
        let sun = LocateOptions { time: Some("noon".to_owned()), ..LocateOptions::new().clue("sun=34±3") };
        assert!(sun.resolved().is_err() && LocateOptions { time: None, ..sun.clone() }.resolved().is_ok());
        assert!(LocateOptions { time: None, ..sun }.clues(None).is_err(), "the photo has no time");
        let resolved = japan().resolved().unwrap();
        assert_eq!(resolved.resolved().unwrap(), resolved, "it is resolved once");
    }
}

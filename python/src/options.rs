//! Keyword arguments of `locate` and its like.

use crate::errors::{OrRaise, locate};
use locdiff::{Knowledge, LocateOptions, PhotoLimits, Region, SampleOptions};
use locdiff::parts::with_prior;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// The names, for the message about a wrong one.
const NAMES: &str =
    "within, prior, prior_km, views, hypotheses, window_km, seed, samples, guidance, max_megapixels";

/// How to answer, and how large a photo may be.
pub(crate) struct Options {
    pub(crate) locate: LocateOptions,
    pub(crate) limits: PhotoLimits,
}

impl Options {
    pub(crate) fn of(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = LocateOptions::default().with_hypotheses(5);
        let mut limits = PhotoLimits::default();
        let mut sampling = SampleOptions::default();
        let (mut within, mut prior, mut prior_km) = (Vec::new(), None::<PathBuf>, 100.0);
        for (name, value) in given.into_iter().flatten() {
            let name: String = name.extract()?;
            match name.as_str() {
                "within" if value.is_none() => {}
                "within" => within = texts(&value)?,
                "prior" => prior = value.extract()?,
                "prior_km" => prior_km = value.extract()?,
                "views" => options = options.with_views(value.extract()?),
                "hypotheses" => options = options.with_hypotheses(value.extract()?),
                "window_km" => {
                    options = options.with_window_km(value.extract::<Option<f64>>()?);
                }
                "seed" => sampling.seed = value.extract()?,
                "samples" => sampling.samples = value.extract()?,
                "guidance" => sampling.guidance = value.extract()?,
                "max_megapixels" => {
                    let max_pixels = value.extract::<u64>()?.saturating_mul(1_000_000);
                    let max_bytes = limits.max_bytes.max(max_pixels.saturating_mul(8));
                    limits = PhotoLimits { max_pixels, max_bytes };
                }
                _ => {
                    return Err(PyTypeError::new_err(format!(
                        "there is no option '{name}': there are {NAMES}"
                    )));
                }
            }
        }
        if !within.is_empty() || prior.is_some() {
            let mut knowledge = Knowledge::new();
            if !within.is_empty() {
                let regions: Result<Vec<Region>, _> = within.iter().map(|text| Region::parse(text)).collect();
                knowledge = knowledge.within(Region::union(&regions.or_setting()?));
            }
            if let Some(path) = &prior {
                knowledge = with_prior(knowledge, path, prior_km).map_err(|error| locate(&error))?;
            }
            options = options.with_knowledge(knowledge);
        }
        options = options.with_sampling(sampling);
        options.check().map_err(|error| locate(&error))?;
        Ok(Self { locate: options, limits })
    }
}

/// One text, or several.
pub(crate) fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match value.extract::<String>() {
        Ok(one) => Ok(vec![one]),
        Err(_) => value.extract(),
    }
}

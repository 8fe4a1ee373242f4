//! An answer made again from its photo's embedding, in whichever process it is: the same model gives the same bits.

use crate::errors::{ModelError, locate};
use locdiff::{EmbeddedPhoto, FlatOptions, LocateError, Locator, LocatorOptions};
use locdiff_shdd::sphere::haversine_km;
use pyo3::PyResult;
use std::sync::{Arc, Mutex, PoisonError};

/// What an answer was made of.
pub(crate) struct MadeOf {
    /// With whole paths.
    pub(crate) options: Arc<FlatOptions>,
    pub(crate) photo: EmbeddedPhoto,
}

/// Locators that stay open in this process.
const MOST_OPEN: usize = 2;
/// A best location farther away than this comes from another model; another device moves it less.
const SAME_PLACE_KM: f64 = 1.0;

impl MadeOf {
    /// Returns the answer. Fails if the model's folder holds another model by now.
    pub(crate) fn answer(&self, best: locdiff::LatLon) -> PyResult<locdiff::Answer> {
        let again = || locator(&self.options.locator)?.answer(&self.photo, &self.options.locate);
        let made = again().map_err(locate)?;
        if haversine_km(made.best, best) <= SAME_PLACE_KM {
            return Ok(made);
        }
        let model =
            self.options.locator.model.as_ref().map_or("the bundled model".into(), |path| path.display().to_string());
        Err(ModelError::new_err(format!(
            "{model} is not what this answer was made with: its density cannot be made again"
        )))
    }
}

/// The locator that options ask for, opened once.
fn locator(options: &LocatorOptions) -> Result<Arc<Locator>, LocateError> {
    static OPEN: Mutex<Vec<(LocatorOptions, Arc<Locator>)>> = Mutex::new(Vec::new());
    let mut wanted = options.clone();
    wanted.without_encoder = true;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = open.iter().find(|(opened, _)| *opened == wanted) {
        return Ok(found.clone());
    }
    let made = Arc::new(Locator::open(&wanted)?);
    if open.len() == MOST_OPEN {
        open.remove(0);
    }
    open.push((wanted, made.clone()));
    Ok(made)
}

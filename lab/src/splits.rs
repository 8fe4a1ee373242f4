//! The three sets of an experiment.

use crate::{BaselineError, Examples, error::Result};
use locdiff_base::setting;
use locdiff_model::eval::{Bootstrap, Nearby, Rules};
use locdiff_shdd::sphere::{LatLon, UnitVec};

/// Photos to learn from, to choose by and to report on.
#[derive(Debug, Clone)]
pub struct Splits {
    pub training: Examples,
    pub validation: Examples,
    pub test: Examples,
}

fn places(points: &[UnitVec]) -> Vec<LatLon> {
    points.iter().map(|point| point.to_latlon()).collect()
}

/// The rows of `of` with no photo of `from` within the distance.
fn far_rows(of: &Examples, from: &Examples, km: f64) -> Vec<usize> {
    let nearby = Nearby::new(&places(from.points()), Rules::default());
    let is_far = |row: &usize| nearby.nearest_km(of.points()[*row].to_latlon()).is_none_or(|nearest| nearest > km);
    (0..of.len()).filter(is_far).collect()
}

impl Splits {
    pub fn new(training: Examples, validation: Examples, test: Examples) -> Result<Self> {
        for (name, examples) in [("validation", &validation), ("test", &test)] {
            if examples.columns() != training.columns() {
                return Err(BaselineError::Encoders {
                    set: name,
                    columns: examples.columns(),
                    training: training.columns(),
                });
            }
        }
        Ok(Self { training, validation, test })
    }

    /// Leaves out training photos within a distance of a test photo: every test photo then is of an unseen place.
    pub fn hide_near_test(&mut self, km: f64) -> Result<()> {
        let rows = far_rows(&self.training, &self.test, km);
        if rows.is_empty() {
            return Err(setting("distance to hide", format!("{km} km"), "it leaves no training photo"));
        }
        self.training = self.training.select(&rows)?;
        Ok(())
    }

    /// How intervals over the test photos are made: blocks of 5° are drawn.
    pub fn bootstrap(&self) -> Bootstrap {
        Bootstrap::default().by_places(&places(self.test.points()))
    }

    /// The test photos with no training photo within the distance.
    pub fn far_test_photos(&self, km: f64) -> Vec<usize> {
        far_rows(&self.test, &self.training, km)
    }

    /// The places of the training photos, each once.
    pub(crate) fn distinct_training_points(&self) -> Vec<UnitVec> {
        let mut points = self.training.points().to_vec();
        points.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap_or(std::cmp::Ordering::Equal));
        points.dedup();
        points
    }
}

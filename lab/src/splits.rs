//! The three sets of an experiment.

use crate::{Examples, Result};
use anyhow::ensure;
use locdiff_base::setting;
use locdiff_model::eval::{Bootstrap, Nearby, Rules};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;

/// A picture that shows nothing has so many copies so far away: one "no imagery here" is as another.
const COPIES: usize = 3;
const FAR_KM: f64 = 500.0;
/// The cosine of embeddings of one picture.
const SAME: f32 = 0.995;

/// Photos to learn from, to choose by and to report on.
#[derive(Debug, Clone)]
pub struct Splits {
    pub training: Examples,
    pub validation: Examples,
    pub test: Examples,
    /// Validation photos of collections that the test photos are not of: nothing is chosen by them.
    pub apart: Option<Examples>,
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

/// A bootstrap of blocks of 15°.
pub(crate) fn wide_blocks(points: &[UnitVec]) -> Bootstrap {
    Bootstrap::default().by_places(&places(points))
}

/// The photos of `among` whose embedding is nearly that of a photo.
fn alike(of: &Examples, row: usize, among: &Examples) -> Vec<usize> {
    let embedding = |of: &Examples, row: usize| of.photos()[row * of.columns()..][..of.columns()].to_vec();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let own = embedding(of, row);
    let length = dot(&own, &own).sqrt();
    let is_alike = |other: &[f32]| dot(&own, other) > SAME * length * dot(other, other).sqrt();
    let rows = among.photos().par_chunks_exact(among.columns()).enumerate();
    rows.filter(|(_, other)| is_alike(other)).map(|(row, _)| row).collect()
}

/// Photos with a copy at several places far away.
fn blank_rows(of: &Examples, training: &Examples) -> Vec<usize> {
    let is_far = |a: UnitVec, b: UnitVec| a.angle_rad(b) * EARTH_RADIUS_KM > FAR_KM;
    let copies = |row: usize| {
        alike(of, row, training).into_iter().filter(|k| is_far(of.points()[row], training.points()[*k])).count()
    };
    (0..of.len()).filter(|row| copies(*row) >= COPIES).collect()
}

impl Splits {
    pub fn new(training: Examples, validation: Examples, test: Examples) -> Result<Self> {
        for (name, examples) in [("validation", &validation), ("test", &test)] {
            let (columns, own) = (examples.columns(), training.columns());
            ensure!(
                columns == own,
                "the {name} embeddings have {columns} numbers, those to train on {own}: one encoder must make both"
            );
        }
        Ok(Self { training, validation, test, apart: None })
    }

    /// Keeps the validation photos of these rows to choose by, and the others apart.
    pub fn choose_by(&mut self, rows: &[usize]) -> Result<()> {
        let others: Vec<usize> = (0..self.validation.len()).filter(|row| !rows.contains(row)).collect();
        if !rows.is_empty() && !others.is_empty() {
            self.apart = Some(self.validation.select(&others)?);
            self.validation = self.validation.select(rows)?;
        }
        Ok(())
    }

    /// Leaves out training photos within a distance of a test or validation photo: all of these then are of unseen places, and
    /// choices are made by photos as unseen as those reported on.
    pub fn hide_near(&mut self, km: f64) -> Result<()> {
        for near in [&self.test, &self.validation] {
            let rows = far_rows(&self.training, near, km);
            if rows.is_empty() {
                return Err(setting("distance to hide", format!("{km} km"), "it leaves no training photo"));
            }
            self.training = self.training.select(&rows)?;
        }
        Ok(())
    }

    /// Test photos that show nothing, by their numbers: their embeddings are those of pictures taken elsewhere. The training and
    /// validation photos that look so are left out.
    pub fn leave_out_blank(&mut self) -> Result<Vec<usize>> {
        let blank = |of: &Examples| blank_rows(of, &self.training);
        let (test, validation) = (blank(&self.test), blank(&self.validation));
        let all = self.test.select(&test).into_iter().chain(self.validation.select(&validation));
        for seen in all {
            let rows: Vec<usize> =
                (0..self.training.len()).filter(|row| alike(&self.training, *row, &seen).is_empty()).collect();
            self.training = self.training.select(&rows)?;
        }
        let kept: Vec<usize> = (0..self.validation.len()).filter(|row| !validation.contains(row)).collect();
        self.validation = self.validation.select(&kept)?;
        Ok(test)
    }

    /// How intervals over the test photos are made: blocks of 15° are drawn.
    pub fn bootstrap(&self) -> Bootstrap {
        wide_blocks(self.test.points())
    }

    /// The places of the training photos, each once.
    pub(crate) fn distinct_training_points(&self) -> Vec<UnitVec> {
        let mut points = self.training.points().to_vec();
        points.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap_or(std::cmp::Ordering::Equal));
        points.dedup();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn pictures_with_copies_far_away_are_blank_and_leave_training() {
        let (mut training, mut test) = (toy::anywhere(200, 1), toy::anywhere(40, 2));
        let points = |of: &Examples| of.points().to_vec();
        let spoil = |of: &Examples, rows: &[usize]| {
            let mut embeddings = of.photos().to_vec();
            rows.iter().for_each(|row| embeddings[3 * row..][..3].copy_from_slice(&[0.2, -0.1, 5.0]));
            Examples::new(3, &[embeddings], points(of)).unwrap()
        };
        let rows = [3, 50, 90, 120, 160];
        (training, test) = (spoil(&training, &rows), spoil(&test, &[7]));
        let validation = toy::anywhere(30, 3);
        let mut splits = Splits::new(training, validation, test).unwrap();
        let before = splits.training.len();
        let blank = splits.leave_out_blank().unwrap();
        assert_eq!(blank, [7]);
        assert!(splits.training.len() <= before - rows.len());
    }

    #[test]
    fn choices_are_made_by_some_and_the_others_stand_apart() {
        let all = toy::cities(30, 1);
        let mut splits = Splits::new(all.clone(), all.clone(), all).unwrap();
        splits.choose_by(&[4, 5]).unwrap();
        assert_eq!((splits.validation.len(), splits.apart.unwrap().len()), (2, 28));
        assert_eq!(splits.validation.points()[1], splits.training.points()[5]);
    }
}

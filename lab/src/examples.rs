//! Embeddings with their places, in memory.

use anyhow::Result;
use locdiff_base::setting;
use locdiff_model::{Standardisation, train::Dataset};
use locdiff_nn::{Device, Tensor, ops};
use locdiff_shdd::sphere::UnitVec;

/// Embeddings of photos, one or more copies of each (other crops), with the photos' places.
#[derive(Debug, Clone)]
pub struct Examples {
    columns: usize,
    embeddings: Vec<f32>,
    points: Vec<UnitVec>,
}

impl Examples {
    /// From the copies' embeddings, each row by row, and the places.
    pub fn new(columns: usize, copies: &[Vec<f32>], points: Vec<UnitVec>) -> Result<Self> {
        if points.is_empty() || columns == 0 || copies.is_empty() {
            return Err(setting("examples", "none", "at least one photo with its embedding"));
        }
        if let Some(copy) = copies.iter().find(|copy| copy.len() != columns * points.len()) {
            let remedy = format!("{} photos of {columns} numbers", points.len());
            return Err(setting("embeddings", format!("{} numbers", copy.len()), remedy));
        }
        let embeddings = copies.concat();
        if let Some(at) = embeddings.iter().position(|value| !value.is_finite()) {
            let row = at / columns % points.len() + 1;
            return Err(setting("embedding", format!("not finite in row {row}"), "remove that photo"));
        }
        Ok(Self { columns, embeddings, points })
    }

    /// Reads a whole data set. Baselines keep their data in memory, unlike LocDiff's own training.
    pub fn read(data: &Dataset) -> Result<Self> {
        let columns = data.columns();
        let mut copies = Vec::with_capacity(data.copies());
        for copy in 0..data.copies() {
            let mut rows = vec![0.0; data.len() * columns];
            for (row, out) in rows.chunks_exact_mut(columns).enumerate() {
                data.read(row, copy, out)?;
            }
            copies.push(rows);
        }
        Self::new(columns, &copies, data.places().iter().map(|place| place.to_unit()).collect())
    }

    /// The photos of these rows alone, with all their copies.
    ///
    /// # Panics
    /// A row that is not there.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        let kept = |copy: &[f32]| -> Vec<f32> {
            rows.iter().flat_map(|&row| &copy[row * self.columns..(row + 1) * self.columns]).copied().collect()
        };
        let copies: Vec<_> = self.embeddings.chunks_exact(self.columns * self.len()).map(kept).collect();
        Self::new(self.columns, &copies, rows.iter().map(|&row| self.points[row]).collect())
    }

    /// At most `most` photos, evenly spread, without their other copies.
    pub(crate) fn some(&self, most: usize) -> (Vec<f32>, Vec<UnitVec>) {
        let stride = self.len().div_ceil(most).max(1);
        let rows = self.photos().chunks_exact(self.columns).step_by(stride);
        (rows.flatten().copied().collect(), self.points.iter().copied().step_by(stride).collect())
    }

    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is no photo; never true for examples that were constructed.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Copies of each photo's embedding, itself included.
    pub fn copies(&self) -> usize {
        self.embeddings.len() / (self.columns * self.points.len())
    }

    /// The photos' own embeddings, without their other copies.
    pub fn photos(&self) -> &[f32] {
        &self.embeddings[..self.columns * self.points.len()]
    }

    /// The embeddings of all copies, one copy after the other.
    pub fn all_copies(&self) -> &[f32] {
        &self.embeddings
    }

    pub fn points(&self) -> &[UnitVec] {
        &self.points
    }

    /// Mean and deviation of every column, over all copies.
    pub fn standardisation(&self) -> Standardisation {
        let count = (self.embeddings.len() / self.columns) as f64;
        let mut mean = vec![0.0; self.columns];
        let mut square = vec![0.0; self.columns];
        for row in self.embeddings.chunks_exact(self.columns) {
            for ((value, mean), square) in row.iter().zip(&mut mean).zip(&mut square) {
                let value = f64::from(*value);
                *mean += value / count;
                *square += value * value / count;
            }
        }
        let deviation = |(m, s): (&f64, &f64)| ((s - m * m).max(0.0).sqrt() + 1e-6) as f32;
        Standardisation {
            deviation: mean.iter().zip(&square).map(deviation).collect(),
            mean: mean.iter().map(|m| *m as f32).collect(),
        }
    }
}

/// Standardised embeddings on a device, with the standardisation for those that come later.
pub(crate) struct Bank {
    pub(crate) embeddings: Tensor,
    pub(crate) standardisation: Standardisation,
}

impl Bank {
    pub(crate) fn new(device: &Device, training: &Examples) -> Result<Self> {
        let standardisation = training.standardisation();
        let embeddings = upload(device, &standardisation, training.all_copies())?;
        Ok(Self { embeddings, standardisation })
    }
}

pub(crate) fn standardised(standardisation: &Standardisation, embeddings: &[f32]) -> Vec<f32> {
    let mut rows = embeddings.to_vec();
    standardisation.apply(&mut rows);
    rows
}

pub(crate) fn normalised(rows: &Tensor) -> Result<Tensor> {
    let mut unit = Tensor::zeros(rows.device(), rows.rows(), rows.cols())?;
    let mut norms = Tensor::zeros(rows.device(), rows.rows(), 1)?;
    ops::normalise(unit.view_mut(), norms.view_mut(), rows.view(), 1e-12)?;
    Ok(unit)
}

/// Standardises rows and puts them on the device.
pub(crate) fn upload(device: &Device, standardisation: &Standardisation, embeddings: &[f32]) -> Result<Tensor> {
    let columns = standardisation.mean.len();
    if embeddings.is_empty() || !embeddings.len().is_multiple_of(columns) {
        let remedy = format!("rows of {columns} numbers");
        return Err(setting("embeddings", format!("{} numbers", embeddings.len()), remedy));
    }
    let rows = standardised(standardisation, embeddings);
    Ok(Tensor::from_slice(device, rows.len() / columns, columns, &rows)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn rows_are_selected_with_all_their_copies() {
        let all = toy::cities(5, 1);
        let some = all.select(&[3, 0]).unwrap();
        assert_eq!((some.len(), some.copies(), some.columns()), (2, 2, 6));
        assert_eq!(some.points(), [all.points()[3], all.points()[0]]);
        assert_eq!(some.all_copies()[..6], all.all_copies()[18..24]);
        assert_eq!(some.all_copies()[12..18], all.all_copies()[30 + 18..30 + 24]);
        assert!(all.select(&[]).is_err());
    }

    #[test]
    fn bad_data_are_named() {
        let point = vec![UnitVec::NORTH];
        let message =
            |columns, copies: &[Vec<f32>], points| Examples::new(columns, copies, points).unwrap_err().to_string();
        assert!(message(2, &[vec![1.0]], point.clone()).contains("1 photos of 2 numbers"));
        assert!(message(2, &[vec![1.0, f32::NAN]], point).contains("row 1"));
        assert!(message(2, &[], vec![]).contains("at least one photo"));
    }
}

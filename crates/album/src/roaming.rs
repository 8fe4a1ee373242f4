//! How regions change with time when only images are known: jumps at constant rates, so two steps are one of their sum.

use crate::{Result, earth::Earth};
use serde::{Deserialize, Serialize};

/// A kind of traveller. Which one an album is of is not known: all are averaged, by how well each fits the photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traveller {
    /// The share of albums.
    pub share: f64,
    /// Jumps: how many an hour, and their width, km along each axis.
    pub jumps: Vec<(f64, f64)>,
    /// Flights to anywhere, an hour.
    pub anywhere_per_h: f64,
}

impl Traveller {
    /// The mean ratio over where one may have been so many hours earlier or later. What is 1 everywhere stays so.
    pub(crate) fn roam(&self, ratio: &[f64], hours: f64, earth: &Earth) -> Result<Vec<f64>> {
        let says_nothing = |value: &f64| (value - ratio[0]).abs() <= 1e-9 * ratio[0];
        if ratio.iter().all(says_nothing) {
            return Ok(ratio.to_vec());
        }
        let mut moved = earth.jumped(ratio, hours, &self.jumps)?;
        let anywhere = 1.0 - (-self.anywhere_per_h * hours).exp();
        let mean = anywhere * earth.expected(ratio);
        moved.iter_mut().for_each(|value| *value = (1.0 - anywhere) * *value + mean);
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{blob::Blob, settings::AlbumSettings};
    use locdiff_model::answer::Calibration;
    use locdiff_shdd::{Coefficients, sphere::LatLon};

    /// Two steps are one of their sum, a flat ratio stays flat, and sharp ones fade.
    #[test]
    fn time_composes() {
        let earth = Earth::new(&Calibration::none(Coefficients::new(vec![0.0; 16]).unwrap())).unwrap();
        let centre = LatLon::new(45.0, 10.0).unwrap().to_unit();
        let mut start = earth.wide(&[Blob::at_km(centre, 500.0, 1.0)]).unwrap();
        start.iter_mut().for_each(|value| *value += 0.1);
        for traveller in AlbumSettings::default().travellers {
            let roam = |grid: &[f64], hours: f64| traveller.roam(grid, hours, &earth).unwrap();
            assert!(roam(&vec![1.0; start.len()], 50.0).iter().all(|value| (value - 1.0).abs() < 1e-6));
            let once = roam(&start, 30.0);
            let steps = (0..10).fold(start.clone(), |grid, _| roam(&grid, 3.0));
            let apart: Vec<f64> = once.iter().zip(&steps).map(|(a, b)| (a - b).abs()).collect();
            assert!(earth.integral(&apart) < 0.01 * earth.integral(&once), "{}", earth.integral(&apart));
            assert!(earth.value_at(&roam(&start, 300.0), centre) < 0.7 * earth.value_at(&start, centre));
        }
    }
}

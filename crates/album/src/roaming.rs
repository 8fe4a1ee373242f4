//! How regions change with time when nothing is known but what photos look like: jumps at constant rates, so that two steps are one of
//! their sum, and a photo that says nothing changes nothing.

use crate::{AlbumError, earth::Earth};
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

/// Which way time goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Towards {
    Later,
    Earlier,
}

impl Traveller {
    /// A grid after so many hours.
    pub(crate) fn roam(
        &self,
        grid: &[f64],
        hours: f64,
        towards: Towards,
        earth: &Earth,
    ) -> Result<Vec<f64>, AlbumError> {
        let mut moved = earth.jumped(grid, hours, &self.jumps)?;
        let anywhere = 1.0 - (-self.anywhere_per_h * hours).exp();
        match towards {
            Towards::Later => {
                let all = anywhere * earth.integral(grid);
                for (value, usual) in moved.iter_mut().zip(&earth.usual) {
                    *value = (1.0 - anywhere) * *value + all * usual;
                }
            }
            Towards::Earlier => {
                let products: Vec<f64> = grid.iter().zip(&earth.usual).map(|(value, usual)| value * usual).collect();
                let expected = anywhere * earth.integral(&products);
                moved.iter_mut().for_each(|value| *value = (1.0 - anywhere) * *value + expected);
            }
        }
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{blob::Blob, settings::AlbumSettings};
    use locdiff_answer::Calibration;
    use locdiff_shdd::Coefficients;
    use locdiff_sphere::LatLon;

    /// Two steps are one of their sum, and nothing is lost on the way.
    #[test]
    fn time_composes_and_mass_is_kept() {
        let earth = Earth::new(&Calibration::none(Coefficients::new(vec![0.0; 16]).unwrap())).unwrap();
        let centre = LatLon::new(45.0, 10.0).unwrap().to_unit();
        let start = earth.wide(&[Blob::at_km(centre, 500.0, 1.0)]).unwrap();
        for traveller in AlbumSettings::default().travellers {
            let roam = |grid: &[f64], hours: f64| traveller.roam(grid, hours, Towards::Later, &earth).unwrap();
            let once = roam(&start, 30.0);
            let mut steps = start.clone();
            for _ in 0..10 {
                steps = roam(&steps, 3.0);
            }
            assert!((earth.integral(&once) - 1.0).abs() < 1e-3, "{}", earth.integral(&once));
            let apart: Vec<f64> = once.iter().zip(&steps).map(|(a, b)| (a - b).abs()).collect();
            assert!(earth.integral(&apart) < 0.01, "{}", earth.integral(&apart));
        }
    }
}

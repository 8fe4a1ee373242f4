//! From a photo's samples to one answer.

use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, spherical_mean};

/// How samples become one answer; validation chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SamplePooling {
    Single,
    Mean,
    /// The sample with the smallest sum of distances to the others.
    Medoid,
    /// The sample where Gaussian kernels of this width about all samples add up highest.
    Densest {
        width_km: f64,
    },
}

/// All that validation may choose from.
pub(crate) const POOLINGS: [SamplePooling; 6] = [
    SamplePooling::Single,
    SamplePooling::Mean,
    SamplePooling::Medoid,
    SamplePooling::Densest { width_km: 200.0 },
    SamplePooling::Densest { width_km: 500.0 },
    SamplePooling::Densest { width_km: 1000.0 },
];

impl SamplePooling {
    /// One answer for each photo, whose `samples` places follow each other.
    pub(crate) fn answers(self, places: &[UnitVec], samples: usize) -> Vec<LatLon> {
        places.chunks_exact(samples).map(|own| self.apply(own).to_latlon()).collect()
    }

    pub(crate) fn apply(self, samples: &[UnitVec]) -> UnitVec {
        match self {
            Self::Single => samples[0],
            Self::Mean => spherical_mean(samples).unwrap_or(samples[0]),
            Self::Medoid => {
                let cost = |p: &UnitVec| samples.iter().map(|q| p.angle_rad(*q)).sum::<f64>();
                let costs: Vec<f64> = samples.iter().map(cost).collect();
                let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
                samples[best.unwrap_or(0)]
            }
            Self::Densest { width_km } => {
                let kappa = (EARTH_RADIUS_KM / width_km).powi(2);
                let at = |p: &UnitVec| samples.iter().map(|q| (kappa * (p.dot(*q) - 1.0)).exp()).sum::<f64>();
                let sums: Vec<f64> = samples.iter().map(at).collect();
                let best = (0..sums.len()).rev().max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
                samples[best.unwrap_or(0)]
            }
        }
    }
}

impl std::fmt::Display for SamplePooling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Single => write!(f, "the first sample"),
            Self::Mean => write!(f, "the mean"),
            Self::Medoid => write!(f, "the medoid"),
            Self::Densest { width_km } => write!(f, "the densest within {width_km} km"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn an_outlier_moves_the_mean_alone() {
        let at = |lat: f64, lon: f64| LatLon::new(lat, lon).unwrap().to_unit();
        let samples = [at(-40.0, 170.0), at(10.0, 20.0), at(10.2, 20.0), at(10.1, 20.1)];
        assert_eq!(SamplePooling::Single.apply(&samples), samples[0]);
        assert!(SamplePooling::Mean.apply(&samples).angle_rad(samples[3]) > 0.05);
        for pooling in [SamplePooling::Medoid, SamplePooling::Densest { width_km: 100.0 }] {
            assert!(pooling.apply(&samples).angle_rad(samples[3]) < 0.01, "{pooling}");
        }
    }
}

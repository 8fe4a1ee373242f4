//! The probability density `q_e = exp(e·Y) / Z` that a coefficient vector means.

mod credible;
mod mass;
mod sample;

pub use credible::{CredibleRegion, RegionCell};
pub use mass::RasterMass;

use crate::cubature::{Cubature, Leaf, evaluate};
use crate::{Codec, Coefficients, Mode, ShddError, sphere::Field, sphere::UnitVec};
use std::sync::OnceLock;

/// No cell of the fine partition holds more than this share of the mass.
const FINE_SHARE: f64 = 1.0 / 160.0;

/// The density of a coefficient vector, ready to be asked.
///
/// ```
/// use locdiff_shdd::Codec;
/// use locdiff_shdd::sphere::{Degree, LatLon};
/// let codec = Codec::new(Degree::new(23)?);
/// let place = LatLon::new(52.52, 13.40)?;
/// let code = codec.encode(place);
/// let density = codec.density(&code)?;
/// // A clean code is nearly Gaussian with a standard deviation of 78.5 km at L = 23.
/// let region = density.credible_region(0.5)?;
/// assert!((region.radius_km - 78.5 * 1.1774).abs() < 2.0);
/// assert!((density.cap_mass(place.to_unit(), region.radius_km / 6371.0)? - 0.5).abs() < 0.005);
/// # Ok::<(), locdiff_shdd::ShddError>(())
/// ```
#[derive(Debug)]
pub struct CodeDensity<'a> {
    codec: &'a Codec,
    field: Field,
    leaves: Vec<Leaf>,
    modes: Vec<Mode>,
    log_z: f64,
    fine: OnceLock<Vec<Leaf>>,
}

/// A mode with the share of the probability that is nearer to it than to any other mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedMode {
    /// The local maximum.
    pub mode: Mode,
    /// log q there, per steradian.
    pub log_density: f64,
    /// Probability of the points that are nearer to this mode than to any other one listed.
    pub mass: f64,
}

impl Codec {
    /// Computes the density of a coefficient vector. Fails if the vector has another degree.
    pub fn density(&self, e: &Coefficients) -> Result<CodeDensity<'_>, ShddError> {
        let field = Codec::field(self, e)?;
        let Cubature { leaves, modes, top } = Cubature::new(self, e, &field, &mut self.search.scratch())?;
        let log_z = top + leaves.iter().map(|leaf| leaf.mass(top)).sum::<f64>().ln();
        Ok(CodeDensity { codec: self, field, leaves, modes, log_z, fine: OnceLock::new() })
    }
}

impl CodeDensity<'_> {
    /// Returns log Z, the log of `∫ exp(e·Y)` over the sphere.
    pub fn log_z(&self) -> f64 {
        self.log_z
    }

    /// Returns log q at points, per steradian.
    pub fn log_density(&self, points: &[UnitVec]) -> Vec<f64> {
        self.field.values(points).into_iter().map(|v| v - self.log_z).collect()
    }

    /// Returns the differential entropy in nats, per steradian: log 4π ≈ 2.531 for the uniform density.
    pub fn entropy(&self) -> f64 {
        -self.nodes().map(|(_, log_q, mass)| mass * log_q).sum::<f64>()
    }

    /// Returns `E_q[Y]`, the mean parameters. The posterior-mean denoiser returns them for natural parameters e.
    pub fn mean_parameters(&self) -> Coefficients {
        let (points, masses): (Vec<UnitVec>, Vec<f64>) =
            self.nodes().filter(|(_, _, mass)| *mass > 1e-18).map(|(point, _, mass)| (point, mass)).unzip();
        let mean = self.codec.harmonics().weighted_sum(&points, &masses).expect("one weight a point");
        Coefficients::new(mean).expect("a mean of finite codes is finite")
    }

    /// Returns at most `most` local maxima, the most probable first, each with the probability around it. All masses sum to 1.
    pub fn modes(&self, most: usize) -> Vec<WeightedMode> {
        let weighted = |mode: &Mode| WeightedMode { mode: *mode, log_density: mode.value - self.log_z, mass: 0.0 };
        let mut modes: Vec<WeightedMode> = self.modes.iter().take(64).map(weighted).collect();
        if modes.is_empty() {
            return modes;
        }
        // Peaks that cannot matter would only take mass away from the ones that do.
        let best = modes.iter().map(|m| m.mode.whole_mass()).fold(f64::NEG_INFINITY, f64::max);
        modes.retain(|m| m.mode.whole_mass() >= best - 12.0);
        for (point, _, mass) in self.fine_nodes() {
            let near = |mode: &WeightedMode| mode.mode.point.dot(point);
            let nearest = modes.iter_mut().max_by(|a, b| near(a).total_cmp(&near(b))).expect("there is a mode");
            nearest.mass += mass;
        }
        modes.sort_by(|a, b| b.mass.total_cmp(&a.mass));
        modes.truncate(most);
        modes
    }

    /// Returns the highest mode; `None` for a constant density.
    pub fn top_mode(&self) -> Option<&Mode> {
        self.modes.first()
    }

    /// Iterates over quadrature nodes with log q and probability.
    pub fn nodes(&self) -> impl Iterator<Item = (UnitVec, f64, f64)> {
        nodes_of(&self.leaves, self.log_z)
    }

    /// The nodes of a partition in which no cell holds much of the mass.
    pub(crate) fn fine_nodes(&self) -> impl Iterator<Item = (UnitVec, f64, f64)> {
        nodes_of(self.fine(), self.log_z)
    }

    /// The leaves, split until none holds more than [`FINE_SHARE`] of the mass.
    pub(crate) fn fine(&self) -> &[Leaf] {
        self.fine.get_or_init(|| {
            let heavy = |leaf: &Leaf| leaf.mass(self.log_z) > FINE_SHARE;
            let (mut split, mut done): (Vec<Leaf>, Vec<Leaf>) = self.leaves.iter().cloned().partition(heavy);
            while !split.is_empty() {
                let cells: Vec<_> = split.iter().flat_map(|leaf| leaf.cell.children()).collect();
                let (again, fine): (Vec<Leaf>, Vec<Leaf>) = evaluate(&self.field, &cells).into_iter().partition(heavy);
                done.extend(fine);
                split = again;
            }
            done
        })
    }
}

fn nodes_of(leaves: &[Leaf], log_z: f64) -> impl Iterator<Item = (UnitVec, f64, f64)> {
    leaves.iter().flat_map(move |leaf| {
        leaf.points.iter().zip(leaf.weights.iter().zip(&leaf.values)).map(move |(point, (weight, value))| {
            let log_q = value - log_z;
            (*point, log_q, weight * log_q.exp())
        })
    })
}

//! The way from noise to a place, in training and in sampling.

use anyhow::Result;
use locdiff_model::diffusion::{PredictionKind, Sampler, SamplerPlan, Schedule};
use locdiff_shdd::sphere::UnitVec;

/// Coordinates are multiplied by this: unit variance.
pub(crate) const SCALE: f64 = 1.732_050_807_568_877_2;
/// Steps of a flow's differential equation for its likelihood.
const NODES: usize = 100;
/// Time steps of the diffusion; a flow's time from 0 to 1 is told to the network times this.
pub(crate) const TIMES: usize = 200;

/// How noise and place are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CoordinatePath {
    /// Variance-preserving diffusion of x, y, z; the network predicts v; DPM-Solver++ samples.
    DiffusionR3,
    /// Straight lines from normal noise to the place; the network predicts the velocity; Euler steps.
    FlowR3,
    /// Great circles from a uniform point to the place; the velocity lies in the tangent plane, and so do Euler steps.
    FlowS2,
}

/// A training example: what the network sees and what it should say.
pub(crate) struct Pair {
    pub(crate) x: [f64; 3],
    pub(crate) time: f64,
    pub(crate) target: [f64; 3],
}

impl CoordinatePath {
    /// The pair for a place, normal noise and a uniform number in [0, 1).
    pub(crate) fn pair(self, schedule: &Schedule, place: UnitVec, noise: [f64; 3], uniform: f64) -> Pair {
        let clean = place.to_array().map(|x| SCALE * x);
        match self {
            Self::DiffusionR3 => {
                let t = (uniform * schedule.steps() as f64) as usize;
                let (signal, level) = (schedule.signal(t), schedule.noise(t));
                let x = std::array::from_fn(|i| signal * clean[i] + level * noise[i]);
                let (of_clean, of_noise) = PredictionKind::V.target(schedule.alpha_bar(t));
                let target = std::array::from_fn(|i| of_clean * clean[i] + of_noise * noise[i]);
                Pair { x, time: t as f64, target }
            }
            Self::FlowR3 => Pair {
                x: std::array::from_fn(|i| uniform * clean[i] + (1.0 - uniform) * noise[i]),
                time: uniform * TIMES as f64,
                target: std::array::from_fn(|i| clean[i] - noise[i]),
            },
            Self::FlowS2 => {
                let start = start_on_sphere(noise);
                let angle = start.angle_rad(place);
                // The great circle is a·cos + b·sin with b the direction at its start.
                let (a, p) = (start.to_array(), place.to_array());
                let along = start.dot(place);
                let b = unit(std::array::from_fn(|i| p[i] - along * a[i]));
                let (sin, cos) = (angle * uniform).sin_cos();
                Pair {
                    x: std::array::from_fn(|i| SCALE * (cos * a[i] + sin * b[i])),
                    time: uniform * TIMES as f64,
                    target: std::array::from_fn(|i| SCALE * angle * (cos * b[i] - sin * a[i])),
                }
            }
        }
    }

    pub(crate) fn start(self, noise: [f64; 3]) -> [f64; 3] {
        match self {
            Self::DiffusionR3 | Self::FlowR3 => noise,
            Self::FlowS2 => start_on_sphere(noise).to_array().map(|x| SCALE * x),
        }
    }

    /// Whether a flow stays on the sphere.
    pub(crate) fn is_on_sphere(self) -> bool {
        self == Self::FlowS2
    }

    /// The nodes of the differential equation from noise to place, and what the network is told of the time there. A diffusion that
    /// preserves variance moves with velocity v in the angle whose tangent is noise over signal, which falls: nodes are minus it.
    pub(crate) fn nodes(self, schedule: &Schedule) -> (Vec<f64>, Vec<f32>) {
        if self != Self::DiffusionR3 {
            let at = |k: usize| k as f64 / NODES as f64;
            return (0..=NODES).map(|k| (at(k), (TIMES as f64 * at(k)) as f32)).unzip();
        }
        let angle = |t: usize| -schedule.noise(t).atan2(schedule.signal(t));
        (0..schedule.steps()).rev().map(|t| (angle(t), t as f32)).unzip()
    }

    /// The velocity at a point by the nodes' time, of the network's answer.
    pub(crate) fn velocity(self, x: [f64; 3], answer: [f64; 3]) -> [f64; 3] {
        match self {
            Self::DiffusionR3 => answer.map(|v| -v),
            Self::FlowR3 => answer,
            Self::FlowS2 => {
                let outward = (answer[0] * x[0] + answer[1] * x[1] + answer[2] * x[2]) / SCALE;
                std::array::from_fn(|i| answer[i] / SCALE - outward * x[i])
            }
        }
    }

    pub(crate) fn plan(self, schedule: &Schedule, steps: usize) -> Result<Plan> {
        Ok(match self {
            Self::DiffusionR3 => Plan::Diffusion(SamplerPlan::new(
                schedule,
                Sampler::DpmSolverPlusPlus2M,
                steps.min(schedule.steps()),
                PredictionKind::V,
            )?),
            Self::FlowR3 => Plan::Flow { steps, on_sphere: false },
            Self::FlowS2 => Plan::Flow { steps, on_sphere: true },
        })
    }
}

pub(crate) enum Plan {
    Diffusion(SamplerPlan),
    Flow { steps: usize, on_sphere: bool },
}

/// A sample on its way: where it is, and the last clean estimate.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Particle {
    pub(crate) x: [f64; 3],
    clean: [f64; 3],
}

impl Particle {
    pub(crate) fn at(x: [f64; 3]) -> Self {
        Self { x, clean: [0.0; 3] }
    }

    pub(crate) fn place(&self) -> UnitVec {
        UnitVec::new(self.x[0], self.x[1], self.x[2]).unwrap_or(UnitVec::NORTH)
    }
}

impl Plan {
    pub(crate) fn times(&self) -> Vec<f32> {
        match self {
            Self::Diffusion(plan) => plan.timesteps(),
            Self::Flow { steps, .. } => (0..*steps).map(|k| (k * TIMES) as f32 / *steps as f32).collect(),
        }
    }

    pub(crate) fn advance(&self, particle: &mut Particle, step: usize, answer: [f64; 3]) {
        match self {
            Self::Diffusion(plan) => {
                let step = &plan.steps()[step];
                let Particle { x, clean } = *particle;
                let [from_x, from_clean, from_previous, _] = step.next; // this sampler draws no fresh noise
                let now: [f64; 3] = std::array::from_fn(|i| step.x0.0 * x[i] + step.x0.1 * answer[i]);
                particle.x = std::array::from_fn(|i| from_x * x[i] + from_clean * now[i] + from_previous * clean[i]);
                particle.clean = now;
            }
            Self::Flow { steps, on_sphere: false } => {
                let share = 1.0 / *steps as f64;
                particle.x = std::array::from_fn(|i| particle.x[i] + share * answer[i]);
            }
            Self::Flow { steps, on_sphere: true } => {
                let x = particle.x.map(|x| x / SCALE);
                let tangent = CoordinatePath::FlowS2.velocity(x, answer);
                let speed = norm(tangent);
                let (sin, cos) = (speed / *steps as f64).sin_cos();
                let towards = unit(tangent);
                let moved = unit(std::array::from_fn(|i| cos * x[i] + sin * towards[i]));
                particle.x = moved.map(|x| SCALE * x);
            }
        }
    }
}

fn norm(v: [f64; 3]) -> f64 {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()
}

/// The direction of a vector; zero stays zero.
fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = norm(v);
    if length > 0.0 { v.map(|x| x / length) } else { v }
}

fn start_on_sphere(noise: [f64; 3]) -> UnitVec {
    UnitVec::new(noise[0], noise[1], noise[2]).unwrap_or(UnitVec::NORTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_model::chance;

    fn noise(k: u64) -> [f64; 3] {
        let (a, b) = chance::normals([1, 2, k]);
        [a, b, chance::normals([1, 3, k]).0]
    }

    /// A network that answers with the truth for one place leads every particle there.
    #[test]
    fn the_true_velocity_leads_to_the_place() {
        let schedule = Schedule::cosine(TIMES).unwrap();
        let place = chance::point([5, 6, 7]);
        let clean = place.to_array().map(|x| SCALE * x);
        for path in [CoordinatePath::DiffusionR3, CoordinatePath::FlowR3, CoordinatePath::FlowS2] {
            let plan = path.plan(&schedule, 50).unwrap();
            for k in 0..20 {
                let mut particle = Particle::at(path.start(noise(k)));
                for (step, time) in plan.times().into_iter().enumerate() {
                    let left = 1.0 - f64::from(time) / TIMES as f64;
                    let x = particle.x;
                    let answer = match path {
                        CoordinatePath::DiffusionR3 => {
                            // From the clean place and x the noise, and from both v.
                            let t = time as usize;
                            let (signal, level) = (schedule.signal(t), schedule.noise(t));
                            std::array::from_fn(|i| signal * (x[i] - signal * clean[i]) / level - level * clean[i])
                        }
                        CoordinatePath::FlowR3 => std::array::from_fn(|i| (clean[i] - x[i]) / left),
                        CoordinatePath::FlowS2 => {
                            let here = particle.place();
                            let along = here.dot(place);
                            let (h, p) = (here.to_array(), place.to_array());
                            let towards = unit(std::array::from_fn(|i| p[i] - along * h[i]));
                            towards.map(|t| SCALE * t * here.angle_rad(place) / left)
                        }
                    };
                    plan.advance(&mut particle, step, answer);
                }
                assert!(particle.place().angle_rad(place) < 1e-6, "{path:?}");
            }
        }
    }

    /// The targets are the time derivatives of the paths.
    #[test]
    fn targets_are_derivatives() {
        let schedule = Schedule::cosine(TIMES).unwrap();
        for path in [CoordinatePath::FlowR3, CoordinatePath::FlowS2] {
            for k in 0..20 {
                let place = chance::point([8, 9, k]);
                let at = |t: f64| path.pair(&schedule, place, noise(k), t);
                let (before, after, here) = (at(0.4 - 1e-5), at(0.4 + 1e-5), at(0.4));
                for i in 0..3 {
                    let slope = (after.x[i] - before.x[i]) / 2e-5;
                    assert!((slope - here.target[i]).abs() < 1e-6, "{path:?}");
                }
                let end = at(1.0);
                let reached = UnitVec::new(end.x[0], end.x[1], end.x[2]).unwrap();
                assert!(reached.angle_rad(place) < 1e-9);
            }
        }
    }
}

//! Samplers as lists of coefficients.

use crate::{Result, diffusion::PredictionKind, diffusion::Schedule};
use locdiff_base::{Named, setting};
use locdiff_nn::ops::SamplerStep;

/// A sampling method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sampler {
    /// Ancestral sampling (Ho et al.): the posterior of each step, its variance β̃.
    Ddpm,
    /// DDIM (Song et al.): `eta = 0` is deterministic, `eta = 1` as noisy as DDPM.
    Ddim {
        /// The share of the ancestral noise, 0 to 1.
        eta: f64,
    },
    /// DPM-Solver++(2M) (Lu et al.): second order, deterministic, for few steps.
    DpmSolverPlusPlus2M,
}

impl Named for Sampler {
    const WHAT: &'static str = "sampler";
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Ddpm, "ddpm", "ancestral sampling, noise in every step"),
        (Self::Ddim { eta: 0.0 }, "ddim", "first order, no noise after the first"),
        (Self::DpmSolverPlusPlus2M, "dpmpp", "DPM-Solver++(2M): second order, for few steps"),
    ];
}

/// One step: where it is in time, and its coefficients in f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedStep {
    /// The time step the network is asked at.
    pub t: usize,
    /// Factors of x and of the network's output in the clean estimate.
    pub x0: (f64, f64),
    /// Factors of x, the clean estimate, the previous clean estimate and fresh noise in the next x.
    pub next: [f64; 4],
}

impl PlannedStep {
    /// The coefficients as the device takes them.
    pub fn coefficients(&self) -> SamplerStep {
        let [x, x0, previous, noise] = self.next.map(|value| value as f32);
        SamplerStep {
            x0_from_x: self.x0.0 as f32,
            x0_from_prediction: self.x0.1 as f32,
            x_from_x: x,
            x_from_x0: x0,
            x_from_previous_x0: previous,
            x_from_noise: noise,
        }
    }
}

/// A sampler over a subset of the schedule's steps. The last step's x is its clean estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerPlan {
    steps: Vec<PlannedStep>,
}

impl SamplerPlan {
    /// `count` steps of `sampler`, evenly spread over the schedule. Fails on a count outside 1 … T, or an eta outside [0, 1].
    pub fn new(schedule: &Schedule, sampler: Sampler, count: usize, prediction: PredictionKind) -> Result<Self> {
        Self::over(schedule, sampler, &schedule.subset(count)?, prediction)
    }

    /// The steps at these time steps, which must fall.
    /// Fails on time steps that do not fall or lie outside the schedule, or an eta outside [0, 1].
    pub fn over(schedule: &Schedule, sampler: Sampler, timesteps: &[usize], kind: PredictionKind) -> Result<Self> {
        let falling = timesteps.windows(2).all(|pair| pair[0] > pair[1]);
        if !falling || timesteps.first().is_none_or(|&t| t >= schedule.steps()) {
            return Err(setting("timesteps", format!("{timesteps:?}"), "falling, below the schedule's length"));
        }
        match sampler {
            Sampler::Ddim { eta } if !(0.0..=1.0).contains(&eta) => return Err(setting("eta", eta, "0 to 1")),
            _ => {}
        }
        let step = |k: usize| {
            let t = timesteps[k];
            let next = match timesteps.get(k + 1) {
                None => [0.0, 1.0, 0.0, 0.0],
                Some(&to) => match sampler {
                    Sampler::Ddpm => ddpm(schedule, t, to),
                    Sampler::Ddim { eta } => ddim(schedule, t, to, eta),
                    Sampler::DpmSolverPlusPlus2M => {
                        // The last move, by far the longest in λ, is first order: the usual remedy against overshoot.
                        let second_order = k + 2 < timesteps.len();
                        let before = k.checked_sub(1).filter(|_| second_order).map(|k| timesteps[k]);
                        dpm_solver(schedule, before, t, to)
                    }
                },
            };
            PlannedStep { t, x0: kind.to_x0(schedule.alpha_bar(t)), next }
        };
        Ok(Self { steps: (0..timesteps.len()).map(step).collect() })
    }

    /// The steps, noisiest first.
    pub fn steps(&self) -> &[PlannedStep] {
        &self.steps
    }

    /// The time steps the network is asked at, as it takes them: the rows of its table of time embeddings.
    pub fn timesteps(&self) -> Vec<f32> {
        self.steps.iter().map(|step| step.t as f32).collect()
    }
}

/// `q(x_to | x_t, x_0)`: mean `(1−ᾱ')√α/(1−ᾱ)·x + √ᾱ'(1−α)/(1−ᾱ)·x_0` with `α = ᾱ/ᾱ'`, variance
/// `(1−ᾱ')(1−α)/(1−ᾱ)`.
fn ddpm(schedule: &Schedule, t: usize, to: usize) -> [f64; 4] {
    let (now, then) = (schedule.alpha_bar(t), schedule.alpha_bar(to));
    let alpha = now / then;
    let rest = 1.0 - now;
    let variance = (1.0 - then) * (1.0 - alpha) / rest;
    [(1.0 - then) * alpha.sqrt() / rest, then.sqrt() * (1.0 - alpha) / rest, 0.0, variance.max(0.0).sqrt()]
}

/// `x' = √ᾱ'·x_0 + √(1−ᾱ'−σ²)·ẑ + σ·z` with `ẑ = (x − √ᾱ·x_0)/√(1−ᾱ)`.
fn ddim(schedule: &Schedule, t: usize, to: usize, eta: f64) -> [f64; 4] {
    let (now, then) = (schedule.alpha_bar(t), schedule.alpha_bar(to));
    let sigma = eta * ((1.0 - then) / (1.0 - now)).sqrt() * (1.0 - now / then).max(0.0).sqrt();
    let direction = (1.0 - then - sigma * sigma).max(0.0).sqrt();
    let per_x = direction / (1.0 - now).sqrt();
    [per_x, then.sqrt() - per_x * now.sqrt(), 0.0, sigma]
}

/// `x' = (σ'/σ)·x − α'(e^{−h} − 1)·D` with `h = λ' − λ` and `D = (1 + 1/2r)·x_0 − 1/2r·x_0'`, `r = h_before/h`; first
/// order without a step before.
fn dpm_solver(schedule: &Schedule, before: Option<usize>, t: usize, to: usize) -> [f64; 4] {
    let h = schedule.half_log_snr(to) - schedule.half_log_snr(t);
    let gain = -schedule.signal(to) * (-h).exp_m1();
    let share = before.map_or(0.0, |before| {
        let h_before = schedule.half_log_snr(t) - schedule.half_log_snr(before);
        if h_before > 0.0 { h / (2.0 * h_before) } else { 0.0 }
    });
    [schedule.noise(to) / schedule.noise(t), gain * (1.0 + share), -gain * share, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact denoiser of N(mean, var): `E[x_0 | x_t]`, linear in `x_t`.
    fn exact_x0(schedule: &Schedule, t: usize, mean: f64, var: f64) -> (f64, f64) {
        let (a, s2) = (schedule.signal(t), 1.0 - schedule.alpha_bar(t));
        let gain = a * var / (a * a * var + s2);
        (gain, mean - gain * a * mean)
    }

    /// Mean and variance a plan gives for the Gaussian target, propagated exactly: x, `x_0` and the noise are all linear
    /// in independent standard normals, so the state is a vector of their coefficients.
    fn propagate(schedule: &Schedule, plan: &SamplerPlan, mean: f64, var: f64) -> (f64, f64) {
        // Coefficients: [constant, initial noise, noise of step 0, noise of step 1, …].
        let n = plan.steps().len() + 2;
        let (mut x, mut x0) = (vec![0.0; n], vec![0.0; n]);
        x[1] = 1.0;
        for (k, step) in plan.steps().iter().enumerate() {
            let (gain, offset) = exact_x0(schedule, step.t, mean, var);
            let mut clean: Vec<f64> = x.iter().map(|c| gain * c).collect();
            clean[0] += offset;
            let [cx, c0, cp, cz] = step.next;
            let mut next: Vec<f64> = (0..n).map(|i| cx * x[i] + c0 * clean[i] + cp * x0[i]).collect();
            next[k + 2] += cz;
            (x, x0) = (next, clean);
        }
        (x[0], x[1..].iter().map(|c| c * c).sum())
    }

    /// The last step returns `E[x_0 | x_{t=0}]`, whose variance is that of `x_0` less what the last noise hides.
    fn expected_variance(schedule: &Schedule, var: f64) -> f64 {
        let (gain, _) = exact_x0(schedule, 0, 0.0, var);
        gain * gain * (schedule.alpha_bar(0) * var + 1.0 - schedule.alpha_bar(0))
    }

    /// DDPM's variance β̃ is exact for a point and too small for a spread target, by an amount that falls as 1/T.
    #[test]
    fn every_sampler_reproduces_a_gaussian() {
        let (mean, var) = (1.5, 0.25);
        let error = |sampler: Sampler, steps: usize| {
            let schedule = Schedule::cosine(steps).unwrap();
            let plan = SamplerPlan::new(&schedule, sampler, steps, PredictionKind::X0).unwrap();
            let (got_mean, got_var) = propagate(&schedule, &plan, mean, var);
            assert!((got_mean - mean).abs() < 0.01, "{sampler:?}: mean {got_mean}");
            (got_var / expected_variance(&schedule, var) - 1.0).abs()
        };
        for (sampler, tolerance) in [
            (Sampler::Ddpm, 0.05),
            (Sampler::Ddim { eta: 0.0 }, 0.05),
            (Sampler::Ddim { eta: 0.5 }, 0.05),
            (Sampler::Ddim { eta: 1.0 }, 0.05),
            (Sampler::DpmSolverPlusPlus2M, 0.005),
        ] {
            let (coarse, fine) = (error(sampler, 200), error(sampler, 800));
            assert!(coarse < tolerance, "{sampler:?}: variance off by {coarse}");
            assert!(fine < 0.5 * coarse || fine < 1e-3, "{sampler:?}: from {coarse} to {fine}");
        }
    }

    #[test]
    fn ddim_with_eta_1_is_ddpm() {
        let schedule = Schedule::cosine(200).unwrap();
        for count in [200, 37] {
            let ancestral = SamplerPlan::new(&schedule, Sampler::Ddpm, count, PredictionKind::X0).unwrap();
            let implicit = SamplerPlan::new(&schedule, Sampler::Ddim { eta: 1.0 }, count, PredictionKind::X0).unwrap();
            let steps = ancestral.steps().iter().zip(implicit.steps());
            for (a, b) in steps.flat_map(|(a, b)| a.next.into_iter().zip(b.next)) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
    }

    /// On a Gaussian's probability-flow ODE, halving the step divides DDIM's error by two, DPM-Solver++(2M)'s by four.
    #[test]
    fn dpm_solver_is_second_order_and_ddim_first() {
        // A schedule whose time steps lie evenly in λ, so that subsets are uniform in h.
        let n = 513;
        let lambda = |k: usize| 2.5 - 5.0 * k as f64 / (n - 1) as f64;
        let alpha_bar = (0..n).map(|k| 1.0 / (1.0 + (-2.0 * lambda(k)).exp())).collect();
        let schedule = Schedule::from_alpha_bar(alpha_bar).unwrap();
        let var = 0.25;
        // For N(0, var) the flow keeps x/√(ᾱ·var + 1 − ᾱ).
        let deviation = |t: usize| (schedule.alpha_bar(t) * var + 1.0 - schedule.alpha_bar(t)).sqrt();
        let error = |sampler: Sampler, count: usize| {
            let stride = (n - 1) / count;
            let times: Vec<usize> = (0..=count).map(|k| n - 1 - k * stride).collect();
            let plan = SamplerPlan::over(&schedule, sampler, &times, PredictionKind::X0).unwrap();
            let (mut x, mut x0) = (1.0, 0.0);
            for step in &plan.steps()[..count] {
                let (gain, offset) = exact_x0(&schedule, step.t, 0.0, var);
                let clean = gain * x + offset;
                let [cx, c0, cp, _] = step.next;
                (x, x0) = (cx * x + c0 * clean + cp * x0, clean);
            }
            (x - deviation(0) / deviation(n - 1)).abs()
        };
        for (sampler, order) in [(Sampler::Ddim { eta: 0.0 }, 1.0), (Sampler::DpmSolverPlusPlus2M, 2.0)] {
            let rate = (error(sampler, 32) / error(sampler, 64)).log2();
            assert!((rate - order).abs() < 0.25, "{sampler:?}: order {rate}");
        }
        assert!(error(Sampler::DpmSolverPlusPlus2M, 16) < error(Sampler::Ddim { eta: 0.0 }, 64));
    }

    #[test]
    fn predictions_change_only_the_clean_estimate() {
        let schedule = Schedule::cosine(50).unwrap();
        let base = SamplerPlan::new(&schedule, Sampler::Ddpm, 10, PredictionKind::X0).unwrap();
        for prediction in [PredictionKind::Noise, PredictionKind::V] {
            let other = SamplerPlan::new(&schedule, Sampler::Ddpm, 10, prediction).unwrap();
            for (a, b) in base.steps().iter().zip(other.steps()) {
                assert_eq!((a.t, a.next), (b.t, b.next));
                assert_eq!(b.x0, prediction.to_x0(schedule.alpha_bar(b.t)));
            }
        }
        assert!(SamplerPlan::over(&schedule, Sampler::Ddpm, &[3, 3], PredictionKind::X0).is_err());
        assert!(SamplerPlan::over(&schedule, Sampler::Ddpm, &[50], PredictionKind::X0).is_err());
        assert!(SamplerPlan::new(&schedule, Sampler::Ddim { eta: 1.5 }, 10, PredictionKind::X0).is_err());
    }
}

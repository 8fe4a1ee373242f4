//! Adam's settings, and what one step makes of them.

/// The learning rate as a function of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LrSchedule {
    /// Always the base rate.
    Constant,
    /// A linear rise over `warmup_steps` (0 for none), times half a cosine that falls to `final_fraction` of the base rate
    /// at `total_steps` and stays there.
    #[allow(missing_docs, reason = "the variant explains its fields")]
    WarmupCosine { warmup_steps: u32, total_steps: u32, final_fraction: f64 },
}

impl LrSchedule {
    /// The factor on the base rate at `step`, counted from 1.
    pub fn factor(&self, step: u32) -> f64 {
        match *self {
            Self::Constant => 1.0,
            Self::WarmupCosine { warmup_steps, total_steps, final_fraction } => {
                let rise = if warmup_steps == 0 { 1.0 } else { (f64::from(step) / f64::from(warmup_steps)).min(1.0) };
                let progress = (f64::from(step - 1) / f64::from(total_steps.max(1))).min(1.0);
                let low = final_fraction;
                rise * (low + (1.0 - low) * (0.5 + 0.5 * (std::f64::consts::PI * progress).cos()))
            }
        }
    }
}

/// Adam's settings. The defaults are the paper's: lr 1e-4, betas (0.9, 0.99), L2 decay 5e-4, clip at 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamConfig {
    /// Base learning rate.
    pub lr: f64,
    /// Its schedule.
    pub schedule: LrSchedule,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// Weight decay.
    pub weight_decay: f64,
    /// `false`: decay is added to the gradient (Adam with L2); `true`: it shrinks the weight directly (`AdamW`).
    pub decoupled_decay: bool,
    /// Largest global norm of the gradient; 0 for no clipping.
    pub clip_norm: f64,
    /// Decay of the moving average of the weights; `None` for no average.
    pub ema_decay: Option<f64>,
    /// The average's decay is at most `step / (step + ema_warmup)`, so that it forgets the start quickly.
    pub ema_warmup: f64,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self {
            lr: 1e-4,
            schedule: LrSchedule::Constant,
            beta1: 0.9,
            beta2: 0.99,
            eps: 1e-8,
            weight_decay: 5e-4,
            decoupled_decay: false,
            clip_norm: 1.0,
            ema_decay: Some(0.999),
            ema_warmup: 10.0,
        }
    }
}

/// What is the same for all weights in one step; lives in device memory as eight f32.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Control {
    pub(crate) lr: f32,
    /// lr / (1 − β1^t).
    pub(crate) step_size: f32,
    /// 1 / √(1 − β2^t).
    pub(crate) inv_sqrt_correction2: f32,
    pub(crate) clip_scale: f32,
    /// 1 − decay of the moving average.
    pub(crate) ema_rate: f32,
    pub(crate) grad_norm: f32,
}

/// The constants of the update, rounded to f32 once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) beta2: f32,
    pub(crate) one_minus_beta1: f32,
    pub(crate) one_minus_beta2: f32,
    pub(crate) eps: f32,
    /// Decay added to the gradient.
    pub(crate) l2: f32,
    /// Decay applied to the weight itself.
    pub(crate) decoupled: f32,
}

impl From<&AdamConfig> for Rates {
    fn from(config: &AdamConfig) -> Self {
        let (l2, decoupled) =
            if config.decoupled_decay { (0.0, config.weight_decay) } else { (config.weight_decay, 0.0) };
        Self {
            beta2: config.beta2 as f32,
            one_minus_beta1: (1.0 - config.beta1) as f32,
            one_minus_beta2: (1.0 - config.beta2) as f32,
            eps: config.eps as f32,
            l2: l2 as f32,
            decoupled: decoupled as f32,
        }
    }
}

/// f32 values a [`Control`] takes in device memory.
pub(crate) const CONTROL_LEN: usize = 8;

impl Control {
    pub(crate) fn at_step(config: &AdamConfig, step: u32, norm_squared: f64) -> Self {
        let (t, lr) = (f64::from(step), config.lr * config.schedule.factor(step));
        let (norm, clip) = (norm_squared.sqrt(), config.clip_norm);
        // PyTorch's clip_grad_norm_: max / (norm + 1e-6), never above 1.
        let clip_scale = if clip > 0.0 { (clip / (norm + 1e-6)).min(1.0) } else { 1.0 };
        let ema_decay = config.ema_decay.unwrap_or(0.0).min(t / (t + config.ema_warmup));
        Self {
            lr: lr as f32,
            step_size: (lr / (1.0 - config.beta1.powf(t))) as f32,
            inv_sqrt_correction2: (1.0 / (1.0 - config.beta2.powf(t)).sqrt()) as f32,
            clip_scale: clip_scale as f32,
            ema_rate: (1.0 - ema_decay) as f32,
            grad_norm: norm as f32,
        }
    }

    pub(crate) fn write(&self, slots: &mut [f32]) {
        let values =
            [self.lr, self.step_size, self.inv_sqrt_correction2, self.clip_scale, self.ema_rate, self.grad_norm];
        slots[..values.len()].copy_from_slice(&values);
    }

    pub(crate) fn read(slots: &[f32]) -> Self {
        let [lr, step_size, inv_sqrt_correction2, clip_scale, ema_rate, grad_norm] = std::array::from_fn(|i| slots[i]);
        Self { lr, step_size, inv_sqrt_correction2, clip_scale, ema_rate, grad_norm }
    }
}

/// Partial sums of the gradient's norm on CUDA.
pub(crate) const NORM_PARTIALS: usize = 1024;

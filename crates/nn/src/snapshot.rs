//! What a checkpoint needs, taken while training goes on.

use crate::{Adam, Params, Result, TrainingState, View, cuda, device::Backend};

/// A copy of weights, moments and average at one step.
///
/// On CUDA it is made in device memory, in the order of the operations and without waiting for them, and comes to the host
/// beside what follows: [`Snapshot::take`] costs the device a fraction of a millisecond, and [`Snapshot::read`] may be called by
/// another thread. On the CPU it is a plain copy.
pub struct Snapshot {
    /// Where the device has memory for it.
    outbox: Option<cuda::Outbox>,
    /// What was taken at once, and the step.
    state: TrainingState,
}

/// What is copied: everything but the step counter.
fn parts<'a>(adam: &'a Adam, params: &'a Params) -> Vec<View<'a>> {
    let mut parts = vec![params.flat(), adam.m.view(), adam.v.view()];
    parts.extend(adam.ema().map(Params::flat));
    parts
}

impl Snapshot {
    /// Room for the state of these weights. A device without memory for it is copied from directly, and waits meanwhile.
    pub fn new(adam: &Adam, params: &Params) -> Self {
        let outbox = match &params.device().backend {
            Backend::Cpu => None,
            Backend::Cuda(context) => {
                let sizes: Vec<usize> = parts(adam, params).iter().map(View::cols).collect();
                cuda::Outbox::new(context, &sizes).ok()
            }
        };
        Self { outbox, state: TrainingState::default() }
    }

    /// Takes the state after all operations so far, which are those of `step` steps.
    pub fn take(&mut self, adam: &Adam, params: &Params, step: u32) -> Result<()> {
        match &mut self.outbox {
            Some(outbox) => outbox.copy(&parts(adam, params))?,
            None => self.state = adam.export_state(params)?,
        }
        self.state.step = step;
        Ok(())
    }

    /// What was taken last, once; waits for it.
    pub fn read(&mut self) -> Result<TrainingState> {
        if let Some(outbox) = &mut self.outbox {
            let mut parts = outbox.read()?.into_iter();
            let TrainingState { weights, m, v, ema, .. } = &mut self.state;
            for part in [weights, m, v, ema] {
                *part = parts.next().unwrap_or_default();
            }
        }
        Ok(std::mem::take(&mut self.state))
    }
}

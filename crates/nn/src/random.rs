//! The generator's state on the device.

use crate::{
    Device, Indices, Result,
    cuda::{Arg, Grid},
    tensor::IndexStorage,
};

/// A counter-based generator (Philox4x32-10): the number drawn at a place depends on (seed, counter, stream, index) and
/// nothing else, with the same integers on the CPU and on CUDA.
///
/// The counter is the training step or the sampler's run; [`Rng::advance`] adds one, on the device, so that a captured
/// graph draws new numbers each time. Inside one step every place that draws has a stream number of its own. State and
/// stream numbers are all there is: a run resumed with [`Rng::set`] continues bit for bit.
///
/// ```
/// use locdiff_nn::{Device, Rng, Tensor, ops};
/// let device = Device::cpu();
/// let mut rng = Rng::new(&device, 42)?;
/// let (mut a, mut b) = (Tensor::zeros(&device, 2, 3)?, Tensor::zeros(&device, 2, 3)?);
/// ops::fill_normal(a.view_mut(), &rng, 0)?;
/// rng.advance()?;
/// ops::fill_normal(b.view_mut(), &rng, 0)?;
/// assert_ne!(a.to_vec()?, b.to_vec()?);
/// rng.set(42, 0)?;
/// ops::fill_normal(b.view_mut(), &rng, 0)?;
/// assert_eq!(a.to_vec()?, b.to_vec()?);
/// # Ok::<(), locdiff_nn::NnError>(())
/// ```
pub struct Rng {
    /// `[seed lo, seed hi, counter lo, counter hi]`.
    state: Indices,
}

fn words(seed: u64, counter: u64) -> [u32; 4] {
    [seed as u32, (seed >> 32) as u32, counter as u32, (counter >> 32) as u32]
}

impl Rng {
    /// A generator at counter 0.
    ///
    /// # Errors
    /// [`crate::NnError::Cuda`] if the device's memory does not suffice.
    pub fn new(device: &Device, seed: u64) -> Result<Self> {
        Ok(Self { state: Indices::from_slice(device, &words(seed, 0))? })
    }

    /// Sets seed and counter.
    ///
    /// # Errors
    /// [`crate::NnError::Cuda`] if the device does not answer.
    pub fn set(&mut self, seed: u64, counter: u64) -> Result<()> {
        self.state.upload(&words(seed, counter))
    }

    /// Seed and counter; waits for the device.
    ///
    /// # Errors
    /// [`crate::NnError::Cuda`] if an earlier operation failed.
    pub fn get(&self) -> Result<(u64, u64)> {
        let words: Vec<u64> = self.state.to_vec()?.into_iter().map(u64::from).collect();
        Ok((words[0] | words[1] << 32, words[2] | words[3] << 32))
    }

    /// Adds one to the counter, on the device.
    ///
    /// # Errors
    /// [`crate::NnError::Cuda`] if the launch fails.
    pub fn advance(&mut self) -> Result<()> {
        if let Some(context) = self.state.cuda() {
            let grid = Grid::Blocks { blocks: 1, threads: 1 };
            return context.launch("advance_counter", grid, &[Arg::Indices(&self.state)]);
        }
        if let IndexStorage::Cpu(state) = &mut self.state.storage {
            let counter = (u64::from(state[2]) | u64::from(state[3]) << 32).wrapping_add(1);
            state[2] = counter as u32;
            state[3] = (counter >> 32) as u32;
        }
        Ok(())
    }

    pub(crate) fn state(&self) -> &Indices {
        &self.state
    }
}

//! What several processes that train one model do together.

use crate::TrainError;
use locdiff_nn::{Gradients, NnError};

/// One rank's end of a group of processes that train one model: they sum their gradients once a step.
///
/// ```
/// use locdiff_train::{Alone, Collective};
/// assert_eq!((Alone.rank(), Alone.world()), (0, 1));
/// assert_eq!(Alone.gather(b"mine")?, [b"mine"]);
/// # Ok::<(), locdiff_train::TrainError>(())
/// ```
pub trait Collective {
    /// This process, from 0. Rank 0 writes files and speaks.
    fn rank(&self) -> usize;

    /// Processes in all.
    fn world(&self) -> usize;

    /// By what they add up.
    fn name(&self) -> String;

    /// Whether sums are made on the device, as a part of the recorded step.
    fn sums_on_device(&self) -> bool;

    /// Sums gradients over all ranks, on the device; nothing where [`Collective::sums_on_device`] is false.
    ///
    /// # Errors
    /// What the library below says.
    fn sum_on_device(&self, grads: &mut Gradients) -> Result<(), NnError>;

    /// Sums gradients over all ranks, on the host; nothing where [`Collective::sums_on_device`] is true.
    ///
    /// # Errors
    /// A rank that is gone, named.
    fn sum_on_host(&mut self, grads: &mut Gradients) -> Result<(), TrainError>;

    /// What every rank has to say, by rank; at most 256 KiB each.
    ///
    /// # Errors
    /// A rank that is gone, named.
    fn gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, TrainError>;

    /// What rank 0 has to say, on all ranks.
    ///
    /// # Errors
    /// A rank that is gone, named.
    fn tell(&mut self, words: Vec<u8>) -> Result<Vec<u8>, TrainError>;

    /// Whether all ranks are alive, as far as is known; costs nothing.
    ///
    /// # Errors
    /// The first rank that failed, named.
    fn check(&self) -> Result<(), TrainError>;

    /// Tells the others that this rank fails, so that their errors name it.
    fn give_up(&self, reason: &str);
}

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alone;

impl Collective for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn world(&self) -> usize {
        1
    }

    fn name(&self) -> String {
        "alone".to_owned()
    }

    fn sums_on_device(&self) -> bool {
        true
    }

    fn sum_on_device(&self, _: &mut Gradients) -> Result<(), NnError> {
        Ok(())
    }

    fn sum_on_host(&mut self, _: &mut Gradients) -> Result<(), TrainError> {
        Ok(())
    }

    fn gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, TrainError> {
        Ok(vec![own.to_vec()])
    }

    fn tell(&mut self, words: Vec<u8>) -> Result<Vec<u8>, TrainError> {
        Ok(words)
    }

    fn check(&self) -> Result<(), TrainError> {
        Ok(())
    }

    fn give_up(&self, _: &str) {}
}

//! GPUs that add up through NCCL; words go over the ring, which also hands NCCL's id around.

use super::collective::{Alone, Collective};
use super::ring::Ring;
use crate::TrainError;
use locdiff_nn::{Device, Gradients, Nccl, NnError};

/// A group whose gradients never leave the GPUs.
pub struct NcclGroup {
    nccl: Nccl,
    words: Box<dyn Collective>,
}

impl NcclGroup {
    /// Makes the ranks of a ring a group of GPUs.
    ///
    /// # Errors
    /// NCCL missing on a rank, or what it says.
    pub fn over(mut ring: Ring, device: &Device) -> Result<Self, TrainError> {
        let nccl = Self::join(&mut ring, device)?;
        let aborting = nccl.clone();
        ring.on_failure(move || aborting.abort());
        Ok(Self { nccl, words: Box::new(ring) })
    }

    /// A group of one: every sum goes through NCCL, as in a larger one.
    ///
    /// # Errors
    /// As [`NcclGroup::over`].
    pub fn of_one(device: &Device) -> Result<Self, TrainError> {
        Ok(Self { nccl: Self::join(&mut Alone, device)?, words: Box::new(Alone) })
    }

    fn join(words: &mut dyn Collective, device: &Device) -> Result<Nccl, TrainError> {
        // A rank without the library must not leave the others waiting inside NCCL: all say first whether they have it.
        let own = Nccl::new_id();
        let said = own.as_ref().err().map_or(String::new(), ToString::to_string);
        let all = words.gather(said.as_bytes())?;
        if let Some((rank, reason)) = all.iter().enumerate().find(|(_, reason)| !reason.is_empty()) {
            let reason = String::from_utf8_lossy(reason).into_owned();
            return Err(TrainError::Rank { rank, reason });
        }
        let id = words.tell(own?.to_vec())?;
        let id = id.try_into().map_err(|_| TrainError::World { reason: "NCCL's id was cut".to_owned() })?;
        Ok(Nccl::join(device, id, words.rank(), words.world())?)
    }
}

impl Collective for NcclGroup {
    fn rank(&self) -> usize {
        self.words.rank()
    }

    fn world(&self) -> usize {
        self.words.world()
    }

    fn name(&self) -> String {
        format!("NCCL {}", self.nccl.version())
    }

    fn sums_on_device(&self) -> bool {
        true
    }

    fn sum_on_device(&self, grads: &mut Gradients) -> Result<(), NnError> {
        self.nccl.sum(grads)
    }

    fn sum_on_host(&mut self, _: &mut Gradients) -> Result<(), TrainError> {
        Ok(())
    }

    fn gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, TrainError> {
        self.words.gather(own)
    }

    fn tell(&mut self, words: Vec<u8>) -> Result<Vec<u8>, TrainError> {
        self.words.tell(words)
    }

    fn check(&self) -> Result<(), TrainError> {
        self.words.check()
    }

    fn give_up(&self, reason: &str) {
        self.words.give_up(reason);
    }
}

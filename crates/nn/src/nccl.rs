//! Sums over several GPUs.

use crate::{
    Device, Gradients, NnError, Result,
    cuda::{Communicator, NCCL_ID_BYTES, unique_id},
    device::Backend,
};
use std::sync::Arc;

/// One rank's end of a group of CUDA devices that add up their gradients through NCCL, in one process each.
///
/// The library is looked for when the first one is made: the file that `LOCDIFF_NCCL` names, else `libnccl.so.2` and
/// `libnccl.so` where the system's loader finds them.
///
/// ```no_run
/// use locdiff_nn::{Device, Nccl};
/// let id = Nccl::new_id()?; // one rank makes it and tells the others
/// let group = Nccl::join(&Device::cuda(0)?, id, 0, 1)?;
/// println!("NCCL {}", group.version());
/// # Ok::<(), locdiff_nn::NnError>(())
/// ```
#[derive(Clone)]
pub struct Nccl {
    communicator: Arc<Communicator>,
}

impl Nccl {
    /// What one rank makes and all ranks join with.
    ///
    /// # Errors
    /// [`NnError::NcclUnavailable`] where the library is missing.
    pub fn new_id() -> Result<[u8; NCCL_ID_BYTES]> {
        unique_id()
    }

    /// Joins the group; waits until all `world` ranks have.
    ///
    /// # Errors
    /// The CPU, a missing library, or what NCCL says.
    pub fn join(device: &Device, id: [u8; NCCL_ID_BYTES], rank: usize, world: usize) -> Result<Self> {
        let Backend::Cuda(context) = &device.backend else {
            return Err(NnError::NcclUnavailable { reason: "it works on CUDA devices only".to_owned() });
        };
        Ok(Self { communicator: Arc::new(Communicator::join(context, id, rank, world)?) })
    }

    /// The library's version, such as `2.28.9`.
    pub fn version(&self) -> String {
        let version = self.communicator.version();
        format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
    }

    /// Sums the gradients over all ranks, in place and on the device: part of a recorded step.
    ///
    /// # Errors
    /// What NCCL says.
    pub fn sum(&self, grads: &mut Gradients) -> Result<()> {
        self.communicator.sum(&grads.flat_mut())
    }

    /// Ends sums that wait for a rank which will not come; from any thread. The group is of no use afterwards.
    pub fn abort(&self) {
        self.communicator.abort();
    }
}

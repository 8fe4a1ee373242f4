//! From a launcher's environment to a device and a group.

use super::collective::{Alone, Collective};
use super::nccl::NcclGroup;
use super::ring::Ring;
use super::world::World;
use crate::TrainError;
use locdiff_base::Named;
use locdiff_nn::{Device, DeviceSpec};

/// By what ranks sum their gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CollectiveKind {
    /// NCCL on CUDA devices, else the ring.
    #[default]
    Auto,
    /// NCCL.
    Nccl,
    /// TCP, on the host.
    Ring,
}

impl Named for CollectiveKind {
    const WHAT: &'static str = "collective";
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Auto, "auto", "NCCL on CUDA devices, else the ring"),
        (Self::Nccl, "nccl", "NCCL, inside the recorded step"),
        (Self::Ring, "ring", "TCP, on the host"),
    ];
}

/// Opens this process's device and joins the group that its launcher made it a part of: torchrun, mpirun, srun; or no group.
/// On a machine with several GPUs each rank takes its own.
///
/// # Errors
/// Variables that contradict each other, a rank that does not come, a device or library that is missing.
pub fn join_ranks(
    kind: CollectiveKind,
    device: DeviceSpec,
) -> Result<(Device, Box<dyn Collective>), TrainError> {
    let Some(world) = World::from_environment()? else {
        let device = Device::open(device)?;
        if kind == CollectiveKind::Nccl {
            let group = NcclGroup::of_one(&device)?;
            return Ok((device, Box::new(group)));
        }
        return Ok((device, Box::new(Alone)));
    };
    let mut ring = Ring::join(&world)?;
    match open_with(&mut ring, &world, kind, device) {
        Ok((device, true)) => {
            let group = NcclGroup::over(ring, &device)?;
            Ok((device, Box::new(group)))
        }
        Ok((device, false)) => Ok((device, Box::new(ring))),
        Err(error) => {
            ring.give_up(&error.to_string());
            Err(error)
        }
    }
}

/// The device, and whether NCCL is to be used: the same on all ranks.
fn open_with(
    ring: &mut Ring,
    world: &World,
    kind: CollectiveKind,
    device: DeviceSpec,
) -> Result<(Device, bool), TrainError> {
    let gpus = Device::cuda_count();
    let device = match device {
        // Where a launcher shows each rank one GPU alone, it is that one.
        DeviceSpec::Auto | DeviceSpec::Cuda(0) if gpus > 0 => DeviceSpec::Cuda(world.local_rank % gpus),
        other => other,
    };
    let device = Device::open(device)?;
    let by_nccl = match kind {
        CollectiveKind::Auto => device.is_cuda(),
        CollectiveKind::Nccl => true,
        CollectiveKind::Ring => false,
    };
    let said = format!(
        "works on {} and sums by {}",
        if device.is_cuda() { "CUDA" } else { "the CPU" },
        if by_nccl { "NCCL" } else { "TCP" }
    );
    let all = ring.gather(said.as_bytes())?;
    if let Some(rank) = all.iter().position(|other| *other != all[0]) {
        let [own, first] = [rank, 0].map(|rank| String::from_utf8_lossy(&all[rank]).into_owned());
        return Err(TrainError::Rank { rank, reason: format!("{own}, rank 0 {first}: give all the same") });
    }
    Ok((device, by_nccl))
}

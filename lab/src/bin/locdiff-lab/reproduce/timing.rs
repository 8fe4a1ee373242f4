//! `locdiff-lab reproduce timing`: the paper's times of unit operations and of training, on this machine.

use crate::terminal::{DeviceArg, TableFormat, bar};
use anyhow::Result;
use clap::Args;
use locdiff_lab::TimingTable;
use locdiff_nn::Device;

#[derive(Debug, Args)]
pub(crate) struct ReproduceTiming {
    #[command(flatten)]
    device: DeviceArg,
    /// Training steps that are timed at each degree
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..))]
    steps: u32,
    /// Photos that are sampled at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    photos: u32,
    #[command(flatten)]
    format: TableFormat,
}

impl ReproduceTiming {
    pub(super) fn run(self) -> Result<()> {
        let device = Device::open(self.device.device)?;
        let bar = bar("timing", Some(TimingTable::PARTS as u64));
        let table = TimingTable::measure(&device, self.steps, self.photos as usize, &|| bar.inc(1))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}

//! Batches made on a CUDA device, inside the recorded step: nothing is uploaded, and the device never waits for the host.

use crate::train::batches::{ANCHOR, COPY, ROW};
use crate::train::{Result, Rows};
use crate::{CodeWriter, DeviceHarmonics, DevicePoints, PAPER_ANCHORS, Standardisation};
use locdiff_nn::feed::{DrawnRows, Table, TableValues};
use locdiff_nn::{Device, NnError, Rng, ViewMut};
use rayon::prelude::*;

/// Rows of embeddings that are read and uploaded at a time.
const BLOCK: usize = 1 << 14;
/// Device memory that is left free beside the embeddings.
const SPARE_BYTES: usize = 2 << 30;

/// What [`DeviceFeed::new`] is made from.
pub(crate) struct FeedPlan<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) codes: &'a CodeWriter,
    pub(crate) standardisation: &'a Standardisation,
    /// Rows of a batch that are made here.
    pub(crate) count: usize,
    pub(crate) fresh_anchors: bool,
    /// Leave the embeddings on the host.
    pub(crate) stream: bool,
}

/// Places, harmonics and, where they fit, embeddings in device memory.
pub(crate) struct DeviceFeed {
    harmonics: DeviceHarmonics,
    places: DevicePoints,
    drawn: DrawnRows,
    table: Option<Table>,
    anchors: Option<DevicePoints>,
}

impl DeviceFeed {
    /// Puts all that fits into the device's memory; call it when all else has its memory.
    pub(crate) fn new(device: &Device, plan: &FeedPlan<'_>) -> Result<Self> {
        let data = plan.rows.data;
        let places: Vec<[f64; 3]> = data.places().par_iter().map(|p| p.to_unit().to_array()).collect();
        let streams = [ROW as u32, COPY as u32];
        let mut feed = Self {
            harmonics: plan.codes.on_device(device)?,
            places: DevicePoints::from_slice(device, &places)?,
            drawn: DrawnRows::new(device, plan.rows.rows, data.copies(), plan.count, streams)?,
            table: None,
            anchors: None,
        };
        if plan.fresh_anchors {
            feed.anchors = Some(DevicePoints::from_slice(device, &vec![[0.0, 0.0, 1.0]; PAPER_ANCHORS])?);
        }
        let bytes = Table::bytes(data.len(), data.copies(), data.columns(), data.is_half());
        let free = device.memory_free_bytes()?.unwrap_or(0);
        if !plan.stream && bytes + SPARE_BYTES <= free {
            feed.table = Some(load(device, plan)?);
        }
        Ok(feed)
    }

    /// Whether embeddings come from the device's memory too.
    pub(crate) fn holds_embeddings(&self) -> bool {
        self.table.is_some()
    }

    /// Embeddings (where they are held) and codes of the generator's step.
    pub(crate) fn fill(&mut self, cond: ViewMut<'_>, code: ViewMut<'_>, rng: &Rng) -> Result<(), NnError> {
        self.drawn.draw(rng)?;
        if let Some(table) = &self.table {
            table.gather(cond, &self.drawn)?;
        }
        self.harmonics.write_rows(code, &self.places, self.drawn.rows())
    }

    /// Codes of fresh anchors.
    pub(crate) fn fill_anchors(&mut self, codes: ViewMut<'_>, rng: &Rng) -> Result<(), NnError> {
        let Some(anchors) = &mut self.anchors else { return Ok(()) };
        anchors.draw(rng, ANCHOR as u32)?;
        self.harmonics.write(codes, anchors, false)
    }
}

/// All embeddings, in the precision of their file.
fn load(device: &Device, plan: &FeedPlan<'_>) -> Result<Table> {
    let (data, columns) = (plan.rows.data, plan.rows.data.columns());
    let Standardisation { mean, deviation } = plan.standardisation;
    let mut table = Table::new(device, data.len(), data.copies(), data.is_half(), mean, deviation)?;
    let mut values = vec![0.0; BLOCK.min(data.len()) * columns];
    for copy in 0..data.copies() {
        for first in (0..data.len()).step_by(BLOCK) {
            let rows = BLOCK.min(data.len() - first);
            let values = &mut values[..rows * columns];
            values.par_chunks_mut(columns).enumerate().try_for_each(|(k, row)| data.read(first + k, copy, row))?;
            if data.is_half() {
                let halves: Vec<u16> = values.par_iter().map(|v| half::f16::from_f32(*v).to_bits()).collect();
                table.upload(copy, first, TableValues::Half(&halves))?;
            } else {
                table.upload(copy, first, TableValues::Full(values))?;
            }
        }
    }
    device.synchronize()?;
    Ok(table)
}

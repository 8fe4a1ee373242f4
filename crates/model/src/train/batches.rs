//! Batches, made by a thread of their own while the device works on the one before.

use crate::train::{Result, Rows};
use crate::{CodeWriter, DeviceHarmonics, DevicePoints, PAPER_ANCHORS, Standardisation, chance};
use locdiff_nn::{Device, NnError, Rng, ViewMut, feed::DeviceTable, feed::DrawnRows, feed::TableValues};
use locdiff_shdd::sphere::UnitVec;
use rayon::prelude::*;
use std::{ops::Range, sync::mpsc::Receiver, sync::mpsc::SyncSender};

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Batch {
    /// Standardised embeddings, one row a photo.
    pub(crate) cond: Vec<f32>,
    pub(crate) codes: Vec<f32>,
    /// Codes of fresh anchors, where the loss wants them.
    pub(crate) anchors: Vec<f32>,
}

/// Makes batches; everything drawn is a function of (seed, step).
pub(crate) struct BatchMaker<'a> {
    pub(crate) rows: Rows<'a>,
    /// `None` where the device makes codes and anchors itself.
    pub(crate) codes: Option<&'a CodeWriter>,
    pub(crate) standardisation: &'a Standardisation,
    pub(crate) batch: usize,
    pub(crate) seed: u64,
    pub(crate) fresh_anchors: bool,
}

/// What is drawn where.
pub(crate) const ROW: u64 = 1;
pub(crate) const COPY: u64 = 2;
pub(crate) const ANCHOR: u64 = 3;

impl BatchMaker<'_> {
    pub(crate) fn fill(&self, step: u32, out: &mut Batch) -> Result<()> {
        let (data, columns) = (self.rows.data, self.rows.data.columns());
        let step = u64::from(step);
        let draw = |what: u64, k: usize, bound: usize| chance::below(&[self.seed, what, step, k as u64], bound);
        let row = |k: usize| self.rows.rows[draw(ROW, k, self.rows.rows.len())] as usize;
        let rows: Vec<usize> = (0..self.batch).map(row).collect();
        out.cond.resize(rows.len() * columns, 0.0);
        out.cond.par_chunks_mut(columns).zip(&rows).enumerate().try_for_each(|(k, (cond, &row))| {
            data.read(row, draw(COPY, k, data.copies()), cond).map(|()| self.standardisation.apply(cond))
        })?;
        let Some(codes) = self.codes else { return Ok(()) };
        let points: Vec<UnitVec> = rows.iter().map(|&row| data.places()[row].to_unit()).collect();
        out.codes.resize(rows.len() * codes.dimension(), 0.0);
        codes.write(&points, &mut out.codes)?;
        if self.fresh_anchors {
            let anchor = |k: usize| chance::point([self.seed, ANCHOR, step << 16 | k as u64]);
            let anchors: Vec<UnitVec> = (0..PAPER_ANCHORS).map(anchor).collect();
            out.anchors.resize(PAPER_ANCHORS * codes.dimension(), 0.0);
            codes.write_plain(&anchors, &mut out.anchors)?;
        }
        Ok(())
    }

    /// Makes the batches of `steps`, in buffers that come back through `used`, until all are made or nobody listens.
    pub(crate) fn serve(&self, steps: Range<u32>, ready: &SyncSender<Result<Batch>>, used: &Receiver<Batch>) {
        for step in steps {
            let mut batch = used.try_recv().unwrap_or_default();
            let outcome = self.fill(step, &mut batch).map(|()| batch);
            let failed = outcome.is_err();
            if ready.send(outcome).is_err() || failed {
                return;
            }
        }
    }
}

/// Rows of embeddings that are read and uploaded at a time.
const BLOCK: usize = 1 << 14;
/// Device memory that is left free besides the embeddings.
const SPARE_BYTES: usize = 2 << 30;

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
    table: Option<DeviceTable>,
    anchors: Option<DevicePoints>,
}

impl DeviceFeed {
    /// Puts all that fits into the device's memory; call it when all else has its memory.
    pub(crate) fn new(device: &Device, plan: &FeedPlan<'_>) -> Result<Self> {
        let data = plan.rows.data;
        let places: Vec<[f64; 3]> = data.places().par_iter().map(|p| p.to_unit().to_array()).collect();
        let streams = [ROW as u32, COPY as u32];
        let harmonics = plan.codes.on_device(device)?;
        let places = DevicePoints::from_slice(device, &places)?;
        let drawn = DrawnRows::new(device, plan.rows.rows, data.copies(), plan.count, streams)?;
        let anchors = || DevicePoints::from_slice(device, &vec![[0.0, 0.0, 1.0]; PAPER_ANCHORS]);
        let anchors = plan.fresh_anchors.then(anchors).transpose()?;
        let bytes = DeviceTable::bytes(data.len(), data.copies(), data.columns(), data.is_half());
        let free = device.memory_free_bytes()?.unwrap_or(0);
        let fits = !plan.stream && bytes + SPARE_BYTES <= free;
        let table = fits.then(|| load(device, plan)).transpose()?;
        Ok(Self { harmonics, places, drawn, table, anchors })
    }

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

    pub(crate) fn fill_anchors(&mut self, codes: ViewMut<'_>, rng: &Rng) -> Result<(), NnError> {
        let Some(anchors) = &mut self.anchors else { return Ok(()) };
        anchors.draw(rng, ANCHOR as u32)?;
        self.harmonics.write(codes, anchors, false)
    }
}

/// All embeddings, in the precision of their file.
fn load(device: &Device, plan: &FeedPlan<'_>) -> Result<DeviceTable> {
    let (data, columns) = (plan.rows.data, plan.rows.data.columns());
    let Standardisation { mean, deviation } = plan.standardisation;
    let mut table = DeviceTable::new(device, data.len(), data.copies(), data.is_half(), mean, deviation)?;
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

//! Batches, made by a thread of their own while the device works on the one before.

use crate::train::{Result, Rows, TrainError};
use crate::{CodeWriter, PAPER_ANCHORS, Standardisation, chance};
use locdiff_shdd::sphere::UnitVec;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender};

/// One step's data.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Batch {
    /// Standardised embeddings, one row a photo.
    pub(crate) cond: Vec<f32>,
    /// Codes of the locations.
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
    /// Rows of a batch.
    pub(crate) batch: usize,
    pub(crate) seed: u64,
    pub(crate) fresh_anchors: bool,
}

/// What is drawn where.
pub(crate) const ROW: u64 = 1;
pub(crate) const COPY: u64 = 2;
pub(crate) const ANCHOR: u64 = 3;

impl BatchMaker<'_> {
    /// Fills `out` for a step.
    pub(crate) fn fill(&self, step: u32, out: &mut Batch) -> Result<()> {
        let (data, columns) = (self.rows.data, self.rows.data.columns());
        let draw =
            |what: u64, k: usize, bound: usize| chance::below(&[self.seed, what, u64::from(step), k as u64], bound);
        let rows: Vec<usize> =
            (0..self.batch).map(|k| self.rows.rows[draw(ROW, k, self.rows.rows.len())] as usize).collect();
        out.cond.resize(rows.len() * columns, 0.0);
        out.cond.par_chunks_mut(columns).zip(&rows).enumerate().try_for_each(|(k, (cond, &row))| {
            data.read(row, draw(COPY, k, data.copies()), cond)?;
            self.standardisation.apply(cond);
            Ok::<(), TrainError>(())
        })?;
        let Some(codes) = self.codes else { return Ok(()) };
        let points: Vec<UnitVec> = rows.iter().map(|&row| data.places()[row].to_unit()).collect();
        out.codes.resize(rows.len() * codes.dimension(), 0.0);
        codes.write(&points, &mut out.codes)?;
        if self.fresh_anchors {
            let anchors: Vec<UnitVec> = (0..PAPER_ANCHORS)
                .map(|k| chance::point([self.seed, ANCHOR, u64::from(step) << 16 | k as u64]))
                .collect();
            out.anchors.resize(PAPER_ANCHORS * codes.dimension(), 0.0);
            codes.write_plain(&anchors, &mut out.anchors)?;
        }
        Ok(())
    }

    /// Makes the batches of `steps` one after the other, in buffers that come back through `used`, until all are made
    /// or nobody listens any more.
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

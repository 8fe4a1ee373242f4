//! What a training step reads, made on a CUDA device as a part of the recorded step: rows drawn from a table in its
//! memory. The numbers are those that the host makes for a CPU.
#![allow(clippy::needless_pass_by_value)] // reason: a writable window is handed over, as in `ops`

use crate::kernel_args::{Arg, LaunchGrid, args};
use crate::{Device, Indices, NnError, Result, Rng, Tensor, ViewMut, cuda, error::check_shape, kernel_source::Kernels};
use std::sync::Arc;

/// A way to the device for what comes from the host step after step: values travel while the device works on those before.
pub struct Inbox(cuda::Inbox);

impl Inbox {
    /// For up to `len` values at a time.
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        Ok(Self(cuda::Inbox::new(device.with_kernels("feed::Inbox", Kernels::Feed)?, len)?))
    }

    /// Replaces all values of `to`, after everything given to the device so far.
    pub fn send(&mut self, to: &mut Tensor, values: &[f32]) -> Result<()> {
        to.check_all("feed::Inbox", values.len())?;
        self.0.send(&to.view_mut(), values)
    }
}

/// Rows of numbers in device memory, f16 or f32, several copies of each.
pub struct DeviceTable {
    context: Arc<cuda::Context>,
    values: Values,
    rows: usize,
    cols: usize,
    copies: usize,
    mean: Tensor,
    deviation: Tensor,
}

enum Values {
    Half(Arc<cuda::Buffer<u16>>),
    Full(Arc<cuda::Buffer<f32>>),
}

/// Some values of a [`DeviceTable`], as they lie there.
#[derive(Debug, Clone, Copy)]
pub enum TableValues<'a> {
    /// The bits of f16 numbers.
    Half(&'a [u16]),
    /// f32 numbers.
    Full(&'a [f32]),
}

impl DeviceTable {
    /// Room for `copies × rows × mean.len()` numbers, of two bytes each (`half`) or four, that are standardised when they are
    /// read.
    pub fn new(
        device: &Device,
        rows: usize,
        copies: usize,
        half: bool,
        mean: &[f32],
        deviation: &[f32],
    ) -> Result<Self> {
        let context = device.with_kernels("feed::Table", Kernels::Feed)?;
        let (cols, len) = (mean.len(), copies * rows * mean.len());
        let values = if half {
            Values::Half(cuda::Buffer::zeros(context, len)?)
        } else {
            Values::Full(cuda::Buffer::zeros(context, len)?)
        };
        let row = |values: &[f32]| Tensor::from_slice(device, 1, cols, values);
        let (mean, deviation) = (row(mean)?, row(deviation)?);
        Ok(Self { context: Arc::clone(context), values, rows, cols, copies, mean, deviation })
    }

    /// Bytes that such a table takes.
    pub fn bytes(rows: usize, copies: usize, cols: usize, half: bool) -> usize {
        copies * rows * cols * if half { 2 } else { 4 }
    }

    /// Fills in rows from `first` on, of one copy. Fails for values of the other kind or beyond the table.
    pub fn upload(&mut self, copy: usize, first: usize, values: TableValues<'_>) -> Result<()> {
        let at = (copy * self.rows + first) * self.cols;
        let len = match values {
            TableValues::Half(values) => values.len(),
            TableValues::Full(values) => values.len(),
        };
        check_shape(
            copy < self.copies && len.is_multiple_of(self.cols) && first + len / self.cols <= self.rows,
            "feed::Table::upload",
            || format!("{len} values from row {first} of copy {copy}"),
        )?;
        match (&self.values, values) {
            (Values::Half(buffer), TableValues::Half(values)) => buffer.upload_at(at, values),
            (Values::Full(buffer), TableValues::Full(values)) => buffer.upload_at(at, values),
            _ => Err(NnError::DeviceMismatch { op: "feed::Table::upload" }),
        }
    }

    /// The drawn rows, standardised.
    pub fn gather(&self, out: ViewMut<'_>, drawn: &DrawnRows) -> Result<()> {
        out.expect_shape("feed::Table::gather", "out", drawn.rows.len(), self.cols)?;
        let (table, half) = match &self.values {
            Values::Half(buffer) => (Arg::Halves(buffer), 1),
            Values::Full(buffer) => (Arg::Floats(buffer), 0),
        };
        let (rows, mean, deviation) = (Arg::Long(self.rows), self.mean.view(), self.deviation.view());
        let args = args!(&out, table, half, &drawn.rows, &drawn.copies, rows, self.cols, mean, deviation);
        self.context.launch("gather_table", LaunchGrid::each(&out), &args)
    }
}

/// Rows of a batch, drawn from a pool of row numbers by (seed, step, place in the batch).
pub struct DrawnRows {
    context: Arc<cuda::Context>,
    pool: Indices,
    copies_of_each: usize,
    rows: Indices,
    copies: Indices,
    streams: [u32; 2],
}

impl DrawnRows {
    /// For batches of `count` rows; `streams` keep rows and copies apart from what else is drawn.
    pub fn new(device: &Device, pool: &[u32], copies: usize, count: usize, streams: [u32; 2]) -> Result<Self> {
        let context = Arc::clone(device.with_kernels("feed::DrawnRows", Kernels::Feed)?);
        let zeros = || Indices::from_slice(device, &vec![0; count]);
        let pool = Indices::from_slice(device, pool)?;
        Ok(Self { context, pool, copies_of_each: copies, rows: zeros()?, copies: zeros()?, streams })
    }

    /// Draws the rows of the generator's step.
    pub fn draw(&mut self, rng: &Rng) -> Result<()> {
        let (count, [of_rows, of_copies]) = (self.rows.len(), self.streams);
        let (pool, copies) = (Arg::Long(self.pool.len()), Arg::Long(self.copies_of_each));
        let args = args!(&self.rows, &self.copies, count, &self.pool, pool, copies, rng, of_rows, of_copies);
        self.context.launch("draw_rows", LaunchGrid::Flat(count), &args)
    }

    /// The numbers of the rows drawn last, on the device.
    pub fn rows(&self) -> &Indices {
        &self.rows
    }

    /// Row numbers and copies; waits for the device.
    pub fn to_vecs(&self) -> Result<(Vec<u32>, Vec<u32>)> {
        Ok((self.rows.to_vec()?, self.copies.to_vec()?))
    }
}

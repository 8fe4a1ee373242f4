//! The generators' states on the device.

use crate::{Device, Indices, NnError, Result, cpu::random::RowStates, error::check_shape};

/// A counter-based generator (Philox4x32-10): the number drawn at a place depends on (seed, counter, stream, index) and
/// nothing else, with the same integers on the CPU and on CUDA.
/// The counter is the training step or the sampler's run; [`Rng::advance`] adds one, on the device, so that a captured
/// graph draws new numbers each time. Inside one step every place that draws has a stream number of its own. State and
/// stream numbers are all there is: a run resumed with [`Rng::set`] continues bit for bit.
pub struct Rng {
    /// `[seed lo, seed hi, counter lo, counter hi]`.
    pub(crate) state: Indices,
    /// Rows of a larger batch before the first of ours.
    pub(crate) first_row: usize,
}

fn words(seed: u64, counter: u64) -> [u32; 4] {
    [seed as u32, (seed >> 32) as u32, counter as u32, (counter >> 32) as u32]
}

impl Rng {
    /// A generator at counter 0.
    pub fn new(device: &Device, seed: u64) -> Result<Self> {
        Ok(Self { state: Indices::from_slice(device, &words(seed, 0))?, first_row: 0 })
    }

    /// Sets seed and counter.
    pub fn set(&mut self, seed: u64, counter: u64) -> Result<()> {
        self.state.upload(&words(seed, counter))
    }

    /// From here on row r draws what row `first + r` draws otherwise: a part of a batch draws what it draws in the whole.
    /// A recording keeps the row that was set while it was made.
    pub fn set_first_row(&mut self, first: usize) {
        self.first_row = first;
    }

    /// Seed and counter; waits for the device.
    pub fn get(&self) -> Result<(u64, u64)> {
        let words: Vec<u64> = self.state.to_vec()?.into_iter().map(u64::from).collect();
        Ok((words[0] | words[1] << 32, words[2] | words[3] << 32))
    }
}

/// Whose noise a row draws: a key (a photo's) and a number under that key (a sample's).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowKey {
    /// The key.
    pub key: u64,
    /// The number under the key.
    pub number: u32,
}

/// Noise that belongs to rows: what a row draws depends on the seed, on its [`RowKey`] and on the column, and not on where
/// the row stands or on how many others there are. The same integers on the CPU and on CUDA.
pub struct RowNoise {
    /// `[seed lo, seed hi]`.
    pub(crate) seed: Indices,
    /// `[key lo, key hi, number]` for each row.
    pub(crate) rows: Indices,
}

impl RowNoise {
    /// For so many rows; under seed 0, row r has key 0 and number r.
    pub fn new(device: &Device, rows: usize) -> Result<Self> {
        let words: Vec<u32> = (0..rows as u32).flat_map(|number| [0, 0, number]).collect();
        Ok(Self { seed: Indices::from_slice(device, &[0, 0])?, rows: Indices::from_slice(device, &words)? })
    }

    /// Sets the seed and every row's key.
    pub fn set(&mut self, seed: u64, rows: &[RowKey]) -> Result<()> {
        self.expect_rows("RowNoise::set", rows.len())?;
        self.seed.upload(&[seed as u32, (seed >> 32) as u32])?;
        let words: Vec<u32> =
            rows.iter().flat_map(|row| [row.key as u32, (row.key >> 32) as u32, row.number]).collect();
        self.rows.upload(&words)
    }

    pub(crate) fn expect_rows(&self, op: &'static str, rows: usize) -> Result<()> {
        let known = self.rows.len() / 3;
        check_shape(known == rows, op, || format!("noise of {known} rows for {rows}"))
    }

    pub(crate) fn cpu(&self, op: &'static str) -> Result<RowStates<'_>> {
        let seed = self.seed.cpu(op)?.try_into().map_err(|_| NnError::DeviceMismatch { op })?;
        Ok(RowStates { seed, rows: self.rows.cpu(op)? })
    }
}

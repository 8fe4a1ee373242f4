//! Points of the sphere and their harmonics on a CUDA device, in recorded steps: the numbers that the host makes for a CPU.
#![allow(unsafe_code, clippy::needless_pass_by_value)] // reason: kernels are launched, each with its SAFETY note; as in `ops`

use locdiff_nn::kernels::{Doubles, KernelArg as Arg, KernelSource, LaunchGrid};
use locdiff_nn::{Device, Indices, NnError, Result, Rng, Tensor, ViewMut};

static KERNELS: KernelSource =
    KernelSource { sources: &[include_str!("harmonics.cu")], kernels: "draw_points harmonics" };

/// Points of the sphere, `[x, y, z]` each, in device memory.
pub struct DevicePoints {
    device: Device,
    values: Doubles,
    count: usize,
}

impl DevicePoints {
    /// These points. Fails on the CPU, or too little device memory.
    pub fn from_slice(device: &Device, points: &[[f64; 3]]) -> Result<Self> {
        const OP: &str = "DevicePoints";
        KERNELS.prepare(device, OP)?;
        let values = Doubles::from_slice(device, points.as_flattened(), OP)?;
        Ok(Self { device: device.clone(), values, count: points.len() })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Replaces all by points drawn evenly on the sphere, by (seed, step, number). Fails if the device fails.
    pub fn draw(&mut self, rng: &Rng, stream: u32) -> Result<()> {
        let args = [Arg::Doubles(&self.values), Arg::Int(self.count), Arg::State(rng), Arg::Word(stream)];
        // SAFETY: the parameters of `draw_points`, which writes three numbers for each of `count` points.
        unsafe { KERNELS.launch(&self.device, "draw_points", LaunchGrid::Flat(self.count), &args) }
    }

    /// All points; waits for the device. Fails if the device fails.
    pub fn to_vec(&self) -> Result<Vec<[f64; 3]>> {
        Ok(self.values.to_vec(3 * self.count)?.as_chunks::<3>().0.to_vec())
    }
}

/// The recurrence of spherical harmonics: `Y_lm = Q_lm(z)·(Re|Im)(x+iy)^m`, `Q_lm = a·z·Q_{l−1,m} + c·Q_{l−2,m}`.
pub struct DeviceHarmonics {
    device: Device,
    pub(crate) degree: usize,
    pub(crate) steps: Doubles,
    pub(crate) diagonal: Doubles,
    factors: Option<Tensor>,
    columns: Option<Indices>,
    /// Numbers that are written for a point.
    pub(crate) numbers: usize,
}

pub(crate) struct Recurrence<'a> {
    pub(crate) degree: usize,
    /// `[a, c]` for every degree l and order m, (L+1)² of them, `l·(L+1) + m`; read where m < l.
    pub(crate) steps: &'a [[f64; 2]],
    /// `Q_mm` for m = 0 … L.
    pub(crate) diagonal: &'a [f64],
    /// One factor a number that is written; empty for none.
    pub(crate) factors: &'a [f32],
    /// The coefficients that are written (`l·l + l + m`), in this order; `None` for all.
    pub(crate) kept: Option<&'a [u32]>,
}

impl DeviceHarmonics {
    pub(crate) fn new(device: &Device, recurrence: Recurrence<'_>) -> Result<Self> {
        const OP: &str = "DeviceHarmonics";
        let Recurrence { degree, steps, diagonal, factors, kept } = recurrence;
        let side = degree + 1;
        let numbers = kept.map_or(side * side, <[u32]>::len);
        let fits = steps.len() == side * side
            && diagonal.len() == side
            && (factors.is_empty() || factors.len() == numbers)
            && kept.is_none_or(|kept| kept.iter().all(|k| (*k as usize) < side * side))
            && side <= 1024;
        if !fits {
            let detail = format!("{} steps, {} factors for degree {degree}", steps.len(), factors.len());
            return Err(NnError::Shape { op: OP, detail });
        }
        KERNELS.prepare(device, OP)?;
        let columns = kept.map(|kept| {
            let mut columns = vec![0; side * side];
            kept.iter().enumerate().for_each(|(k, place)| columns[*place as usize] = k as u32 + 1);
            Indices::from_slice(device, &columns)
        });
        let factors = if factors.is_empty() { None } else { Some(Tensor::from_slice(device, 1, numbers, factors)?) };
        let steps = Doubles::from_slice(device, steps.as_flattened(), OP)?;
        let (diagonal, columns) = (Doubles::from_slice(device, diagonal, OP)?, columns.transpose()?);
        Ok(Self { device: device.clone(), steps, diagonal, factors, columns, degree, numbers })
    }

    /// The harmonics of all points, one row a point; `filtered`: times the factors. Fails on a matrix of another shape or device.
    pub fn write(&self, out: ViewMut<'_>, points: &DevicePoints, filtered: bool) -> Result<()> {
        self.launch(&out, points, None, filtered)
    }

    /// The filtered harmonics of the points of these rows. Fails as [`DeviceHarmonics::write`].
    pub fn write_rows(&self, out: ViewMut<'_>, points: &DevicePoints, rows: &Indices) -> Result<()> {
        self.launch(&out, points, Some(rows), true)
    }

    fn launch(&self, out: &ViewMut<'_>, points: &DevicePoints, rows: Option<&Indices>, filtered: bool) -> Result<()> {
        let count = rows.map_or(points.count, Indices::len);
        if (out.rows(), out.cols()) != (count, self.numbers) {
            let detail = format!("{count} rows of {} into {}×{}", self.numbers, out.rows(), out.cols());
            return Err(NnError::Shape { op: "DeviceHarmonics", detail });
        }
        let lanes = (self.degree + 1).next_multiple_of(32);
        let per_block = (256 / lanes).max(1);
        let args = [
            Arg::Out(out),
            Arg::Doubles(&points.values),
            Arg::Indices(rows),
            Arg::Int(count),
            Arg::Int(self.degree),
            Arg::Int(lanes),
            Arg::Doubles(&self.steps),
            Arg::Doubles(&self.diagonal),
            Arg::Row(self.factors.as_ref().filter(|_| filtered).map(Tensor::view)),
            Arg::Indices(self.columns.as_ref()),
        ];
        let grid = LaunchGrid::Blocks { blocks: count.div_ceil(per_block), threads: per_block * lanes };
        // SAFETY: the parameters of `harmonics`. It writes `numbers` values of `count` rows, and reads as many steps, factors
        // and columns as `new` checked; rows are numbers of points, as their callers say.
        unsafe { KERNELS.launch(&self.device, "harmonics", grid, &args) }
    }
}

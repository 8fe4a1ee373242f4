//! Places of codes, on a CUDA device: what `shdd`'s decoders find on the CPU, a batch at a time.
#![allow(unsafe_code)] // reason: kernels are launched, each with its SAFETY note

use crate::{CodeWriter, ModelConfig, Result, device_harmonics::DeviceHarmonics, device_harmonics::DevicePoints};
use locdiff_nn::kernels::{Doubles, KernelArg as Arg, KernelSource, LaunchGrid};
use locdiff_nn::{Device, Indices, NnError, Precision, Tensor, ViewMut, ops, ops::Transpose};
use locdiff_shdd::sphere::UnitVec;
use std::f64::consts::{PI, TAU};

static KERNELS: KernelSource =
    KernelSource { sources: &[include_str!("decode.cu")], kernels: "row_argmax exact_peaks" };

/// Codes have at most so many numbers.
const MOST_NUMBERS: usize = 9216;

/// Decodes batches of codes of one degree.
pub struct DeviceDecoder {
    device: Device,
    harmonics: DeviceHarmonics,
    /// Room for a batch of codes, and for their scores at the candidates.
    codes: Tensor,
    scores: Tensor,
    /// The harmonics of the points that scores are made for.
    candidates: Tensor,
    kind: Kind,
}

enum Kind {
    /// The best of given points, and its number.
    Anchors(Vec<UnitVec>, Indices),
    /// The continuous maximum near the best points of a ring grid, `[x, y, z, value]`.
    Exact(RingGrid, Doubles),
}

/// The ring grid on which peaks are looked for: rings at colatitudes (i + ½)π/rings, their points from longitude 0 on.
#[derive(Clone, Copy)]
struct RingGrid {
    rings: usize,
    /// Points of a ring, an even number.
    longitudes: usize,
}

impl DeviceDecoder {
    /// The best of given points, for batches of up to `most` codes.
    /// Fails on the CPU, a degree out of range, or too little device memory.
    pub fn anchors(device: &Device, degree: usize, anchors: &[UnitVec], most: usize) -> Result<Self> {
        let points: Vec<[f64; 3]> = anchors.iter().map(|point| point.to_array()).collect();
        Self::new(device, (degree, most), &points, |_| {
            Ok(Kind::Anchors(anchors.to_vec(), Indices::from_slice(device, &vec![0; most])?))
        })
    }

    /// The continuous maximum with the largest mass, for batches of up to `most` codes. Fails as [`DeviceDecoder::anchors`].
    pub fn exact(device: &Device, degree: usize, most: usize) -> Result<Self> {
        // Twice as dense as the field could vary, like the search on the CPU.
        let grid = RingGrid { rings: 2 * (degree + 1), longitudes: 4 * (degree + 1) };
        let point = |k: usize| {
            let (sine, z) = (((k / grid.longitudes) as f64 + 0.5) * PI / grid.rings as f64).sin_cos();
            let (s, c) = (TAU * (k % grid.longitudes) as f64 / grid.longitudes as f64).sin_cos();
            [sine * c, sine * s, z]
        };
        let points: Vec<[f64; 3]> = (0..grid.rings * grid.longitudes).map(point).collect();
        Self::new(device, (degree, most), &points, |harmonics| {
            let numbers = harmonics.numbers;
            if numbers != (degree + 1) * (degree + 1) || numbers > MOST_NUMBERS {
                return Err(NnError::Shape { op: "DeviceDecoder", detail: format!("codes of {numbers} numbers") });
            }
            Ok(Kind::Exact(grid, Doubles::zeros(device, 4 * most, "DeviceDecoder")?))
        })
    }

    fn new(
        device: &Device,
        (degree, most): (usize, usize),
        points: &[[f64; 3]],
        kind: impl FnOnce(&DeviceHarmonics) -> Result<Kind, NnError>,
    ) -> Result<Self> {
        let config = ModelConfig { low_pass_km: None, ..ModelConfig::new(degree, 1) };
        let harmonics = CodeWriter::new(&config)?.on_device(device)?;
        KERNELS.prepare(device, "DeviceDecoder")?;
        let kind = kind(&harmonics)?;
        let points = DevicePoints::from_slice(device, points)?;
        let mut candidates = Tensor::zeros(device, points.len(), harmonics.numbers)?;
        harmonics.write(candidates.view_mut(), &points, false)?;
        let codes = Tensor::zeros(device, most, harmonics.numbers)?;
        let scores = Tensor::zeros(device, most, points.len())?;
        Ok(Self { codes, scores, device: device.clone(), harmonics, candidates, kind })
    }

    /// The places of codes on the host, row by row. Fails on more codes than asked for, or no whole rows.
    pub fn decode(&mut self, codes: &[f32]) -> Result<Vec<UnitVec>> {
        self.codes.upload_rows(codes)?;
        let rows = codes.len() / self.codes.cols();
        let Self { device, harmonics, codes, scores, candidates, kind } = self;
        let codes = codes.view().row_range(0..rows);
        let mut scores = scores.view_mut().row_range(0..rows);
        let product =
            |scores: ViewMut<'_>| ops::gemm(scores, codes, Transpose::No, candidates.view(), Transpose::Yes, 0.0, None);
        match kind {
            Kind::Anchors(anchors, best) => {
                // In full precision: the highest score is the answer.
                let precision = device.precision();
                device.set_precision(Precision::F32);
                let product = product(scores.reborrow());
                device.set_precision(precision);
                product?;
                let args = [Arg::Indices(Some(best)), Arg::In(scores.as_view()), Arg::Int(scores.cols())];
                // SAFETY: the parameters of `row_argmax`, which writes a number for each row of scores.
                unsafe { KERNELS.launch(device, "row_argmax", LaunchGrid::Rows(rows), &args) }?;
                Ok(best.to_vec()?.into_iter().take(rows).map(|k| anchors[k as usize]).collect())
            }
            Kind::Exact(grid, answers) => {
                // They only point the way: tf32 will do.
                product(scores.reborrow())?;
                let DeviceHarmonics { degree, steps, diagonal, .. } = harmonics;
                let args = [
                    Arg::Doubles(answers),
                    Arg::In(codes),
                    Arg::In(scores.as_view()),
                    Arg::Int(*degree),
                    Arg::Int(grid.rings),
                    Arg::Int(grid.longitudes),
                    Arg::Doubles(steps),
                    Arg::Doubles(diagonal),
                ];
                // SAFETY: the parameters of `exact_peaks`, which writes four numbers for each code; scores are the grid's.
                unsafe { KERNELS.launch(device, "exact_peaks", LaunchGrid::Rows(rows), &args) }?;
                let found = answers.to_vec(4 * rows)?;
                let places = found.as_chunks::<4>().0.iter().map(|[x, y, z, _]| UnitVec::new(*x, *y, *z));
                Ok(places.collect::<Result<_, _>>()?)
            }
        }
    }
}

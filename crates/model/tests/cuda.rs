//! What is made on a CUDA device is what the host makes; runs where a device is found.

use locdiff_model::{CodeWriter, DeviceDecoder, DevicePoints, ModelConfig, QuadraturePoints, chance};
use locdiff_nn::{Device, Rng, Tensor, feed::DeviceTable, feed::DrawnRows, feed::TableValues};
use locdiff_shdd::{Anchors, Codec, Coefficients, Decoder, sphere::Degree, sphere::Grid, sphere::UnitVec};

fn device() -> Option<Device> {
    Device::cuda(0).inspect_err(locdiff_testing::skipped_cuda).ok()
}

fn points(count: u64) -> Vec<UnitVec> {
    let poles = [UnitVec::NORTH, UnitVec::new(0.0, 0.0, -1.0).unwrap(), UnitVec::new(1e-9, 0.0, 1.0).unwrap()];
    poles.into_iter().chain((0..count).map(|k| chance::point([5, 6, k]))).collect()
}

fn arrays(points: &[UnitVec]) -> Vec<[f64; 3]> {
    points.iter().map(|point| point.to_array()).collect()
}

/// The largest difference, in units of the codes' usual size.
fn difference(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn harmonics_are_the_hosts() {
    let Some(device) = device() else { return };
    for degree in [1, 2, 5, 23, 31, 47, 63, 95] {
        let side = (degree + 1) * (degree + 1);
        let kept: Vec<u32> = (0..side as u32).rev().step_by(3).collect();
        for (low_pass_km, kept) in [(None, None), (Some(300.0), None), (Some(300.0), Some(kept))] {
            let config = ModelConfig { low_pass_km, kept, ..ModelConfig::new(degree, 8) };
            let writer = CodeWriter::new(&config).unwrap();
            let on_device = writer.on_device(&device).unwrap();
            let points = points(300);
            let mut expected = vec![0.0; points.len() * writer.dimension()];
            let there = DevicePoints::from_slice(&device, &arrays(&points)).unwrap();
            let mut out = Tensor::zeros(&device, points.len(), writer.dimension()).unwrap();
            for filtered in [false, true] {
                let write = if filtered { CodeWriter::write } else { CodeWriter::write_plain };
                write(&writer, &points, &mut expected).unwrap();
                on_device.write(out.view_mut(), &there, filtered).unwrap();
                let largest = expected.iter().fold(1.0_f32, |a, b| a.max(b.abs()));
                let off = difference(&out.to_vec().unwrap(), &expected);
                assert!(off <= 3e-7 * largest, "L = {degree}, filtered {filtered}: {off}");
            }
        }
    }
}

#[test]
fn rows_anchors_and_embeddings_are_the_hosts() {
    let Some(device) = device() else { return };
    let (rows, cols, copies, seed, step) = (1000_usize, 12_usize, 2_usize, 77_u64, (1_u64 << 32) + 5);
    let pool: Vec<u32> = (0..rows as u32).filter(|k| k % 3 != 1).collect();
    let mut rng = Rng::new(&device, seed).unwrap();
    rng.set(seed, step).unwrap();
    rng.set_first_row(40);
    let mut drawn = DrawnRows::new(&device, &pool, copies, 64, [1, 2]).unwrap();
    drawn.draw(&rng).unwrap();
    let (found, which) = drawn.to_vecs().unwrap();
    for (k, (row, copy)) in found.iter().zip(&which).enumerate() {
        let draw = |what: u64, bound: usize| chance::below(&[seed, what, step, 40 + k as u64], bound);
        assert_eq!((*row, *copy as usize), (pool[draw(1, pool.len())], draw(2, copies)));
    }
    let mut anchors = DevicePoints::from_slice(&device, &vec![[0.0; 3]; 2048]).unwrap();
    anchors.draw(&rng, 3).unwrap();
    for (k, found) in anchors.to_vec().unwrap().into_iter().enumerate() {
        let expected = chance::point([seed, 3, step << 16 | k as u64]).to_array();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?} {expected:?}");
    }
    // f16 and f32 tables give the same numbers, those of the host to the bit.
    let halves: Vec<u16> = (0..copies * rows * cols).map(|k| (0x3000 + (k * 7919) % 4096) as u16).collect();
    // A positive, normal f16.
    let value = |bits: u16| (1.0 + f32::from(bits & 0x3ff) / 1024.0) * 2f32.powi(i32::from(bits >> 10) - 15);
    let (mean, deviation) = (vec![0.3; cols], (0..cols).map(|c| 0.7 + c as f32 / 9.0).collect::<Vec<f32>>());
    for half in [true, false] {
        let mut table = DeviceTable::new(&device, rows, copies, half, &mean, &deviation).unwrap();
        for copy in 0..copies {
            for (first, count) in [(0, 600), (600, 400)] {
                let range = (copy * rows + first) * cols..(copy * rows + first + count) * cols;
                let floats: Vec<f32> = halves[range.clone()].iter().map(|bits| value(*bits)).collect();
                let values = if half { TableValues::Half(&halves[range]) } else { TableValues::Full(&floats) };
                table.upload(copy, first, values).unwrap();
            }
        }
        let mut out = Tensor::zeros(&device, 64, cols).unwrap();
        table.gather(out.view_mut(), &drawn).unwrap();
        for (k, got) in out.to_vec().unwrap().into_iter().enumerate() {
            let (row, copy, c) = (found[k / cols] as usize, which[k / cols] as usize, k % cols);
            let expected = (value(halves[(copy * rows + row) * cols + c]) - mean[c]) / deviation[c];
            assert_eq!(got.to_bits(), expected.to_bits());
        }
    }
}

#[test]
fn quadratures_are_the_hosts() {
    let Some(device) = device() else { return };
    let writer = CodeWriter::new(&ModelConfig::new(11, 8)).unwrap();
    let pool = QuadraturePoints::pool(11, &points(50), 500, 3).unwrap();
    let (there, here) = (pool.on_device(&device, &writer).unwrap(), pool.on_device(&Device::cpu(), &writer).unwrap());
    assert_eq!(there.points, here.points);
}

/// Codes of places with noise, and of two places at once.
fn fields(codec: &Codec, count: u64) -> Vec<Coefficients> {
    let dim = codec.degree().dimension();
    let field = |k: u64| {
        let first = codec.harmonics().at(chance::point([1, 2, k]));
        let second = codec.harmonics().at(chance::point([3, 4, k]));
        let noise = |j: usize| chance::normals([k, 7, j as u64]).0;
        let noisy = |j: usize| first[j] + 0.9 * second[j] + 0.3 * noise(j);
        // As f32, which the device sees.
        Coefficients::new((0..dim).map(|j| f64::from(noisy(j) as f32)).collect()).unwrap()
    };
    (0..count).map(field).collect()
}

#[test]
fn decoders_answer_as_on_the_host() {
    let Some(device) = device() else { return };
    for degree in [5, 23, 47] {
        let codec = Codec::new(Degree::new(degree).unwrap());
        let fields = fields(&codec, 100);
        let codes: Vec<f32> = fields.iter().flat_map(|e| e.as_slice().iter().map(|v| *v as f32)).collect();
        let exact = DeviceDecoder::exact(&device, degree, 128).unwrap().decode(&codes).unwrap();
        let expected = codec.decode_batch(&fields, &Decoder::Exact { window_rad: None }).unwrap();
        let apart = exact.iter().zip(&expected).map(|(found, mode)| found.angle_rad(mode.point));
        apart.enumerate().for_each(|(k, angle)| assert!(angle < 1e-7, "L = {degree}, field {k}: {angle} rad apart"));
        let grid = Grid::fibonacci(21_000).unwrap();
        let anchors = Anchors::new(&grid, 0.0).unwrap();
        let found = DeviceDecoder::anchors(&device, degree, grid.points(), 128).unwrap().decode(&codes).unwrap();
        let expected = codec.decode_batch(&fields, &Decoder::Anchors(anchors)).unwrap();
        for ((found, mode), e) in found.iter().zip(&expected).zip(&fields) {
            // Two anchors may be equally high in f32.
            let field = codec.field(e).unwrap();
            let high = |point: UnitVec| field.values(&[point])[0];
            assert!(high(*found) >= high(mode.point) * (1.0 - 1e-5), "L = {degree}");
        }
    }
}

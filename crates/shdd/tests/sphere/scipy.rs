//! Differential test against scipy (`scripts/ylm_fixtures.py` regenerates the fixtures).

use locdiff_shdd::sphere::{Degree, LatLon, SphericalHarmonics, UnitVec};

struct Fixture {
    rows: Vec<usize>,
    /// Each point with its rows' values, one row after the other.
    points: Vec<(UnitVec, Vec<f64>)>,
}

fn parse(bytes: &[u8]) -> Fixture {
    let word = |i: usize| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()) as usize;
    let (count, row_count) = (word(0), word(1));
    let rows: Vec<usize> = (0..row_count).map(|i| word(2 + i)).collect();
    let numbers: Vec<f64> =
        bytes[4 * (2 + row_count)..].as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let width: usize = rows.iter().map(|l| 2 * l + 1).sum();
    assert_eq!(numbers.len(), count * (2 + width));
    let point = |i: usize| {
        let p = LatLon::new(numbers[2 * i], numbers[2 * i + 1]).unwrap().to_unit();
        (p, numbers[2 * count + i * width..][..width].to_vec())
    };
    Fixture { rows, points: (0..count).map(point).collect() }
}

#[test]
fn harmonics_match_scipy() {
    for (l, bound, bytes) in [
        (15, 1e-13, &include_bytes!("../../../../fixtures/ylm/L15.bin")[..]),
        (47, 1e-12, &include_bytes!("../../../../fixtures/ylm/L47.bin")[..]),
        (127, 5e-12, &include_bytes!("../../../../fixtures/ylm/L127.bin")[..]),
        (255, 1e-11, &include_bytes!("../../../../fixtures/ylm/L255.bin")[..]),
    ] {
        let fixture = parse(bytes);
        let harmonics = SphericalHarmonics::new(Degree::new(l).unwrap());
        let mut worst = 0f64;
        for (point, expected) in &fixture.points {
            let ours = harmonics.at(*point);
            let rows = fixture.rows.iter().flat_map(|&l| &ours[l * l..(l + 1) * (l + 1)]);
            worst = rows.zip(expected).fold(worst, |w, (a, b)| w.max((a - b).abs()));
        }
        println!("L={l}: max |Y - scipy| = {worst:.2e} over {} points", fixture.points.len());
        assert!(worst <= bound, "L={l}: {worst:e}");
    }
}

#[test]
fn f32_harmonics_are_within_rounding_of_the_row_maximum() {
    for l in [15, 47, 127, 255] {
        let degree = Degree::new(l).unwrap();
        let harmonics = SphericalHarmonics::new(degree);
        let points: Vec<UnitVec> =
            parse(include_bytes!("../../../../fixtures/ylm/L15.bin")).points.iter().map(|p| p.0).collect();
        let mut single = vec![0f32; points.len() * degree.dimension()];
        harmonics.write(&points, &mut single).unwrap();
        for (point, row) in points.iter().zip(single.chunks(degree.dimension())) {
            let exact = harmonics.at(*point);
            let largest = exact.iter().fold(0f64, |a, b| a.max(b.abs()));
            let worst = exact.iter().zip(row).fold(0f64, |w, (a, b)| w.max((a - f64::from(*b)).abs()));
            assert!(worst <= 6e-8 * largest, "L={l}: {worst:e} of {largest}");
        }
    }
}

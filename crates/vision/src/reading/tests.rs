use super::*;
use crate::PhotoLimits;
use std::sync::LazyLock;

static READER: LazyLock<TextReader> = LazyLock::new(|| TextReader::new(&model()).unwrap());

fn model() -> Vec<u8> {
    std::fs::read(locdiff_testing::root().join("crates/vision/reading/reading.safetensors")).unwrap()
}

fn fixture(name: &str) -> Photo {
    Photo::open(&locdiff_testing::fixture(name), &PhotoLimits::default()).unwrap()
}

fn picture(photo: &Photo, [across, down]: [usize; 2]) -> Map {
    let mut map = Map::picture([down, across]);
    for (to, from) in
        map.values_mut().chunks_exact_mut(3 * across).zip(photo.rgb().chunks_exact(3 * photo.width() as usize))
    {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = crop::normalised(f32::from(*from)));
    }
    map
}

/// Against ONNX Runtime with the published weights, which have not been rounded to 8 bits.
#[test]
fn networks_agree_with_onnx_runtime() {
    let expected: serde_json::Value =
        serde_json::from_slice(&locdiff_testing::fixture_bytes("reading/expected.json")).unwrap();
    let [mut worst, mut sum] = [0.0_f32; 2];
    let map = READER.detector.run(picture(&fixture("reading/sign.png"), [128, 96]), &mut Buffers::default());
    let likelihoods = expected["map"].as_array().unwrap();
    assert_eq!((map.size, map.values().len()), ([96, 128], likelihoods.len()));
    for (got, expected) in map.values().iter().zip(likelihoods) {
        let off = (got - expected.as_f64().unwrap() as f32 / 1000.0).abs();
        (worst, sum) = (worst.max(off), sum + off);
    }
    assert!(worst < 0.3 && sum / (96.0 * 128.0) < 0.003, "{worst} {sum}");
    let logits = READER.recogniser.run(picture(&fixture("reading/word.png"), [224, 48]), &mut Buffers::default());
    let rows = expected["rows"].as_array().unwrap();
    assert_eq!(logits.size, [1, rows.len()]);
    for (logits, row) in logits.values().chunks_exact(logits.stride).zip(rows) {
        let (best, likelihood) = kernels::likeliest(&logits[..READER.characters.len()]);
        let wanted = row[0].as_str().unwrap().chars().next().unwrap_or('\0');
        assert_eq!(READER.characters[best], wanted, "{row}");
        assert!((f64::from(likelihood) - row[1].as_f64().unwrap()).abs() < 0.03, "{likelihood} {row}");
    }
}

/// The photo turned by so many quarters to the right.
fn turned(photo: &Photo, quarters: usize) -> Photo {
    let (width, height) = (photo.width() as usize, photo.height() as usize);
    if quarters == 0 {
        return photo.clone();
    }
    let pixels = photo.rgb().as_chunks::<3>().0;
    let rgb = (0..width * height).flat_map(|at| pixels[(height - 1 - at % height) * width + at / height]).collect();
    turned(&Photo::from_rgb(height as u32, width as u32, rgb).unwrap(), quarters - 1)
}

#[test]
fn a_sign_is_read_in_every_direction_with_any_number_of_threads() {
    let sign = fixture("reading/sign.png");
    for quarters in 0..4 {
        let photo = turned(&sign, quarters);
        let mut lines = READER.read(&photo);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert!(pool.install(|| READER.read(&photo)) == lines);
        lines.sort_by(|a, b| a.text.cmp(&b.text).reverse());
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["LEUKERBAD", "Gare du Nord"], "{quarters}");
        // The first corner is the upper left of the text: its place turns with the photo.
        let [x, y] = lines[0].corners[0];
        let (w, h) = (384.0, 224.0);
        let place = [[x, y], [y, h - x], [w - x, h - y], [w - y, x]][quarters];
        assert!(detect::distance(place, [28.0, 30.0]) < 16.0, "{quarters}: {place:?}");
        assert!(lines.iter().all(|line| line.confidence > 0.9));
    }
}

#[test]
fn hostile_pictures_are_read_without_harm() {
    let noise = |at: usize| (at.wrapping_mul(2_654_435_761) >> 13) as u8;
    for (width, height) in [(1, 1), (1, 300), (30_000, 2), (3, 9000), (500, 400)] {
        for pixel in [&|_| 255, &|at: usize| (at / 3 % 7 / 4 * 255) as u8, &noise] as [&dyn Fn(usize) -> u8; 3] {
            let photo =
                Photo::from_rgb(width, height, (0..3 * (width * height) as usize).map(pixel).collect()).unwrap();
            assert!(READER.read(&photo).len() <= MOST_LINES);
        }
    }
}

#[test]
fn damaged_models_are_refused() {
    let model = model();
    for length in [0, 7, 100, 9000, model.len() - 1] {
        assert!(TextReader::new(&model[..length]).is_err(), "{length}");
    }
    for (from, to) in [
        ("\\\"from\\\":[0]", "\\\"from\\\":[9]"),
        ("\\\"inputs\\\":3,", "\\\"inputs\\\":4,"),
        ("\"detect\"", "\"detach\""),
    ] {
        let mut changed = model.clone();
        let place = model.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        changed[place..place + to.len()].copy_from_slice(to.as_bytes());
        assert!(TextReader::new(&changed).is_err(), "{from}");
    }
}

//! Photos batch after batch, decoded by the device where it can, against the same photos one by one.

use crate::common::{cuda, fixtures, relative_error};
use locdiff_nn::Device;
use locdiff_vision::{Encoder, Photo, PhotoLimits, Prepared};
use std::fs;

/// Files of every kind, and some that fail.
fn files() -> Vec<(String, Vec<u8>)> {
    let names = fs::read_dir(fixtures("vision")).unwrap().map(|entry| entry.unwrap().path());
    let is_picture = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "jpg" || end == "png");
    let mut paths: Vec<_> = names.filter(is_picture).collect();
    paths.sort();
    let mut files: Vec<(String, Vec<u8>)> =
        paths.iter().map(|path| (path.display().to_string(), fs::read(path).unwrap())).collect();
    let china = files.iter().find(|(name, _)| name.ends_with("china.jpg")).unwrap().1.clone();
    files.push(("cut".to_owned(), china[..china.len() / 2].to_vec()));
    files.push(("none".to_owned(), b"holiday".to_vec()));
    files
}

/// A large file of so many pixels.
fn large(width: u32, height: u32) -> Vec<u8> {
    let value = |k: u32| ((k / 3 % width) / 9 + k % 3 * (k / width / 40)) as u8;
    let pixels: Vec<u8> = (0..width * height * 3).map(value).collect();
    let mut file = Vec::new();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 90);
    encoder.encode(&pixels, width, height, image::ExtendedColorType::Rgb8).unwrap();
    file
}

#[test]
fn as_one_by_one() {
    let (files, limits) = (files(), PhotoLimits::default());
    for (device, bound) in [Some((Device::cpu(), 0.0)), cuda().map(|device| (device, 1e-2))].into_iter().flatten() {
        for folder in ["whole", "tower"] {
            let encoder = Encoder::open_on(&fixtures("clip").join(folder), &device).unwrap();
            let prepare = |(name, contents): &(String, Vec<u8>)| encoder.prepare(contents.clone(), name, &limits);
            let prepared: Vec<_> = files.iter().cycle().take(300).map(prepare).collect();
            let good = prepared.into_iter().filter_map(Result::ok).map(|(photo, _)| photo).collect();
            let mut got = encoder.begin(good).unwrap().finish().unwrap().into_iter();
            for (name, contents) in files.iter().cycle().take(300) {
                let photo = match Photo::decode(contents, name, &limits) {
                    Ok(photo) => photo,
                    Err(error) => {
                        let refused = encoder.prepare(contents.clone(), name, &limits).unwrap_err();
                        assert_eq!(refused.to_string(), error.to_string());
                        continue;
                    }
                };
                let expected = encoder.embed(&[photo]).unwrap();
                let error = relative_error(&got.next().unwrap().unwrap(), expected[0].values());
                assert!(error <= bound, "{device}, {folder}, {name}: {error:e}");
            }
            assert!(got.next().is_none());
        }
    }
}

/// Without the network's own rounding to bf16, which is above that: what it sees of photos that the device decodes.
#[test]
fn pixels_of_the_device_are_those_of_the_cpu() {
    let Some(device) = cuda() else { return };
    let folder = fixtures("clip").join("whole");
    let (cpu, cuda) = (Encoder::open(&folder).unwrap(), Encoder::open_on(&folder, &device).unwrap());
    // Seen at a quarter and at a half.
    let sizes = [(2_056, 2_050), (1_100, 1_030)];
    let large = sizes.map(|(width, height)| (format!("{width} pixels"), large(width, height)));
    for (name, contents) in files().into_iter().chain(large) {
        let Ok(photo) = Photo::decode(&contents, &name, &PhotoLimits::default()) else { continue };
        let (prepared, _) = cuda.prepare(contents, &name, &PhotoLimits::default()).unwrap();
        cuda.begin(vec![prepared]).unwrap().finish().unwrap();
        let expected = cuda.preprocess(&photo).unwrap();
        let seen = cuda.last_pixels().unwrap();
        let [got, expected] =
            [&seen[..expected.len()], &expected].map(|pixels| cpu.embed_pixels(pixels).unwrap().concat());
        let error = relative_error(&got, &expected);
        println!("{name}: {error:.1e} relative");
        assert!(error < 5e-3, "{name}: {error:e}"); // bf16 pixels, and photos of few pixels
    }
}

#[test]
fn pixels_are_pictures_too() {
    let encoder = Encoder::open(&fixtures("clip").join("whole")).unwrap();
    let pixels = encoder.preprocess(&Photo::test_picture()).unwrap();
    let two = vec![Prepared::pixels(pixels.clone()), Prepared::pixels(pixels.clone())];
    let got: Vec<_> = encoder.begin(two).unwrap().finish().unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(got, encoder.embed_pixels(&[pixels.clone(), pixels].concat()).unwrap());
    assert!(encoder.begin(Vec::new()).unwrap().finish().unwrap().is_empty());
}

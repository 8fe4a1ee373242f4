//! Views of a photo: where their crops lie, how they are spread, and what they depend on.

use locdiff_vision::{Augmentation, Crop, Photo};

/// Dark on the left, bright on the right.
fn ramp(width: u32, height: u32) -> Photo {
    let row: Vec<u8> = (0..width).flat_map(|x| [(255 * x / width) as u8; 3]).collect();
    Photo::from_rgb(width, height, row.repeat(height as usize)).unwrap()
}

fn plain_colours() -> Augmentation {
    Augmentation { brightness: 0.0, contrast: 0.0, saturation: 0.0, ..Augmentation::default() }
}

#[test]
fn a_view_depends_on_seed_photo_and_number_alone() {
    let (augmentation, photo) = (Augmentation::default(), ramp(90, 60));
    assert_eq!(augmentation.view(&photo, 1, 2, 0).unwrap(), photo);
    let view = augmentation.view(&photo, 1, 2, 3).unwrap();
    for _ in 0..2 {
        for (seed, index, number) in [(2, 2, 3), (1, 3, 3), (1, 2, 4)] {
            assert_ne!(augmentation.view(&photo, seed, index, number).unwrap(), view);
        }
        assert_eq!(augmentation.view(&photo, 1, 2, 3).unwrap(), view);
    }
}

#[test]
fn crops_stay_inside_and_views_are_squares_of_them() {
    let augmentation = Augmentation { hue: 0.1, ..Augmentation::default() };
    for (width, height) in [(640, 427), (1, 1), (3, 200), (200, 3), (2, 2), (64, 64)] {
        let photo = ramp(width, height);
        for view in 1..60 {
            let crop = augmentation.crop(width, height, 5, 9, view);
            assert!(crop.width > 0 && crop.height > 0, "{crop:?}");
            assert!(crop.left + crop.width <= width && crop.top + crop.height <= height, "{crop:?}");
            let made = augmentation.view(&photo, 5, 9, view).unwrap();
            assert_eq!([made.width(), made.height()], [crop.width.min(crop.height); 2]);
        }
        assert_eq!(augmentation.crop(width, height, 5, 9, 0), Crop { left: 0, top: 0, width, height });
    }
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

/// Areas and logarithms of ratios are uniform, and so are places; the bounds are five standard errors.
#[test]
fn crops_are_spread_as_asked() {
    const N: u32 = 4000;
    const SIDE: u32 = 4000;
    // At most 0.5 of the area: no crop of an allowed ratio is refused, and the spread is that of the range.
    let augmentation = Augmentation { area: 0.1..=0.5, ..Augmentation::default() };
    let crops: Vec<Crop> = (1..=N).map(|view| augmentation.crop(SIDE, SIDE, 11, 0, view)).collect();
    let of = |value: fn(&Crop) -> f64| moments(&crops.iter().map(value).collect::<Vec<_>>());
    let side = f64::from(SIDE);
    let expected = [
        (of(|c| f64::from(c.width) * f64::from(c.height)), 0.1 * side * side, 0.5 * side * side),
        (of(|c| (f64::from(c.width) / f64::from(c.height)).ln()), 0.75_f64.ln(), (4.0_f64 / 3.0).ln()),
        (of(|c| f64::from(c.left) / f64::from(SIDE - c.width)), 0.0, 1.0),
        (of(|c| f64::from(c.top) / f64::from(SIDE - c.height)), 0.0, 1.0),
    ];
    for (k, ((mean, deviation), low, high)) in expected.into_iter().enumerate() {
        let uniform = (high - low) / 12.0_f64.sqrt();
        let error = 5.0 * uniform / f64::from(N).sqrt();
        assert!((mean - f64::midpoint(low, high)).abs() < error, "{k}: mean {mean}");
        assert!((deviation / uniform - 1.0).abs() < 0.05, "{k}: deviation {deviation} {uniform}");
    }
}

#[test]
fn a_thin_photo_gives_its_middle() {
    let augmentation = Augmentation { area: 0.9..=1.0, ..Augmentation::default() };
    for view in 1..20 {
        let crop = augmentation.crop(3000, 300, 0, 0, view);
        assert_eq!(crop, Crop { left: 1300, top: 0, width: 400, height: 300 });
    }
}

#[test]
fn nothing_is_mirrored_unless_asked() {
    let photo = ramp(200, 120);
    let mirrored = |augmentation: &Augmentation| {
        let view = |k| augmentation.view(&photo, 3, 0, k).unwrap();
        (1..=200).map(view).filter(|view| view.rgb()[0] > view.rgb()[view.rgb().len() - 3]).count()
    };
    assert_eq!(mirrored(&plain_colours()), 0);
    let count = mirrored(&Augmentation { mirror: true, ..plain_colours() });
    assert!((65..=135).contains(&count), "{count} of 200");
}

#[test]
fn colours_stay_within_their_ranges() {
    let grey = Photo::from_rgb(64, 64, vec![100; 3 * 64 * 64]).unwrap();
    let bright = Augmentation { brightness: 0.2, ..plain_colours() };
    let values: Vec<f64> = (1..=400).map(|k| f64::from(bright.view(&grey, 1, 0, k).unwrap().rgb()[0])).collect();
    assert!(values.iter().all(|value| (79.0..=120.0).contains(value)));
    let (mean, deviation) = moments(&values);
    assert!((mean - 99.5).abs() < 3.0 && (deviation - 40.0 / 12.0_f64.sqrt()).abs() < 1.5, "{mean} {deviation}");
    // Contrast and saturation leave a grey picture grey.
    let others = Augmentation { contrast: 0.5, saturation: 0.5, hue: 0.5, ..plain_colours() };
    assert!((1..50).all(|k| others.view(&grey, 1, 0, k).unwrap().rgb().iter().all(|&value| value == 100)));
}

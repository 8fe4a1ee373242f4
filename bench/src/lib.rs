//! Inputs that the benches share. The benches themselves, one file per area and one bench per hot function:
//!
//! ```text
//! cargo bench -p locdiff-bench                              all
//! cargo bench -p locdiff-bench --bench codec -- decode      one
//! LOCDIFF_DEGREES=47 RAYON_NUM_THREADS=1 cargo bench …      at one degree, on one thread
//! ```
//!
//! The rate of items in the first column (the fastest run: on a shared machine the noise is one-sided) is what
//! `bench/codec.py` compares with the peers.

use locdiff_shdd::{Codec, Coefficients, sphere::Degree, sphere::UnitVec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The degrees to time: those in `LOCDIFF_DEGREES`, or the default model's and the paper's.
pub fn degrees() -> Vec<usize> {
    let text = std::env::var("LOCDIFF_DEGREES").unwrap_or_else(|_| "23,47".to_owned());
    text.split(',').map(|degree| degree.parse().expect("LOCDIFF_DEGREES holds numbers")).collect()
}

/// The degree L.
pub fn degree(l: usize) -> Degree {
    Degree::new(l).expect("a degree from 1 to 511")
}

/// Random points, the same in every run.
pub fn points(count: usize) -> Vec<UnitVec> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..count).map(|_| UnitVec::random(&mut rng)).collect()
}

/// Codes of random points with the noise of the paper's drift table, variance 0.01.
pub fn noisy_codes(codec: &Codec, count: usize) -> Vec<Coefficients> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let uniform_of_that_variance = 0.1 * 3f64.sqrt();
    let mut noise = |y: f64| y + rng.random_range(-uniform_of_that_variance..uniform_of_that_variance);
    let mut code = |point: &UnitVec| codec.harmonics().at(*point).into_iter().map(&mut noise).collect();
    points(count).iter().map(|point| Coefficients::new(code(point)).expect("finite")).collect()
}

/// Numbers between −1 and 1, another row of them for each key.
pub fn numbers(count: usize, key: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(key);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// The examples in the crates' READMEs, run as tests of the documentation.
#[cfg(doctest)]
mod readmes {
    macro_rules! readme {
        ($($name:ident $file:literal)*) => {$(
            #[doc = include_str!($file)]
            struct $name;
        )*};
    }
    readme! {
        Base "../../crates/base/README.md"
        Shdd "../../crates/shdd/README.md"
        Nn "../../crates/nn/README.md"
        Map "../../crates/map/README.md"
        Io "../../crates/io/README.md"
        Vision "../../crates/vision/README.md"
        Model "../../crates/model/README.md"
        Retrieval "../../crates/retrieval/README.md"
        BundledEncoder "../../crates/bundled-encoder/README.md"
        BundledModel "../../crates/bundled-model/README.md"
        Locdiff "../../crates/locdiff/README.md"
    }
}

//! On the CPU a photo's embedding is the same to the last bit alone and in any batch, with any number of threads.

use crate::common::{fixture, fixtures};
use locdiff_vision::{Encoder, Photo, PhotoLimits};

fn threads(count: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap()
}

/// Photos of several sizes, no two alike.
fn photos(count: usize) -> Vec<Photo> {
    let made = |k: usize| {
        let (width, height) = (61 + 13 * k, 90 - k);
        let byte = |i: usize| ((i / 3 % width) * (3 + k) + (i / 3 / width) * 13 + i % 3 * 50) as u8;
        Photo::from_rgb(width as u32, height as u32, (0..3 * width * height).map(byte).collect()).unwrap()
    };
    let mut photos = vec![Photo::open(&fixture("china.jpg"), &PhotoLimits::default()).unwrap()];
    photos.extend((1..count).map(made));
    photos
}

fn bits(encoder: &Encoder, photos: &[Photo]) -> Vec<Vec<u32>> {
    let embeddings = encoder.embed(photos).unwrap();
    embeddings.iter().map(|one| one.values().iter().map(|value| value.to_bits()).collect()).collect()
}

/// The photos alone on one thread, then in batches of many sizes and orders on one, two and three threads.
fn has_the_same_bytes_everywhere(folder: &str) {
    let encoder = Encoder::open(&fixtures(folder)).unwrap();
    let photos = photos(11);
    let alone: Vec<Vec<u32>> =
        threads(1).install(|| photos.iter().flat_map(|photo| bits(&encoder, std::slice::from_ref(photo))).collect());
    for count in 1..=3 {
        threads(count).install(|| {
            for size in [1, 2, 5, 8, 11] {
                for start in [0, 4].into_iter().take(count) {
                    let order: Vec<usize> = (0..size).map(|i| (start + 7 * i) % photos.len()).collect();
                    let batch: Vec<Photo> = order.iter().map(|&i| photos[i].clone()).collect();
                    for (place, (got, &i)) in bits(&encoder, &batch).iter().zip(&order).enumerate() {
                        assert!(*got == alone[i], "{folder}: photo {i} at {place} of {size}, {count} threads");
                    }
                }
            }
            // More than the encoder takes at a time.
            let copies = vec![photos[1].clone(); 40];
            assert!(bits(&encoder, &copies).iter().all(|got| *got == alone[1]), "{folder}: 40 copies");
        });
    }
}

#[test]
fn efficientnet_lite() {
    has_the_same_bytes_everywhere("../models/streetview-lite2");
}

#[test]
fn vision_transformers() {
    has_the_same_bytes_everywhere("clip/whole");
    has_the_same_bytes_everywhere("clip/tower");
}

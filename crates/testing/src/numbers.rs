//! Numbers that are nearly equal.

/// `‖got − expected‖ / ‖expected‖`.
#[track_caller]
pub fn relative_error(got: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let square = |value: f32| f64::from(value).powi(2);
    let error: f64 = got.iter().zip(expected).map(|(g, e)| square(g - e)).sum();
    let norm: f64 = expected.iter().copied().map(square).sum();
    (error / norm).sqrt()
}

/// Little-endian bytes as f32.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect()
}

//! The number types that tensors in files have.

use half::{bf16, f16};

/// A type of floating-point numbers as files hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// IEEE half precision, 2 bytes.
    F16,
    /// The upper half of an f32, 2 bytes.
    Bf16,
    /// Single precision, 4 bytes.
    F32,
    /// Double precision, 8 bytes.
    F64,
}

impl Element {
    /// Bytes a number takes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The type's name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Turns big-endian numbers into little-endian ones, and back.
    pub fn swap_bytes(self, bytes: &mut [u8]) {
        bytes.chunks_exact_mut(self.bytes()).for_each(<[u8]>::reverse);
    }

    /// Little-endian numbers as f32, as many as both slices have.
    pub fn decode_f32(self, bytes: &[u8], out: &mut [f32]) {
        fn each<const N: usize>(bytes: &[u8], out: &mut [f32], value: impl Fn([u8; N]) -> f32) {
            for (out, &chunk) in out.iter_mut().zip(bytes.as_chunks::<N>().0) {
                *out = value(chunk);
            }
        }
        match self {
            Self::F16 => each(bytes, out, |b| f16::from_le_bytes(b).to_f32()),
            Self::Bf16 => each(bytes, out, |b| bf16::from_le_bytes(b).to_f32()),
            Self::F32 => each(bytes, out, f32::from_le_bytes),
            Self::F64 => each(bytes, out, |b| f64::from_le_bytes(b) as f32),
        }
    }

    /// All of the little-endian numbers as f32.
    pub fn to_f32(self, bytes: &[u8]) -> Vec<f32> {
        let mut values = vec![0.0; bytes.len() / self.bytes()];
        self.decode_f32(bytes, &mut values);
        values
    }

    /// Appends little-endian numbers as f64.
    pub fn decode_f64(self, bytes: &[u8], values: &mut Vec<f64>) {
        fn each<const N: usize>(bytes: &[u8], values: &mut Vec<f64>, value: impl Fn([u8; N]) -> f64) {
            values.extend(bytes.as_chunks::<N>().0.iter().map(|&chunk| value(chunk)));
        }
        match self {
            Self::F16 => each(bytes, values, |b| f16::from_le_bytes(b).to_f64()),
            Self::Bf16 => each(bytes, values, |b| bf16::from_le_bytes(b).to_f64()),
            Self::F32 => each(bytes, values, |b| f64::from(f32::from_le_bytes(b))),
            Self::F64 => each(bytes, values, f64::from_le_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_decodes_to_both() {
        let numbers = [
            (Element::F16, vec![0x00, 0x3c, 0x00, 0xc0]),
            (Element::Bf16, vec![0x80, 0x3f, 0x00, 0xc0]),
            (Element::F32, [1f32.to_le_bytes(), (-2f32).to_le_bytes()].concat()),
            (Element::F64, [1f64.to_le_bytes(), (-2f64).to_le_bytes()].concat()),
        ];
        for (element, bytes) in numbers {
            assert_eq!(bytes.len(), 2 * element.bytes());
            let (mut single, mut double) = ([0.0; 2], Vec::new());
            element.decode_f32(&bytes, &mut single);
            element.decode_f64(&bytes, &mut double);
            assert_eq!((single, double), ([1.0, -2.0], vec![1.0, -2.0]), "{}", element.name());
        }
    }
}

//! Binary arrays `[rows, columns]`: their layout, checked against the file, and their rows, read one at a time.

use crate::data::{DataError, Fingerprint, Format};
use half::f16;
use locdiff_base::Element;
use std::borrow::Cow;

/// The type in which a matrix is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// 2 bytes, 3 digits, up to 65504: enough for embeddings.
    F16,
    /// 4 bytes, 7 digits: what models use.
    F32,
    /// 8 bytes, 16 digits: exact.
    F64,
}

impl Dtype {
    /// `f16`, `f32` or `f64`.
    pub const fn name(self) -> &'static str {
        ["f16", "f32", "f64"][self as usize]
    }

    pub(crate) const fn bytes(self) -> u64 {
        2 << self as u64
    }

    /// Appends a value, little-endian.
    pub(crate) fn push(self, bytes: &mut Vec<u8>, value: f64) {
        match self {
            Self::F16 => bytes.extend_from_slice(&f16::from_f64(value).to_le_bytes()),
            Self::F32 => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
            Self::F64 => bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }

    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::F16 => f16::from_f64(value).is_finite(),
            Self::F32 => (value as f32).is_finite(),
            Self::F64 => value.is_finite(),
        }
    }
}

impl std::str::FromStr for Dtype {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        let found = [Self::F16, Self::F32, Self::F64].into_iter().find(|dtype| dtype.name() == name);
        found.ok_or_else(|| DataError::ElementType {
            file: "the output".to_owned(),
            dtype: locdiff_base::excerpt(name),
            remedy: "choose f16, f32 or f64",
        })
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Where an array lies in its file. Built only by [`ArrayLayout::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayLayout {
    pub(crate) rows: u64,
    pub(crate) columns: usize,
    pub(crate) element: Element,
    pub(crate) big_endian: bool,
    pub(crate) offset: u64,
    /// The encoder that the file's metadata names, where its values are embeddings.
    pub(crate) encoder: Option<Fingerprint>,
}

#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) shape: Vec<u64>,
    pub(crate) element: Element,
    pub(crate) big_endian: bool,
    pub(crate) offset: u64,
    /// How many bytes are there from `offset` on.
    pub(crate) available: u64,
}

impl ArrayLayout {
    /// Believes a claim if its shape is `[N, D]` (or `[D]`: one row) and takes exactly the bytes that are there.
    pub(crate) fn check(claim: Claim, file: &str, format: Format) -> Result<Self, DataError> {
        let Claim { shape, element, big_endian, offset, available } = claim;
        let file = file.to_owned();
        let (rows, columns) = match shape[..] {
            [_, 0] | [0] => return Err(DataError::Shape { file, shape, expected: "at least one column" }),
            [0, _] => return Err(DataError::NoRows { file }),
            [columns] => (1, columns),
            [rows, columns] => (rows, columns),
            _ => return Err(DataError::Shape { file, shape, expected: "[rows, columns]" }),
        };
        let needed = rows.checked_mul(columns).and_then(|count| count.checked_mul(element.bytes() as u64));
        if needed != Some(available) {
            let needed = needed.map_or_else(|| "more bytes than any file has".to_owned(), |n| format!("{n} bytes"));
            let reason = format!("shape {shape:?} of {} takes {needed}, but there are {available}", element.name());
            return Err(DataError::Header { file, format, reason });
        }
        Ok(Self { rows, columns: columns as usize, element, big_endian, offset, encoder: None })
    }

    /// Where the array begins in its file, and how many bytes it takes.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.offset, self.rows * self.row_bytes() as u64)
    }

    pub(crate) fn row_bytes(&self) -> usize {
        self.columns * self.element.bytes()
    }

    pub(crate) fn decode_f32(&self, row: &[u8], out: &mut [f32]) {
        let mut row = Cow::from(row);
        if self.big_endian {
            self.element.swap_bytes(row.to_mut());
        }
        self.element.decode_f32(&row, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: &[u64], available: u64) -> Result<ArrayLayout, String> {
        let claim = Claim { shape: shape.to_vec(), element: Element::F32, big_endian: false, offset: 8, available };
        ArrayLayout::check(claim, "x.npy", Format::Npy).map_err(|error| error.to_string())
    }

    #[test]
    fn claims_must_match_the_bytes() {
        assert_eq!(check(&[3, 2], 24).map(|layout| (layout.rows, layout.columns)), Ok((3, 2)));
        assert_eq!(check(&[6], 24).map(|layout| (layout.rows, layout.columns)), Ok((1, 6)));
        for (shape, part) in [
            (&[3, 3][..], "takes 36 bytes, but there are 24"),
            (&[1, 2], "takes 8 bytes, but there are 24"),
            (&[u64::MAX, 2], "more bytes than any file has"),
            (&[1 << 40, 1 << 22], "more bytes than any file has"),
            (&[0, 2], "no rows"),
            (&[12, 0], "at least one column"),
            (&[], "[rows, columns]"),
            (&[1, 3, 2], "shape [1, 3, 2]"),
        ] {
            let message = check(shape, 24).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn dtypes_have_names() {
        for dtype in [Dtype::F32, Dtype::F64] {
            assert_eq!(dtype.to_string().parse::<Dtype>().unwrap(), dtype);
        }
        assert!("f8".parse::<Dtype>().unwrap_err().to_string().contains("choose f16, f32 or f64"));
        assert!(Dtype::F64.holds(1e300) && !Dtype::F32.holds(1e300));
    }
}

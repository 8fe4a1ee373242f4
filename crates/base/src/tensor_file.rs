//! Safetensors files, read tensor by tensor: <https://github.com/huggingface/safetensors#format>.

use crate::{Element, ensure, excerpt};
use safetensors::{Dtype, tensor::Metadata};
use std::{collections::HashMap, io, io::Read, io::Seek, io::SeekFrom};

/// Bytes before the header: its length.
const LENGTH_BYTES: u64 = 8;
/// The reference implementation's limit.
const LONGEST_HEADER: u64 = 100_000_000;

/// Why a safetensors file cannot be read. The file's name and the remedy are the caller's to add.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the errors passed on are named by their types")]
pub enum TensorFileError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("{0}")]
    Unsound(String),
    #[error("{0}")]
    NotFloat(Dtype),
}

/// The header of a safetensors file, believed only after it agrees with the file's size: every tensor takes the bytes
/// that its shape and type need, the tensors follow one another without a gap, and the last ends where the file does.
#[derive(Debug, Clone)]
pub struct TensorHeader {
    metadata: Metadata,
    /// Where the tensors begin.
    start: u64,
}

/// A tensor in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorPlace {
    /// The type as the file names it.
    pub dtype: Dtype,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Where its bytes begin in the file.
    pub offset: u64,
    /// How many there are.
    pub bytes: u64,
}

impl TensorPlace {
    /// The type, where it is one of floating-point numbers; else its name. Fails with [`TensorFileError::NotFloat`].
    pub fn element(&self) -> Result<Element, TensorFileError> {
        match self.dtype {
            Dtype::F16 => Ok(Element::F16),
            Dtype::BF16 => Ok(Element::Bf16),
            Dtype::F32 => Ok(Element::F32),
            Dtype::F64 => Ok(Element::F64),
            other => Err(TensorFileError::NotFloat(other)),
        }
    }
}

impl TensorHeader {
    /// Reads the header at the start of a file of so many bytes. The memory taken grows with what is there, never with
    /// what a header claims. Fails if reading fails, or the header is unsound.
    pub fn read(mut input: impl Read, file_bytes: u64) -> Result<Self, TensorFileError> {
        let unsound = |reason: String| TensorFileError::Unsound(reason);
        let mut take = |count: u64| {
            let mut bytes = Vec::new();
            input.by_ref().take(count).read_to_end(&mut bytes)?;
            let whole = bytes.len() as u64 == count;
            if whole { Ok(bytes) } else { Err(unsound("it ends inside its header".to_owned())) }
        };
        let length = take(LENGTH_BYTES)?;
        let length = length.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        if length > LONGEST_HEADER || length > file_bytes.saturating_sub(LENGTH_BYTES) {
            return Err(unsound(format!("its header claims {length} bytes of {file_bytes}")));
        }
        // This checks that the tensors lie one after another, each as long as its shape says.
        let metadata: Metadata = serde_json::from_slice(&take(length)?).map_err(|error| {
            unsound(format!("its header is not a list of tensors ({})", excerpt(&error.to_string())))
        })?;
        let start = LENGTH_BYTES + length;
        let (wanted, there) = (metadata.data_len() as u64, file_bytes - start);
        ensure!(wanted == there, unsound(format!("its tensors take {wanted} bytes, but there are {there}")));
        Ok(Self { metadata, start })
    }

    /// The tensors' names, in the order of the alphabet.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.metadata.offset_keys();
        names.sort_unstable();
        names
    }

    /// The tensor of a name.
    pub fn find(&self, name: &str) -> Option<TensorPlace> {
        let info = self.metadata.info(name)?;
        let (from, to) = (info.data_offsets.0 as u64, info.data_offsets.1 as u64);
        Some(TensorPlace { dtype: info.dtype, shape: info.shape.clone(), offset: self.start + from, bytes: to - from })
    }

    /// The texts that the file carries beside its tensors.
    pub fn texts(&self) -> HashMap<String, String> {
        self.metadata.metadata().clone().unwrap_or_default()
    }
}

/// A safetensors file whose tensors are read one by one, where they lie: one that is not asked for never enters memory.
#[derive(Debug)]
pub struct TensorFile<R> {
    input: R,
    header: TensorHeader,
}

impl<R: Read + Seek> TensorFile<R> {
    /// Reads the header of a file of so many bytes. Fails as [`TensorHeader::read`] does.
    pub fn new(mut input: R, file_bytes: u64) -> Result<Self, TensorFileError> {
        let header = TensorHeader::read(&mut input, file_bytes)?;
        Ok(Self { input, header })
    }

    /// What the file holds.
    pub fn header(&self) -> &TensorHeader {
        &self.header
    }

    /// The bytes of a tensor of this file. Fails if reading fails.
    pub fn bytes(&mut self, place: &TensorPlace) -> Result<Vec<u8>, TensorFileError> {
        self.input.seek(SeekFrom::Start(place.offset))?;
        let mut bytes = vec![0; place.bytes as usize]; // the header agrees with the file's size
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The values of a tensor of this file. Fails if reading fails, or they are no floating-point numbers.
    pub fn values(&mut self, place: &TensorPlace) -> Result<Vec<f32>, TensorFileError> {
        let element = place.element()?;
        Ok(element.to_f32(&self.bytes(place)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(json: &str, data_bytes: usize) -> Vec<u8> {
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(json.as_bytes());
        bytes.resize(bytes.len() + data_bytes, 0);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<TensorHeader, String> {
        TensorHeader::read(bytes, bytes.len() as u64).map_err(|error| error.to_string())
    }

    const TWO: &str = r#"{"__metadata__":{"made":"by hand"},"b":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},
        "a":{"dtype":"I64","shape":[3],"data_offsets":[24,48]}}"#;

    #[test]
    fn tensors_and_texts_are_found() {
        let header = read(&file(TWO, 48)).unwrap();
        assert_eq!(header.names(), ["a", "b"]);
        assert_eq!(header.texts()["made"], "by hand");
        let b = header.find("b").unwrap();
        assert_eq!((b.shape, b.bytes, b.offset), (vec![3, 2], 24, 8 + TWO.len() as u64));
        assert_eq!(header.find("a").unwrap().element().unwrap_err().to_string(), "I64");
        assert!(header.find("c").is_none());
        let mut bytes = file(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, 0);
        bytes.extend_from_slice(&[1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat());
        let mut file = TensorFile::new(io::Cursor::new(&bytes), bytes.len() as u64).unwrap();
        let place = file.header().find("a").unwrap();
        assert_eq!((place.shape.as_slice(), file.values(&place).unwrap()), (&[2][..], vec![1.5, -2.0]));
    }

    #[test]
    fn every_truncation_is_an_error() {
        let whole = file(TWO, 48);
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        let message = read(&[&whole[..], b"x"].concat()).unwrap_err();
        assert!(message.contains("take 48 bytes, but there are 49"), "{message}");
    }

    #[test]
    fn hostile_headers_are_errors() {
        let info = |shape: &str, offsets: &str| {
            file(&format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#), 24)
        };
        for (bytes, part) in [
            (b"\xff\xff\xff\xff\xff\xff\xff\xff{}".to_vec(), "claims 18446744073709551615 bytes"),
            (b"\xff\xff\xff\x00\x00\x00\x00\x00{}".to_vec(), "claims 16777215 bytes of 10"),
            (file("[1]", 0), "not a list of tensors"),
            (file("{\"a\":1}", 0), "not a list of tensors"),
            (info("[3,2]", "[24,0]"), "invalid offset for tensor `a`"),
            (info("[3,2]", "[8,24]"), "invalid offset for tensor `a`"),
            (info("[3,2]", "[0,18446744073709551615]"), "invalid shape, data type, or offset"),
            (info("[9223372036854775807,9]", "[0,24]"), "overflow"),
            (info("[-3,2]", "[0,24]"), "not a list of tensors"),
        ] {
            let message = read(&bytes).unwrap_err();
            assert!(message.contains(part) && !message.contains('\n'), "{message}");
        }
    }
}

//! The header of safetensors files: 8 bytes of length, then JSON: <https://github.com/huggingface/safetensors#format>.

use crate::array::{ArrayLayout, Claim, Dtype, Element};
use crate::error::{excerpt, list_names};
use crate::header::{Header, TensorChoice};
use crate::{DataError, Fingerprint};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The reference implementation's limit.
const LONGEST_HEADER: u64 = 100_000_000;
/// Free text about the file, by key.
const METADATA: &str = "__metadata__";
/// The metadata's key of the encoder that made the embeddings in the file.
const ENCODER: &str = "encoder";

#[derive(Deserialize)]
struct TensorInfo {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// Reads the header and checks the tensor chosen.
pub(crate) fn read_header(
    mut header: Header<'_>,
    choice: TensorChoice<'_>,
) -> Result<ArrayLayout, DataError> {
    let file_bytes = header.file_bytes;
    let header_bytes = header.number(8)?;
    if header_bytes > LONGEST_HEADER || header_bytes > file_bytes.saturating_sub(8) {
        return Err(header.unsound(format!("its header claims {header_bytes} bytes of {file_bytes}")));
    }
    let (tensors, encoder) = parse(&header.take(header_bytes)?).map_err(|error| {
        header.unsound(format!("its header is not a list of tensors ({})", excerpt(&error.to_string())))
    })?;
    let offset = 8 + header_bytes;
    let data_bytes = file_bytes - offset;
    let end = tensors.values().map(|tensor| tensor.data_offsets.1).max().unwrap_or(0);
    if end != data_bytes {
        return Err(header.unsound(format!("its tensors take {end} bytes, but there are {data_bytes}")));
    }
    let tensor = choose(&tensors, header.file, choice)?;
    let element = match tensor.dtype.as_str() {
        "F16" => Element::F16,
        "BF16" => Element::Bf16,
        "F32" => Element::F32,
        "F64" => Element::F64,
        other => {
            return Err(DataError::ElementType {
                file: header.file.to_owned(),
                dtype: excerpt(other),
                remedy: "save the tensor as float32",
            });
        }
    };
    let (begin, end) = tensor.data_offsets;
    let available = end
        .checked_sub(begin)
        .ok_or_else(|| header.unsound(format!("a tensor runs from byte {begin} to byte {end}")))?;
    let claim =
        Claim { shape: tensor.shape.clone(), element, big_endian: false, offset: offset + begin, available };
    let mut layout = ArrayLayout::check(claim, header.file, header.format)?;
    layout.encoder = encoder;
    Ok(layout)
}

type Tensors = BTreeMap<String, TensorInfo>;

/// The tensors by name, and the encoder that the metadata name. Metadata are free text: one of that key that is no
/// fingerprint is somebody else's, and no error.
fn parse(json: &[u8]) -> serde_json::Result<(Tensors, Option<Fingerprint>)> {
    let mut entries: BTreeMap<String, serde_json::Value> = serde_json::from_slice(json)?;
    let metadata = entries.remove(METADATA).unwrap_or_default();
    let encoder = metadata.get(ENCODER).and_then(|text| text.as_str()?.parse().ok());
    let tensors = entries.into_iter().map(|(name, entry)| Ok((name, serde_json::from_value(entry)?)));
    Ok((tensors.collect::<serde_json::Result<_>>()?, encoder))
}

fn choose<'a>(
    tensors: &'a BTreeMap<String, TensorInfo>,
    file: &str,
    TensorChoice { given, preferred }: TensorChoice<'_>,
) -> Result<&'a TensorInfo, DataError> {
    let by_name = tensors.get(given.unwrap_or(preferred));
    let only = || tensors.values().next().filter(|_| given.is_none() && tensors.len() == 1);
    by_name.or_else(only).ok_or_else(|| DataError::MissingTensor {
        file: file.to_owned(),
        wanted: given.map_or_else(
            || format!("it has {} tensors and none is called '{preferred}'", tensors.len()),
            |name| format!("it has no tensor '{}'", excerpt(name)),
        ),
        available: list_names(tensors.keys().map(String::as_str)),
    })
}

/// A tensor to be written.
pub(crate) struct OutputTensor<'a> {
    pub(crate) name: &'a str,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
}

impl OutputTensor<'_> {
    fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.dtype.bytes()
    }
}

/// A header for tensors that follow one another, padded with blanks to a length that depends on their names and
/// number and on the encoder only: it can be written again when the number of rows is known. The data begin at a multiple
/// of 8.
pub(crate) fn header_bytes(tensors: &[OutputTensor], encoder: Option<&Fingerprint>) -> Vec<u8> {
    /// Longest decimal of a u64.
    const DIGITS: usize = 20;
    let mut begin = 0;
    let mut spare = 0;
    let metadata = encoder
        .map(|encoder| format!("\"{METADATA}\":{}", serde_json::json!({ENCODER: encoder.to_string()})));
    let tensors = tensors.iter().map(|tensor| {
        let numbers = [begin, begin + tensor.bytes()].into_iter().chain(tensor.shape.iter().copied());
        spare += numbers.map(|number| DIGITS - number.to_string().len()).sum::<usize>();
        let end = begin + tensor.bytes();
        let name = serde_json::Value::from(tensor.name);
        let dtype = tensor.dtype.name().to_ascii_uppercase();
        let shape = serde_json::Value::from(tensor.shape.clone());
        let entry = format!(r#"{name}:{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}"#);
        begin = end;
        entry
    });
    let entries: Vec<String> = metadata.into_iter().chain(tensors).collect();
    let text = format!("{{{}}}", entries.join(","));
    let length = (8 + text.len() + spare).next_multiple_of(8);
    let mut bytes = ((length - 8) as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(length, b' ');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::header::open_array;
    use std::io::Cursor;

    fn read(bytes: &[u8], given: Option<&str>) -> Result<ArrayLayout, String> {
        let choice = TensorChoice { given, preferred: "points" };
        let input = Box::new(Cursor::new(bytes.to_vec()));
        let reader = open_array(input, bytes.len() as u64, "x.safetensors", Format::Safetensors, choice);
        reader.map(|reader| reader.layout().clone()).map_err(|error| error.to_string())
    }

    fn file(json: &str, data_bytes: usize) -> Vec<u8> {
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(json.as_bytes());
        bytes.resize(bytes.len() + data_bytes, 0);
        bytes
    }

    const ONE: &str =
        r#"{"__metadata__":{"made":"by hand"},"a":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}"#;
    const TWO: &str = r#"{"a":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},
        "b":{"dtype":"I64","shape":[3],"data_offsets":[24,48]}}"#;

    #[test]
    fn tensors_are_chosen_by_name_or_when_alone() {
        assert!(read(&file(ONE, 24), None).is_ok());
        assert!(read(&file(ONE, 24), Some("a")).is_ok());
        assert!(read(&file(TWO, 48), Some("a")).is_ok());
        assert!(read(&file(&TWO.replace("\"a\"", "\"points\""), 48), None).is_ok());
        for (json, bytes, given, part) in [
            (ONE, 24, Some("z"), "it has no tensor 'z': its tensors are 'a'; name the tensor"),
            (TWO, 48, None, "it has 2 tensors and none is called 'points': its tensors are 'a', 'b'"),
            (TWO, 48, Some("b"), "type 'I64' cannot be read: save the tensor as float32"),
            ("{}", 0, None, "it has 0 tensors"),
        ] {
            let message = read(&file(json, bytes), given).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        let whole = file(ONE, 24);
        for length in 0..whole.len() {
            assert!(read(&whole[..length], None).is_err(), "{length}");
        }
        assert!(
            read(&[&whole[..], b"x"].concat(), None).unwrap_err().contains("take 24 bytes, but there are 25")
        );
    }

    #[test]
    fn hostile_headers_are_errors() {
        let info = |shape: &str, offsets: &str| {
            file(&format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#), 24)
        };
        for (bytes, part) in [
            (Vec::new(), "is empty"),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff{}".to_vec(), "claims 18446744073709551615 bytes"),
            (b"\xff\xff\xff\x00\x00\x00\x00\x00{}".to_vec(), "claims 16777215 bytes of 10"),
            (file("[1]", 0), "not a list of tensors"),
            (file("{\"a\":1}", 0), "not a list of tensors"),
            (info("[3,2]", "[24,0]"), "take 0 bytes, but there are 24"),
            (info("[3,2]", "[30,24]"), "from byte 30 to byte 24"),
            (info("[3,2]", "[8,24]"), "takes 24 bytes, but there are 16"),
            (info("[3,2]", "[0,18446744073709551615]"), "take 18446744073709551615 bytes"),
            (info("[9223372036854775807,9]", "[0,24]"), "more bytes than any file has"),
            (info("[-3,2]", "[0,24]"), "not a list of tensors"),
            (info("[2,3,1]", "[0,24]"), "shape [2, 3, 1]"),
        ] {
            let message = read(&bytes, None).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn written_headers_are_aligned_and_keep_their_length() {
        let encoder = Some(Fingerprint::new("a \"b\"", 3));
        let header = |rows: u64| {
            let points = OutputTensor { name: "po\"ints", dtype: Dtype::F64, shape: vec![rows, 2] };
            header_bytes(
                &[points, OutputTensor { name: "z", dtype: Dtype::F32, shape: vec![rows] }],
                encoder.as_ref(),
            )
        };
        assert_eq!(header(1).len(), header(u64::MAX / 64).len());
        assert_eq!(header(1).len() % 8, 0);
        let whole = [header(3), vec![0; 60]].concat();
        let layout = read(&whole, Some("po\"ints")).unwrap();
        assert_eq!((layout.rows, layout.encoder), (3, encoder));
        let other = file(&ONE.replace("made", "encoder"), 24);
        assert_eq!(read(&other, None).unwrap().encoder, None);
        assert!(safetensors::SafeTensors::deserialize(&whole).is_ok());
    }
}

//! The header of safetensors files: 8 bytes of length, then JSON: <https://github.com/huggingface/safetensors#format>.

use crate::data::array::{ArrayLayout, Claim, Dtype};
use crate::data::{DataError, Fingerprint, Format, Result, error::list_names, input::Header, input::Input, npy};
use locdiff_base::{TensorFileError, TensorHeader, TensorPlace, excerpt};
use std::path::Path;

const METADATA: &str = "__metadata__";
/// The metadata's key of the encoder that made the embeddings in the file.
const ENCODER: &str = "encoder";

/// The names of a safetensors file's tensors, sorted. Fails for a file that cannot be read or whose header is unsound.
pub fn tensor_names(path: &Path) -> Result<Vec<String>, DataError> {
    let format = Format::Safetensors;
    let (input, _, file) = Input::open(path, Some(format))?;
    let Input::Binary(mut input, bytes) = input else { return Ok(Vec::new()) };
    let tensors = TensorHeader::read(&mut input, bytes).map_err(|error| match error {
        TensorFileError::Read(source) => DataError::read(&file, source),
        error => DataError::Header { file, format, reason: error.to_string() },
    })?;
    Ok(tensors.names())
}

/// Which tensor of a safetensors file to read: the one that is called `given`; or else the one that is called
/// `preferred`; or else the only one.
#[derive(Clone, Copy)]
pub(crate) struct TensorChoice<'a> {
    pub(crate) given: Option<&'a str>,
    pub(crate) preferred: &'a str,
}

pub(crate) fn read_header(header: Header<'_>, choice: TensorChoice<'_>) -> Result<ArrayLayout, DataError> {
    let Header { input, file_bytes, file, format } = header;
    let failed = |error| match error {
        TensorFileError::Read(source) => DataError::read(file, source),
        TensorFileError::Unsound(reason) => DataError::Header { file: file.to_owned(), format, reason },
        TensorFileError::NotFloat(dtype) => {
            let (file, remedy) = (file.to_owned(), "save the tensor as float32");
            DataError::ElementType { file, dtype: dtype.to_string(), remedy }
        }
    };
    let tensors = TensorHeader::read(input, file_bytes).map_err(failed)?;
    let tensor = choose(&tensors, file, choice)?;
    let claim = Claim {
        shape: tensor.shape.iter().map(|&side| side as u64).collect(),
        element: tensor.element().map_err(failed)?,
        big_endian: false,
        offset: tensor.offset,
        available: tensor.bytes,
    };
    let mut layout = ArrayLayout::check(claim, file, format)?;
    // Metadata are free text: one of that key that is no fingerprint is somebody else's, and no error.
    layout.encoder = tensors.texts().get(ENCODER).and_then(|text| text.parse().ok());
    Ok(layout)
}

fn choose(tensors: &TensorHeader, file: &str, choice: TensorChoice<'_>) -> Result<TensorPlace> {
    let (TensorChoice { given, preferred }, names) = (choice, tensors.names());
    let only = || names.first().filter(|_| given.is_none() && names.len() == 1);
    let by_name = tensors.find(given.unwrap_or(preferred));
    by_name.or_else(|| tensors.find(only()?)).ok_or_else(|| {
        let wanted = match given {
            Some(name) => format!("it has no tensor '{}'", excerpt(name)),
            None => format!("it has {} tensors and none is called '{preferred}'", names.len()),
        };
        let available = list_names(names.iter().map(String::as_str));
        DataError::MissingTensor { file: file.to_owned(), wanted, available }
    })
}

pub(crate) struct OutputTensor<'a> {
    pub(crate) name: &'a str,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
}

/// The header of a binary file with these tensors, of which a `.npy` file takes the first; text has none. Its length does not
/// depend on the number of rows: it can be written again when that is known.
pub(crate) fn file_header(format: Format, tensors: &[OutputTensor], encoder: Option<&Fingerprint>) -> Option<Vec<u8>> {
    match (format, tensors) {
        (Format::Npy, [OutputTensor { dtype, shape, .. }, ..]) => Some(npy::header_bytes(*dtype, shape[0], shape[1])),
        (Format::Safetensors, _) => Some(header_bytes(tensors, encoder)),
        _ => None,
    }
}

/// A header for tensors that follow one another, padded with blanks to a length that depends on their names and number
/// and on the encoder only. The data begin at a multiple of 8.
fn header_bytes(tensors: &[OutputTensor], encoder: Option<&Fingerprint>) -> Vec<u8> {
    const DIGITS: usize = 20;
    let mut begin = 0;
    let mut spare = 0;
    let metadata =
        encoder.map(|encoder| format!("\"{METADATA}\":{}", serde_json::json!({ENCODER: encoder.to_string()})));
    let tensors = tensors.iter().map(|tensor| {
        let end = begin + tensor.shape.iter().product::<u64>() * tensor.dtype.bytes();
        let numbers = [begin, end].into_iter().chain(tensor.shape.iter().copied());
        spare += numbers.map(|number| DIGITS - number.to_string().len()).sum::<usize>();
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
    let mut bytes = [&((length - 8) as u64).to_le_bytes(), text.as_bytes()].concat();
    bytes.resize(length, b' ');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], given: Option<&str>) -> Result<ArrayLayout, String> {
        let choice = TensorChoice { given, preferred: "points" };
        let mut input = bytes;
        let header = Header::new(&mut input, bytes.len() as u64, "x.safetensors", Format::Safetensors);
        header.and_then(|header| read_header(header, choice)).map_err(|error| error.to_string())
    }

    fn file(json: &str, data_bytes: usize) -> Vec<u8> {
        [&(json.len() as u64).to_le_bytes(), json.as_bytes(), &vec![0; data_bytes]].concat()
    }

    const ONE: &str = r#"{"__metadata__":{"made":"by hand"},"a":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}"#;
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
    fn hostile_headers_are_errors_that_name_the_file() {
        let info = |shape: &str, offsets: &str| {
            file(&format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#), 24)
        };
        for (bytes, part) in [
            (Vec::new(), "x.safetensors is empty"),
            (
                b"\xff\xff\xff\x00\x00\x00\x00\x00{}".to_vec(),
                "x.safetensors is not a valid safetensors file: its header claims 16777215 bytes of 10; save it again",
            ),
            (info("[3,2]", "[8,24]"), "x.safetensors is not a valid safetensors file: its header is not"),
            (info("[2,3,1]", "[0,24]"), "x.safetensors: the array has shape [2, 3, 1]"),
        ] {
            let message = read(&bytes, None).unwrap_err();
            assert!(message.starts_with(part), "{message}");
        }
    }

    #[test]
    fn written_headers_are_aligned_and_keep_their_length() {
        let encoder = Some(Fingerprint::new("a \"b\"", 3));
        let header = |rows: u64| {
            let points = OutputTensor { name: "po\"ints", dtype: Dtype::F64, shape: vec![rows, 2] };
            header_bytes(&[points, OutputTensor { name: "z", dtype: Dtype::F32, shape: vec![rows] }], encoder.as_ref())
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

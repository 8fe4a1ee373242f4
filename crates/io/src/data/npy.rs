//! The header of `NumPy`'s `.npy` files: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use crate::{data::DataError, data::array::ArrayLayout, data::array::Claim, data::array::Dtype, data::input::Header};
use locdiff_base::{Element, ensure, excerpt};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// `NumPy` itself refuses to parse headers above 10,000 bytes.
const LONGEST_HEADER: u64 = 65_535;
/// Length of the headers written here: room for any two 64-bit sizes, a multiple of 64 as the format asks.
const WRITTEN_HEADER: usize = 128;

pub(crate) fn read_header(mut header: Header<'_>) -> Result<ArrayLayout, DataError> {
    let start = header.take(8)?;
    ensure!(&start[..6] == MAGIC, header.unsound("it does not begin with '\\x93NUMPY'"));
    let length_bytes = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => return Err(header.unsound(format!("version {version} is not 1, 2 or 3"))),
    };
    let text_bytes = header.number(length_bytes)?;
    let offset = 8 + length_bytes + text_bytes;
    if text_bytes > LONGEST_HEADER || offset > header.file_bytes {
        return Err(header.unsound(format!("its header claims {text_bytes} bytes")));
    }
    let text = header.take(text_bytes)?;
    let text = std::str::from_utf8(&text).map_err(|_| header.unsound("its header is not text"))?;
    let array = Literal::parse(text).ok_or_else(|| {
        header.unsound(format!("its header '{}' is not a description of an array", excerpt(text.trim())))
    })?;
    let (element, big_endian) = element(&array.descr).ok_or_else(|| DataError::ElementType {
        file: header.file.to_owned(),
        dtype: excerpt(&array.descr),
        remedy: "save the array with .astype('float32')",
    })?;
    // With one row or one column both orders are the same.
    if array.fortran_order && array.shape.iter().filter(|&&size| size > 1).count() > 1 {
        let reason = "its rows are interleaved (Fortran order): save np.ascontiguousarray(array)";
        return Err(header.unsound(reason));
    }
    let claim = Claim { shape: array.shape, element, big_endian, offset, available: header.file_bytes - offset };
    ArrayLayout::check(claim, header.file, header.format)
}

/// The type of a description, and whether it is big-endian.
fn element(descr: &str) -> Option<(Element, bool)> {
    let (order, kind) = descr.split_at_checked(1)?;
    let kinds = [("f2", Element::F16), ("f4", Element::F32), ("f8", Element::F64)];
    let orders = [("<", false), (">", true), ("=", cfg!(target_endian = "big")), ("|", cfg!(target_endian = "big"))];
    let (_, element) = kinds.into_iter().find(|(name, _)| *name == kind)?;
    orders.into_iter().find(|(sign, _)| *sign == order).map(|(_, big_endian)| (element, big_endian))
}

/// The header of a C-ordered little-endian array, always of the same length, so that it can be written again when
/// the number of rows is known.
pub(crate) fn header_bytes(dtype: Dtype, rows: u64, columns: u64) -> Vec<u8> {
    let width = dtype.bytes();
    let text = format!("{{'descr': '<f{width}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let text_bytes = WRITTEN_HEADER - MAGIC.len() - 4;
    let text = format!("{text:<width$}\n", width = text_bytes - 1);
    [MAGIC, &[1, 0][..], &(text_bytes as u16).to_le_bytes(), text.as_bytes()].concat()
}

/// The Python literal in a header: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`.
#[derive(Debug, PartialEq, Eq)]
struct Literal {
    descr: String,
    fortran_order: bool,
    shape: Vec<u64>,
}

impl Literal {
    fn parse(text: &str) -> Option<Self> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut rest = eat(text, "{")?;
        loop {
            if let Some(end) = eat(rest, "}") {
                let whole = Self { descr: descr?, fortran_order: fortran_order?, shape: shape? };
                return end.trim_matches([' ', '\t', '\n', '\0']).is_empty().then_some(whole);
            }
            let (key, after) = string(rest)?;
            rest = eat(after, ":")?;
            match key {
                "descr" => {
                    let value;
                    (value, rest) = description(rest)?;
                    descr = Some(value.to_owned());
                }
                "fortran_order" => {
                    let truth = eat(rest, "True");
                    fortran_order = Some(truth.is_some());
                    rest = truth.or_else(|| eat(rest, "False"))?;
                }
                "shape" => {
                    let value;
                    (value, rest) = tuple(rest)?;
                    shape = Some(value);
                }
                _ => return None,
            }
            rest = match eat(rest, ",") {
                Some(after) => after,
                None if rest.trim_start().starts_with('}') => rest,
                None => return None,
            };
        }
    }
}

/// The text after `token`, blanks skipped.
fn eat<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    text.trim_start().strip_prefix(token)
}

/// A quoted string without escapes, and the text after it.
fn string(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|&c| c == '\'' || c == '"')?;
    text[1..].split_once(quote)
}

/// A type description: a string, or a list of fields, which is kept as text to name it in a message.
fn description(text: &str) -> Option<(&str, &str)> {
    if eat(text, "[").is_none() {
        return string(text);
    }
    let text = text.trim_start();
    let end = text.find(']')? + 1;
    Some(text.split_at(end))
}

/// A tuple of sizes, and the text after it.
fn tuple(text: &str) -> Option<(Vec<u64>, &str)> {
    let (inside, after) = eat(text, "(")?.split_once(')')?;
    let mut sizes: Vec<&str> = inside.split(',').map(str::trim).collect();
    if sizes.last().is_some_and(|last| last.is_empty()) {
        sizes.pop(); // "(3,)" and "()"
    }
    let sizes = sizes.iter().map(|size| size.strip_suffix('L').unwrap_or(size).parse().ok());
    Some((sizes.collect::<Option<_>>()?, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Format;

    fn read(bytes: &[u8]) -> Result<ArrayLayout, String> {
        let mut input = bytes;
        let header = Header::new(&mut input, bytes.len() as u64, "x.npy", Format::Npy);
        header.and_then(read_header).map_err(|error| error.to_string())
    }

    fn file(descr: &str, order: &str, shape: &str, data_bytes: usize) -> Vec<u8> {
        let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = (text.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes(), &vec![0; data_bytes]].concat()
    }

    #[test]
    fn written_headers_read_back_at_any_size() {
        for rows in [1, 99, u64::MAX / 16] {
            let bytes = header_bytes(Dtype::F64, rows, 1);
            assert_eq!((bytes.len(), bytes[127]), (WRITTEN_HEADER, b'\n'));
            let text = std::str::from_utf8(&bytes[10..]).unwrap();
            assert_eq!(Literal::parse(text).unwrap().shape, [rows, 1]);
        }
        assert_eq!(header_bytes(Dtype::F32, u64::MAX, u64::MAX).len(), WRITTEN_HEADER);
    }

    #[test]
    fn types_orders_and_shapes() {
        for (descr, bytes) in [("'<f2'", 12), ("'<f4'", 24), ("'>f8'", 48), ("\"|f8\"", 48)] {
            assert!(read(&file(descr, "False", "(3, 2)", bytes)).is_ok(), "{descr}");
        }
        assert!(read(&file("'<f4'", "True", "(1, 6)", 24)).is_ok());
        assert!(read(&file("'<f4'", "True", "(6, 1)", 24)).is_ok());
        assert!(read(&file("'<f4'", "False", "(6L,)", 24)).is_ok());
        for (descr, order, shape, part) in [
            ("'<f4'", "True", "(3, 2)", "np.ascontiguousarray"),
            ("'<i8'", "False", "(3, 2)", "type '<i8' cannot be read: save the array with .astype('float32')"),
            ("'<c8'", "False", "(3, 2)", "'<c8'"),
            ("''", "False", "(3, 2)", "type ''"),
            ("'é'", "False", "(3, 2)", "type 'é'"),
            ("[('lat', '<f4')]", "False", "(3,)", "type '[('lat', '<f4')]'"),
            ("'<f4'", "False", "()", "shape []"),
            ("'<f4'", "False", "(-3, 2)", "not a description of an array"),
            ("'<f4'", "False", "(99999999999999999999, 2)", "not a description of an array"),
            ("'<f4'", "False", "(4611686018427387904, 4)", "more bytes than any file has"),
            ("'<f4'", "Maybe", "(3, 2)", "not a description of an array"),
        ] {
            let message = read(&file(descr, order, shape, 24)).unwrap_err();
            assert!(message.contains(part), "{message}");
            assert!(message.starts_with("x.npy"), "{message}");
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        let whole = file("'<f4'", "False", "(3, 2)", 24);
        assert!(read(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        assert!(read(&[whole.as_slice(), b"x"].concat()).unwrap_err().contains("takes 24 bytes, but there are 25"));
    }

    #[test]
    fn hostile_headers_are_errors() {
        for (bytes, part) in [
            (&b""[..], "x.npy is empty"),
            (b"lat,lon\n1,2\n", "does not begin with"),
            (b"\x93NUMPY\x09\x00\x10\x00", "version 9"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "claims 4294967295 bytes"),
            (b"\x93NUMPY\x01\x00\x04\x00\xff\xfe\xfd\xfc", "not text"),
            (b"\x93NUMPY\x01\x00\x02\x00{}", "'{}' is not a description"),
        ] {
            let message = read(bytes).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}

//! Opening the array of a `.npy` or safetensors file.

use crate::data::array::{ArrayLayout, ArrayReader};
use crate::data::{
    DataError, Format, header::Header, input::ReadSeek, npy, safetensors_header, safetensors_header::TensorChoice,
};

/// Reads a binary file's header and goes to its array's first row.
pub(crate) fn open_array(
    mut input: Box<dyn ReadSeek>,
    file_bytes: u64,
    file: &str,
    format: Format,
    choice: TensorChoice<'_>,
) -> Result<ArrayReader, DataError> {
    let layout = read_layout(&mut input, file_bytes, file, format, choice)?;
    ArrayReader::new(input, layout).map_err(|source| DataError::read(file, source))
}

/// Reads a binary file's header.
pub(crate) fn read_layout(
    input: &mut Box<dyn ReadSeek>,
    file_bytes: u64,
    file: &str,
    format: Format,
    choice: TensorChoice<'_>,
) -> Result<ArrayLayout, DataError> {
    let header = Header::new(input, file_bytes, file, format)?;
    if format == Format::Npy { npy::read_header(header) } else { safetensors_header::read_header(header, choice) }
}

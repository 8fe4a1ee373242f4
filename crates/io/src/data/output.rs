//! Where bytes go: an atomic file, standard output, or a device written in place.

use crate::data::{DataError, Format};
use locdiff_base::{AtomicFile, StandardOutput, display_name, ensure};
use std::{fs::File, io::BufWriter, io::Cursor, io::Seek, io::Write, path::Path};

/// An opened output. Nothing counts as written before [`Output::finish`].
#[derive(Debug)]
pub(crate) struct Output {
    sink: Sink,
    pub(crate) name: String,
}

#[derive(Debug)]
enum Sink {
    Atomic(BufWriter<AtomicFile>),
    /// A device or a named pipe: it cannot be replaced by a rename.
    InPlace(BufWriter<File>),
    Stdout(BufWriter<StandardOutput>),
    /// A binary array on its way to standard output: its header is known at the end only.
    Spooled(Cursor<Vec<u8>>),
}

impl Output {
    pub(crate) fn create(path: &Path, format: Format) -> Result<Self, DataError> {
        const BUFFER_BYTES: usize = 1 << 16;
        let name = display_name(path, "standard output");
        let is_stdout = path.as_os_str() == "-";
        let is_device = !is_stdout && std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir());
        ensure!(!is_device || format.streams(), DataError::NeedsFile { file: name, format });
        let sink = if is_stdout && !format.streams() {
            Sink::Spooled(Cursor::default())
        } else if is_stdout {
            Sink::Stdout(BufWriter::with_capacity(BUFFER_BYTES, StandardOutput))
        } else if is_device {
            let opened = File::options().write(true).open(path);
            Sink::InPlace(BufWriter::with_capacity(BUFFER_BYTES, opened.map_err(|e| DataError::write(&name, e))?))
        } else {
            Sink::Atomic(BufWriter::with_capacity(BUFFER_BYTES, AtomicFile::create(path)?))
        };
        Ok(Self { sink, name })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let written = match &mut self.sink {
            Sink::Atomic(sink) => sink.write_all(bytes),
            Sink::InPlace(sink) => sink.write_all(bytes),
            Sink::Stdout(sink) => sink.write_all(bytes),
            Sink::Spooled(sink) => sink.write_all(bytes),
        };
        written.map_err(|source| DataError::write(&self.name, source))
    }

    /// Overwrites the first bytes: a binary header whose counts are known only at the end.
    pub(crate) fn write_at_start(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let sought = match &mut self.sink {
            Sink::Atomic(sink) => sink.rewind(),
            Sink::Spooled(sink) => sink.rewind(),
            Sink::InPlace(_) | Sink::Stdout(_) => Err(std::io::ErrorKind::NotSeekable.into()),
        };
        sought.map_err(|source| DataError::write(&self.name, source))?;
        self.write(bytes)
    }

    pub(crate) fn finish(self) -> Result<(), DataError> {
        let Self { sink, name } = self;
        let failed = |source| DataError::write(&name, source);
        match sink {
            Sink::Atomic(sink) => Ok(sink.into_inner().map_err(|error| failed(error.into_error()))?.commit()?),
            Sink::InPlace(mut sink) => sink.flush().map_err(failed),
            Sink::Stdout(mut sink) => sink.flush().map_err(failed),
            Sink::Spooled(sink) => {
                StandardOutput.write_all(sink.get_ref()).and_then(|()| StandardOutput.flush()).map_err(failed)
            }
        }
    }
}

/// Appends numbers between commas, each as `push` writes it.
pub(crate) fn push_numbers(text: &mut Vec<u8>, values: &[f64], push: impl Fn(&mut Vec<u8>, f64)) {
    for (index, &value) in values.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        push(text, value);
    }
}

/// Appends the shortest text that reads back as the same number: `3`, `-12.5`, `1e-300`.
pub(crate) fn push_number(text: &mut Vec<u8>, value: f64) {
    let whole = value.fract() == 0.0 && value.abs() < 1e15;
    let _ = if whole { write!(text, "{value}") } else { write!(text, "{value:?}") }; // writing to a Vec cannot fail
}

/// [`push_number`] for a number that only has f32's digits.
pub(crate) fn push_number_f32(text: &mut Vec<u8>, value: f32) {
    let whole = value.fract() == 0.0 && value.abs() < 1e7;
    let _ = if whole { write!(text, "{value}") } else { write!(text, "{value:?}") };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64) -> String {
        let mut text = Vec::new();
        push_number(&mut text, value);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [(3.0, "3"), (-0.0, "-0"), (-12.5, "-12.5"), (1e-300, "1e-300"), (1e22, "1e22")] {
            assert_eq!(text(value), expected);
        }
    }

    proptest! {
        #[test]
        fn numbers_read_back_exactly(bits: u64, bits32: u32) {
            let (value, value32) = (f64::from_bits(bits), f32::from_bits(bits32));
            prop_assume!(value.is_finite() && value32.is_finite());
            prop_assert_eq!(text(value).parse::<f64>().unwrap().to_bits(), bits);
            prop_assert_eq!(serde_json::from_str::<f64>(&text(value)).unwrap().to_bits(), bits);
            let mut short = Vec::new();
            push_number_f32(&mut short, value32);
            let short = String::from_utf8(short).unwrap();
            prop_assert_eq!(short.parse::<f32>().unwrap().to_bits(), bits32);
            prop_assert_eq!(short.parse::<f64>().unwrap() as f32, value32);
        }
    }
}

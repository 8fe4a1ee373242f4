//! The tensors that are wanted of a safetensors file, kept as f16.

use super::{error::GetError, error::unreadable, error::unwritable, remote::Head, remote::Place, remote::Remote};
use half::f16;
use locdiff_base::{AtomicFile, Element, TensorHeader, TensorPlace, ensure};
use serde_json::{Map, json};
use std::{fs::File, io::Read, io::Seek, io::SeekFrom, io::Write, ops::Range, path::Path};

const LONGEST_HEADER: u64 = 16 << 20;

/// The tensors that are wanted, in the order of their bytes.
pub(super) struct Tower {
    tensors: Vec<(String, TensorPlace, Element)>,
}

impl Tower {
    pub(super) fn find(remote: &Remote, place: &Place, head: &Head, wanted: &[&str]) -> Result<Self, GetError> {
        let bad = |reason: String| GetError::Tensors { file: place.to_string(), reason };
        let cut = |error: std::io::Error| bad(format!("it breaks off in its header ({error})"));
        let mut length = [0; 8];
        ensure!(head.bytes >= 8, bad("it is too short for a safetensors file".to_owned()));
        remote.open(place, head, 0, 8)?.input.read_exact(&mut length).map_err(cut)?;
        let end = u64::from_le_bytes(length).saturating_add(8);
        if end > LONGEST_HEADER.min(head.bytes) {
            return Err(bad(format!("its header claims {} bytes: no safetensors file", end - 8)));
        }
        let mut header = Vec::new();
        remote.open(place, head, 0, end)?.input.take(end).read_to_end(&mut header).map_err(cut)?;
        let header = TensorHeader::read(&header[..], head.bytes).map_err(|error| bad(error.to_string()))?;
        let is_wanted = |name: &String| wanted.iter().any(|begin| name.starts_with(begin));
        let tensor = |name: String| {
            let place = header.find(&name)?;
            let element = place.element().ok()?; // numbers of positions are no weights
            Some((name, place, element))
        };
        let mut tensors: Vec<_> = header.names().into_iter().filter(is_wanted).filter_map(tensor).collect();
        tensors.sort_by_key(|(_, place, _)| place.offset);
        ensure!(!tensors.is_empty(), bad(format!("it has no tensor whose name begins with {}", wanted.join(" or "))));
        Ok(Self { tensors })
    }

    /// Their bytes in the file; what touches is one range.
    pub(super) fn ranges(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (_, place, _) in &self.tensors {
            let own = place.offset..place.offset + place.bytes;
            match ranges.last_mut() {
                Some(last) if last.end == own.start => last.end = own.end,
                _ => ranges.push(own),
            }
        }
        ranges
    }

    /// Writes them as f16, whole or not at all, from the whole file, or from one that holds their bytes one after the other. A
    /// tensor with values that f16 cannot hold stays as it is.
    pub(super) fn write(&self, part: &Path, out: &Path, is_whole: bool) -> Result<(), GetError> {
        let mut overflows = Vec::new();
        self.each(part, is_whole, |element, bytes| {
            overflows.push(element.to_f32(bytes).iter().any(|value| !f16::from_f32(*value).is_finite()));
            Ok(())
        })?;
        let mut header = Map::new();
        let mut end = 0;
        for ((name, place, element), stays) in self.tensors.iter().zip(&overflows) {
            let begin = end;
            let bytes = if *stays { element.bytes() } else { 2 };
            end += place.bytes / element.bytes() as u64 * bytes as u64;
            let dtype = if *stays { place.dtype.to_string() } else { "F16".to_owned() };
            header.insert(name.clone(), json!({"dtype": dtype, "shape": place.shape, "data_offsets": [begin, end]}));
        }
        header.insert("__metadata__".to_owned(), json!({"format": "pt"}));
        let mut header = serde_json::to_string(&header).expect("plain data");
        while !header.len().is_multiple_of(8) {
            header.push(' ');
        }
        let mut file = std::io::BufWriter::new(AtomicFile::create(out)?);
        let write = |file: &mut dyn Write, bytes: &[u8]| file.write_all(bytes).map_err(unwritable(out));
        write(&mut file, &(header.len() as u64).to_le_bytes())?;
        write(&mut file, header.as_bytes())?;
        let mut stays = overflows.into_iter();
        self.each(part, is_whole, |element, bytes| {
            if stays.next() == Some(true) {
                return write(&mut file, bytes);
            }
            let halves = element.to_f32(bytes).into_iter().flat_map(|value| f16::from_f32(value).to_le_bytes());
            write(&mut file, &halves.collect::<Vec<u8>>())
        })?;
        let file = file.into_inner().map_err(|error| unwritable(out)(error.into_error()))?;
        Ok(file.commit()?)
    }

    fn each(
        &self,
        part: &Path,
        is_whole: bool,
        mut take: impl FnMut(Element, &[u8]) -> Result<(), GetError>,
    ) -> Result<(), GetError> {
        let mut file = File::open(part).map_err(unreadable(part))?;
        for (_, place, element) in &self.tensors {
            if is_whole {
                file.seek(SeekFrom::Start(place.offset)).map_err(unreadable(part))?;
            }
            let mut bytes = vec![0; place.bytes as usize]; // the header agrees with the file's size
            file.read_exact(&mut bytes).map_err(unreadable(part))?;
            take(*element, &bytes)?;
        }
        Ok(())
    }
}

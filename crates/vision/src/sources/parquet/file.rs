//! A Parquet file: its columns by name, and any row's value at any time.

use super::error::{ParquetError, Reason, cut_off, damaged};
use super::footer::{Chunk, Footer, Leaf, Type};
use super::page::{Holds, Page, Values};
use locdiff_base::ensure;
use std::{fs::File, io::Read, io::Seek, io::SeekFrom, path::Path};

const MAGIC: &[u8; 4] = b"PAR1";
/// The longest description: ten thousand row groups of a hundred columns.
const LONGEST_FOOTER: u64 = 256 << 20;
/// Where most page headers end, and where all do.
const HEADER_BYTES: [u64; 2] = [4 << 10, 4 << 20];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column(usize);

/// A Parquet file that is read where its pages lie. It keeps the page that was read last.
pub(crate) struct ParquetFile {
    name: String,
    file: File,
    footer: Footer,
    pub(crate) rows: u64,
    chunk: Option<OpenChunk>,
}

/// The pages of a column in a row group, and the one that was read last.
struct OpenChunk {
    group: usize,
    leaf: usize,
    /// Data pages, with the first row of each.
    pages: Vec<(u64, Page)>,
    dictionary: Option<Values>,
    recent: Option<(usize, Values)>,
}

impl ParquetFile {
    /// Reads the description at the end of a file. Fails for a file that cannot be read, is none or is cut off.
    pub(crate) fn open(path: &Path) -> Result<Self, ParquetError> {
        let name = path.display().to_string();
        let opened = || -> Result<(File, Footer), Reason> {
            let mut file = File::open(path)?;
            let metadata = file.metadata()?;
            ensure!(metadata.is_file(), Reason::Read(std::io::Error::other("it is not a regular file")));
            let bytes = metadata.len();
            ensure!(bytes >= 12, damaged("it is too short"));
            file.seek(SeekFrom::End(-8))?;
            let mut end = [0; 8];
            file.read_exact(&mut end)?;
            let (length, magic) = end.split_at(4);
            ensure!(magic == MAGIC, damaged("it does not end as one"));
            let length = u64::from(u32::from_le_bytes(*length.first_chunk().ok_or_else(cut_off)?));
            if length > LONGEST_FOOTER || length + 12 > bytes {
                return Err(damaged("its description is longer than the file"));
            }
            file.seek(SeekFrom::Start(bytes - 8 - length))?;
            let mut footer = Vec::new();
            file.by_ref().take(length).read_to_end(&mut footer)?;
            Ok((file, Footer::parse(&footer, bytes)?))
        };
        let (file, footer) = opened().map_err(|reason| reason.of(&name))?;
        let rows = footer.groups.iter().map(|group| group.rows).sum();
        Ok(Self { name, file, footer, rows, chunk: None })
    }

    /// The names of its columns; those inside structures have their names before them: `image.bytes`.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.footer.leaves.iter().map(|leaf| leaf.name.as_str())
    }

    /// The column of bytes or text with one of these names in any case, the first of them that there is.
    pub(crate) fn bytes_column(&self, names: &[&str]) -> Option<Column> {
        self.column(names, |kind| kind == Type::Bytes)
    }

    pub(crate) fn number_column(&self, names: &[&str]) -> Option<Column> {
        self.column(names, |kind| kind.width() > 0)
    }

    fn column(&self, names: &[&str], fits: impl Fn(Type) -> bool) -> Option<Column> {
        let at = |name: &&str| {
            let is_it = |leaf: &Leaf| !leaf.repeated && fits(leaf.kind) && leaf.name.eq_ignore_ascii_case(name);
            self.footer.leaves.iter().position(is_it)
        };
        names.iter().find_map(at).map(Column)
    }

    /// The bytes in a row; `None` where there are none. Fails for a page that is damaged or packed in a way that is not
    /// read here.
    pub(crate) fn bytes(&mut self, column: Column, row: u64) -> Result<Option<&[u8]>, ParquetError> {
        let name = self.name.clone();
        self.value(column, row).map_err(|reason| reason.of(&name))
    }

    /// The number in a row. Fails as [`ParquetFile::bytes`] does.
    pub(crate) fn number(&mut self, column: Column, row: u64) -> Result<Option<f64>, ParquetError> {
        let kind = self.footer.leaves.get(column.0).map(|leaf| leaf.kind);
        let Some(bytes) = self.bytes(column, row)? else { return Ok(None) };
        Ok(match kind {
            Some(Type::Float) => bytes.first_chunk().map(|four| f32::from_le_bytes(*four).into()),
            Some(Type::Double) => bytes.first_chunk().map(|eight| f64::from_le_bytes(*eight)),
            Some(Type::Int32) => bytes.first_chunk().map(|four| i32::from_le_bytes(*four).into()),
            Some(Type::Int64) => bytes.first_chunk().map(|eight| i64::from_le_bytes(*eight) as f64),
            _ => None,
        })
    }

    fn value(&mut self, Column(leaf): Column, row: u64) -> Result<Option<&[u8]>, Reason> {
        let mut row = row;
        let group = self.footer.groups.iter().position(|group| {
            let is_it = row < group.rows;
            row -= if is_it { 0 } else { group.rows };
            is_it
        });
        let (Some(group), Some(about)) = (group, self.footer.leaves.get(leaf)) else { return Ok(None) };
        let chunk = self.footer.groups[group].chunks[leaf];
        let is_open = |open: &OpenChunk| (open.group, open.leaf) == (group, leaf);
        let mut open = match self.chunk.take().filter(is_open) {
            Some(open) => open,
            None => open_chunk(&mut self.file, &self.footer, group, leaf)?,
        };
        let after = open.pages.partition_point(|(first, _)| *first <= row);
        let page = after.checked_sub(1).ok_or_else(|| damaged("a row has no page"))?;
        let (first, head) = open.pages[page];
        if open.recent.as_ref().is_none_or(|(recent, _)| *recent != page) {
            let packed = read_at(&mut self.file, head.begin, head.packed)?;
            let values = Values::decode(&head, &packed, &chunk, about, open.dictionary.as_ref())?;
            open.recent = Some((page, values));
        }
        let recent = &self.chunk.insert(open).recent;
        Ok(recent.as_ref().and_then(|(_, values)| values.get((row - first) as usize)))
    }
}

fn open_chunk(file: &mut File, footer: &Footer, group: usize, leaf: usize) -> Result<OpenChunk, Reason> {
    let chunk = footer.groups[group].chunks[leaf];
    let (mut at, end) = (chunk.begin, chunk.begin + chunk.bytes);
    let mut open = OpenChunk { group, leaf, pages: Vec::new(), dictionary: None, recent: None };
    let mut row = 0;
    while at < end && row < footer.groups[group].rows {
        let (page, next) = read_header(file, at, end, &chunk)?;
        match page.holds {
            Holds::Dictionary => {
                let packed = read_at(file, page.begin, page.packed)?;
                open.dictionary = Some(Values::decode(&page, &packed, &chunk, &footer.leaves[leaf], None)?);
            }
            Holds::Values { .. } => {
                open.pages.push((row, page));
                row += page.values;
            }
            Holds::Other => {}
        }
        at = next;
    }
    Ok(open)
}

fn read_header(file: &mut File, at: u64, end: u64, chunk: &Chunk) -> Result<(Page, u64), Reason> {
    let [usual, most] = HEADER_BYTES;
    let bytes = read_at(file, at, usual.min(end - at))?;
    match Page::parse(&bytes, at, chunk) {
        Ok(found) => Ok(found),
        Err(_) if end - at > usual => Page::parse(&read_at(file, at, most.min(end - at))?, at, chunk),
        Err(reason) => Err(reason),
    }
}

/// Bytes that the footer and the headers say are inside the file.
fn read_at(file: &mut File, at: u64, length: u64) -> Result<Vec<u8>, Reason> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.by_ref().take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(cut_off()) }
}

//! What came of a shard: a line of JSON for each photo, then the embeddings of those that have one.

use crate::{batch::Result, batch::sealed, batch::sealed::Opened, batch::sealed::damaged};
use locdiff_base::{AtomicFile, ensure};
use locdiff_io::data::Fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

const FORMAT: &str = "locdiff-part";
/// Twenty thousand photos with embeddings of sixteen thousand numbers.
const LONGEST: u64 = 1 << 31;

/// What decides whether a part is the one that would be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) shard: u32,
    pub(crate) manifest: String,
    pub(crate) settings: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    origin: Origin,
    /// Program, model and encoder.
    maker: String,
    encoder: Fingerprint,
    photos: usize,
    lines: usize,
    /// Numbers per embedding; 0 if there are none.
    columns: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) maker: String,
    pub(crate) encoder: Fingerprint,
    pub(crate) lines: Vec<String>,
    /// Numbers per embedding; 0 if there are none.
    pub(crate) columns: usize,
    pub(crate) rows: Vec<f32>,
}

impl Part {
    pub(crate) fn write(&self, path: &Path, origin: Origin) -> Result<()> {
        Ok(AtomicFile::write_whole(path, &self.to_bytes(origin))?)
    }

    pub(crate) fn to_bytes(&self, origin: Origin) -> Vec<u8> {
        let mut body = Vec::new();
        for line in &self.lines {
            body.extend(line.as_bytes());
            body.push(b'\n');
        }
        let (lines, photos) = (body.len(), self.lines.len());
        body.extend(self.rows.iter().flat_map(|value| value.to_le_bytes()));
        let (maker, encoder, columns) = (self.maker.clone(), self.encoder.clone(), self.columns);
        let head = Head { origin, maker, encoder, photos, lines, columns };
        sealed::seal(FORMAT, head, &body)
    }

    /// Reads a part from a file. Fails if it is damaged or of another origin.
    pub(crate) fn read(path: &Path, origin: &Origin, photos: usize) -> Result<Self> {
        Self::parse(path, sealed::read(path, LONGEST)?, origin, photos)
    }

    pub(crate) fn parse(path: &Path, bytes: Vec<u8>, origin: &Origin, photos: usize) -> Result<Self> {
        let Opened { head, body, .. } = sealed::open::<Head>(path, FORMAT, bytes)?;
        if head.origin != *origin || head.photos != photos {
            return Err(damaged(path, "it was made for other photos or settings"));
        }
        let text = body.get(..head.lines).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let Some(text) = text else { return Err(damaged(path, "its lines are not text")) };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (numbers, rest) = body[head.lines..].as_chunks::<4>();
        let whole = rest.is_empty() && numbers.len().checked_rem(head.columns).unwrap_or(numbers.len()) == 0;
        ensure!(lines.len() == photos && whole, damaged(path, "its number of rows differs from its header"));
        let rows = numbers.iter().map(|&four| f32::from_le_bytes(four)).collect();
        Ok(Self { maker: head.maker, encoder: head.encoder, lines, columns: head.columns, rows })
    }

    pub(crate) fn objects(&self, path: &Path) -> Result<Vec<Value>> {
        let read = |(k, line): (usize, &String)| {
            serde_json::from_str(line).map_err(|_| damaged(path, format!("line {} is not JSON", k + 2)))
        };
        self.lines.iter().enumerate().map(read).collect()
    }
}

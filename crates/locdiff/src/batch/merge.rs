//! Parts into one file.

use crate::batch::{BatchError, Job, Result, Task, manifest};
use crate::{LatLon, batch::part::Origin, batch::part::Part, batch::sealed::damaged};
use crate::{embed::EmbedFiles, embed::EmbedTables, table::ANSWER_COLUMNS, table::AnswerRow, table::TAG_COLUMNS};
use locdiff_base::{AtomicFile, WriteError, ensure};
use locdiff_io::data::{Dtype, MatrixWriter, TableWriter};
use locdiff_vision::sources::PlaceSource;
use serde_json::Value;
use std::{io::BufWriter, io::Write, path::Path, path::PathBuf};

/// Result of [`Job::merge`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Photos answered or embedded.
    pub answered: u64,
    /// Photos that cannot be used.
    pub failed: u64,
    /// Files that were written.
    pub files: Vec<PathBuf>,
}

impl Job {
    /// Writes all parts into one file, in the photos' order. Answers become `.csv` or `.jsonl`, embeddings `.safetensors` or `.npy` with tables
    /// of locations and failures. Fails if parts are missing, damaged or made by different programs, or a file cannot be written.
    pub fn merge(&self, out: &Path, dtype: Dtype) -> Result<Merged> {
        let end = out.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let kinds = match (self.task(), end.as_deref()) {
            (Task::Locate, Some("csv")) => return csv(self, out),
            (Task::Locate, Some("jsonl")) => return lines(self, out),
            (Task::Embed, Some("safetensors" | "npy")) => return embeddings(self, out, dtype),
            (Task::Locate, _) => "a .csv or .jsonl file (Parquet: locdiff.batch.merge of the Python package)",
            (Task::Embed, _) => "a .safetensors or .npy file (Parquet: locdiff.batch.merge of the Python package)",
        };
        Err(BatchError::Format { path: out.to_owned(), kinds })
    }

    /// Returns a shard's part: a JSON object for each photo, the embeddings one after another, and their length. Fails if the part is missing or
    /// damaged.
    pub fn part(&self, shard: u32) -> Result<(Vec<Value>, Vec<f32>, usize)> {
        self.check_shard(shard)?;
        let part = whole_part(self, shard)?;
        let objects = part.objects(&self.part_path(shard))?;
        Ok((objects, part.rows, part.columns))
    }

    /// Returns the shards without a part. Existing parts are not checked.
    pub fn missing(&self) -> Vec<u32> {
        (0..self.shards()).filter(|shard| !self.part_path(*shard).is_file()).collect()
    }
}

fn whole_part(job: &Job, shard: u32) -> Result<Part> {
    let manifest = manifest::read(&job.manifest_path(shard), shard, job.base())?;
    let origin = Origin { shard, manifest: manifest.sum, settings: job.key() };
    Part::read(&job.part_path(shard), &origin, manifest.photos.len())
}

/// Returns all parts in order. Fails before the first if a part is missing, and later if another program made a part.
fn parts(job: &Job) -> Result<impl Iterator<Item = Result<(PathBuf, Part)>>> {
    if let [first, rest @ ..] = &job.missing()[..] {
        return Err(BatchError::Unfinished { missing: 1 + rest.len(), shards: job.shards(), first: *first });
    }
    let mut expected: Option<String> = None;
    Ok((0..job.shards()).map(move |shard| {
        let part = whole_part(job, shard)?;
        let expected = expected.get_or_insert_with(|| part.maker.clone());
        ensure!(*expected == part.maker, BatchError::OtherMaker { shard, met: part.maker, expected: expected.clone() });
        Ok((job.part_path(shard), part))
    }))
}

fn csv(job: &Job, out: &Path) -> Result<Merged> {
    let mut merged = Merged::default();
    let parts = parts(job)?;
    let columns: Vec<&str> = ANSWER_COLUMNS.split(' ').chain(TAG_COLUMNS.split(' ')).collect();
    let mut table = TableWriter::create(out, &columns)?;
    for part in parts {
        let (path, part) = part?;
        for (k, object) in part.objects(&path)?.iter().enumerate() {
            let row = AnswerRow::from_json(object)
                .ok_or_else(|| damaged(&path, format!("line {} is not an answer's", k + 2)))?;
            *(if row.found.is_ok() { &mut merged.answered } else { &mut merged.failed }) += 1;
            table.write(&row.fields([]).iter().map(String::as_str).collect::<Vec<_>>())?;
        }
    }
    table.finish()?;
    merged.files.push(out.to_owned());
    Ok(merged)
}

fn lines(job: &Job, out: &Path) -> Result<Merged> {
    let mut merged = Merged::default();
    let parts = parts(job)?;
    let failed = |reason| WriteError::new(&out.display().to_string(), reason);
    let mut file = BufWriter::new(AtomicFile::create(out)?);
    for part in parts {
        let (path, part) = part?;
        for (object, line) in part.objects(&path)?.iter().zip(&part.lines) {
            *(if object.get("error").is_none() { &mut merged.answered } else { &mut merged.failed }) += 1;
            writeln!(file, "{line}").map_err(failed)?;
        }
    }
    file.into_inner().map_err(|error| failed(error.into_error()))?.commit()?;
    merged.files.push(out.to_owned());
    Ok(merged)
}

fn embeddings(job: &Job, out: &Path, dtype: Dtype) -> Result<Merged> {
    let files = EmbedFiles::beside(out);
    let parts = parts(job)?;
    let mut tables = EmbedTables::create(&files.locations, &files.bad, files.always_list_bad)?;
    let mut writer: Option<MatrixWriter> = None;
    let mut first = String::new();
    for part in parts {
        let (path, part) = part?;
        let create = || MatrixWriter::create_embeddings(out, part.columns, dtype, &["embeddings"], &part.encoder);
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(create()?),
        };
        for row in part.rows.chunks_exact(part.columns) {
            writer.write_row(&row.iter().map(|&value| value.into()).collect::<Vec<f64>>())?;
        }
        let before = tables.counts.rows;
        for (k, object) in part.objects(&path)?.iter().enumerate() {
            let strange = || damaged(&path, format!("line {} is not a photo's", k + 2));
            let photo = object.get("photo").and_then(Value::as_str).ok_or_else(strange)?;
            if let Some(reason) = object.get("error").and_then(Value::as_str) {
                tables.bad(photo, reason)?;
                if first.is_empty() {
                    reason.clone_into(&mut first);
                }
            } else {
                let at = object.get("at").filter(|at| !at.is_null());
                tables.embedded(photo, at.map(|at| place(at).ok_or_else(strange)).transpose()?)?;
            }
        }
        if tables.counts.rows - before != part.rows.len() / part.columns {
            return Err(damaged(&path, "it holds another number of embeddings than photos"));
        }
    }
    let counts = tables.counts;
    tables.finish()?;
    let Some(writer) = writer.filter(|_| counts.rows > 0) else {
        return Err(BatchError::NoneUsable { photos: job.photos(), list: files.bad, first });
    };
    writer.finish()?;
    let mut written = vec![files.embeddings, files.locations];
    written.extend((counts.bad > 0).then_some(files.bad));
    Ok(Merged { answered: counts.rows as u64, failed: counts.bad as u64, files: written })
}

fn place(at: &Value) -> Option<(LatLon, PlaceSource)> {
    let place = LatLon::new(at.get(0)?.as_f64()?, at.get(1)?.as_f64()?).ok()?;
    Some((place, PlaceSource::from_name(at.get(2)?.as_str()?)?))
}

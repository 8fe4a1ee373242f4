//! Places into copies of the photos, sidecars and exiftool's table: what people can trust, see first and take back.

use super::tag_args::TagArgs;
use crate::manners;
use crate::output::{self, is_forced};
use anyhow::{Context, Result};
use locdiff::{AlbumAnswer, Answer, LatLon};
use locdiff_data::TableWriter;
use locdiff_phototags::{
    Change, EXIFTOOL_COLUMNS, GeoTag, Journal, Overwrite, Prepared, TagError, exiftool_row, prepare_copy,
    prepare_sidecar,
};
use serde_json::json;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What is to be written about a photo.
pub(crate) struct Located<'a> {
    photo: &'a str,
    best: LatLon,
    radius_90_km: f64,
    place: &'a str,
    gps: Option<LatLon>,
}

impl<'a> From<&'a Answer> for Located<'a> {
    fn from(answer: &'a Answer) -> Self {
        let photo = answer.photo.as_deref().unwrap_or_default();
        let Answer { best, radius_90_km, place, gps, .. } = answer;
        Self { photo, best: *best, radius_90_km: *radius_90_km, place, gps: *gps }
    }
}

impl<'a> From<&'a AlbumAnswer> for Located<'a> {
    fn from(answer: &'a AlbumAnswer) -> Self {
        let AlbumAnswer { photo, best, radius_90_km, place, gps, .. } = answer;
        Self { photo, best: *best, radius_90_km: *radius_90_km, place, gps: *gps }
    }
}

/// What becomes of one photo.
struct Planned<'a> {
    photo: &'a str,
    action: &'static str,
    file: Option<&'a Path>,
    reason: Option<String>,
}

/// The tags of a run.
pub(crate) struct Tagging<'a> {
    args: &'a TagArgs,
    overwrite: Overwrite,
    as_json: bool,
    journal: Journal,
    table: Option<TableWriter>,
    /// Copies of this run: photos of one name from several folders get numbers.
    copies: HashSet<PathBuf>,
    written: Vec<PathBuf>,
    /// Photos that say already where they were taken.
    has_location: usize,
    /// Photos that cannot take a tag.
    unfit: usize,
}

impl<'a> Tagging<'a> {
    pub(crate) fn new(args: &'a TagArgs, as_json: bool) -> Result<Self> {
        let table = args.exiftool_csv.as_deref().filter(|_| !args.dry_run);
        Ok(Self {
            args,
            overwrite: Overwrite { files: is_forced(), locations: args.replace_tags },
            as_json,
            journal: Journal::at(&args.journal_path()),
            table: table.map(|path| TableWriter::create(path, &EXIFTOOL_COLUMNS)).transpose()?,
            copies: HashSet::new(),
            written: Vec::new(),
            has_location: 0,
            unfit: 0,
        })
    }

    /// Tags one photo wherever that is wanted, or says what would be done; what cannot be done is named, and the others
    /// go on. Returns what to print, for a dry run or on standard error.
    pub(crate) fn tag(&mut self, answer: &Located<'_>, photo: Option<&Path>) -> Result<Said> {
        let mut said = Said::default();
        let args = self.args;
        if !args.touches_files() && args.exiftool_csv.is_none() {
            return Ok(said);
        }
        let name = answer.photo;
        let photo =
            photo.context("it lies inside a shard: only photos in files of their own can be tagged")?;
        let tag = GeoTag::new(answer.best).radius_km(answer.radius_90_km).area(answer.place);
        // A place that only our own reader finds, such as a HEIC photo's.
        let has_gps = answer.gps.is_some() && !self.overwrite.locations;
        let located = || Err(TagError::HasLocation { file: photo.display().to_string() });
        let mut prepared: Vec<Result<Prepared, TagError>> = Vec::new();
        if let Some(folder) = &args.write_exif {
            let copy = self.copy_name(folder, photo)?;
            prepared.push(if has_gps { located() } else { prepare_copy(photo, &copy, &tag, self.overwrite) });
        }
        if args.xmp {
            prepared.push(if has_gps { located() } else { prepare_sidecar(photo, &tag, self.overwrite) });
        }
        let mut is_located = has_gps;
        for step in prepared {
            match step {
                Ok(step) if args.dry_run => {
                    let planned = Planned {
                        photo: name,
                        action: word(step.change()),
                        file: Some(step.file()),
                        reason: None,
                    };
                    said.plan.push_str(&self.line(&planned, answer));
                }
                Ok(step) => {
                    if let Some(folder) = step.file().parent().filter(|folder| !folder.as_os_str().is_empty())
                    {
                        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                    }
                    self.written.push(step.write(Some(&mut self.journal))?);
                }
                Err(error) if error.is_about_photo() => {
                    is_located |= error.is_has_location();
                    if args.dry_run {
                        let reason = Some(error.to_string());
                        let planned = Planned { photo: name, action: "skip", file: None, reason };
                        said.plan.push_str(&self.line(&planned, answer));
                    } else if !(has_gps && said.skipped.is_some()) {
                        said.skipped = Some(format!("no tag: {error}"));
                    }
                    self.unfit += usize::from(!error.is_has_location());
                }
                Err(error) => return Err(error.into()),
            }
        }
        if args.exiftool_csv.is_some() && !is_located {
            let row = exiftool_row(&photo.display().to_string(), &tag);
            if let Some(table) = &mut self.table {
                table.write(&row.each_ref().map(String::as_str))?;
            } else {
                let planned =
                    Planned { photo: name, action: "row for exiftool", file: args.table(), reason: None };
                said.plan.push_str(&self.line(&planned, answer));
            }
        }
        self.has_location += usize::from(is_located);
        Ok(said)
    }

    /// Completes the table; returns the files that were written, and what to say about photos without a tag.
    pub(crate) fn finish(mut self) -> Result<Tagged> {
        if let (Some(table), Some(path)) = (self.table.take(), self.args.table()) {
            table.finish()?;
            self.written.push(path.to_owned());
        }
        let journal = (self.journal.path().exists() && !self.args.dry_run && self.args.touches_files())
            .then(|| self.journal.path().to_owned());
        let would = if self.args.dry_run { "would be" } else { "were" };
        let mut notes = Vec::new();
        if self.has_location > 0 {
            let count = self.has_location;
            notes.push(format!(
                "{count} photos have a GPS tag and {would} left as they are (--replace-tags replaces it)"
            ));
        }
        if self.unfit > 0 {
            notes.push(format!("{} photos {would} not tagged, for the reasons above", self.unfit));
        }
        Ok(Tagged { written: self.written, journal, notes, unfit: self.unfit })
    }

    /// The name of a photo's copy; a number tells photos of one name apart.
    fn copy_name(&mut self, folder: &Path, photo: &Path) -> Result<PathBuf> {
        let name = Path::new(photo.file_name().context("it has no name")?);
        let (stem, end) = (name.file_stem().unwrap_or_default(), name.extension());
        let mut copy = folder.join(name);
        let mut number = 1;
        while !self.copies.insert(copy.clone()) {
            number += 1;
            let mut other = stem.to_owned();
            other.push(format!("-{number}"));
            if let Some(end) = end {
                other.push(".");
                other.push(end);
            }
            copy = folder.join(other);
        }
        Ok(copy)
    }

    fn line(&self, planned: &Planned<'_>, answer: &Located<'_>) -> String {
        let Planned { photo, action, file, reason } = planned;
        if self.as_json {
            let (lat, lon) = (answer.best.lat_deg(), answer.best.lon_deg());
            let line = json!({
                "photo": photo, "action": action, "file": file, "reason": reason, "lat": lat, "lon": lon,
                "radius_90_km": answer.radius_90_km, "place": answer.place,
            });
            return format!("{line}\n");
        }
        let photo = locdiff_base::one_line(photo);
        match (file, reason) {
            (Some(file), _) => {
                let (file, place) = (file.display(), answer.best);
                format!("{action:<16} {photo} → {file}: {place}   {}\n", answer.place)
            }
            (None, reason) => format!("{action:<16} {}\n", reason.as_deref().unwrap_or(&photo)),
        }
    }
}

/// What to print about one photo.
#[derive(Default)]
pub(crate) struct Said {
    /// Lines of the plan of a dry run.
    pub(crate) plan: String,
    /// Why it got no tag.
    pub(crate) skipped: Option<String>,
}

/// How tagging went.
pub(crate) struct Tagged {
    pub(crate) written: Vec<PathBuf>,
    pub(crate) journal: Option<PathBuf>,
    pub(crate) notes: Vec<String>,
    pub(crate) unfit: usize,
}

impl Tagged {
    /// Says which files were written, these and others, and what to know about the tags.
    pub(crate) fn tell(self, others: Vec<PathBuf>, as_json: bool) -> Result<()> {
        if !as_json {
            output::tell_written(others.iter().chain(&self.written).map(PathBuf::as_path))?;
        }
        self.notes.iter().for_each(|note| manners::note(note));
        if let Some(journal) = self.journal {
            let journal = journal.display();
            manners::note(&format!("{journal} lists the tags; `locdiff undo {journal}` takes them back"));
        }
        Ok(())
    }
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Create => "create",
        Change::Replace => "replace",
        Change::Merge => "add to",
    }
}

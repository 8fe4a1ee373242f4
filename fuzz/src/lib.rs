//! The bodies of all fuzz targets: any bytes may come in the place of a user's file, and nothing may panic, hang or take
//! memory far beyond the input's size; every error is one line.
//!
//! `fuzz_targets/` runs them under libFuzzer (`scripts/fuzz`), the command's test `fuzz_smoke` on a stable toolchain.
//! `seeds/NAME/` holds sound inputs of each.

use locdiff::batch::fuzzing::{batch_job, batch_manifest, batch_part};
use locdiff_io::data::{Format, MatrixReader, PlaceTable, PointColumns, PointReader, RowFile, TableReader};
use locdiff_io::tags::{GeoTag, Overwrite};
use locdiff_map::places::Region;
use locdiff_model::{Model, ModelConfig, answer::Calibration, answer::ModelShape};
use locdiff_nn::Device;
use locdiff_retrieval::gallery::{GALLERY_FILE, Gallery, GalleryBuilder, Kind, VectorType};
use locdiff_retrieval::geoclip::fuzzing::pth;
use locdiff_serve::fuzzing::{multipart, query};
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::{Encoder, Photo, sources::PhotoLimits, sources::PhotoList, sources::Photos};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt::Display, fs, path::Path, path::PathBuf, sync::LazyLock};

/// A body, with the name of its target and of its folder of seeds.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 34] = [
    ("points_csv", |bytes| points(bytes, Format::Csv)),
    ("points_jsonl", |bytes| points(bytes, Format::Jsonl)),
    ("matrix_csv", |bytes| matrix(bytes, Format::Csv)),
    ("matrix_jsonl", |bytes| matrix(bytes, Format::Jsonl)),
    ("npy", |bytes| [points, matrix].iter().for_each(|read| read(bytes, Format::Npy))),
    ("safetensors", |bytes| [points, matrix].iter().for_each(|read| read(bytes, Format::Safetensors))),
    ("format", format),
    ("pth", pth),
    ("photo", photo),
    ("exif", exif),
    ("table", table),
    ("places_csv", |bytes| places(&write("places", "x.csv", bytes))),
    ("places_jsonl", |bytes| places(&write("places", "x.jsonl", bytes))),
    ("embeddings", embeddings),
    ("photo_list", |bytes| _ = checked(Photos::gather(&[write("list", "x.csv", bytes)], None))),
    ("shard", |bytes| first_photos(&write("shard", "x.tar", bytes))),
    ("zip_shard", |bytes| first_photos(&write("zip", "x.zip", bytes))),
    ("parquet", parquet),
    ("published_list", published_list),
    ("model_config", |bytes| model(bytes, &MODEL.1)),
    ("model_weights", |bytes| model(&MODEL.0, bytes)),
    ("calibration", calibration),
    ("encoder", encoder),
    ("hugging_face", hugging_face),
    ("gallery", gallery),
    ("gallery_index", gallery_index),
    ("geojson", geojson),
    // A prior as an Esri ASCII raster.
    ("raster", |bytes| _ = checked(locdiff_map::parse_ascii_grid(&String::from_utf8_lossy(bytes)))),
    ("batch_job", batch_job),
    ("batch_manifest", batch_manifest),
    ("batch_part", batch_part),
    ("multipart", multipart),
    ("query", query),
    // A journal of tags: whatever it says, nothing outside its folder is touched.
    ("undo", |bytes| _ = locdiff_io::tags::fuzzing::undo_journal(bytes)),
];

/// Runs the target of a name. Panics if there is none, or if it fails.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.expect("a target of this name").1(bytes);
}

/// A folder of this process for inputs.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("locdiff-fuzz-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

/// Writes a file into such a folder.
fn write(folder_name: &str, file: &str, bytes: &[u8]) -> PathBuf {
    let path = folder(folder_name).join(file);
    fs::write(&path, bytes).expect("a temporary file");
    path
}

/// The value, or `None` after the error's message was looked at.
fn checked<T, E: Display>(result: Result<T, E>) -> Option<T> {
    result.map_err(|error| assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}")).ok()
}

/// A path or a name that should say a format.
fn format(bytes: &[u8]) {
    let name = String::from_utf8_lossy(bytes);
    for result in [Format::from_path(Path::new(name.as_ref())), name.parse()] {
        if let Some(format) = checked(result) {
            assert_eq!(format.name().parse::<Format>().ok(), Some(format));
        }
    }
}

/// A file of a format as points.
fn points(bytes: &[u8], format: Format) {
    let reader = PointReader::from_bytes("fuzz", bytes.to_vec(), format, &PointColumns::default());
    let Some(reader) = checked(reader) else { return };
    let promised = reader.rows();
    let mut last_row = 0;
    let mut items = 0;
    for item in reader {
        items += 1;
        if let Some((row, place)) = checked(item) {
            assert!(row > last_row, "rows count upwards");
            assert!((-90.0..=90.0).contains(&place.lat_deg()) && (-180.0..=180.0).contains(&place.lon_deg()));
            last_row = row;
        }
        assert!(items <= bytes.len() + 1, "no more items than bytes, and one error for an empty file");
    }
    assert!(promised.is_none_or(|rows| rows == items as u64), "a header keeps its promise");
}

/// The same as a matrix; of a safetensors file the only tensor, and one of a name.
fn matrix(bytes: &[u8], format: Format) {
    rows(bytes, format, None);
    if format == Format::Safetensors {
        rows(bytes, format, Some("a"));
    }
}

fn rows(bytes: &[u8], format: Format, tensor: Option<&str>) {
    let reader = MatrixReader::from_bytes("fuzz", bytes.to_vec(), format, tensor);
    let Some(mut reader) = checked(reader) else { return };
    let mut values = Vec::new();
    let mut errors = 0;
    loop {
        match checked(reader.read_row(&mut values)) {
            Some(false) => break,
            more => errors += usize::from(more.is_none()),
        }
        assert!(errors <= bytes.len(), "every error takes at least a byte");
    }
    assert!(values.iter().all(|value| value.is_finite()));
    assert_eq!(values.len() as u64, reader.columns() as u64 * reader.rows_read());
    assert!(values.len() <= bytes.len(), "a number takes at least a byte");
}

/// Any bytes as a photo: a picture within the limits or an error. The limit on memory is the fuzzer's.
fn photo(bytes: &[u8]) {
    let limits = PhotoLimits { max_pixels: 1 << 20, max_bytes: 1 << 24 };
    if let Some(photo) = checked(Photo::decode(bytes, "fuzz", &limits)) {
        let pixels = u64::from(photo.width()) * u64::from(photo.height());
        assert!(pixels <= limits.max_pixels && photo.rgb().len() as u64 == 3 * pixels);
    }
}

/// A photo whose EXIF data are read and written.
fn exif(bytes: &[u8]) {
    let tag = GeoTag::new(LatLon::new(39.999, 116.275).expect("a place")).radius_km(210.0);
    let before = locdiff_io::tags::has_location(bytes);
    if let Some(copy) = checked(locdiff_io::tags::tagged(bytes, "fuzz", &tag, Overwrite::NEVER)) {
        assert!(!before && copy.len() < bytes.len() + (1 << 20));
    }
    checked(locdiff_io::tags::tagged(bytes, "fuzz", &tag, Overwrite::FORCE));
}

/// A CSV file as columns of text.
fn table(bytes: &[u8]) {
    let path = write("table", "x.csv", bytes);
    let Some(mut table) = checked(TableReader::open(&path)) else { return };
    let mut rows = 0;
    while let Some(Some((_, fields))) = checked(table.next_row()) {
        rows += 1;
        assert!(!fields.is_empty() && rows <= bytes.len());
    }
}

/// Predictions.
fn places(path: &Path) {
    let wanted = |name: &str| name.starts_with("radius_");
    if let Some(table) = checked(PlaceTable::read(path, None, &PointColumns::default(), None, wanted)) {
        assert!(table.ids.is_none_or(|(_, ids)| ids.len() == table.places.len()));
        assert!(table.numbers.iter().all(|(_, numbers)| numbers.len() == table.places.len()));
    }
}

/// Embeddings in a safetensors file, read row by row.
fn embeddings(bytes: &[u8]) {
    let path = write("embeddings", "x.safetensors", bytes);
    let Some(file) = checked(RowFile::open(&path, None)) else { return };
    assert!(file.rows().saturating_mul(file.columns()) <= bytes.len());
    for row in 0..file.rows() {
        checked(file.embedding(row));
    }
}

/// The first photos of a shard.
fn first_photos(path: &Path) {
    let Some(photos) = checked(Photos::gather(&[path], None)) else { return };
    for source in photos.sources().iter().take(4) {
        checked(source.read(&PhotoLimits { max_pixels: 1 << 16, max_bytes: 1 << 20 }));
    }
}

/// A Parquet file, and the photos in it.
fn parquet(bytes: &[u8]) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    // Files that were read stay open: every input has a name of its own.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = write("parquet", &format!("{number}.parquet"), bytes);
    locdiff_vision::sources::fuzzing::parquet(&path);
    first_photos(&path);
    fs::remove_file(path).expect("a temporary file");
}

/// A published list of photos.
fn published_list(bytes: &[u8]) {
    if let Some(list) = checked(PhotoList::read(&write("published", "x.csv", bytes))) {
        assert!(list.photos.len() + list.bad.len() <= bytes.len());
    }
}

/// The two files of a small model.
static MODEL: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let folder = folder("model");
    let small = ModelConfig { width: 8, depth: 1, time_dim: 4, hidden: Some(8), ..ModelConfig::new(1, 4) };
    let model = Model::new(&Device::cpu(), small).expect("a small model");
    model.save(&folder).expect("a model's folder");
    let read = |name: &str| fs::read(folder.join(name)).expect("a model's file");
    (read("config.json"), read("model.safetensors"))
});

fn model(config: &[u8], weights: &[u8]) {
    let (config_name, weights_name) = (Path::new("config.json"), Path::new("model.safetensors"));
    checked(Model::from_bytes(&Device::cpu(), (config_name, config), (weights_name, weights)));
}

/// A model's calibration.
fn calibration(bytes: &[u8]) {
    let shape = ModelShape { degree: 1, embedding_dim: 2, encoder: None };
    checked(Calibration::from_bytes("calibration.json", bytes, &shape));
}

/// An encoder's description.
fn encoder(bytes: &[u8]) {
    let weights = b"{}      ";
    let weights = [&(weights.len() as u64).to_le_bytes()[..], weights].concat();
    let (description, file) = (Path::new("encoder.json"), Path::new("model.safetensors"));
    checked(Encoder::from_bytes((description, bytes), (file, &weights)));
}

/// The settings of a CLIP from Hugging Face.
fn hugging_face(bytes: &[u8]) {
    write("clip", "preprocessor_config.json", b"{}");
    write("clip", "model.safetensors", &[&2_u64.to_le_bytes()[..], b"{}"].concat());
    write("clip", "config.json", bytes);
    checked(Encoder::open(&folder("clip")));
}

/// A small gallery without checksums, as those of before.
fn small_gallery(name: &str) -> PathBuf {
    let folder = folder(name);
    let places: Vec<LatLon> =
        (0..5).map(|k| LatLon::new(f64::from(k) * 10.0, f64::from(k)).expect("a place")).collect();
    let (kind, vectors) = (Kind::Photos, VectorType::F32);
    let builder = GalleryBuilder { kind, dimension: 2, vectors, key: String::new(), mean: Vec::new(), encoder: None };
    let fill = |rows: &[u32], out: &mut [f32]| {
        for (out, row) in out.chunks_exact_mut(2).zip(rows) {
            out.copy_from_slice(&[1.0, *row as f32]);
        }
        Ok(())
    };
    builder.build(&folder, &places, fill).expect("a gallery");
    let text = fs::read_to_string(folder.join(GALLERY_FILE)).expect("a description");
    let end = text.find(",\"checksums\"").expect("checksums");
    write(name, GALLERY_FILE, format!("{}}}", &text[..end]).as_bytes());
    folder
}

fn search(folder: &Path) {
    let Some(gallery) = checked(Gallery::open(folder)) else { return };
    let query = vec![0.5; gallery.dimension()];
    checked(gallery.search(&query, None, 3));
}

/// A gallery's description.
fn gallery(bytes: &[u8]) {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| small_gallery("gallery"));
    fs::write(FOLDER.join(GALLERY_FILE), bytes).expect("a temporary file");
    search(&FOLDER);
}

/// A gallery's index.
fn gallery_index(bytes: &[u8]) {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| small_gallery("index"));
    fs::write(FOLDER.join("index.bin"), bytes).expect("a temporary file");
    search(&FOLDER);
}

/// A region as `GeoJSON`.
fn geojson(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(region) = checked(Region::from_geojson(&text, "fuzz")) {
        region.contains(LatLon::new(1.0, 2.0).expect("a place"));
    }
}

/// The seeds of a target: the files of `seeds/NAME/`, by name.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = seed_folder().join(target);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("a seed")).collect()
}

fn seed_folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("seeds");
    if own.is_dir() { own } else { here.join("../../fuzz/seeds") }
}

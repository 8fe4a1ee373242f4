//! How a locator is opened.

#[cfg(feature = "gallery")]
use crate::geoclip_model::{GeoClipModel, geoclip_folder};
use crate::home::by_name;
use crate::{GalleryRule, HybridChanges, LocateError, Locator, Request, locator::open_model};
use locdiff_model::answer::Calibration;
use locdiff_model::Model;
use locdiff_nn::{Device, DeviceSpec, Precision};
use locdiff_vision::Encoder;
use std::path::{Path, PathBuf};

/// Opens a [`Locator`]: what is not given is the bundled model and encoder, on the CPU, without a gallery.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{DeviceSpec, Locator};
/// let locator = Locator::builder().device(DeviceSpec::Cpu).open()?;
/// assert!(locator.encoder().is_some());
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is opened yet"]
pub struct LocatorBuilder {
    model: Option<PathBuf>,
    encoder: Option<PathBuf>,
    without_encoder: bool,
    device: DeviceSpec,
    precision: Option<Precision>,
    gallery: Option<GalleryFiles>,
    from_samples: bool,
}

/// A gallery as it is to be opened.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "gallery"), expect(dead_code, reason = "only named where galleries are left out"))]
struct GalleryFiles {
    gallery: PathBuf,
    geoclip: Option<PathBuf>,
    rule: GalleryRule,
    changes: HybridChanges,
}

impl Default for LocatorBuilder {
    fn default() -> Self {
        Self {
            model: None,
            encoder: None,
            without_encoder: false,
            device: DeviceSpec::Cpu,
            precision: None,
            gallery: None,
            from_samples: false,
        }
    }
}

impl From<&Request> for LocatorBuilder {
    fn from(request: &Request) -> Self {
        let gallery = request.gallery.clone().map(|gallery| GalleryFiles {
            gallery,
            geoclip: request.geoclip.clone(),
            rule: request.gallery_rule,
            changes: request.hybrid,
        });
        Self {
            model: request.model.clone(),
            encoder: request.encoder.clone(),
            without_encoder: false,
            device: request.device,
            precision: request.precision,
            from_samples: request.pool.is_some()
                || gallery.as_ref().is_some_and(|files| files.rule != GalleryRule::Mix),
            gallery,
        }
    }
}

impl LocatorBuilder {
    /// The model in a folder.
    pub fn model(self, folder: impl Into<PathBuf>) -> Self {
        Self { model: Some(folder.into()), ..self }
    }

    /// The encoder in a folder.
    pub fn encoder(self, folder: impl Into<PathBuf>) -> Self {
        Self { encoder: Some(folder.into()), ..self }
    }

    /// No encoder: embeddings are located, not photos.
    pub fn without_encoder(self) -> Self {
        Self { without_encoder: true, ..self }
    }

    /// Where the model and the encoder run.
    pub fn device(self, device: DeviceSpec) -> Self {
        Self { device, ..self }
    }

    /// With this arithmetic: [`Precision::Int8`] makes transformer encoders on the CPU several times as fast.
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision: Some(precision), ..self }
    }

    /// Places come from samples: a model that gives no densities will do.
    pub fn from_samples(self) -> Self {
        Self { from_samples: true, ..self }
    }

    /// A gallery beside the model: a folder, or with GeoCLIP's folder a file of places.
    pub fn gallery(self, gallery: impl Into<PathBuf>, geoclip: Option<PathBuf>, rule: GalleryRule) -> Self {
        let (gallery, changes) = (gallery.into(), HybridChanges::default());
        Self { gallery: Some(GalleryFiles { gallery, geoclip, rule, changes }), ..self }
    }

    /// Opens it.
    ///
    /// # Errors
    /// Folders that cannot be used, parts that do not belong together, a failure of the device.
    pub fn open(self) -> Result<Locator, LocateError> {
        self.open_with(|_| ())
    }

    /// The same; `progress` is told how many places of a gallery are embedded, where that is to be done first.
    ///
    /// # Errors
    /// As [`LocatorBuilder::open`].
    pub fn open_with(self, progress: impl FnMut(usize)) -> Result<Locator, LocateError> {
        // The words for places are unpacked meanwhile.
        rayon::spawn(|| drop(locdiff_map::places::describe(locdiff_shdd::sphere::UnitVec::NORTH.to_latlon())));
        let device = Device::open_with(self.device, self.precision)?;
        #[cfg(feature = "gallery")]
        let mut progress = progress;
        #[cfg(feature = "gallery")]
        if let Some(folder) = self.model.as_deref().and_then(geoclip_folder) {
            return self.open_geoclip(&folder, &device, &mut progress);
        }
        let (model, calibration) = model_of(self.model.as_deref(), &device)?;
        let encoder = if self.without_encoder { None } else { Some(encoder_of(self.encoder.as_deref(), &device)?) };
        let open = if self.from_samples { Locator::of_samples } else { Locator::new };
        let locator = open(model, calibration, encoder)?;
        let Some(files) = self.gallery else { return Ok(locator) };
        #[cfg(feature = "gallery")]
        return locator.with_gallery_files(
            (&files.gallery, files.geoclip.as_deref()),
            (files.rule, &files.changes),
            &device,
            progress,
        );
        #[cfg(not(feature = "gallery"))]
        {
            let _ = (locator, progress);
            let remedy = "this program was built without galleries";
            Err(locdiff_base::setting("gallery", files.gallery.display(), remedy))
        }
    }

    /// A GeoCLIP model, with the encoder that it names unless another is given.
    #[cfg(feature = "gallery")]
    fn open_geoclip(
        self,
        folder: &Path,
        device: &Device,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Locator, LocateError> {
        let opened = GeoClipModel::open(folder, device, &mut *progress)?;
        let encoder = if self.without_encoder {
            None
        } else {
            Some(encoder_of(Some(&geoclip_encoder(self.encoder, &opened, folder)?), device)?)
        };
        let locator = Locator::of_geoclip(opened, encoder)?;
        let Some(files) = self.gallery else { return Ok(locator) };
        let used = (files.gallery.as_path(), files.geoclip.as_deref());
        locator.with_gallery_files(used, (files.rule, &files.changes), device, progress)
    }
}

impl Locator {
    /// The model and encoder that are part of this library, on the CPU.
    ///
    /// # Errors
    /// None that a user could cause.
    #[cfg(feature = "bundled")]
    pub fn bundled() -> Result<Self, LocateError> {
        Self::builder().open()
    }

    /// A locator of a model, an encoder, a device or a gallery of your own.
    pub fn builder() -> LocatorBuilder {
        LocatorBuilder::default()
    }
}

/// The encoder of a GeoCLIP model: the one that is given, else the one that it names.
#[cfg(feature = "gallery")]
fn geoclip_encoder(given: Option<PathBuf>, opened: &GeoClipModel, folder: &Path) -> Result<PathBuf, LocateError> {
    if let Some(encoder) = given {
        return Ok(encoder);
    }
    let Some(name) = opened.places.encoder() else {
        let remedy = "its folder names no encoder: give that of CLIP ViT-L/14";
        return Err(locdiff_base::setting("model", folder.display(), remedy));
    };
    let encoder = by_name(Path::new(name));
    let remedy = format!("GeoCLIP takes its features: fetch it with `locdiff get {name}`");
    if encoder.is_dir() { Ok(encoder) } else { Err(locdiff_base::setting("encoder", name, remedy)) }
}

/// The model in a folder with its calibration, or the bundled one.
///
/// # Errors
/// A folder that cannot be used, or no bundled model in this program.
pub fn model_of(folder: Option<&Path>, device: &Device) -> Result<(Model, Option<Calibration>), LocateError> {
    match folder {
        Some(folder) => open_model(folder, device),
        #[cfg(feature = "bundled")]
        None => crate::bundled::bundled_model(device),
        #[cfg(not(feature = "bundled"))]
        None => Err(LocateError::NotBundled { what: "model" }),
    }
}

/// The encoder in a folder, or by its name in the data folder, or the bundled one.
///
/// # Errors
/// A folder that cannot be used, or no bundled encoder in this program.
pub fn encoder_of(folder: Option<&Path>, device: &Device) -> Result<Encoder, LocateError> {
    match folder {
        Some(folder) => Ok(Encoder::open_on(&by_name(folder), device)?),
        #[cfg(feature = "bundled")]
        None => crate::bundled::bundled_encoder(device),
        #[cfg(not(feature = "bundled"))]
        None => Err(LocateError::NotBundled { what: "encoder" }),
    }
}

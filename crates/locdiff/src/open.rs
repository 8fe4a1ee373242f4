//! How a locator is opened.

use crate::geoclip_model::{GeoClipModel, geoclip_folder};
use crate::{Locator, LocatorOptions, error::Result, home::found, locator::open_model};
use locdiff_model::{Model, answer::Calibration};
use locdiff_nn::Device;
use locdiff_vision::Encoder;
use std::path::{Path, PathBuf};

impl LocatorOptions {
    /// Opens the model alone, with its calibration if it has one. Fails if the folder cannot be used, or there is no bundled model.
    pub fn open_model(&self, device: &Device) -> Result<(Model, Option<Calibration>)> {
        match &self.model {
            Some(given) => {
                #[cfg(feature = "bundled")]
                if let Some(files) = crate::in_memory::bundled_cs_unet(given) {
                    return files.model(device);
                }
                open_model(given, device)
            }
            #[cfg(feature = "bundled")]
            None => crate::in_memory::bundled().model(device),
            #[cfg(not(feature = "bundled"))]
            None => Err(crate::error::Failure::NotBundled { what: "model" }.into()),
        }
    }

    /// Opens the encoder alone. Fails if the folder cannot be used, or there is no bundled encoder.
    pub fn open_encoder(&self, device: &Device) -> Result<Encoder> {
        match &self.encoder {
            Some(folder) => Ok(Encoder::open_on(&found(folder)?, device)?),
            #[cfg(feature = "bundled")]
            None => crate::in_memory::bundled().encoder(device),
            #[cfg(not(feature = "bundled"))]
            None => Err(crate::error::Failure::NotBundled { what: "encoder" }.into()),
        }
    }
}

impl Locator {
    /// Opens a locator. Fails if a folder cannot be used, model and encoder do not fit, or the device fails.
    pub fn open(options: &LocatorOptions) -> Result<Self> {
        Self::open_with(options, |_| ())
    }

    /// Opens a locator. `progress` receives the number of a gallery's locations that are embedded, if that comes first.
    /// Fails as [`Locator::open`] does.
    pub fn open_with(options: &LocatorOptions, progress: impl FnMut(usize)) -> Result<Self> {
        let mut progress = progress;
        // The words for places are unpacked meanwhile.
        rayon::spawn(|| drop(locdiff_map::places::describe(locdiff_shdd::sphere::UnitVec::NORTH.to_latlon())));
        let device = Device::open_with(options.device, options.precision)?;
        if let Some(folder) = options.model.as_deref().and_then(geoclip_folder) {
            return open_geoclip(options, &folder, &device, &mut progress);
        }
        let (model, calibration) = options.open_model(&device)?;
        // On a GPU the encoder has streams of its own: the model does not wait behind batches of photos.
        let own = if device.is_cuda() { Device::open_with(options.device, options.precision)? } else { device.clone() };
        let encoder = if options.without_encoder { None } else { Some(options.open_encoder(&own)?) };
        let locator = Self::new(model, calibration, encoder)?;
        locator.with_gallery_of(options, &device, progress)
    }

    /// Opens the bundled model and encoder: [`Locator::open`] with the default options. Fails if the device fails.
    #[cfg(feature = "bundled")]
    pub fn bundled() -> Result<Self> {
        Self::open(&LocatorOptions::default())
    }
}

/// A GeoCLIP model, with the encoder that it names unless another is given.
fn open_geoclip(
    options: &LocatorOptions,
    folder: &Path,
    device: &Device,
    progress: &mut dyn FnMut(usize),
) -> Result<Locator> {
    let opened = GeoClipModel::open(folder, device, &mut *progress)?;
    let encoder = if options.without_encoder { None } else { Some(geoclip_encoder(options, &opened, folder)?) };
    let encoder = encoder.map(|encoder| Encoder::open_on(&encoder, device)).transpose()?;
    Locator::of_geoclip(opened, encoder)?.with_gallery_of(options, device, progress)
}

/// The encoder of a GeoCLIP model: the one that is given, else the one that it names.
fn geoclip_encoder(options: &LocatorOptions, opened: &GeoClipModel, folder: &Path) -> Result<PathBuf> {
    if let Some(encoder) = &options.encoder {
        return found(encoder);
    }
    let Some(name) = opened.places.encoder() else {
        let remedy = "its folder names no encoder: give the encoder CLIP ViT-L/14";
        return Err(locdiff_base::setting("model", folder.display(), remedy));
    };
    found(Path::new(name))
}

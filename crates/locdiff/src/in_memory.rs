//! A model and an encoder whose files are in memory: those that are part of this library, or a page's.

use crate::{Locator, error::Result, shape::shape_of};
use locdiff_model::{Model, answer::Calibration};
use locdiff_nn::Device;
use locdiff_vision::Encoder;
use std::path::Path;
#[cfg(feature = "bundled")]
use std::{io::Read as _, sync::OnceLock};

/// The contents of a model's and an encoder's files.
pub(crate) struct FilesInMemory<'a> {
    /// What messages and fingerprints say before "model" and "encoder".
    pub(crate) called: &'a str,
    /// `encoder.json` and `model.safetensors` of the encoder.
    pub(crate) encoder: [&'a [u8]; 2],
    /// `config.json`, `model.safetensors` and `calibration.json` of the model.
    pub(crate) model: [&'a [u8]; 3],
}

impl FilesInMemory<'_> {
    pub(crate) fn model(&self, device: &Device) -> Result<(Model, Option<Calibration>)> {
        let name = |file: &str| Path::new(&format!("{} model", self.called)).join(file);
        let [config, weights, calibration] = self.model;
        let config = (&*name("config.json"), config);
        let model = Model::from_bytes(device, config, (&name("model.safetensors"), weights))?;
        let calibration = Calibration::from_bytes(name("calibration.json"), calibration, &shape_of(&model))?;
        Ok((model, Some(calibration)))
    }

    pub(crate) fn encoder(&self, device: &Device) -> Result<Encoder> {
        let name = |file: &str| Path::new(&format!("{} encoder", self.called)).join(file);
        let [description, weights] = self.encoder;
        let description = (&*name("encoder.json"), description);
        Ok(Encoder::from_bytes_on(description, (&name("model.safetensors"), weights), device)?)
    }
}

impl Locator {
    /// Name of the bundled model.
    #[cfg(feature = "bundled")]
    pub const BUNDLED_MODEL: &'static str = locdiff_bundled_model::NAME;

    /// Opens a locator from files in memory, on the CPU. The encoder is `encoder.json` and `model.safetensors`; the model is `config.json`,
    /// `model.safetensors` and `calibration.json`. Messages call them "`called` encoder" and "`called` model". Fails if files cannot be used, or
    /// do not belong together.
    pub fn from_memory(called: &str, encoder: [&[u8]; 2], model: [&[u8]; 3]) -> Result<Self> {
        let (device, files) = (Device::cpu(), FilesInMemory { called, encoder, model });
        let (model, calibration) = files.model(&device)?;
        Self::new(model, calibration, Some(files.encoder(&device)?))
    }
}

#[cfg(feature = "bundled")]
pub(crate) fn bundled() -> FilesInMemory<'static> {
    let locdiff_bundled_model::ModelFiles { config, weights, calibration } = locdiff_bundled_model::model();
    let (encoder, encoder_weights) = locdiff_bundled_encoder::encoder();
    let (encoder, model) = ([encoder, encoder_weights], [config, weights, calibration]);
    FilesInMemory { called: "the bundled", encoder, model }
}

/// The paper's network, if its name is given and no folder has that name.
#[cfg(feature = "bundled")]
pub(crate) fn bundled_cs_unet(given: &Path) -> Option<FilesInMemory<'static>> {
    static WEIGHTS: OnceLock<Vec<u8>> = OnceLock::new();
    if given != Path::new(locdiff_bundled_model::CS_UNET) || crate::home::by_name(given).exists() {
        return None;
    }
    let locdiff_bundled_model::ModelFiles { config, weights, calibration } = locdiff_bundled_model::cs_unet();
    let inflated = || {
        let mut all = Vec::new();
        flate2::read::GzDecoder::new(weights).read_to_end(&mut all).expect("the weights in the binary are whole");
        all
    };
    let model = [config, WEIGHTS.get_or_init(inflated), calibration];
    Some(FilesInMemory { called: "the bundled CS-UNet", model, ..bundled() })
}

#[cfg(all(test, feature = "bundled"))]
mod tests {
    use crate::{Locator, LocatorOptions};
    use locdiff_model::NetworkKind;

    #[test]
    fn the_paper_s_network_opens_by_name() {
        let mut options = LocatorOptions { without_encoder: true, ..LocatorOptions::default() };
        options.device = crate::DeviceSpec::Cpu;
        let network = |options: &LocatorOptions| Locator::open(options).map(|own| own.model().config().network);
        assert_eq!(network(&options).unwrap(), NetworkKind::Bayes);
        options.model = Some(locdiff_bundled_model::CS_UNET.into());
        assert_eq!(network(&options).unwrap(), NetworkKind::CsUnet);
        options.model = Some("cs-unet-2".into());
        assert!(network(&options).is_err());
    }
}

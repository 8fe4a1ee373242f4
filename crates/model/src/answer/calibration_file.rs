//! A calibration's file in its model's folder, and what it says about itself.

use crate::answer::{
    AnswerError, Calibration, Factors, FitReport, GalleryMix, LEVELS, ModelShape, NarrowWindow, OutOfDomain,
    PlaceSettings, Probe, Result, SureLevels, Surroundings, calibration::WINDOW_KM, kernels::out_of_range,
};
use locdiff_base::{AtomicFile, one_line, read_bounded};
use locdiff_io::data::Fingerprint;
use locdiff_shdd::Coefficients;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{fmt::Write, path::Path, sync::Arc};

/// The calibration's file in a model's folder.
pub const CALIBRATION_FILE: &str = "calibration.json";
/// The version that this crate writes and reads.
const VERSION: u32 = 2;
/// What is read besides: the first version had no window.
const OLD_VERSION: u32 = 1;

/// Larger files are no calibration: at the largest degree it has 7 MB.
const LARGEST_FILE_BYTES: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    evidence: f64,
    background_weight: f64,
    floor: f64,
    #[serde(default)]
    map_exponent: f64,
    #[serde(default = "window_km")]
    window_km: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    narrow_window: Option<NarrowWindow>,
    can_tell_from: f64,
    radius_levels: [f64; 9],
    #[serde(default, skip_serializing_if = "SureLevels::is_empty")]
    levels_by_radius: SureLevels,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "strangers")]
    out_of_domain: Option<OutOfDomain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    places: Option<PlaceSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gallery: Option<GalleryMix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plain: Option<[Factors; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    surroundings: Option<Surroundings>,
    fit: Option<FitReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoder: Option<Fingerprint>,
    background: Vec<f64>,
}

fn window_km() -> f64 {
    WINDOW_KM
}

impl Stored {
    fn factors(&self) -> Factors {
        let Self { evidence, background_weight, floor, map_exponent, .. } = *self;
        Factors { evidence, background_weight, floor, map_exponent }
    }

    fn fault(&self, model: &ModelShape<'_>) -> Option<String> {
        let coefficients = (model.degree + 1) * (model.degree + 1);
        if ![OLD_VERSION, VERSION].contains(&self.version) {
            return Some(format!("version {}, but this program reads version {VERSION}", self.version));
        }
        let met = self.background.len();
        if met != coefficients {
            return Some(format!("{met} background coefficients, but the model has {coefficients}"));
        }
        if let (Some(fitted), Some(trained)) = (&self.encoder, model.encoder)
            && !fitted.is_same_encoder(trained)
        {
            return Some(format!("it was fitted with the encoder {fitted}, but the model was trained with {trained}"));
        }
        let (met, wanted) = (self.out_of_domain.as_ref().map(|other| other.probe.weights.len()), model.embedding_dim);
        if let Some(met) = met.filter(|met| *met != wanted) {
            return Some(format!("its probe has {met} weights, but the model takes embeddings of {wanted} numbers"));
        }
        let met = self.surroundings.as_ref().map(Surroundings::embedding_dim);
        if let Some(met) = met.filter(|met| *met != wanted) {
            return Some(format!("its heads take embeddings of {met} numbers, but the model takes {wanted}"));
        }
        let narrow = self.narrow_window.unwrap_or(NarrowWindow { km: WINDOW_KM, share: 1.0 });
        let ranges = [
            ("window_km", self.window_km, 1.0, 20_000.0),
            ("narrow_window: km", narrow.km, 1.0, 20_000.0),
            ("narrow_window: share", narrow.share, 0.0, 1.0),
            ("can_tell_from", self.can_tell_from, 0.0, 1.0),
        ];
        factors_fault(&self.factors())
            .or_else(|| levels_fault(&self.radius_levels))
            .or_else(|| self.levels_by_radius.fault(levels_fault))
            .or_else(|| out_of_range(&ranges))
            .or_else(|| self.out_of_domain.as_ref().and_then(ood_fault))
            .or_else(|| self.plain.iter().flatten().find_map(factors_fault))
            .or_else(|| self.places.as_ref().and_then(PlaceSettings::fault))
            .or_else(|| {
                let gallery = self.gallery.as_ref()?;
                let levels = || levels_fault(&gallery.radius_levels);
                gallery.fault().or_else(levels).or_else(|| levels_fault(&gallery.out_of_domain_radius_levels))
            })
    }
}

fn factors_fault(factors: &Factors) -> Option<String> {
    let Factors { evidence, background_weight: weight, floor, map_exponent } = *factors;
    let ranges = [
        ("evidence", evidence, 0.0, 10.0),
        ("background_weight", weight, 0.0, 10.0),
        ("floor", floor, 0.0, 1.0),
        ("map_exponent", map_exponent, 0.0, 2.0),
    ];
    let is_all = || (floor == 1.0).then(|| "floor is 1: nothing would be left for the photo".to_owned());
    out_of_range(&ranges).or_else(is_all)
}

fn levels_fault(levels: &[f64; 9]) -> Option<String> {
    let bad = levels.iter().find(|level| !(0.0..=1.0).contains(*level));
    bad.map(|level| format!("a radius level is {level}, not from 0 to 1")).or_else(|| {
        let rises = levels.windows(2).all(|pair| pair[0] <= pair[1]);
        (!rises).then(|| "the radius levels do not rise".to_owned())
    })
}

fn ood_fault(out_of_domain: &OutOfDomain) -> Option<String> {
    let Probe { weights, bias } = &out_of_domain.probe;
    let window = out_of_domain.window_km.unwrap_or(WINDOW_KM);
    let exponents =
        out_of_domain.map_exponents.unwrap_or_default().map(|exponent| ("map_exponents", exponent, 0.0, 2.0));
    let is_finite = weights.iter().chain([bias]).all(|value| value.is_finite());
    factors_fault(&out_of_domain.factors)
        .or_else(|| levels_fault(&out_of_domain.radius_levels))
        .or_else(|| out_of_range(&[("window_km", window, 1.0, 20_000.0)]))
        .or_else(|| out_of_range(&exponents))
        .or_else(|| (!is_finite).then(|| "a weight of the probe is not finite".to_owned()))
}

impl Calibration {
    /// Reads a model folder's calibration; `None` if it has none. Fails on a file that cannot be read or does not fit the model.
    pub fn load(folder: impl AsRef<Path>, model: &ModelShape<'_>) -> Result<Option<Self>> {
        let path = folder.as_ref().join(CALIBRATION_FILE);
        match read_bounded(&path, LARGEST_FILE_BYTES) {
            Ok(contents) => Self::from_bytes(&path, &contents, model).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(AnswerError::Calibration { path, reason: error.to_string() }),
        }
    }

    /// A calibration from the contents of its file; `path` is the name that errors give.
    /// Fails on contents that are no calibration, or that of another degree, encoder or size of embeddings.
    pub fn from_bytes(path: impl AsRef<Path>, contents: &[u8], model: &ModelShape<'_>) -> Result<Self> {
        let bad = |reason: String| AnswerError::Calibration {
            path: path.as_ref().to_owned(),
            reason: format!("{}; make it again with `locdiff calibrate`", one_line(&reason)),
        };
        let stored: Stored =
            serde_json::from_slice(contents).map_err(|error| bad(format!("no calibration: {error}")))?;
        if let Some(fault) = stored.fault(model) {
            return Err(bad(fault));
        }
        let factors = stored.factors();
        let background = Coefficients::new(stored.background).map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            factors,
            window_km: stored.window_km,
            narrow_window: stored.narrow_window,
            can_tell_from: stored.can_tell_from,
            radius_levels: stored.radius_levels,
            levels_by_radius: stored.levels_by_radius,
            out_of_domain: stored.out_of_domain,
            places: stored.places,
            gallery: stored.gallery,
            plain: stored.plain,
            surroundings: stored.surroundings.map(Arc::new),
            fit: stored.fit,
            encoder: stored.encoder,
            background,
        })
    }

    /// Writes it into a model's folder. Fails on a folder that cannot be written.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<()> {
        let path = folder.as_ref().join(CALIBRATION_FILE);
        let stored = Stored {
            version: VERSION,
            evidence: self.factors.evidence,
            background_weight: self.factors.background_weight,
            floor: self.factors.floor,
            map_exponent: self.factors.map_exponent,
            window_km: self.window_km,
            narrow_window: self.narrow_window,
            can_tell_from: self.can_tell_from,
            radius_levels: self.radius_levels,
            levels_by_radius: self.levels_by_radius.clone(),
            out_of_domain: self.out_of_domain.clone(),
            places: self.places.clone(),
            gallery: self.gallery.clone(),
            plain: self.plain,
            surroundings: self.surroundings.as_deref().cloned(),
            fit: self.fit.clone(),
            encoder: self.encoder.clone(),
            background: self.background.as_slice().to_vec(),
        };
        let text = serde_json::to_string_pretty(&stored).unwrap_or_default();
        Ok(AtomicFile::write_whole(&path, format!("{text}\n").as_bytes())?)
    }
}

impl Calibration {
    /// Its fit as one JSON object.
    pub fn to_json(&self) -> Value {
        json!({
            "evidence": self.factors.evidence, "background_weight": self.factors.background_weight,
            "floor": self.factors.floor, "map_exponent": self.surroundings.as_ref().map(|_| self.factors.map_exponent),
            "window_km": self.window_km, "narrow_window": self.narrow_window, "can_tell_from": self.can_tell_from, "fit": self.fit,
            "out_of_domain": self.out_of_domain.as_ref().map(|other| other.factors), "gallery": self.gallery,
            "places": self.places,
            // The name of earlier releases.
            "strangers": self.out_of_domain.as_ref().map(|other| other.factors),
            "worst_deviation": self.fit.as_ref().map(crate::answer::FitReport::worst_deviation),
        })
    }

    /// The summary as lines for people.
    pub fn to_text(&self) -> String {
        let Some(report) = &self.fit else { return "not fitted\n".to_owned() };
        let each = |shares: &[f64]| shares.iter().map(|share| format!("{:>3.0}", 100.0 * share)).collect::<Vec<_>>();
        let percent = |shares: &[f64]| each(shares).join(" ");
        let network = || {
            let Factors { evidence, background_weight: background, floor, map_exponent } = self.factors;
            let map = self.surroundings.as_ref().map(|_| format!(", map factors to the power {map_exponent:.2}"));
            let map = map.unwrap_or_default();
            format!("evidence × {evidence:.2}, background × {background:.2}, floor {:.1} %{map}", 100.0 * floor)
        };
        let mut text = self.places.as_ref().map_or_else(network, places_text);
        let (window, least) = (self.window_km, self.can_tell_from);
        let narrow = self.narrow_window.map_or_else(String::new, |NarrowWindow { km, share }| {
            format!(" ({km:.0} km if that holds {:.0} %)", 100.0 * share)
        });
        let _ = writeln!(text, ", window {window:.0} km{narrow}; \"I can't tell\" below a locatability of {least:.2}");
        let (nll, without, n) = (report.nll_nats, report.background_nll_nats, report.n);
        let _ = writeln!(text, "−log density {nll:.3} nats per photo ({without:.3} without the photo), n = {n}");
        let _ = writeln!(text, "said          {} %", percent(&LEVELS));
        let _ = writeln!(text, "in regions    {} %", percent(&report.regions));
        let radii = percent(&report.radii);
        let _ = writeln!(text, "within radii  {radii} % before, as stated after the radii are stretched");
        text + &self.gallery.as_ref().map_or_else(String::new, mix_text)
    }
}

fn places_text(places: &PlaceSettings) -> String {
    let PlaceSettings { temperature, sharpening, width_km, share, .. } = places;
    let law =
        if *sharpening > 0.0 { format!(" × ((1 − s²)/s)^{sharpening}, s the best score") } else { String::new() };
    let rest = 100.0 * (1.0 - share);
    format!("temperature {temperature:.5}{law}, kernels of {width_km:.0} km, {rest:.1} % everywhere")
}

fn mix_text(mix: &GalleryMix) -> String {
    let (share, other) = (100.0 * mix.share, 100.0 * mix.out_of_domain_share);
    let kernels = &mix.kernels;
    format!(
        "with the gallery: {share:.0} % of it ({other:.0} % out of domain), {} neighbours, kernels of {:.0} km, \
         temperature {:.3}, window {:.0} km; −log density {:.3}\n",
        kernels.neighbours, kernels.width_km, kernels.temperature, mix.window_km, mix.nll_nats
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Sureness;

    #[test]
    fn each_fault_is_named_for_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let plain = Calibration::none(Coefficients::new(vec![0.0; 16]).unwrap());
        plain.save(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join(CALIBRATION_FILE)).unwrap();
        let shape = ModelShape { degree: 3, embedding_dim: 4, encoder: None };
        assert_eq!(Calibration::from_bytes("x", text.as_bytes(), &shape).unwrap(), plain);
        assert!((plain.radius_level(0.37, 0.0, Sureness::default()) - 0.37).abs() < 1e-12);
        assert!((plain.radius_share(0.96, 0.0, Sureness::default()) - 0.96).abs() < 1e-12);
        for (from, to, message) in [
            ("\"version\": 2", "\"version\": 3", "version 3, but"),
            ("\"evidence\": 1.0", "\"evidence\": 11.0", "evidence is 11"),
            ("\"floor\": 0.01", "\"floor\": 1.0", "floor is 1"),
            ("\"can_tell_from\": 0.0", "\"can_tell_from\": -1.0", "can_tell_from is -1"),
            ("0.1,", "0.95,", "do not rise"),
            ("0.9\n", "1.9\n", "a radius level is 1.9"),
        ] {
            assert!(text.contains(from), "{from}: {text}");
            let error = Calibration::from_bytes("x.json", text.replacen(from, to, 1).as_bytes(), &shape);
            let error = error.unwrap_err().to_string();
            assert!(error.contains("x.json") && error.contains(message), "{error}");
        }
        let other = ModelShape { degree: 4, ..shape };
        let error = Calibration::from_bytes("x", text.as_bytes(), &other).unwrap_err().to_string();
        assert!(error.contains("16 background coefficients, but the model has 25"), "{error}");
    }

    /// A calibration of another encoder, or with a probe for other embeddings, was taken in silence.
    #[test]
    fn another_encoder_and_another_size_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, other) = (Fingerprint::new("mine", 1), Fingerprint::new("other", 2));
        let mut plain = Calibration::none(Coefficients::new(vec![0.0; 16]).unwrap());
        plain.encoder = Some(mine.clone());
        let (factors, radius_levels) = (plain.factors, plain.radius_levels);
        plain.out_of_domain = Some(OutOfDomain {
            probe: Probe { weights: vec![0.5; 4], bias: 0.0 },
            factors,
            map_exponents: Some([1.0, 0.35, 0.2]),
            radius_levels,
            window_km: None,
        });
        plain.save(folder.path()).unwrap();
        let load = |embedding_dim, encoder| {
            Calibration::load(folder.path(), &ModelShape { degree: 3, embedding_dim, encoder })
        };
        assert_eq!(load(4, Some(&mine)).unwrap(), Some(plain.clone()));
        let message = load(4, Some(&other)).unwrap_err().to_string();
        assert!(message.contains(&mine.to_string()) && message.contains(&other.to_string()), "{message}");
        let message = load(5, None).unwrap_err().to_string();
        assert!(message.contains("its probe has 4 weights, but the model takes embeddings of 5"), "{message}");
        let text = std::fs::read_to_string(folder.path().join(CALIBRATION_FILE)).unwrap();
        let old = text.replace("\"out_of_domain", "\"strangers");
        assert_ne!(old, text);
        let shape = ModelShape { degree: 3, embedding_dim: 4, encoder: Some(&mine) };
        let read = Calibration::from_bytes("old names", old.as_bytes(), &shape).unwrap();
        assert_eq!(read, plain, "names of earlier releases");
    }
}

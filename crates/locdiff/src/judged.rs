//! A model judged on photos whose places are known.

use crate::{Control, LocateError, LocatorOptions, Progress, error::Result};
use locdiff_base::setting;
use locdiff_io::data::RowFile;
use locdiff_model::answer::{Answer, FromDensity, Globe, LEVELS, ReadOptions, Reader, ReliabilityCurve, Verdict};
use locdiff_model::{Predictor, Reading, SampleOptions, eval::Accuracy};
use locdiff_nn::Device;
use locdiff_shdd::sphere::LatLon;
use serde_json::{Value, json};
use std::{fmt::Write, sync::Arc};

impl LocatorOptions {
    /// Locates each row of a file of embeddings, with the model's verdict on its truth if the model is calibrated. A calibrated model answers as
    /// [`crate::Locator::locate_all`] does, another by its samples. Fails if a folder cannot be used, embeddings do not fit, or the numbers of
    /// truths and rows differ.
    pub fn judge_rows(
        &self,
        file: &RowFile,
        truths: &[Option<LatLon>],
        options: &SampleOptions,
        control: Control<'_>,
    ) -> Result<Vec<(LatLon, Option<Verdict>)>> {
        let (model, calibration) = self.open_model(&Device::open_with(self.device, self.precision)?)?;
        if file.rows() != truths.len() {
            let remedy = format!("there are {} embeddings: row k of both must be the same photo", file.rows());
            return Err(setting("truths", truths.len(), remedy));
        }
        model.config().check_rows(file)?;
        let predictor = Predictor::new(&model)?;
        let mut found = Vec::with_capacity(file.rows());
        let rows: Vec<usize> = (0..file.rows()).collect();
        let Some(calibration) = calibration else {
            predictor.predict_rows(&[file], &rows, options, Reading::default(), |_, _, prediction| {
                found.push((prediction.place, None));
                control.advance(Progress::Read);
                Ok::<_, LocateError>(())
            })?;
            return Ok(found);
        };
        let reader = Reader::new(Arc::new(Globe::of(predictor.codec().clone())?), calibration)?;
        predictor.coefficients_of_rows(file, &rows, options, |row, embedding, evidence| {
            let said = reader.calibration().model_output(&evidence, [embedding.values()]);
            let density = reader.density(said, None)?;
            let options = ReadOptions::default().with_hypotheses(1);
            let place = reader.peaks(&density, said.ood, None, &options).1[0].place;
            let verdict = truths[row].map(|truth| reader.judge(&density, said.ood, place, truth));
            found.push((place, verdict));
            control.advance(Progress::Read);
            Ok::<_, LocateError>(())
        })?;
        Ok(found)
    }
}

/// Score of answers with known truth, see [`AnswerScore::add`].
#[derive(Debug, Default)]
pub struct AnswerScore {
    /// Answer, truth, and whether LocDiff answered other than "I can't tell".
    pairs: Vec<(LatLon, LatLon, bool)>,
    /// Scores of the densities, and whether LocDiff answered other than "I can't tell".
    verdicts: Vec<(Verdict, bool)>,
}

impl AnswerScore {
    /// Adds an answer and its truth.
    pub fn add(&mut self, answer: &Answer, truth: LatLon, reader: &Reader) {
        self.pairs.push((answer.best, truth, answer.can_tell));
        if let Some(FromDensity { density, familiarity, .. }) = &answer.from_density {
            let verdict = reader.judge(density, 1.0 - familiarity, answer.best, truth);
            self.verdicts.push((verdict, answer.can_tell));
        }
    }

    fn accuracy(&self, told: Option<bool>) -> Accuracy {
        let chosen = self.pairs.iter().filter(|(_, _, can)| told.is_none_or(|told| told == *can));
        Accuracy::new(chosen.map(|(answer, truth, _)| (*answer, *truth)))
    }

    /// Of all photos, or of those that it could or could not tell.
    fn curve(&self, told: Option<bool>, pick: fn(&Verdict) -> f64) -> ReliabilityCurve {
        let chosen = self.verdicts.iter().filter(|(_, can)| told.is_none_or(|told| told == *can));
        ReliabilityCurve::of_levels(&chosen.map(|(verdict, _)| pick(verdict)).collect::<Vec<_>>())
    }

    fn nll(&self) -> f64 {
        let log_density: f64 = self.verdicts.iter().map(|(verdict, _)| verdict.log_density).sum();
        -log_density / self.pairs.len().max(1) as f64
    }

    /// Of a share of one half, the largest of all.
    fn standard_error(&self) -> f64 {
        0.5 / (self.pairs.len().max(1) as f64).sqrt()
    }

    /// Returns the score as one JSON object.
    pub fn to_json(&self) -> Value {
        if self.verdicts.is_empty() {
            return json!({ "summary": { "accuracy": self.accuracy(None) } }); // places alone
        }
        let region = |told| self.curve(told, |v| v.region_level);
        let radius = |told| self.curve(told, |v| v.radius_share);
        let (regions, radii) = (region(None), radius(None));
        let worst = regions.largest_error.max(radii.largest_error);
        let part = |told| json!({ "regions": region(Some(told)), "radii": radius(Some(told)) });
        json!({
            "summary": {
                "accuracy": self.accuracy(None), "answered": self.accuracy(Some(true)),
                "cannot_tell": self.accuracy(Some(false)), "nll_nats": self.nll(), "levels": LEVELS,
                "regions": regions, "radii": radii, "worst_deviation": worst, "standard_error": self.standard_error(),
                "held_where_answered": part(true), "held_where_cannot_tell": part(false),
            }
        })
    }

    /// Returns the score as lines of text.
    pub fn to_text(&self) -> String {
        let percent = |shares: &[f64]| {
            let each: Vec<String> = shares.iter().map(|share| format!("{:>4.1}", 100.0 * share)).collect();
            each.join(" ")
        };
        let (regions, radii) = (self.curve(None, |v| v.region_level), self.curve(None, |v| v.radius_share));
        let mut text = format!("all          {}\n", self.accuracy(None));
        if self.verdicts.is_empty() {
            return text + "the model gives no densities: no radii and no probabilities to judge\n";
        }
        let _ = writeln!(text, "answered     {}", self.accuracy(Some(true)));
        let _ = writeln!(text, "can't tell   {}", self.accuracy(Some(false)));
        let _ = writeln!(text, "−log density {:.3} nats per steradian (uniform 2.531)", self.nll());
        let _ = writeln!(text, "said         {} %", percent(&LEVELS));
        let _ = writeln!(text, "in regions   {} %", percent(&regions.observed()));
        let (within, error) = (percent(&radii.observed()), 100.0 * self.standard_error());
        let _ = writeln!(text, "within radii {within} % (standard error {error:.1} points)");
        for (name, told) in [("- answered", true), ("- can't tell", false)] {
            let part = self.curve(Some(told), |v| v.radius_share);
            if let Some(n) = part.curve.first().map(|point| point.n).filter(|n| *n > 0) {
                let _ = writeln!(text, "{name:<12} {} % (n = {n})", percent(&part.observed()));
            }
        }
        text
    }
}

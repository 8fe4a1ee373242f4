//! From truths and answers to the report.

use crate::eval::{Bootstrap, CountryScores, DistanceScores, Likelihood, Nearby, PRDC_CHUNKS};
use crate::eval::{PRDC_NEIGHBOURS, Paired, Prdc, Preset, RecallArea, ReliabilityCurve, best_constant, by_label};
use crate::report::report::{Breakdown, PrdcReport, Report, Rival};
use crate::{eval::by_novelty, eval::country_at, report::ReportError, report::Result, report::System};
use locdiff_base::{Named, ensure, named};
use locdiff_map::places::continent;
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;

/// PRDC of all photos at once is quadratic: 20,000 take about 2 seconds, 100,000 a minute.
const MOST_FOR_WHOLE_PRDC: usize = 20_000;

named! {
    /// What a photo without an answer is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum MissingRule: "rule for missing answers" {
        #[default]
        Miss = "miss", "an unanswered photo counts as a miss at every radius";
        Skip = "skip", "an unanswered photo is left out, as in plonk";
    }
}

named! {
    /// Of which photos precision, recall, density and coverage are computed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum PrdcChoice: "PRDC" {
        #[default]
        Auto = "auto", "all photos up to 20,000, and in 20 chunks";
        All = "all", "all photos however many, and in 20 chunks";
        Chunks = "chunks", "in 20 chunks only";
        None = "none", "not at all";
    }
}

named! {
    /// What the photos are divided by.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Division: "division" {
        Continent = "continent", "by continent";
        Country = "country", "by country";
        None = "none", "not at all";
    }
}

impl Division {
    fn label(self, place: LatLon) -> String {
        match self {
            Self::Continent => continent(place).unwrap_or("elsewhere").to_owned(),
            Self::Country => country_at(place).map_or("at sea or in no country", |country| country.name()).to_owned(),
            Self::None => String::new(),
        }
    }
}

/// How answers are judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// Whose rules.
    pub preset: Preset,
    /// How intervals are made: of blocks of 15° if there are enough. Its seed is also that of the permutations.
    pub bootstrap: Bootstrap,
    /// What a photo without an answer is.
    pub missing: MissingRule,
    /// Parts whose accuracy is reported.
    pub divisions: Vec<Division>,
    /// Whether answers are spread as truths are.
    pub prdc: PrdcChoice,
    /// Places of the training photos: accuracy by distance to the nearest one.
    pub training: Option<Vec<LatLon>>,
    /// Places of the validation photos: the best constant of these is a rival. None if empty.
    pub validation: Vec<LatLon>,
}

impl Evaluation {
    /// Judges a system, and another for comparison, by the truths (named for the report); `step` is called whenever a part is
    /// done: three, and one per division.
    ///
    /// ```
    /// use locdiff_model::report::{Evaluation, System};
    /// use locdiff_shdd::sphere::LatLon;
    /// let truths: Vec<_> = [(48.9, 2.4), (30.0, 31.2)].map(|(lat, lon)| LatLon::new(lat, lon).ok()).into();
    /// let system = System::of_places("guess".to_owned(), vec![truths[0], None]);
    /// let report = Evaluation::default().judge("truth", &truths, system, None, || ())?;
    /// assert!(report.to_text().contains("n = 2, 1 without an answer (counted as misses)"));
    /// # Ok::<(), locdiff_model::report::ReportError>(())
    /// ```
    ///
    /// Fails on settings out of range, lists of different lengths, or nothing to evaluate.
    pub fn judge(
        &self,
        truth_name: &str,
        truths: &[Option<LatLon>],
        mut first: System,
        mut second: Option<System>,
        step: impl Fn(),
    ) -> Result<Report> {
        self.bootstrap.check()?;
        let mut keep: Vec<bool> = truths.iter().map(Option::is_some).collect();
        let without_truth = keep.iter().filter(|kept| !**kept).count();
        let mut skipped = 0;
        if self.missing == MissingRule::Skip {
            let answered = |system: &System, row: usize| system.answers.get(row).is_some_and(Option::is_some);
            for (row, kept) in keep.iter_mut().enumerate() {
                let answered = answered(&first, row) && second.as_ref().is_none_or(|s| answered(s, row));
                skipped += usize::from(*kept && !answered);
                *kept &= answered;
            }
        }
        std::iter::once(&mut first).chain(&mut second).for_each(|system| system.retain(&keep));
        let truths: Vec<LatLon> =
            truths.iter().zip(&keep).filter_map(|(place, kept)| place.filter(|_| *kept)).collect();
        ensure!(!truths.is_empty(), ReportError::Nothing);
        let (rules, bootstrap) = (self.preset.rules(), self.bootstrap.by_places(&truths));
        let errors_km = rules.errors_km(&truths, &first.answers)?;
        let mut report = self.report((truth_name, &truths), (&first, &errors_km), step)?;
        (report.without_truth, report.skipped) = (without_truth, skipped);
        let rival = |other: System| -> Result<Rival> {
            let others_km = rules.errors_km(&truths, &other.answers)?;
            let scores = DistanceScores::new(&others_km, rules, &bootstrap);
            let paired = Paired::new(&errors_km, &others_km, rules, &bootstrap)?;
            let country_scores = CountryScores::new(&truths, &other.answers, &other.countries, &bootstrap);
            Ok(Rival { scores, country_scores, paired, name: other.name })
        };
        report.rival = second.map(rival).transpose()?;
        if let Some(place) = best_constant(&self.validation) {
            let name = format!("always {place}, the best constant of the validation locations");
            report.constant = Some(rival(System::of_places(name, vec![Some(place); truths.len()]))?);
        }
        Ok(report)
    }

    fn report(
        &self,
        (truth_name, truths): (&str, &[LatLon]),
        (system, errors_km): (&System, &[f64]),
        step: impl Fn(),
    ) -> Result<Report> {
        let (rules, bootstrap) = (self.preset.rules(), self.bootstrap.by_places(truths));
        let scores = DistanceScores::new(errors_km, rules, &bootstrap);
        let mut report = Report::new(&system.name, truth_name, self.preset, bootstrap.clone(), scores);
        report.country_scores = CountryScores::new(truths, &system.answers, &system.countries, &bootstrap);
        step();
        self.add_prdc(&mut report, truths, &system.answers)?;
        step();
        report.likelihood = system.log_density.as_ref().map(|logs| Likelihood::new(logs, &bootstrap));
        report.recall_area = system.region_area_km2.as_ref().map(|areas| RecallArea::new(areas, &bootstrap));
        report.regions = system.region_level.as_ref().map(|levels| ReliabilityCurve::of_levels(levels));
        if !system.radii.is_empty() {
            report.radii = Some(ReliabilityCurve::of_radii(errors_km, &system.radii, rules)?);
        }
        for &division in self.divisions.iter().filter(|division| **division != Division::None) {
            let labels: Vec<String> = truths.par_iter().map(|truth| division.label(*truth)).collect();
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let groups = by_label(&labels, errors_km, rules, &bootstrap)?;
            report.breakdowns.push(Breakdown { by: division.name().to_owned(), groups });
            step();
        }
        if let Some(training) = &self.training {
            let nearby = Nearby::new(training, rules);
            let nearest = truths.par_iter().map(|truth| nearby.nearest_km(*truth).unwrap_or(f64::NAN));
            let groups = by_novelty(&nearest.collect::<Vec<f64>>(), errors_km, rules, &bootstrap)?;
            report.breakdowns.push(Breakdown { by: "distance to the nearest training photo".to_owned(), groups });
        }
        step();
        if bootstrap.blocks.is_none() {
            report.notes.push("too few blocks of 15° to draw: intervals take photos as independent".to_owned());
        }
        if system.strange > 0 {
            report.notes.push(format!("{} predictions are for photos without a truth: left out", system.strange));
        }
        report.points = truths.iter().copied().zip(errors_km.iter().copied()).collect();
        Ok(report)
    }

    fn add_prdc(&self, report: &mut Report, truths: &[LatLon], answers: &[Option<LatLon>]) -> Result<()> {
        if self.prdc == PrdcChoice::None {
            return Ok(());
        }
        let answered = truths.iter().zip(answers).filter_map(|(truth, answer)| Some((*truth, (*answer)?)));
        let (real, fake): (Vec<LatLon>, Vec<LatLon>) = answered.unzip();
        let enough = |rows: usize| rows > PRDC_NEIGHBOURS;
        let is_small = real.len() <= MOST_FOR_WHOLE_PRDC;
        let whole = self.prdc == PrdcChoice::All || self.prdc == PrdcChoice::Auto && is_small;
        if self.prdc == PrdcChoice::Auto && !whole {
            let all = format!("PRDC of all {} photos at once", real.len());
            report.notes.push(format!("{all} is quadratic and was left out; it can be asked for"));
        }
        let whole = (whole && enough(real.len())).then(|| Prdc::new(&real, &fake, PRDC_NEIGHBOURS)).transpose()?;
        let chunked = enough(real.len().div_ceil(PRDC_CHUNKS))
            .then(|| Prdc::chunked(&real, &fake, PRDC_NEIGHBOURS, PRDC_CHUNKS))
            .transpose()?;
        if whole.is_none() && chunked.is_none() {
            let demanded = matches!(self.prdc, PrdcChoice::All | PrdcChoice::Chunks);
            return if demanded { Err(ReportError::FewForPrdc { answers: real.len() }) } else { Ok(()) };
        }
        report.prdc = Some(PrdcReport { neighbours: PRDC_NEIGHBOURS, whole, chunks: PRDC_CHUNKS, chunked });
        Ok(())
    }
}

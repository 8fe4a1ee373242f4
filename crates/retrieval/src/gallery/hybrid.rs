//! LocDiff-H: a diffusion model's samples say where to look, retrieval finds the place there.

use crate::gallery::{Cap, Hit, Result, Retriever};
use locdiff_base::named;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};

/// How far the diffusion model's density counts beside the retriever's scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    /// The factor on the log density; 0 leaves retrieval alone.
    pub weight: f64,
    /// Densities below this (per steradian; the uniform one is 0.08) count as this: a band-limited density rings around 0.
    pub floor: f64,
}

named! {
    /// What candidates lie around.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Centres: "centres" {
        Samples = "samples", "around every sample, as in the paper";
        Answer = "answer", "around the diffusion model's own answer";
    }
}

named! {
    /// Which rule makes one place of samples and retrieval.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum HybridRule: "rule" {
        #[default]
        Fused = "fused", "the model's density times a softmax of the retrieval";
        Paper = "paper", "the best match near a sample";
    }
}

impl HybridRule {
    /// The rule's options.
    pub fn options(self) -> HybridOptions {
        match self {
            Self::Fused => HybridOptions::default(),
            Self::Paper => HybridOptions::PAPER,
        }
    }
}

/// How samples and retrieval become one answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridOptions {
    /// What candidates lie around.
    pub centres: Centres,
    /// Candidates are the gallery's places within this distance of any centre.
    pub radius_km: f64,
    /// The best this many candidates take part.
    pub hits: usize,
    /// The softmax's temperature; the retriever's own where absent.
    pub temperature: Option<f64>,
    /// Density times retrieval, where wanted.
    pub fusion: Option<Fusion>,
    /// Candidates count the probability around them, which falls as exp(−distance / this); 0 for the best one alone.
    pub kernel_km: f64,
    /// Below this share of probability around the best candidate the diffusion model's own answer stands; 0 for never.
    pub confidence: f64,
}

impl HybridOptions {
    /// The paper's: the best candidate within 200 km of a sample.
    pub const PAPER: Self = Self {
        centres: Centres::Samples,
        radius_km: 200.0,
        hits: 1,
        temperature: None,
        fusion: None,
        kernel_km: 0.0,
        confidence: 0.0,
    };

    fn check(&self) -> Result<()> {
        let is_size = |number: f64| number > 0.0 && number.is_finite();
        let (radius_km, kernel_km, temperature) = (self.radius_km, self.kernel_km, self.temperature.unwrap_or(1.0));
        let (weight, floor) = self.fusion.map_or((0.0, 1.0), |fusion| (fusion.weight, fusion.floor));
        let checks = [
            (is_size(radius_km), "radius_km", radius_km, "a positive number of kilometres"),
            (self.hits > 0, "hits", 0.0, "at least 1"),
            (is_size(temperature), "temperature", temperature, "a positive number"),
            (weight.is_finite() && floor > 0.0, "fusion weight", weight, "a finite number"),
            (kernel_km == 0.0 || is_size(kernel_km), "kernel_km", kernel_km, "0 or a positive number of kilometres"),
            ((0.0..=1.0).contains(&self.confidence), "confidence", self.confidence, "0 to 1"),
        ];
        let wrong = checks.into_iter().find(|(fits, ..)| !fits);
        wrong.map_or(Ok(()), |(_, what, value, remedy)| Err(locdiff_base::setting(what, value, remedy)))
    }
}

impl Default for HybridOptions {
    /// Chosen on validation photos: see `docs/models.md`.
    fn default() -> Self {
        Self {
            radius_km: 400.0,
            hits: 200,
            fusion: Some(Fusion { weight: 1.0, floor: 0.1 }),
            kernel_km: 100.0,
            ..Self::PAPER
        }
    }
}

/// The hybrid's answer for one photo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridAnswer {
    /// The place.
    pub place: LatLon,
    /// The gallery's row (from 0) it came from; `None` where the diffusion model's own answer stands.
    pub row: Option<usize>,
    /// How much that row's photo is like the one in question; 0 where the model's own answer stands.
    pub similarity: f64,
    /// The share of probability around the best candidate; 0 without candidates.
    pub confidence: f64,
}

/// Retrieval within caps around the samples (or the answer); `plain` where there is nothing or it is not sure enough. `log_density` gives
/// the model's log density per steradian at points; it is asked only with [`HybridOptions::fusion`]. Fails for options
/// out of range, an embedding of another size, or a gallery that fails.
pub fn hybrid(
    retriever: &dyn Retriever,
    embedding: &[f32],
    samples: &[LatLon],
    plain: LatLon,
    log_density: &dyn Fn(&[UnitVec]) -> Vec<f64>,
    options: &HybridOptions,
) -> Result<HybridAnswer> {
    options.check()?;
    let centres = match options.centres {
        Centres::Samples => samples,
        Centres::Answer => std::slice::from_ref(&plain),
    };
    let caps: Vec<Cap> =
        centres.iter().map(|place| Cap { centre: place.to_unit(), radius_km: options.radius_km }).collect();
    let hits = retriever.retrieve(embedding, Some(&caps), options.hits)?;
    if hits.is_empty() {
        return Ok(HybridAnswer { place: plain, row: None, similarity: 0.0, confidence: 0.0 });
    }
    let points: Vec<UnitVec> = hits.iter().map(|hit| hit.place.to_unit()).collect();
    let temperature = options.temperature.unwrap_or_else(|| retriever.temperature());
    let mut logits: Vec<f64> = hits.iter().map(|hit| f64::from(hit.score) / temperature).collect();
    if let Some(Fusion { weight, floor }) = options.fusion {
        let lowest = floor.ln();
        for (logit, log_density) in logits.iter_mut().zip(log_density(&points)) {
            *logit += weight * log_density.max(lowest);
        }
    }
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    if options.kernel_km > 0.0 {
        let own = shares.clone();
        for i in 0..points.len() {
            for j in i + 1..points.len() {
                let near = (-points[i].angle_rad(points[j]) * EARTH_RADIUS_KM / options.kernel_km).exp();
                shares[i] += own[j] * near;
                shares[j] += own[i] * near;
            }
        }
    }
    // Of equal shares the first: hits come best first.
    let (best, confidence) =
        shares.iter().enumerate().fold((0, -1.0), |best, (k, share)| if *share > best.1 { (k, *share) } else { best });
    if confidence < options.confidence {
        return Ok(HybridAnswer { place: plain, row: None, similarity: 0.0, confidence });
    }
    let Hit { place, row, score } = hits[best];
    Ok(HybridAnswer { place, row: Some(row), similarity: f64::from(score), confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four places with fixed scores; caps are honoured.
    struct Fixed(Vec<Hit>);

    impl Retriever for Fixed {
        fn input_dimension(&self) -> usize {
            1
        }

        fn temperature(&self) -> f64 {
            0.1
        }

        fn identity(&self) -> String {
            "four places".to_owned()
        }

        fn retrieve(&self, _: &[f32], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Hit>> {
            let inside = |hit: &&Hit| caps.is_none_or(|caps| caps.iter().any(|cap| cap.contains(hit.place.to_unit())));
            let mut hits: Vec<Hit> = self.0.iter().filter(inside).copied().collect();
            hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            hits.truncate(most);
            Ok(hits)
        }
    }

    fn place(lat: f64, lon: f64) -> LatLon {
        LatLon::new(lat, lon).unwrap()
    }

    fn retriever() -> Fixed {
        let hits = [(0.0, 0.0, 0.60), (0.0, 0.3, 0.59), (1.0, 1.0, 0.62), (50.0, 50.0, 0.99)];
        let hit = |(row, &(lat, lon, score)): (usize, &(f64, f64, f32))| Hit { row, place: place(lat, lon), score };
        Fixed(hits.iter().enumerate().map(hit).collect())
    }

    fn flat(points: &[UnitVec]) -> Vec<f64> {
        vec![0.0; points.len()]
    }

    #[test]
    fn the_paper_takes_the_best_within_the_caps() {
        let plain = place(0.5, 0.5);
        let answer = hybrid(&retriever(), &[1.0], &[plain], plain, &flat, &HybridOptions::PAPER).unwrap();
        assert_eq!((answer.row, answer.place), (Some(2), place(1.0, 1.0)));
        // Nothing within the caps: the plain answer.
        let far = place(-40.0, -40.0);
        let answer = hybrid(&retriever(), &[1.0], &[far], far, &flat, &HybridOptions::PAPER).unwrap();
        assert_eq!(answer, HybridAnswer { place: far, row: None, similarity: 0.0, confidence: 0.0 });
        // The union of the caps.
        let both = [far, place(50.5, 50.0), plain];
        let answer = hybrid(&retriever(), &[1.0], &both, far, &flat, &HybridOptions::PAPER).unwrap();
        assert_eq!(answer.row, Some(3));
        // Around the answer alone.
        let around = HybridOptions { centres: Centres::Answer, ..HybridOptions::PAPER };
        assert_eq!(hybrid(&retriever(), &[1.0], &both, plain, &flat, &around).unwrap().row, Some(2));
    }

    #[test]
    fn neighbours_vote_densities_count_and_doubt_gives_way() {
        let plain = place(0.5, 0.5);
        let base = HybridOptions { hits: 10, ..HybridOptions::PAPER };
        let run = |density: &dyn Fn(&[UnitVec]) -> Vec<f64>, options: &HybridOptions| {
            hybrid(&retriever(), &[1.0], &[plain], plain, density, options).unwrap()
        };
        // Two neighbours outvote the single best.
        assert_eq!(run(&flat, &HybridOptions { kernel_km: 50.0, ..base }).row, Some(0));
        // A density that falls off to the north does the same; its floor bounds it.
        let south = |points: &[UnitVec]| points.iter().map(|p| if p.z() > 0.01 { -100.0 } else { 0.0 }).collect();
        let fused = |floor| HybridOptions { fusion: Some(Fusion { weight: 1.0, floor }), ..base };
        assert_eq!(run(&south, &fused(0.1)).row, Some(0));
        assert_eq!(run(&south, &fused(0.999)).row, Some(2));
        // Three candidates as good as each other are a third each.
        let answer = run(&flat, &HybridOptions { confidence: 0.5, ..base });
        assert_eq!((answer.row, answer.place), (None, plain));
        assert!((answer.confidence - 0.38).abs() < 0.02, "{}", answer.confidence);
    }

    #[test]
    fn options_out_of_range_are_named() {
        let plain = place(0.0, 0.0);
        let base = HybridOptions::PAPER;
        for (options, part) in [
            (HybridOptions { radius_km: 0.0, ..base }, "radius_km = 0"),
            (HybridOptions { radius_km: f64::NAN, ..base }, "radius_km = NaN"),
            (HybridOptions { hits: 0, ..base }, "hits = 0"),
            (HybridOptions { temperature: Some(-1.0), ..base }, "temperature = -1"),
            (HybridOptions { kernel_km: -1.0, ..base }, "kernel_km = -1"),
            (HybridOptions { confidence: 1.5, ..base }, "confidence = 1.5"),
            (HybridOptions { fusion: Some(Fusion { weight: f64::NAN, floor: 0.1 }), ..base }, "fusion weight"),
        ] {
            let error = hybrid(&retriever(), &[1.0], &[plain], plain, &flat, &options).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}

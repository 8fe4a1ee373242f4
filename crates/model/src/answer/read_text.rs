//! Text that was read in a photo, and what it was taken for.

use crate::answer::{Density, FactorEffect};
use locdiff_map::evidence::{Evidence, evidence_of_text};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;

/// A line of text in a photo.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReadText {
    /// What it says.
    pub text: String,
    /// The mean probability of its characters, from 0 to 1.
    pub confidence: f32,
    /// Corners of the rectangle around it, as (x, y) in pixels of the upright photo, clockwise from the text's upper left.
    pub corners: [[f32; 2]; 4],
    /// What it was taken for; nothing if it says nothing about places.
    pub evidence: Vec<TextEffect>,
}

/// What a line of text was taken for, and what that did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TextEffect {
    /// The kind of evidence: "name", "language", "phone" and so on.
    pub kind: &'static str,
    /// What it says: "French", "Leukerbad (Switzerland)".
    pub says: String,
    /// The change of log density at the best location, in nats (natural logarithm).
    pub nats: f64,
    /// ISO codes of the countries that it favours most, at most five.
    pub countries: Vec<&'static str>,
}

impl ReadText {
    /// A line that was read, before it is taken for anything.
    pub fn new(text: impl Into<String>, confidence: f32, corners: [[f32; 2]; 4]) -> Self {
        Self { text: text.into(), confidence, corners, evidence: Vec::new() }
    }

    /// What lines say about places, each with the number of its line.
    pub fn all_evidence(lines: &[Self]) -> (Vec<usize>, Vec<Evidence>) {
        let lines: Vec<(&str, f64)> = lines.iter().map(|line| (&*line.text, f64::from(line.confidence))).collect();
        evidence_of_text(&lines).into_iter().map(|found| (found.line, found.evidence)).unzip()
    }

    /// The lines that were used, with the effects of their evidence at a location. `numbers` are the lines of the density's first
    /// pieces of evidence.
    pub fn used(lines: &[Self], numbers: &[usize], density: &Density, at: LatLon) -> Vec<Self> {
        let effects = density.evidence_effects(at);
        let used = lines.iter().enumerate().map(|(number, line)| {
            let own = numbers.iter().zip(density.evidence()).zip(&effects).filter(|((line, _), _)| **line == number);
            let effect =
                |((_, evidence), FactorEffect { nats, .. }): ((&usize, &Evidence), &FactorEffect)| TextEffect {
                    kind: evidence.kind,
                    says: evidence.says.clone(),
                    nats: *nats,
                    countries: evidence.favoured_countries(5),
                };
            Self { evidence: own.map(effect).collect(), ..line.clone() }
        });
        used.filter(|line| !line.evidence.is_empty()).collect()
    }
}

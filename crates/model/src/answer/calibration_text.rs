//! What a calibration says about itself.

use crate::answer::{Calibration, GalleryMix, LEVELS, PlaceSettings};
use serde_json::{Value, json};
use std::fmt::Write;

impl Calibration {
    /// Its fit as one JSON object.
    pub fn to_json(&self) -> Value {
        json!({
            "evidence": self.factors.evidence, "background_weight": self.factors.background_weight,
            "floor": self.factors.floor, "window_km": self.window_km, "can_tell_from": self.can_tell_from, "fit": self.fit,
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
        let percent = |shares: &[f64]| {
            let each: Vec<String> = shares.iter().map(|share| format!("{:>3.0}", 100.0 * share)).collect();
            each.join(" ")
        };
        let (factors, floor) = (&self.factors, 100.0 * self.factors.floor);
        let network = || {
            let (evidence, background) = (factors.evidence, factors.background_weight);
            format!("evidence × {evidence:.2}, background × {background:.2}, floor {floor:.1} %")
        };
        let mut text = self.places.as_ref().map_or_else(network, places_text);
        let _ = writeln!(
            text,
            ", window {:.0} km; \"I can't tell\" below a locatability of {:.2}",
            self.window_km, self.can_tell_from
        );
        let (nll, without, n) = (report.nll_nats, report.background_nll_nats, report.n);
        let _ = writeln!(text, "−log density {nll:.3} nats per photo ({without:.3} without the photo), n = {n}");
        let _ = writeln!(text, "said          {} %", percent(&LEVELS));
        let _ = writeln!(text, "in regions    {} %", percent(&report.regions));
        let radii = percent(&report.radii);
        let _ = writeln!(text, "within radii  {radii} % before, as said after the radii are stretched");
        if let Some(mix) = &self.gallery {
            text += &mix_text(mix);
        }
        text
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

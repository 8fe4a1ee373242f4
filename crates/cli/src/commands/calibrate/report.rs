//! What a calibration says about itself.

use anyhow::Result;
use locdiff::{Calibration, LEVELS};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// For people, or as JSON.
pub(super) fn tell(calibration: &Calibration, path: &Path, as_json: bool) -> Result<()> {
    let mut out = crate::output::people();
    let Some(report) = &calibration.fit else { return Ok(()) };
    if as_json {
        let summary = json!({
            "out": path, "evidence": calibration.factors.evidence,
            "background_weight": calibration.factors.background_weight,
            "floor": calibration.factors.floor, "window_km": calibration.window_km, "can_tell_from": calibration.can_tell_from, "fit": report,
            "strangers": calibration.strangers.as_ref().map(|strangers| strangers.factors),
            "gallery": calibration.gallery, "worst_deviation": report.worst_deviation(),
        });
        writeln!(out, "{summary}")?;
        return Ok(());
    }
    let percent = |shares: &[f64]| {
        let each: Vec<String> = shares.iter().map(|share| format!("{:>3.0}", 100.0 * share)).collect();
        each.join(" ")
    };
    writeln!(
        out,
        "evidence × {:.2}, background × {:.2}, floor {:.1} %, window {:.0} km; \"I can't tell\" below a locatability of {:.2}",
        calibration.factors.evidence,
        calibration.factors.background_weight,
        100.0 * calibration.factors.floor,
        calibration.window_km,
        calibration.can_tell_from
    )?;
    writeln!(
        out,
        "−log density {:.3} nats per photo ({:.3} without the photo), n = {}",
        report.nll_nats, report.background_nll_nats, report.n
    )?;
    writeln!(out, "said          {} %", percent(&LEVELS))?;
    writeln!(out, "in regions    {} %", percent(&report.regions))?;
    writeln!(
        out,
        "within radii  {} % before, as said after the radii are stretched",
        percent(&report.radii)
    )?;
    if let Some(mix) = &calibration.gallery {
        writeln!(
            out,
            "with the gallery: {:.0} % of it ({:.0} % for photos of another kind), {} neighbours, kernels of {:.0} km, \
             temperature {:.3}, window {:.0} km; −log density {:.3}",
            100.0 * mix.share,
            100.0 * mix.strangers_share,
            mix.kernels.neighbours,
            mix.kernels.width_km,
            mix.kernels.temperature,
            mix.window_km,
            mix.nll_nats
        )?;
    }
    writeln!(out, "wrote {}", path.display())?;
    Ok(())
}

//! `locdiff version`: what this program was built from, and what it finds here.

use anyhow::Result;
use clap::Args;
use locdiff_nn::Device;
use serde_json::{Value, json};
use std::io::Write;

#[derive(Debug, Args, Default)]
pub(crate) struct Version {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The commit that it was built from, or "unknown".
const COMMIT: &str = env!("LOCDIFF_BUILD_COMMIT");

impl Version {
    pub(crate) fn run(self) -> Result<()> {
        let facts = facts()?;
        let mut out = crate::output::Out;
        if self.json {
            return Ok(writeln!(out, "{facts}")?);
        }
        writeln!(out, "locdiff {}", env!("CARGO_PKG_VERSION"))?;
        for (name, value) in facts.as_object().into_iter().flatten().filter(|(name, _)| *name != "version") {
            let words = match value {
                Value::String(text) => text.clone(),
                Value::Null => "none".to_owned(),
                Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
                Value::Object(fields) => {
                    let each =
                        fields.iter().map(|(name, value)| format!("{name} {}", value.as_str().unwrap_or_default()));
                    each.collect::<Vec<_>>().join(", ")
                }
                other => other.to_string(),
            };
            writeln!(out, "{:<9} {words}", name.replace('_', " "))?;
        }
        Ok(())
    }
}

fn facts() -> Result<Value> {
    let cuda = match "cuda".parse().and_then(Device::open) {
        Ok(device) => device.to_string(),
        Err(_) => "not found".to_owned(),
    };
    let libheif = locdiff_vision::libheif_version().unwrap_or_else(|reason| format!("not found ({reason})"));
    let features: Vec<&str> = if cfg!(feature = "bundled") { vec!["bundled"] } else { Vec::new() };
    let (model, encoder) = bundled()?;
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": COMMIT,
        "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        "features": features,
        "threads": rayon::current_num_threads(),
        "cuda": cuda,
        "libheif": libheif,
        "model": model,
        "encoder": encoder,
    }))
}

#[cfg(feature = "bundled")]
fn bundled() -> Result<(Value, Value)> {
    let device = Device::cpu();
    let bundled = locdiff::LocatorOptions::default();
    let (model, _) = bundled.open_model(&device)?;
    let config = model.config();
    let encoder = bundled.open_encoder(&device)?;
    let model = json!({
        "name": locdiff::Locator::BUNDLED_MODEL,
        "degree": config.degree.to_string(),
        "embedding_dim": config.embedding_dim.to_string(),
    });
    Ok((model, json!({ "fingerprint": encoder.fingerprint().to_string() })))
}

#[cfg(not(feature = "bundled"))]
#[expect(clippy::unnecessary_wraps, reason = "the type of the one above")]
fn bundled() -> Result<(Value, Value)> {
    Ok((Value::Null, Value::Null))
}

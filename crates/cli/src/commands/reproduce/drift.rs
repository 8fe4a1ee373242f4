//! `locdiff reproduce drift`: how far a decoded place moves when its code gets noise.

use crate::args::{DecoderArgs, DegreeArg, parse_positive};
use crate::progress;
use anyhow::Result;
use clap::Args;
use locdiff_baselines::PerturbationDrift;
use locdiff_shdd::Codec;

#[derive(Debug, Args)]
pub(crate) struct Drift {
    #[command(flatten)]
    degree: DegreeArg,
    #[command(flatten)]
    decoder: DecoderArgs,
    /// Variance of the noise on each coefficient (the paper: 0.01)
    #[arg(long, default_value = "0.01", value_parser = parse_positive)]
    variance: f64,
    /// Random places
    #[arg(short, long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Seed of places and noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

impl Drift {
    pub(super) fn run(self) -> Result<()> {
        let codec = Codec::new(self.degree.degree);
        let bar = progress::bar("drift", Some(u64::from(self.n)));
        let drift = PerturbationDrift::measure(
            &codec,
            &self.decoder.decoder()?,
            &self.decoder.name(),
            self.variance,
            self.n as usize,
            self.seed,
            |done| bar.set_position(done as u64),
        )?;
        bar.finish_and_clear();
        if self.json {
            println!("{}", drift.to_json());
        } else {
            print!("{}", drift.to_text());
        }
        Ok(())
    }
}

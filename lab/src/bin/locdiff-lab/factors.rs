//! `locdiff-lab factors`: what map factors are worth to the bundled model and to its rivals.

use crate::terminal::{TableFormat, share_bar};
use crate::{compare::parse_methods, experiment::EffortArgs, experiment::SplitArgs};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_lab::{Examples, FactorStudy};
use std::path::PathBuf;

/// The collection of validation photos that choices are made by: the test photos are of it, too.
const CHOSEN_BY: &str = "a";

#[derive(Debug, Args)]
pub(crate) struct Factors {
    /// Methods that get the same factors, with commas between them
    #[arg(long, value_name = "LIST", default_value = "bundled,constant,knn,cells,geoclip-gallery")]
    methods: String,
    /// Folder of a trained model that gets the same factors. Repeat for several.
    #[arg(long, value_name = "FOLDER")]
    model: Vec<PathBuf>,
    /// Report on another set: a tensor or file of embeddings, and its places from row FIRST (from 0) on. Repeat for several.
    #[arg(long, value_name = "NAME=TENSOR:CSV[:FIRST..]", value_parser = parse_other)]
    also: Vec<OtherSet>,
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    format: TableFormat,
}

/// Name, embeddings, places and first row.
type OtherSet = (String, String, PathBuf, usize);

fn parse_other(text: &str) -> Result<OtherSet, String> {
    let wrong = || "give NAME=TENSOR:CSV or NAME=TENSOR:CSV:FIRST..".to_owned();
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (embeddings, rest) = rest.split_once(':').ok_or_else(wrong)?;
    let (locations, first) = rest.strip_suffix("..").and_then(|rest| rest.rsplit_once(':')).unwrap_or((rest, "0"));
    let first = first.parse().map_err(|_| wrong())?;
    Ok((name.to_owned(), embeddings.to_owned(), locations.into(), first))
}

/// The validation photos by collection, those that choices are made by first.
fn by_source(validation: &Examples, sources: &[String]) -> Result<Vec<(String, Examples)>> {
    let mut names: Vec<&String> = sources.iter().collect();
    names.sort_by_key(|name| (*name != CHOSEN_BY, *name));
    names.dedup();
    let set = |name: &String| {
        let rows: Vec<usize> = (0..sources.len()).filter(|row| sources[*row] == *name).collect();
        Ok((format!("validation {name}").trim_end().to_owned(), validation.select(&rows)?))
    };
    names.into_iter().map(set).collect()
}

impl Factors {
    pub(crate) fn run(self) -> Result<()> {
        let methods = parse_methods(&self.methods).context("--methods")?;
        let (splits, sources) = (self.data.read_all()?, self.data.validation_sources()?);
        let mut sets = by_source(&splits.validation, &sources)?;
        sets.push(("test".to_owned(), splits.test));
        for (name, embeddings, locations, first) in &self.also {
            let photos = self.data.read_other(embeddings, locations).with_context(|| format!("--also {name}"))?;
            let rows: Vec<usize> = (*first..photos.len()).collect();
            sets.push((name.clone(), photos.select(&rows).with_context(|| format!("--also {name}"))?));
        }
        let (device, effort, seeds) = (self.effort.device()?, self.effort.effort(), self.effort.seeds());
        let (training, models, bar) = (&splits.training, &self.model[..], share_bar("measuring"));
        let study = FactorStudy { device: &device, effort, seeds: &seeds, training, sets, methods: &methods, models };
        let table = study.run(&|next| bar.set_message(next.to_owned()))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}

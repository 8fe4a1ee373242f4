//! What a request asks for.

use crate::{problem::Problem, problem::Result, query};
use locdiff::{AlbumOptions, MapFactorChoice};
use locdiff_map::clues::MOST_CLUES;
use serde::Deserialize;
use std::{str::FromStr, sync::LazyLock};

/// A parameter of a question: its name, its JSON type, its default and what it means.
#[derive(Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) choices: Vec<String>,
    #[serde(default)]
    pub(crate) default: String,
    pub(crate) meaning: String,
}

/// How a photo is answered: parameters of the routes that compute; `is_for` says which mean something where.
pub(crate) static PARAMETERS: LazyLock<Vec<Parameter>> =
    LazyLock::new(|| serde_json::from_str(include_str!("parameters.json")).expect("parameters.json is JSON"));

/// What comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    GeoJson,
    Kml,
    Png,
    GeoTiff,
}

impl Format {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::GeoJson => "application/geo+json",
            Self::Kml => "application/vnd.google-earth.kml+xml",
            Self::Png => "image/png",
            Self::GeoTiff => "image/tiff",
        }
    }
}

/// What an answer's object has beside what `locdiff locate` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extra {
    pub(crate) geojson: bool,
    pub(crate) grid: bool,
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    /// How to answer: questions with the same options are answered together.
    pub(crate) options: AlbumOptions,
    pub(crate) name: Option<String>,
    /// Whether the photos are of one place.
    pub(crate) is_together: bool,
    pub(crate) extra: Extra,
    pub(crate) format: Format,
}

const FLAG: [(&str, bool); 2] = [("false", false), ("true", true)];
const FACTORS: [(&str, MapFactorChoice); 2] = [("all", MapFactorChoice::All), ("none", MapFactorChoice::None)];
const EXTRAS: [(&str, Extra); 4] = [
    ("none", Extra { geojson: false, grid: false }),
    ("geojson", Extra { geojson: true, grid: false }),
    ("grid", Extra { geojson: false, grid: true }),
    ("all", Extra { geojson: true, grid: true }),
];
const FORMATS: [(&str, Format); 5] = [
    ("json", Format::Json),
    ("geojson", Format::GeoJson),
    ("kml", Format::Kml),
    ("png", Format::Png),
    ("geotiff", Format::GeoTiff),
];
const LONGEST_NAME: usize = 1024;
const MOST_LINES: usize = 200;
const MOST_REGIONS: usize = 16;
const LONGEST_REGION: usize = 200;

impl Ask {
    /// Of a query; what is not known is refused, so that a slip of the pen is no silent default.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (options, extra, format) = (AlbumOptions::default(), EXTRAS[0].1, FORMATS[0].1);
        let mut ask = Self { options, name: None, is_together: false, extra, format };
        let mut seen: Vec<String> = Vec::new();
        for (name, value) in query::pairs(text).map_err(Problem::bad)? {
            if seen.contains(&name) && !["within", "clue", "ignore_text"].contains(&&*name) {
                return Err(Problem::bad(format!("'{name}' is given twice")));
            }
            let options = &mut ask.options;
            let photos = &mut options.photos;
            match &*name {
                "name" if value.len() > LONGEST_NAME => {
                    return Err(Problem::bad(format!("'name' is longer than {LONGEST_NAME} bytes")));
                }
                "name" => ask.name = Some(value),
                "views" => photos.views = within(&name, &value, 1, 16)?,
                "seed" => photos.seed = number(&name, &value)?,
                "hypotheses" => photos.hypotheses = within(&name, &value, 1, 100)?,
                "window_km" => photos.window_km = Some(within(&name, &value, 1.0, 20_000.0)?),
                "factors" => photos.factors = choice(&name, &value, &FACTORS)?,
                "refine" => photos.refine = choice(&name, &value, &FLAG)?,
                "within" if photos.within.len() == MOST_REGIONS || value.len() > LONGEST_REGION => {
                    return Err(Problem::bad(format!(
                        "'within' takes {MOST_REGIONS} regions of {LONGEST_REGION} bytes at the most"
                    )));
                }
                "within" => photos.within.push(value),
                "clue" if photos.clue.len() == MOST_CLUES => {
                    return Err(Problem::bad(format!("'clue' is given more than {MOST_CLUES} times")));
                }
                "clue" => photos.clue.push(value),
                "text" => photos.text = choice(&name, &value, &FLAG)?,
                "ignore_text" if photos.ignore_text.len() == MOST_LINES => {
                    return Err(Problem::bad(format!("'ignore_text' is given more than {MOST_LINES} times")));
                }
                "ignore_text" => photos.ignore_text.push(value),
                "time" => photos.time = Some(value),
                "why" => photos.why = choice(&name, &value, &FLAG)?,
                "together" => ask.is_together = choice(&name, &value, &FLAG)?,
                "one_trip" => options.one_trip = choice(&name, &value, &FLAG)?,
                "trust_clocks" => options.trust_clocks = choice(&name, &value, &FLAG)?,
                "density" => ask.extra = choice(&name, &value, &EXTRAS)?,
                "format" => ask.format = choice(&name, &value, &FORMATS)?,
                _ => {
                    let known: Vec<&str> = PARAMETERS.iter().map(|known| &*known.name).collect();
                    return Err(Problem::bad(format!("'{name}' is not a parameter: use {}", known.join(", "))));
                }
            }
            seen.push(name);
        }
        Ok(ask)
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| Problem::bad(format!("'{name}' is '{value}', which is out of range or not a number")))
}

fn within<T: Copy + FromStr + PartialOrd + std::fmt::Display>(name: &str, value: &str, least: T, most: T) -> Result<T> {
    let given: T = number(name, value)?;
    if given >= least && given <= most {
        return Ok(given);
    }
    Err(Problem::bad(format!("'{name}' is {value}: it goes from {least} to {most}")))
}

fn choice<T: Copy>(name: &str, value: &str, choices: &[(&str, T)]) -> Result<T> {
    let found = choices.iter().find(|(known, _)| *known == value);
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        Problem::bad(format!("'{name}' is '{value}': it is one of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_understood() {
        let example = |parameter: &'static Parameter| match &*parameter.name {
            "within" => "Japan",
            "window_km" => "100",
            "name" => "x.jpg",
            _ => &*parameter.default,
        };
        for parameter in PARAMETERS.iter() {
            Ask::parse(&format!("{}={}", parameter.name, example(parameter))).expect(&parameter.name);
            for choice in &parameter.choices {
                Ask::parse(&format!("{}={choice}", parameter.name)).expect(choice);
            }
        }
        let defaults = PARAMETERS.iter().filter(|parameter| !parameter.default.is_empty());
        let text: Vec<String> = defaults.map(|one| format!("{}={}", one.name, one.default)).collect();
        assert_eq!(Ask::parse(&text.join("&")).unwrap(), Ask::parse("").unwrap());
    }

    #[test]
    fn nonsense_is_refused() {
        // A server answers by the model that it was started with.
        let bad = "model=geoclip steps=5 sampler=ddpm view=2 views=0 views=17 views=x hypotheses=0 hypotheses=101 seed=-1 window_km=nan window_km=0 \
                   density=jpg together=1 why=1 format=exe seed=1&seed=2 name=%FF";
        for bad in bad.split_whitespace() {
            assert!(Ask::parse(bad).is_err(), "{bad}");
        }
        let long = format!("within={}", "x".repeat(201));
        assert!(Ask::parse(&long).is_err() && Ask::parse(&"within=JP&".repeat(17)).is_err());
        assert!(Ask::parse(&"clue=x&".repeat(10_000)).is_err() && Ask::parse(&"clue=x&".repeat(MOST_CLUES)).is_ok());
    }
}

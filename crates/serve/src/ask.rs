//! What a request asks for.

use crate::problem::Problem;
use crate::query;
use locdiff::{LocateError, LocateOptions, Region, SampleOptions};
use std::str::FromStr;

/// A parameter of a question: its name, its JSON type, its default and what it means.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) choices: &'static [&'static str],
    pub(crate) default: &'static str,
    pub(crate) meaning: &'static str,
}

const fn parameter(
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Parameter {
    Parameter { name, kind, choices: &[], default, meaning }
}

/// How a photo is answered: parameters of the routes that compute; `is_for` says which mean something where.
pub(crate) const PARAMETERS: [Parameter; 10] = [
    parameter(
        "name",
        "string",
        "",
        "What the photo is called in the answer; parts of a form have their own names",
    ),
    parameter(
        "views",
        "integer",
        "1",
        "Views of each photo (crops, colours) that one density is made of, 1 to 16",
    ),
    parameter("seed", "integer", "0", "Seed of noise and views"),
    parameter("hypotheses", "integer", "5", "The most places to list, 1 to 100"),
    parameter(
        "window_km",
        "number",
        "",
        "The radius of the window that the density is seen through, 1 to 20000",
    ),
    parameter(
        "within",
        "array",
        "",
        "It must be here: a continent, a country, a state (name or ISO code), \"50 km around 48.85,2.35\" or \
         \"lat0,lon0,lat1,lon1\"; repeated, in one of these",
    ),
    parameter(
        "together",
        "boolean",
        "false",
        "Whether the photos are of one place: one answer for all of them, from the geometric mean of their densities",
    ),
    parameter(
        "trust_clocks",
        "boolean",
        "false",
        "Whether the clocks of an album's cameras are left alone, also where one contradicts the others by hours",
    ),
    Parameter {
        choices: &["none", "geojson", "grid", "all"],
        ..parameter(
            "density",
            "string",
            "none",
            "geojson: with a key \"density\", the 50 % and 90 % regions and the hypotheses as a FeatureCollection. grid: with a key \
             \"grid\", the density on a rectangle of latitudes and longitudes, a byte a cell in base64, from the north west row by row: \
             255 at the top, 1 at depth_nats below it, 0 for less. all: both",
        )
    },
    Parameter {
        choices: &["json", "geojson", "kml", "png", "geotiff"],
        ..parameter("format", "string", "json", "What comes back; all but json for one photo at a time")
    },
];

/// What comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    #[default]
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

/// How to answer: requests with the same settings are answered together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    views: usize,
    seed: u64,
    hypotheses: usize,
    window_km: Option<f64>,
    pub(crate) within: Vec<String>,
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    pub(crate) settings: Settings,
    pub(crate) name: Option<String>,
    /// Whether the photos are of one place.
    pub(crate) is_together: bool,
    /// Whether an album's clocks are left alone.
    pub(crate) trusts_clocks: bool,
    pub(crate) extra: Extra,
    pub(crate) format: Format,
}

const LONGEST_NAME: usize = 1024;
const MOST_REGIONS: usize = 16;
const LONGEST_REGION: usize = 200;

impl Ask {
    /// Of a query; what is not known is refused, so that a slip of the pen is no silent default.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let settings = Settings { views: 1, seed: 0, hypotheses: 5, window_km: None, within: Vec::new() };
        let extra = Extra { geojson: false, grid: false };
        let format = Format::Json;
        let mut ask = Self { settings, name: None, is_together: false, trusts_clocks: false, extra, format };
        let mut seen: Vec<String> = Vec::new();
        for (name, value) in query::pairs(text).map_err(Problem::bad)? {
            if seen.contains(&name) && name != "within" {
                return Err(Problem::bad(format!("'{name}' is given twice")));
            }
            let settings = &mut ask.settings;
            match &*name {
                "name" if value.len() > LONGEST_NAME => {
                    return Err(Problem::bad(format!("'name' is longer than {LONGEST_NAME} bytes")));
                }
                "name" => ask.name = Some(value),
                "views" => settings.views = within(&name, &value, 1, 16)?,
                "seed" => settings.seed = number(&name, &value)?,
                "hypotheses" => settings.hypotheses = within(&name, &value, 1, 100)?,
                "window_km" => settings.window_km = Some(within(&name, &value, 1.0, 20_000.0)?),
                "within" if settings.within.len() == MOST_REGIONS || value.len() > LONGEST_REGION => {
                    return Err(Problem::bad(format!(
                        "'within' takes {MOST_REGIONS} regions of {LONGEST_REGION} bytes at the most"
                    )));
                }
                "within" => settings.within.push(value),
                "together" => {
                    ask.is_together = choice(&name, &value, &[("false", false), ("true", true)])?;
                }
                "trust_clocks" => {
                    ask.trusts_clocks = choice(&name, &value, &[("false", false), ("true", true)])?;
                }
                "density" => {
                    let kinds = [
                        ("none", extra),
                        ("geojson", Extra { geojson: true, ..extra }),
                        ("grid", Extra { grid: true, ..extra }),
                        ("all", Extra { geojson: true, grid: true }),
                    ];
                    ask.extra = choice(&name, &value, &kinds)?;
                }
                "format" => {
                    let kinds = [
                        ("json", Format::Json),
                        ("geojson", Format::GeoJson),
                        ("kml", Format::Kml),
                        ("png", Format::Png),
                        ("geotiff", Format::GeoTiff),
                    ];
                    ask.format = choice(&name, &value, &kinds)?;
                }
                _ => {
                    let known: Vec<&str> = PARAMETERS.iter().map(|known| known.name).collect();
                    return Err(Problem::bad(format!(
                        "'{name}' is no parameter: there are {}",
                        known.join(", ")
                    )));
                }
            }
            seen.push(name);
        }
        Ok(ask)
    }
}

impl Settings {
    /// As the library takes them; no file is read, whatever the regions are called.
    pub(crate) fn options(&self) -> Result<LocateOptions, LocateError> {
        let sampling = SampleOptions { seed: self.seed, ..SampleOptions::default() };
        let regions: Result<Vec<Region>, _> = self.within.iter().map(|text| Region::in_words(text)).collect();
        Ok(LocateOptions::default()
            .with_sampling(sampling)
            .with_views(self.views)
            .with_hypotheses(self.hypotheses)
            .with_window_km(self.window_km)
            .with_regions(&regions?))
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, Problem> {
    value.parse().map_err(|_| Problem::bad(format!("'{name}' is '{value}', which is no number it can be")))
}

fn within<T: Copy + FromStr + PartialOrd + std::fmt::Display>(
    name: &str,
    value: &str,
    least: T,
    most: T,
) -> Result<T, Problem> {
    let given: T = number(name, value)?;
    if given >= least && given <= most {
        return Ok(given);
    }
    Err(Problem::bad(format!("'{name}' is {value}: it goes from {least} to {most}")))
}

fn choice<T: Copy>(name: &str, value: &str, choices: &[(&str, T)]) -> Result<T, Problem> {
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
        let example = |parameter: &Parameter| match parameter.name {
            "within" => "Japan",
            "window_km" => "100",
            "name" => "x.jpg",
            _ => parameter.default,
        };
        for parameter in &PARAMETERS {
            Ask::parse(&format!("{}={}", parameter.name, example(parameter))).expect(parameter.name);
            for choice in parameter.choices {
                Ask::parse(&format!("{}={choice}", parameter.name)).expect(choice);
            }
        }
        let defaults = PARAMETERS.iter().filter(|parameter| !parameter.default.is_empty());
        let text: Vec<String> = defaults.map(|one| format!("{}={}", one.name, one.default)).collect();
        assert_eq!(Ask::parse(&text.join("&")).unwrap(), Ask::parse("").unwrap());
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            "view=2",
            "views=0",
            "views=17",
            "views=x",
            "hypotheses=0",
            "hypotheses=101",
            "seed=-1",
            "window_km=nan",
            "window_km=0",
            "density=jpg",
            "together=1",
            "format=exe",
            "seed=1&seed=2",
            "name=%FF",
        ] {
            assert!(Ask::parse(bad).is_err(), "{bad}");
        }
        let long = format!("within={}", "x".repeat(201));
        assert!(Ask::parse(&long).is_err() && Ask::parse(&"within=JP&".repeat(17)).is_err());
    }

    #[test]
    fn regions_never_open_files() {
        let folder = std::env::temp_dir().join(format!("locdiff-serve-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("area.geojson");
        let area = r#"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}"#;
        std::fs::write(&file, area).unwrap();
        assert!(Region::parse(file.to_str().unwrap()).is_ok(), "the file itself is fine");
        let ask = Ask::parse(&format!("within={}", file.display())).unwrap();
        assert!(matches!(ask.settings.options(), Err(LocateError::Places(_))));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

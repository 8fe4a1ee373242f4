//! What the commands share: flags, files, progress, the exit code.

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use locdiff_base::{AtomicFile, Named, WriteError, one_line};
use locdiff_io::data::PointColumns;
use locdiff_nn::{DeviceSpec, NnError};
use locdiff_shdd::sphere::{Grid, LatLon};
use rand::SeedableRng;
use serde_json::Value;
use std::{io, io::Write, path::Path, sync::OnceLock};

/// What every command takes.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Everywhere {
    /// Threads to compute with [default: one per core]; answers do not depend on it
    #[arg(long, global = true, value_name = "N", env = "LOCDIFF_THREADS", hide_env_values = true)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Print nothing but results and errors: no progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Overwrite files that exist
    #[arg(long, global = true)]
    pub(crate) force: bool,
}

/// What this call was asked for.
static ASKED: OnceLock<Everywhere> = OnceLock::new();

/// Begins a call: its flags, its threads, and what Ctrl-C does.
pub(crate) fn begin(asked: Everywhere) {
    // Both fail only where they were called before.
    let _ = ctrlc::set_handler(|| {
        AtomicFile::remove_all_pending();
        std::process::exit(130);
    });
    let threads = asked.threads.map_or(0, std::num::NonZeroUsize::get);
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let _ = ASKED.set(asked);
}

/// The exit code of a command, after its error is printed: 0 success, 1 failure, 2 usage.
pub(crate) fn exit_code(result: Result<()>) -> u8 {
    let Err(error) = result else { return 0 };
    let is_closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            || cause.downcast_ref::<WriteError>().is_some_and(WriteError::is_broken_pipe)
    };
    if error.chain().any(is_closed) {
        return 0; // the reader has seen enough (`locdiff-lab … | head`)
    }
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    eprintln!("error: {}", one_line(&text));
    if error.is::<Usage>() { 2 } else { 1 }
}

/// Flags that do not go together: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Where to compute.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DeviceArg {
    /// Where to compute: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = parse_device, env = "LOCDIFF_DEVICE", hide_env_values = true)]
    pub(crate) device: DeviceSpec,
}

fn parse_device(text: &str) -> Result<DeviceSpec, String> {
    text.parse().map_err(|error: NnError| error.to_string())
}

/// The values of a library's enum by their names; `--help` lists them with their meaning.
pub(crate) fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|(_, name, meaning)| PossibleValue::new(*name).help(*meaning));
    PossibleValuesParser::new(values).try_map(|name| T::from_name(&name))
}

/// "LAT,LON" in degrees.
pub(crate) fn parse_place(text: &str) -> Result<LatLon, String> {
    let (lat, lon) = text.split_once(',').ok_or("give latitude and longitude as LAT,LON, such as 48.86,2.35")?;
    let number = |part: &str| part.trim().parse::<f64>().map_err(|_| format!("'{part}' is not a number of degrees"));
    LatLon::new(number(lat)?, number(lon)?).map_err(|error| error.to_string())
}

pub(crate) fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("'{text}' is not a positive number")),
    }
}

/// A grid by its name, or the places of a file.
pub(crate) fn parse_grid(text: &str, seed: u64) -> Result<Grid> {
    let size =
        |part: &str| part.parse::<usize>().with_context(|| format!("anchors '{text}': '{part}' is not a whole number"));
    Ok(match text.split_once(':') {
        Some(("fibonacci", n)) => Grid::fibonacci(size(n)?)?,
        Some(("healpix", depth)) => Grid::healpix(u8::try_from(size(depth)?).unwrap_or(u8::MAX))?,
        Some(("random", n)) => Grid::uniform_random(size(n)?, &mut rand_chacha::ChaCha8Rng::seed_from_u64(seed))?,
        _ => {
            let places = read_places(Path::new(text))
                .context("anchors are fibonacci:N, healpix:DEPTH, random:N or a file of locations")?;
            Grid::from_points(places.into_iter().map(LatLon::to_unit).collect())?
        }
    })
}

pub(crate) fn read_places(path: &Path) -> Result<Vec<LatLon>> {
    Ok(locdiff_io::data::read_points(path, None, &PointColumns::default())?)
}

pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Fails, before any work is done, where a file would be overwritten without `--force`.
pub(crate) fn claim(path: &Path) -> Result<()> {
    if path.is_file() && !ASKED.get().is_some_and(|asked| asked.force) {
        bail!("{} exists: add --force to overwrite it, or name another", path.display());
    }
    Ok(())
}

/// Writes a file that appears whole or not at all; `-` is standard output.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdout(path) {
        return Ok(io::stdout().write_all(bytes)?);
    }
    Ok(AtomicFile::write_whole(path, bytes)?)
}

pub(crate) fn tell_written(path: &Path) -> Result<()> {
    if !is_stdout(path) {
        writeln!(io::stdout(), "wrote {}", one_line(&path.to_string_lossy()))?;
    }
    Ok(())
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TableFormat {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

impl TableFormat {
    /// Prints the one or the other; the argument of `render` is whether Markdown is wanted.
    pub(crate) fn print(self, json: impl Fn() -> Value, render: impl Fn(bool) -> String) -> Result<()> {
        let text = if self.json { format!("{}\n", json()) } else { render(self.markdown) };
        Ok(io::stdout().write_all(text.as_bytes())?)
    }
}

/// A bar over `count` items on standard error, where that is a terminal.
pub(crate) fn bar(what: &'static str, count: usize) -> ProgressBar {
    styled(what, count as u64, "{prefix} {wide_bar} {human_pos}/{human_len} {eta} left")
}

/// Parts of a bar of shares.
const PARTS: f64 = 10_000.0;

/// A bar of percent, with a message beside it.
pub(crate) fn share_bar(what: &'static str) -> ProgressBar {
    styled(what, PARTS as u64, "{prefix} {wide_bar} {percent} % {msg}")
}

/// Sets such a bar to a share of 0 to 1.
pub(crate) fn set_share(bar: &ProgressBar, share: f64) {
    bar.set_position((PARTS * share) as u64);
}

fn styled(what: &'static str, count: u64, template: &str) -> ProgressBar {
    let is_quiet = ASKED.get().is_some_and(|asked| asked.quiet);
    let target = if is_quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    let bar = ProgressBar::with_draw_target(Some(count), target).with_style(style).with_prefix(what);
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}

//! `locdiff get`: published models and encoders by name, into the data folder.

use crate::{interrupt::InterruptGuard, interrupt::Interrupted, output, output::Usage, progress, say};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff::get::{GetError, GetPlan, GetSettings, Installed, Published};
use serde_json::json;
use std::{io::BufRead, io::IsTerminal, path::Path, sync::atomic::Ordering};

#[derive(Debug, Args)]
#[command(after_help = "\
Models are installed in LOCDIFF_HOME, otherwise in XDG_DATA_HOME/locdiff, otherwise in ~/.local/share/locdiff. Repeat an interrupted \
command to continue it. Incomplete models are never installed. Only the vision tower of an encoder is kept, as f16. To use a model, run: \
locdiff locate photo.jpg --model geoclip, or set LOCDIFF_MODEL=geoclip.")]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct Get {
    /// Names to download (see --list)
    #[arg(value_name = "NAME", required_unless_present_any = ["list", "remove"])]
    names: Vec<String>,
    /// Take the files from a folder or a URL, with the files or a folder NAME in it [default: the publishers' servers]
    #[arg(long, value_name = "FOLDER|URL", requires = "names")]
    from: Option<String>,
    /// Download whole files even if a part is enough, to check their SHA-256
    #[arg(long, requires = "names")]
    whole: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// List the published names, and what is installed
    #[arg(long, conflicts_with_all = ["names", "remove"])]
    list: bool,
    /// Remove this model or encoder
    #[arg(long, value_name = "NAME", conflicts_with = "names")]
    remove: Vec<String>,
    /// Print one JSON object per name
    #[arg(long)]
    json: bool,
}

impl Get {
    pub(crate) fn run(self) -> Result<()> {
        let home = Installed::data_folder().ok_or(GetError::NoHome)?;
        if self.list {
            return self.print_list(&home);
        }
        output::finish_files();
        for name in &self.remove {
            let bytes = Installed::remove(&home, name)?;
            output::tell(
                self.json,
                &json!({"name": name, "removed_bytes": bytes}),
                &format!("{name}: removed, {}", size(bytes)),
            )?;
        }
        self.names.iter().try_for_each(|name| self.get(name, &home))
    }

    fn get(&self, name: &str, home: &Path) -> Result<()> {
        let mut settings = GetSettings::new(home);
        settings.from.clone_from(&self.from);
        (settings.whole, settings.replace) = (self.whole, output::is_forced());
        let plan = GetPlan::new(name, settings)?;
        let folder = Installed::models_folder(home);
        if plan.is_empty() {
            let folder = folder.join(name);
            return output::tell(
                self.json,
                &json!({"name": name, "folder": folder, "bytes": 0}),
                &format!("{name} is installed already: --force downloads it again"),
            );
        }
        for (what, all, done) in plan.things() {
            let begun = if done > 0 { format!(" ({} here already)", size(done)) } else { String::new() };
            say::line(&format!("{:<24} {:>9}{begun}  licence: {}", what.name, size(all), what.licence));
            if let Some((file, place)) = what.by_hand {
                say::line(&format!("{:<24} {file} is not downloaded: {place}", ""));
            }
        }
        let bytes = plan.bytes();
        if !self.yes && !confirmed(bytes, &folder)? {
            return Ok(());
        }
        let guard = InterruptGuard::begin();
        let bar = progress::share_bar("fetching");
        let (mut came, mut last) = (0, String::new());
        let done = plan.run(&mut |what, count| {
            came += count;
            progress::set_share(&bar, came as f64 / bytes.max(1) as f64);
            if what != last {
                bar.set_message(what.to_owned());
                what.clone_into(&mut last);
            }
            !guard.stop().load(Ordering::SeqCst)
        });
        bar.finish_and_clear();
        if let Err(GetError::Stopped) = &done {
            say::line(&GetError::Stopped.to_string());
            return Err(Interrupted.into());
        }
        done?;
        let folder = folder.join(name);
        let text = format!("{name}: {} downloaded to {}", size(came), folder.display());
        output::tell(self.json, &json!({"name": name, "folder": folder, "bytes": came}), &text)
    }

    fn print_list(&self, home: &Path) -> Result<()> {
        let here = Installed::all(home)?;
        for what in Published::all() {
            let own = here.iter().find(|one| one.name == what.name);
            let state = own.map_or("-".to_owned(), |own| format!("here, {}", size(own.bytes)));
            let value = json!({
                "name": what.name, "what": what.what, "licence": what.licence, "needs": what.needs,
                "folder": own.map(|own| &own.folder), "bytes": own.map(|own| own.bytes),
            });
            output::tell(self.json, &value, &format!("{:<24} {state:<14} {}", what.name, what.what))?;
        }
        for other in here.iter().filter(|one| Published::all().iter().all(|what| what.name != one.name)) {
            let value = json!({"name": other.name, "folder": other.folder, "bytes": other.bytes});
            output::tell(self.json, &value, &format!("{:<24} here, {:<8} of your own", other.name, size(other.bytes)))?;
        }
        Ok(())
    }
}

/// Asks whether so much shall be fetched.
fn confirmed(bytes: u64, folder: &Path) -> Result<bool> {
    let terminal = std::io::stdin();
    ensure!(terminal.is_terminal(), Usage("get asks first, but there is no terminal: add --yes".to_owned()));
    say::ask(&format!("Download {} to {}?", size(bytes), folder.display()));
    let mut line = String::new();
    terminal.lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// "40.3 MB".
fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        _ if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} kB", bytes / 1e3),
    }
}

//! `completions` and `man` of a program: what shells and `man` want to know.

use super::output::{Out, finish_files, write_file};
use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use std::{io::Write, path::Path, path::PathBuf};

/// A script for a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to write the script for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// Prints it for a program.
    pub(crate) fn run(self, mut command: Command) -> Result<()> {
        let mut script = Vec::new();
        let name = command.get_name().to_owned();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        Ok(Out.write_all(&script)?)
    }
}

/// Manual pages.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write a page for every command into this folder [default: print the main page]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Man {
    /// Prints the program's page, or writes all of them.
    pub(crate) fn run(self, mut command: Command) -> Result<()> {
        command.build();
        let Some(folder) = self.out else { return Ok(clap_mangen::Man::new(command).render(&mut Out)?) };
        finish_files();
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        pages(&command, command.get_name(), &folder)
    }
}

fn pages(command: &Command, name: &str, folder: &Path) -> Result<()> {
    let mut page = Vec::new();
    let title: &'static str = Box::leak(name.to_owned().into_boxed_str()); // what clap's names have to be
    clap_mangen::Man::new(command.clone().name(title)).render(&mut page)?;
    write_file(&folder.join(format!("{name}.1")), &page)?;
    for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
        pages(one, &format!("{name}-{}", one.get_name()), folder)?;
    }
    Ok(())
}

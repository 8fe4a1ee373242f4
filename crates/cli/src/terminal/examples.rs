//! What `-h` shows first, and the examples of every command, from a text: `[path of the command]`, then `-h:` with the flags that `-h`
//! shows (without this line: all), then the examples.

use clap::{Arg, Command};

/// Examples that `-h` shows; `--help` shows all.
const FEW: usize = 3;

/// The command with the examples of a text in its help and in that of all below it.
pub(crate) fn add(command: Command, text: &str) -> Command {
    below(command, text, "")
}

fn below(mut command: Command, text: &str, path: &str) -> Command {
    if let Some(first) = first_flags(text, path) {
        command = command.mut_args(|arg| {
            let is_first = first.contains(&name(&arg));
            arg.hide_short_help(!is_first)
        });
    }
    let lines: Vec<String> = of(text, path).map(|line| format!("  {line}\n")).collect();
    if !lines.is_empty() {
        let rest = command.get_after_help().map(|text| format!("\n{text}\n")).unwrap_or_default();
        let few = lines[..lines.len().min(FEW)].concat();
        command = command.after_help(format!("Examples:\n{few}"));
        command = command.after_long_help(format!("Examples:\n{}{rest}", lines.concat()));
    }
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |one| below(one, text, path.trim()));
    }
    command
}

/// What users call an argument.
fn name(arg: &Arg) -> &str {
    arg.get_long().unwrap_or(arg.get_id().as_str())
}

/// The flags of a command that `-h` shows, if the text lists them.
fn first_flags<'a>(text: &'a str, path: &str) -> Option<Vec<&'a str>> {
    let names = section(text, path).find_map(|line| line.strip_prefix("-h:"))?;
    Some(names.split_whitespace().collect())
}

/// The examples of one command.
fn of<'a>(text: &'a str, path: &str) -> impl Iterator<Item = &'a str> {
    section(text, path).filter(|line| !line.starts_with("-h:"))
}

/// The lines about one command.
fn section<'a>(text: &'a str, path: &str) -> impl Iterator<Item = &'a str> {
    let head = format!("[{path}]");
    let lines = text.lines().skip_while(move |line| *line != head).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty())
}

/// What is wrong with the examples of a program, for its tests: commands without one, lines that it does not take.
#[cfg(test)]
pub(crate) fn faults(command: &Command, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut built = command.clone().term_width(100);
    built.build();
    faults_of_help(&built, text, "", &mut faults);
    let name = command.get_name();
    for line in text.lines().filter(|line| !line.starts_with('[')) {
        let line = line.split_once("   # ").map_or(line, |(line, _)| line);
        for part in line.split(['|', '>']).flat_map(|part| part.split("&&")) {
            let Some(words) = part.trim().strip_prefix(name).filter(|rest| rest.starts_with(' ')) else { continue };
            let mut list = vec![name];
            for (k, piece) in words.split('"').enumerate() {
                if k % 2 == 1 {
                    list.push(piece);
                } else {
                    list.extend(piece.split_whitespace());
                }
            }
            if let Err(error) = command.clone().try_get_matches_from(list) {
                faults.push(format!("{line}: {error}"));
            }
        }
    }
    faults
}

/// What is wrong with the help of a command and of all below it: no example, flags that are not there, a `-h` that fits no screen, or one that
/// hides flags although there is room.
#[cfg(test)]
fn faults_of_help(command: &Command, text: &str, path: &str, faults: &mut Vec<String>) {
    const SCREEN: std::ops::RangeInclusive<usize> = 24..=40;
    if of(text, path).next().is_none() {
        faults.push(format!("'{path}' has no example"));
    }
    let first = first_flags(text, path).unwrap_or_default();
    let own: Vec<&str> = command.get_arguments().map(name).collect();
    faults.extend(first.iter().filter(|one| !own.contains(one)).map(|one| format!("'{path}' has no {one}")));
    let lines = command.clone().render_help().to_string().lines().count();
    if lines > *SCREEN.end() || !first.is_empty() && lines < *SCREEN.start() {
        faults.push(format!("'{path} -h' has {lines} lines"));
    }
    for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
        faults_of_help(one, text, format!("{path} {}", one.get_name()).trim(), faults);
    }
}

//! Examples at the end of every command's help, from a text: `[path of the command]`, then its lines.

use clap::Command;

/// The command with the examples of a text in its help and in that of all below it.
pub(crate) fn add(command: Command, text: &str) -> Command {
    below(command, text, "")
}

fn below(mut command: Command, text: &str, path: &str) -> Command {
    let lines: Vec<String> = of(text, path).map(|line| format!("  {line}\n")).collect();
    if !lines.is_empty() {
        let rest = command.get_after_help().map(|text| format!("\n{text}\n")).unwrap_or_default();
        command = command.after_help(format!("Examples:\n{}{rest}", lines.concat()));
    }
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |one| below(one, text, path.trim()));
    }
    command
}

/// The lines of one command.
fn of<'a>(text: &'a str, path: &str) -> impl Iterator<Item = &'a str> {
    let head = format!("[{path}]");
    let lines = text.lines().skip_while(move |line| *line != head).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty())
}

/// What is wrong with the examples of a program, for its tests: commands without one, lines that it does not take.
#[cfg(test)]
pub(crate) fn faults(command: &Command, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    without_example(command, text, "", &mut faults);
    let name = command.get_name();
    for line in text.lines().filter(|line| !line.starts_with('[')) {
        let line = line.split_once("   # ").map_or(line, |(line, _)| line);
        for part in line.split(['|', '>']).flat_map(|part| part.split("&&")) {
            let Some(words) = part.trim().strip_prefix(name).filter(|rest| rest.starts_with(' ')) else {
                continue;
            };
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

#[cfg(test)]
fn without_example(command: &Command, text: &str, path: &str, faults: &mut Vec<String>) {
    if of(text, path).next().is_none() {
        faults.push(format!("'{path}' has no example"));
    }
    for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
        without_example(one, text, format!("{path} {}", one.get_name()).trim(), faults);
    }
}

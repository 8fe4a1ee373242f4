//! The commands in groups, as `locdiff --help` lists them: clap knows no groups of commands.

use clap::Command;
use std::fmt::Write;

/// What people do, the most frequent first.
pub(crate) const GROUPS: [(&str, &[&str]); 4] = [
    ("Photos", &["locate", "album", "review", "immich", "batch", "serve", "expose", "undo"]),
    ("Your own data", &["embed", "encoder", "gallery", "get", "import", "train", "calibrate", "evaluate"]),
    ("Codes and samples", &["encode", "decode", "density", "sample"]),
    ("Program", &["completions", "man", "version", "help"]),
];

/// Groups that `-h` lists command by command; the others get one line each.
const BRIEF: usize = 2;

/// The command with its help in groups.
pub(crate) fn list(command: Command) -> Command {
    let heading = *command.get_styles().get_header();
    let name_style = *command.get_styles().get_literal();
    let (mut short, mut long) = (String::new(), String::new());
    for (k, (group, names)) in GROUPS.iter().enumerate() {
        let mut text = format!("{heading}{group}:{heading:#}\n");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map_or("Print this help, or the help of a command".to_owned(), ToString::to_string);
            writeln!(text, "  {name_style}{name:<11}{name_style:#}  {about}").expect("writing to a String cannot fail");
        }
        long += &format!("{text}\n");
        short += &if k < BRIEF { text + "\n" } else { format!("{heading}{group}:{heading:#} {}\n", names.join(", ")) };
    }
    let text = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}";
    let text = format!("{text}{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    let (short, long) = (short.trim_end().to_owned(), long.trim_end().to_owned());
    command.before_help(short).before_long_help(long).help_template(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group_and_there_are_few() {
        let command = Cli::command();
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| *names).copied().filter(|name| *name != "help").collect();
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(set(&listed), set(&known));
        assert!(listed.len() == known.len() && known.len() <= 23, "{known:?}");
        assert_eq!(listed[0], "locate");
    }

    #[test]
    fn every_line_fits() {
        for one in Cli::command().get_subcommands() {
            let about = one.get_about().unwrap().to_string();
            assert!(about.chars().count() <= 85, "{}: {about}", one.get_name());
        }
    }
}

//! How much is said, and in which colours: `--quiet`, `--verbose`, `--color` of the call.

use super::{call::Call, output::Aside};
use clap::{ColorChoice, ValueEnum};
use std::{io, io::IsTerminal, io::Write};

/// When the command line asks for colours, read before it is parsed: its own messages have colours too.
pub(crate) fn asked_colours(arguments: &[String]) -> ColorChoice {
    let value = |(k, argument): (usize, &'_ String)| {
        let next = || arguments.get(k + 1).filter(|_| argument == "--color").cloned();
        ColorChoice::from_str(&argument.strip_prefix("--color=").map(str::to_owned).or_else(next)?, true).ok()
    };
    arguments.iter().enumerate().filter_map(value).next_back().unwrap_or_default()
}

/// Whether standard error has colours: with `auto` on a terminal, unless `NO_COLOR` is set.
pub(crate) fn colours_stderr(colours: ColorChoice) -> bool {
    match colours {
        ColorChoice::Auto => {
            std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && io::stderr().is_terminal()
        }
        always_or_never => always_or_never == ColorChoice::Always,
    }
}

/// Whether nothing but results and errors is said.
pub(crate) fn is_quiet() -> bool {
    Call::current().loudness < 0
}

/// Says something worth knowing on standard error; nothing with `--quiet`.
pub(crate) fn note(words: &str) {
    if !is_quiet() {
        let _ = Aside.write_all(format!("{} {words}\n", coloured("note:", "36")).as_bytes());
    }
}

/// Says on standard error what only `--verbose` asks for.
pub(crate) fn detail(words: impl FnOnce() -> String) {
    if Call::current().loudness > 0 {
        let _ = Aside.write_all(format!("{} {}\n", coloured("verbose:", "2"), words()).as_bytes());
    }
}

/// The word that errors begin with.
pub(crate) fn error_word() -> String {
    coloured("error:", "1;31")
}

fn coloured(word: &str, code: &str) -> String {
    if Call::current().in_colour { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_known_before_the_rest() {
        let asked = |line: &str| asked_colours(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(asked("locate --color never a.jpg"), ColorChoice::Never);
        assert_eq!(asked("--color=always locate"), ColorChoice::Always);
        assert_eq!(asked("locate --color"), ColorChoice::Auto);
        assert_eq!(asked("locate --color blue"), ColorChoice::Auto);
    }
}

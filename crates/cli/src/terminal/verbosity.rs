//! How much is said, and in which colours: `--quiet`, `--verbose`, `--color` of the call.

use super::{call::Call, output::Aside};
use clap::{ColorChoice, ValueEnum};
use std::io::{IsTerminal, Write};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Colours {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Colours {
    /// What the command line asks for, read before it is parsed: its own messages have colours too.
    pub(crate) fn asked(arguments: &[String]) -> Self {
        let mut found = Self::Auto;
        for (k, argument) in arguments.iter().enumerate() {
            let value = argument
                .strip_prefix("--color=")
                .or_else(|| arguments.get(k + 1).filter(|_| argument == "--color").map(String::as_str));
            if let Some(colours) = value.and_then(|value| Self::from_str(value, true).ok()) {
                found = colours;
            }
        }
        found
    }

    pub(crate) fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }

    pub(crate) fn on_stderr(self) -> bool {
        match self {
            Self::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stderr().is_terminal()
            }
            Self::Always => true,
            Self::Never => false,
        }
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
        let asked = |line: &str| Colours::asked(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(asked("locate --color never a.jpg"), Colours::Never);
        assert_eq!(asked("--color=always locate"), Colours::Always);
        assert_eq!(asked("locate --color"), Colours::Auto);
        assert_eq!(asked("locate --color blue"), Colours::Auto);
    }
}

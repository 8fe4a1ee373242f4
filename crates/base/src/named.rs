//! Values that people choose by name.

use crate::BadSetting;
use std::mem::discriminant;

/// An enum whose values have names that a user types and reads, and a line that says what each means.
pub trait Named: Copy + 'static {
    /// What is chosen, for messages.
    const WHAT: &'static str;
    /// Every value with its name and its meaning in one line; a variant that carries data with its usual data.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The value's name. Data that a variant carries are no part of it.
    fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(value, ..)| discriminant(value) == discriminant(&self));
        entry.map(|(_, name, _)| *name).expect("ALL lists every value")
    }

    /// The value of a name. Fails if no value has it; the message lists the names.
    fn from_name(name: &str) -> Result<Self, BadSetting> {
        let entry = Self::ALL.iter().find(|(_, known, _)| *known == name);
        entry.map(|(value, ..)| *value).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(_, name, _)| *name).collect();
            let choice = match names.as_slice() {
                [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                names => names.concat(),
            };
            BadSetting::new(Self::WHAT, crate::excerpt(name), format!("choose {choice}"))
        })
    }
}

/// An enum of plain values that is [`Named`]: each value with its name and its meaning, which is its documentation too.
///
/// ```
/// use locdiff_base::Named;
/// locdiff_base::named! {
///     /// A colour.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Colour: "colour" {
///         Red = "red", "of tomatoes";
///         DarkBlue = "dark-blue", "of evenings";
///     }
/// }
/// assert_eq!((Colour::DarkBlue.name(), Colour::from_name("red")), ("dark-blue", Ok(Colour::Red)));
/// let message = Colour::from_name("green").unwrap_err().to_string();
/// assert_eq!(message, "colour = green cannot be used: choose red or dark-blue");
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$of_all:meta])* $visibility:vis enum $type:ident: $what:literal {
        $($(#[$of_one:meta])* $value:ident = $name:literal, $meaning:literal;)*
    }) => {
        $(#[$of_all])*
        $visibility enum $type {
            $($(#[$of_one])* #[doc = $meaning] $value,)*
        }

        impl $crate::Named for $type {
            const WHAT: &'static str = $what;
            const ALL: &'static [(Self, &'static str, &'static str)] = &[$((Self::$value, $name, $meaning),)*];
        }
    };
}

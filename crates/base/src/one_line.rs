//! Text from outside in messages of one line.

use std::path::Path;

/// Text for one line of a message: control characters, line separators and marks that turn the direction of text escaped.
///
/// ```
/// assert_eq!(locdiff_base::one_line("a\nb\u{2028}\u{202e}gpj"), "a\\nb\\u{2028}\\u{202e}gpj");
/// ```
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        let turns =
            matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() {
            line.extend(c.escape_debug());
        } else if turns {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}

/// A number with its noun: "1 photo", "2 photos".
///
/// ```
/// assert_eq!([0, 1, 2].map(|n| locdiff_base::counted(n, "photo")), ["0 photos", "1 photo", "2 photos"]);
/// ```
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Text from a file, fit for one line of a message: [`one_line`], and cut where it is long.
///
/// ```
/// use locdiff_base::excerpt;
/// assert_eq!(excerpt("'a'\nb\t\u{7}"), "'a'\\nb\\t\\u{7}");
/// assert_eq!(excerpt(&"é".repeat(60)), "é".repeat(60));
/// assert_eq!(excerpt(&"é".repeat(61)), "é".repeat(60) + "…");
/// ```
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => one_line(&text[..end]) + "…",
        None => one_line(text),
    }
}

/// The path as a message shows it: `-` becomes the stream's name, control characters are escaped.
///
/// ```
/// use locdiff_base::display_name;
/// use std::path::Path;
/// assert_eq!(display_name(Path::new("a\nb"), "standard input"), "a\\nb");
/// assert_eq!(display_name(Path::new("-"), "standard input"), "standard input");
/// assert_eq!(display_name(Path::new("Zürich.csv"), "-"), "Zürich.csv");
/// ```
pub fn display_name(path: &Path, stream: &str) -> String {
    if path.as_os_str() == "-" { stream.to_owned() } else { one_line(&path.to_string_lossy()) }
}

/// "12", "340" or "4,100": no more digits than mean something.
///
/// ```
/// for (km, text) in [(0.3, "0"), (12.4, "12"), (347.0, "350"), (999.0, "1,000"), (12_345.0, "12,300")] {
///     assert_eq!(locdiff_base::kilometres(km), text);
/// }
/// ```
pub fn kilometres(km: f64) -> String {
    let step = [(1000.0, 100.0), (100.0, 10.0)].into_iter().find(|(from, _)| km >= *from).map_or(1.0, |(_, step)| step);
    let rounded = (km / step).round() * step;
    let whole = rounded as u64;
    if whole >= 1000 { format!("{},{:03}", whole / 1000, whole % 1000) } else { whole.to_string() }
}

/// A distance with its unit, never 0.
///
/// ```
/// for (km, text) in [(0.004, "under 10 m"), (0.063, "60 m"), (0.97, "1.0 km"), (3.21, "3.2 km"), (347.0, "350 km")] {
///     assert_eq!(locdiff_base::distance(km), text);
/// }
/// ```
pub fn distance(km: f64) -> String {
    match km {
        km if km < 0.01 => "under 10 m".to_owned(),
        km if km < 0.95 => format!("{:.0} m", (km * 100.0).round() * 10.0),
        km if km < 9.95 => format!("{km:.1} km"),
        km => kilometres(km) + " km",
    }
}

//! Text from outside in CSV files that people open in spreadsheets: none of it may become a formula.
//!
//! The rule: a field that begins with `=`, `+`, `-`, `@`, a tab or a carriage return and is no number gets a `'` before it, as does
//! one that begins with such a `'`; readers take it off again.

pub(crate) fn guarded(field: &str) -> std::borrow::Cow<'_, str> {
    if would_run(field) && field.parse::<f64>().is_err() { format!("'{field}").into() } else { field.into() }
}

pub(crate) fn unguarded(field: String) -> String {
    match field.strip_prefix('\'') {
        Some(inner) if would_run(inner) => inner.to_owned(),
        _ => field,
    }
}

/// Whether a spreadsheet would take the field, or what is left of it without quotes, for a formula.
fn would_run(field: &str) -> bool {
    field.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_come_back() {
        for (field, written) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("@sum", "'@sum"),
            ("-photo.jpg", "'-photo.jpg"),
            ("-12.5", "-12.5"),
            ("+1e3", "+1e3"),
            ("'=x", "''=x"),
            ("'quoted'", "'quoted'"),
            ("plain.jpg", "plain.jpg"),
            ("", ""),
        ] {
            assert_eq!(guarded(field), written);
            assert_eq!(unguarded(written.to_owned()), field);
        }
    }
}

//! Which CSV: separated by commas, semicolons or tabs; and decimal commas, where the comma separates nothing.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
}

impl Dialect {
    pub(crate) const COMMAS: Self = Self { delimiter: b',' };

    /// The dialect of a file that begins with these bytes: its first line decides.
    ///
    /// Semicolons and tabs separate where they are more than the commas, or where all that stands between them is a number
    /// (`48,86;2,35`).
    pub(crate) fn of(begin: &[u8]) -> Self {
        let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin);
        let line = begin.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or(begin);
        let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
        let mut is_quoted = false;
        for byte in line {
            is_quoted ^= *byte == b'"';
            if let Some((_, count)) = counts.iter_mut().find(|(delimiter, _)| delimiter == byte && !is_quoted) {
                *count += 1;
            }
        }
        let [(_, commas), others @ ..] = counts;
        for (delimiter, count) in others {
            let this = Self { delimiter };
            let are_numbers = || line.split(|byte| *byte == delimiter).all(|field| this.number(field).is_some());
            if count > commas || (count > 0 && are_numbers()) {
                return this;
            }
        }
        Self::COMMAS
    }

    /// A field as a number, blanks around it allowed; `1,5` is one and a half where the comma separates nothing.
    pub(crate) fn number(self, field: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(field.trim_ascii()).ok()?;
        text.parse().ok().or_else(|| {
            let is_decimal = self != Self::COMMAS && text.matches(',').count() == 1 && !text.contains('.');
            is_decimal.then(|| text.replace(',', ".").parse().ok())?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells() {
        for (line, delimiter) in [
            ("lat,lon\n1,2", b','),
            ("lat;lon\n1,5;2,5", b';'),
            ("\u{feff}lat\tlon\r\n", b'\t'),
            ("48,86;2,35\n", b';'),
            ("1,5;2,5;3", b';'),
            ("a;b,c,d\n", b','),
            ("\"a;b\",c\n", b','),
            ("name, of it;lat;lon\n", b';'),
            ("", b','),
            ("lat", b','),
        ] {
            assert_eq!(Dialect::of(line.as_bytes()).delimiter, delimiter, "{line}");
        }
    }

    #[test]
    fn decimal_commas_where_commas_separate_nothing() {
        let semicolons = Dialect { delimiter: b';' };
        for (field, with, without) in [
            (" 1.5 ", Some(1.5), Some(1.5)),
            ("-1,5", Some(-1.5), None),
            ("1,5e3", Some(1500.0), None),
            ("1,234,5", None, None),
            ("1.234,5", None, None),
            ("", None, None),
        ] {
            assert_eq!(semicolons.number(field.as_bytes()), with, "{field}");
            assert_eq!(Dialect::COMMAS.number(field.as_bytes()), without, "{field}");
        }
        assert!(semicolons.number(b"NaN").unwrap().is_nan() && semicolons.number(b"\xff").is_none());
    }
}

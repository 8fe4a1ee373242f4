//! Text inside markup.

/// Text as HTML, SVG and XML 1.0 may hold it, also in quoted attributes: markup escaped, forbidden characters replaced.
///
/// ```
/// assert_eq!(locdiff_base::escape_markup("<b x='1'>\"&\u{1}"), "&lt;b x=&#39;1&#39;&gt;&quot;&amp;\u{fffd}");
/// ```
pub fn escape_markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(letter),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

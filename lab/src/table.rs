//! Tables of text and numbers, for a terminal and for Markdown.

use locdiff_model::eval::Estimate;

/// A table whose first column is text and whose others are numbers.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row of as many cells as the header has.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// As Markdown or as text.
    pub fn render(&self, markdown: bool) -> String {
        if markdown { self.markdown() } else { self.text() }
    }

    /// Columns side by side, numbers to the right.
    pub fn text(&self) -> String {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let width = |c: usize| all().map(|row| row[c].chars().count()).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(c, cell)| match (c, width(c)) {
                (0, width) => format!("{cell:<width$}"),
                (_, width) => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        all().map(line).collect()
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let line = |row: &[String]| {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|{}\n", "---|".repeat(self.header.len()));
        let rows = self.rows.iter().map(|row| line(row));
        line(&self.header) + &rule + &rows.collect::<String>()
    }
}

/// A share as a percentage with its interval: "33.4 [30.1, 36.8]".
pub(crate) fn percent_interval(share: Estimate) -> String {
    format!("{:.1} [{:.1}, {:.1}]", 100.0 * share.value, 100.0 * share.low, 100.0 * share.high)
}

/// A number short enough for a table: 1234567 as "1.23 M".
pub(crate) fn short_count(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => format!("{:.0} k", number as f64 / 1e3),
        _ => format!("{:.2} M", number as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_and_valid_markdown() {
        let mut table = Table::new(&["method", "750 km"]);
        table.push(vec!["knn".to_owned(), "34.8".to_owned()]);
        assert_eq!(table.text(), "method  750 km\nknn       34.8\n");
        assert_eq!(table.markdown(), "| method | 750 km |\n|---|---|\n| knn | 34.8 |\n");
        table.push(vec!["knn".into(), percent_interval(Estimate { value: 0.334, low: 0.3, high: 0.37 })]);
        table.push(vec!["a|b".into(), "–".into()]);
        let text = table.text();
        let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert!(text.contains("33.4 [30.0, 37.0]") && lengths.iter().all(|n| *n == lengths[0]), "{text}");
        let markdown = table.markdown();
        assert_eq!(markdown.lines().nth(1), Some("|---|---|"));
        assert!(markdown.contains("a\\|b"));
        assert_eq!([short_count(7), short_count(4500), short_count(1_234_567)], ["7", "4 k", "1.23 M"]);
    }
}

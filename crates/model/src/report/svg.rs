//! Plots as SVG: axes, lines, bands.

use locdiff_base::escape_markup;
use std::fmt::Write;

/// One axis of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Where it begins,
    pub from: f64,
    /// and ends.
    pub to: f64,
    /// Whether its logarithm is even.
    pub is_log: bool,
    /// Values with their texts.
    pub ticks: Vec<(f64, String)>,
    /// What it is.
    pub label: &'static str,
}

impl Axis {
    /// Where a value lies, 0…1.
    fn share(&self, value: f64) -> f64 {
        let value = value.clamp(self.from.min(self.to), self.to.max(self.from));
        if self.is_log {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 52.0;

/// Looks of a plot in a file of its own.
const STYLE: &str = "text{fill:#5b6874;font:13px system-ui,sans-serif}.title{fill:#17212b}.grid{stroke:#d8dfe5}\
    .frame{fill:none;stroke:#5b6874}.line{fill:none;stroke-width:2;stroke-linejoin:round}.first{stroke:#0b5cad}\
    .second{stroke:#c2570c}.dot.first{fill:#0b5cad;stroke:none}.dot.second{fill:#c2570c;stroke:none}\
    .third{stroke:#2e7d32}.fourth{stroke:#7b3fa0}.fifth{stroke:#00838f}.dot.third{fill:#2e7d32;stroke:none}\
    .dot.fourth{fill:#7b3fa0;stroke:none}.dot.fifth{fill:#00838f;stroke:none}.dashed{stroke-dasharray:6 4}\
    .diagonal{fill:none;stroke:#5b6874;stroke-dasharray:5 4}";

/// A plot: a frame with axes, lines, bands and dots, whose classes (`line first`, `band second`, …) a page styles.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    x: Axis,
    y: Axis,
    body: String,
}

/// Appends to an SVG; writing to a `String` cannot fail.
macro_rules! draw {
    ($plot:expr, $($argument:tt)*) => {{ let _ = write!($plot.body, $($argument)*); }};
}

impl Plot {
    /// An empty frame.
    pub fn new(x: Axis, y: Axis) -> Self {
        let mut plot = Self { x, y, body: String::new() };
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, text) in std::mem::take(&mut plot.x.ticks) {
            let (x, text) = (plot.px(value), escape_markup(&text));
            draw!(plot, "<line class='grid' x1='{x:.1}' y1='{TOP}' x2='{x:.1}' y2='{bottom}' />");
            draw!(plot, "<text x='{x:.1}' y='{}' text-anchor='middle'>{text}</text>", bottom + 18.0);
        }
        for (value, text) in std::mem::take(&mut plot.y.ticks) {
            let (y, text) = (plot.py(value), escape_markup(&text));
            draw!(plot, "<line class='grid' x1='{LEFT}' y1='{y:.1}' x2='{right}' y2='{y:.1}' />");
            draw!(plot, "<text x='{}' y='{:.1}' text-anchor='end'>{text}</text>", LEFT - 8.0, y + 4.0);
        }
        draw!(plot, "<rect class='frame' x='{LEFT}' y='{TOP}' width='{}' height='{}' />", right - LEFT, bottom - TOP);
        let (middle, down, up) = (0.5 * (LEFT + right), HEIGHT - 10.0, 0.5 * (TOP + bottom));
        let (x, y) = (escape_markup(plot.x.label), escape_markup(plot.y.label));
        draw!(plot, "<text class='title' x='{middle}' y='{down}' text-anchor='middle'>{x}</text>");
        let turned = format!("transform='translate(14 {up}) rotate(-90)'");
        draw!(plot, "<text class='title' {turned} text-anchor='middle'>{y}</text>");
        plot
    }

    fn px(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)
    }

    fn py(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)
    }

    fn points(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let mut out = String::new();
        for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let _ = write!(out, "{:.1},{:.1} ", self.px(x), self.py(y));
        }
        out
    }

    /// A line through points.
    pub fn line(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) {
        let points = self.points(points);
        draw!(self, "<polyline class='{class}' points='{points}' />");
    }

    /// The area between two lines: x, low, high.
    pub fn band(&mut self, class: &str, points: &[(f64, f64, f64)]) {
        let there = self.points(points.iter().map(|&(x, low, _)| (x, low)));
        let back = self.points(points.iter().rev().map(|&(x, _, high)| (x, high)));
        draw!(self, "<polygon class='{class}' points='{there}{back}' />");
    }

    /// A dot with a text that appears under the pointer.
    pub fn dot(&mut self, class: &str, x: f64, y: f64, tip: &str) {
        if x.is_finite() && y.is_finite() {
            let (x, y, tip) = (self.px(x), self.py(y), escape_markup(tip));
            draw!(self, "<circle class='{class}' cx='{x:.1}' cy='{y:.1}' r='4'><title>{tip}</title></circle>");
        }
    }

    /// Words a little above and to the right of a point.
    pub fn text(&mut self, x: f64, y: f64, words: &str) {
        let (x, y) = (self.px(x) + 7.0, self.py(y) - 5.0);
        draw!(self, "<text x='{x:.1}' y='{y:.1}'>{}</text>", escape_markup(words));
    }

    /// The finished picture with a text for those who cannot see it.
    pub fn finish(self, description: &str) -> String {
        let (text, body) = (escape_markup(description), self.body);
        format!("<svg class='plot' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{text}'>{body}</svg>")
    }

    /// The finished picture as a file of its own, on white.
    pub fn finish_file(self, description: &str) -> String {
        let (text, body) = (escape_markup(description), self.body);
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='960' height='600' viewBox='0 0 {WIDTH} {HEIGHT}'>\
             <title>{text}</title><style>{STYLE}</style><rect width='100%' height='100%' fill='#fff' />{body}</svg>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        assert_eq!(escape_markup("<b x='1'>\"&"), "&lt;b x=&#39;1&#39;&gt;&quot;&amp;");
    }

    #[test]
    fn values_lie_between_the_axes() {
        let axis = |is_log| Axis { from: 1.0, to: 100.0, is_log, ticks: vec![(10.0, "<10>".into())], label: "km" };
        let mut plot = Plot::new(axis(true), axis(false));
        assert!((plot.px(10.0) - 0.5 * (LEFT + WIDTH - RIGHT)).abs() < 1e-9);
        assert_eq!(plot.py(1e9), TOP);
        plot.line("a", [(1.0, 1.0), (f64::NAN, 2.0), (100.0, 100.0)].into_iter());
        plot.band("b", &[(1.0, 1.0, 2.0), (50.0, 3.0, 4.0)]);
        plot.dot("c", 10.0, 10.0, "a 'dot' & <more>");
        let file = plot.clone().finish_file("a <plot>");
        assert!(file.starts_with("<svg xmlns="));
        let parsed = roxmltree::Document::parse(&file).expect("well-formed XML");
        assert!(parsed.descendants().any(|node| node.text() == Some("a 'dot' & <more>")));
        let picture = plot.finish("a <plot>");
        assert!(picture.contains("&lt;10&gt;") && !picture.contains("NaN") && picture.contains("a &lt;plot&gt;"));
    }
}

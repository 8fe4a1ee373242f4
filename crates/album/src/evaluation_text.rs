//! What was judged, as a table for people.

use crate::evaluation::AlbumScores;
use locdiff_model::eval::Estimate;
use std::fmt::Write;

impl AlbumScores {
    /// A table for people.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{} albums, {} photos without a tag judged ({} with one used)\n% within               1 km             25 km            200 km            750 km           2500 km        −log density\n",
            self.albums, self.photos, self.tagged
        );
        for one in &self.systems {
            let nats = one.nll_nats.map_or(String::new(), |nats| cell(nats, 1.0, 3));
            let _ = writeln!(text, "{:<20}{} {nats:>23}", one.system, cells(&one.within, false));
        }
        for one in &self.systems[1..] {
            let nats = one.album_ahead_nats.map_or(String::new(), |nats| signed(nats, 1.0, 3));
            let _ = writeln!(text, "ahead of {:<11.11}{} {nats:>23}", one.system, cells(&one.album_ahead, true));
        }
        let percent = |shares: &[f64]| {
            let words: Vec<String> = shares.iter().map(|share| format!("{:>5.1}", 100.0 * share)).collect();
            words.concat()
        };
        let _ = writeln!(text, "said                {} %", percent(&self.levels));
        let _ = writeln!(text, "within radii        {} %", percent(&self.in_radii));
        let _ = writeln!(text, "in regions          {} %", percent(&self.in_regions));
        text.push_str("−log density in nats per steradian (uniform 2.531); ahead: the album's is less by so much\n");
        let _ = writeln!(text, "can't tell          {} photos; at sea {}", self.cannot_tell, self.at_sea);
        let _ = writeln!(text, "said not to fit     {} photos", self.outliers);
        if let Some(strays) = &self.strays {
            let _ = writeln!(
                text,
                "from elsewhere      {} of {} named, {} more hinted at; of {} others {} named, {} more hinted at",
                strays.named, strays.strays, strays.hinted, strays.others, strays.falsely_named, strays.falsely_hinted
            );
        }
        let hours: Vec<String> = self.clocks.iter().map(|set| format!("{:+}", set.clock.ahead_h)).collect();
        if !hours.is_empty() {
            let _ = writeln!(text, "clocks set          {} (hours ahead: {})", hours.len(), hours.join(", "));
        }
        text
    }
}

/// A share with its interval, in these units.
fn cell(share: Estimate, unit: f64, digits: usize) -> String {
    let [value, low, high] = [share.value, share.low, share.high].map(|number| number * unit);
    format!("{value:.digits$} [{low:.digits$}, {high:.digits$}]")
}

/// The same with a sign.
fn signed(share: Estimate, unit: f64, digits: usize) -> String {
    let [value, low, high] = [share.value, share.low, share.high].map(|number| number * unit);
    format!("{value:+.digits$} [{low:+.digits$}, {high:+.digits$}]")
}

fn cells(shares: &[Estimate], has_sign: bool) -> String {
    let one = |share: &Estimate| if has_sign { signed(*share, 100.0, 1) } else { cell(*share, 100.0, 1) };
    let mut text = String::new();
    for share in shares {
        let _ = write!(text, " {:>17}", one(share));
    }
    text
}

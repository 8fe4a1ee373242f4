//! Answers for people.

use crate::answer::{Answer, Hypothesis};
use locdiff_base::{kilometres, one_line};
use locdiff_shdd::sphere::haversine_km;

/// Other places less probable than this are left out, and so are those after the third.
const WORTH_NAMING: f64 = 0.02;
const MOST_OTHERS: usize = 3;
/// So many lines of text are named.
const MOST_LINES: usize = 4;

impl Answer {
    /// One line with the headline, for one of many photos.
    pub fn to_line(&self) -> String {
        let [half, most] = [self.radius_50_km, self.radius_90_km].map(kilometres);
        let headline = &self.headline;
        let words = match (self.gps, self.can_tell) {
            (Some(gps), can_tell) => {
                let off = kilometres(haversine_km(self.best, gps));
                let what = if can_tell { "the answer" } else { "can't tell, a guess" };
                format!("already tagged at {gps}; {what} is {off} km away, {headline}")
            }
            (None, _) if self.is_place_alone() => format!("{headline}   {}   by samples alone", self.best),
            (None, true) => format!("{headline}   50 % within {half} km, 90 % within {most} km"),
            (None, false) => format!("can't tell: {headline}; most likely {}", self.likeliest_countries()),
        };
        let restricted = self.restriction().map_or(String::new(), |by| format!("   restricted {by}"));
        format!("{}   {words}{restricted}\n", self.name_line())
    }

    /// The headline and the details, in at most twelve lines and an empty one, and those of the ledger if it was asked.
    pub fn to_text(&self) -> String {
        let mut lines = vec![self.name_line()];
        let mut fact = |label: &str, words: String| {
            let width = if label.is_empty() { 0 } else { 13 };
            lines.push(format!("  {label:<width$}{words}"));
        };
        if self.is_place_alone() {
            fact("best place", format!("{}   {}", self.best, self.place));
            fact("", "by samples alone: this model gives no density, so neither radius nor probability".to_owned());
        } else {
            self.density_facts(&mut fact);
        }
        for line in self.text.iter().take(MOST_LINES) {
            let said = line.evidence.iter().map(|own| format!("{}, {:+.1} nats", one_line(&own.says), own.nats));
            fact("reads", format!("\"{}\": {}", one_line(&line.text), said.collect::<Vec<_>>().join("; ")));
        }
        if let Some(by) = self.restriction() {
            fact("restricted", by);
        }
        let ledger = self.from_density.as_ref().map_or(&[][..], |from| &from.ledger);
        if !ledger.is_empty() {
            fact("why", "log density at the best place over a uniform one, in natural logarithms".to_owned());
            ledger.iter().for_each(|row| fact("", row.to_string()));
        }
        if let Some(gps) = self.gps {
            let off = kilometres(haversine_km(self.best, gps));
            fact("GPS tag", format!("{gps}, {off} km away; not used for the answer"));
        }
        lines.join("\n") + "\n\n"
    }

    fn name_line(&self) -> String {
        one_line(self.photo.as_deref().unwrap_or_default())
    }

    /// "by Japan or Korea"; `None` for an answer that was not restricted.
    fn restriction(&self) -> Option<String> {
        let by = one_line(&self.restricted_by.join(" or "));
        (!by.is_empty()).then(|| format!("by {by}"))
    }

    /// What was read off the density.
    fn density_facts(&self, fact: &mut impl FnMut(&str, String)) {
        let [half, most] = [self.radius_50_km, self.radius_90_km].map(kilometres);
        let cannot = if self.can_tell { "" } else { "I can't tell where this was taken: " };
        fact("", format!("{cannot}{}", self.headline));
        fact("most likely", self.likeliest_countries());
        let sentence = "Half of all photos answered like this one were taken within";
        fact("", format!("{sentence} {half} km of the best place, nine in ten within {most} km."));
        fact("best place", format!("{}   {}", self.best, self.place));
        fact("locatability", format!("{:.2}: the chance that it is right to within 750 km", self.locatability));
        let others = self.hypotheses.iter().skip(1).filter(|other| other.probability >= WORTH_NAMING);
        let others: Vec<String> = others.take(MOST_OTHERS).map(|other| self.other_place(other)).collect();
        if !others.is_empty() {
            fact("or", others.join("; "));
        }
        if self.from_density.as_ref().is_some_and(|from| from.not_calibrated) {
            fact("", "not calibrated: radii and probabilities may not hold".to_owned());
        }
        let Some(word) = self.gallery() else { return };
        let (name, share) = (word.answered_by.name(), 100.0 * word.share);
        fact("answered by", format!("the {name}; the gallery has {share:.0} % of the probability around it"));
        if let Some(found) = &word.matched {
            let name = found.name.as_ref().map_or(String::new(), |name| format!(" ({})", one_line(name)));
            let (row, at, km) = (found.row, found.at, kilometres(found.distance_km));
            fact("match", format!("row {row}{name}, {at}, {km} km away, similarity {:.3}", found.similarity));
        }
    }

    /// Another place and its probability; if it has the answer's own words, with how far it is from there.
    fn other_place(&self, other: &Hypothesis) -> String {
        let (share, place) = (100.0 * other.probability, &other.place);
        if *place != self.place {
            return format!("{place} ({share:.0} %)");
        }
        let away = kilometres(haversine_km(self.best, other.at));
        format!("{place}, but {away} km from the best place ({share:.0} %)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::RegionMasses;
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn the_headline_comes_first_and_details_follow() {
        let at = |lat, lon, probability, place: &str| {
            let other = Hypothesis::new(LatLon::new(lat, lon).unwrap(), probability);
            Hypothesis { place: place.to_owned(), ..other }
        };
        let france = [at(48.86, 2.35, 0.5, "in France"), at(47.5, 2.35, 0.43, "in France")];
        let all: Vec<Hypothesis> = france.into_iter().chain([at(50.85, 4.35, 0.07, "in Belgium")]).collect();
        let mut masses = RegionMasses::default();
        all.iter().for_each(|one| masses.add(one.at.to_unit(), one.probability));
        let mut answer = Answer::at(all[0].at, [210.0, 1290.0], all, 0.5).with_regions(&masses);
        answer.place = "in France".to_owned();
        let mut answer = answer.about("a.jpg", LatLon::new(48.0, 2.0).ok());
        let expected = "a.jpg\n  Île-de-France, France\n  most likely  France 93 %, Belgium 7 %\n  Half of all photos answered like \
            this one were taken within 210 km of the best place, nine in ten within 1,300 km.\n  best place   48.8600° N, \
            2.3500° E   in France\n  locatability 0.50: the chance that it is right to within 750 km\n  or           in \
            France, but 150 km from the best place (43 %); in Belgium (7 %)\n  GPS tag      48.0000° N, 2.0000° E, 99 km \
            away; not used for the answer\n\n";
        assert_eq!(answer.to_text(), expected);
        (answer.can_tell, answer.gps, answer.restricted_by) = (false, None, vec!["Europe".to_owned()]);
        let text = answer.to_text();
        assert!(text.starts_with("a.jpg\n  I can't tell where this was taken: Île-de-France, France\n"), "{text}");
        assert!(text.ends_with("  restricted   by Europe\n\n"), "{text}");
        let line =
            "a.jpg   can't tell: Île-de-France, France; most likely France 93 %, Belgium 7 %   restricted by Europe\n";
        assert_eq!(answer.to_line(), line);
    }
}

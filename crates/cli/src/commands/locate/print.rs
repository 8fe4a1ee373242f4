//! Answers for people and for programs.

use locdiff_base::kilometres;
use locdiff_base::one_line;
use locdiff_model::answer::{Answer, Hypothesis};
use locdiff_shdd::sphere::haversine_km;
use std::fmt::Write;

/// Hypotheses less probable than this are left out of the text.
const WORTH_A_LINE: f64 = 0.02;

/// How an answer is printed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Json,
    /// A few lines.
    Long,
    /// One line, where there are many photos.
    Short,
}

/// What is printed for a photo.
pub(super) fn text(answer: &Answer, form: Form) -> String {
    match form {
        Form::Json => format!("{}\n", answer.to_json()),
        Form::Long => human(answer),
        Form::Short => short(answer),
    }
}

/// One line that says it.
fn short(answer: &Answer) -> String {
    let name = one_line(answer.photo.as_deref().unwrap_or_default());
    let (place, most) = (&answer.place, kilometres(answer.radius_90_km));
    let words = match (answer.gps, answer.can_tell) {
        (Some(gps), can_tell) => {
            let off = kilometres(haversine_km(answer.best, gps));
            let what = if can_tell { "the answer" } else { "can't tell, a guess" };
            format!("already tagged at {gps}; {what} is {off} km away, {place}")
        }
        (None, _) if answer.is_place_alone() => format!("{}   {place}   by samples alone", answer.best),
        (None, true) => format!("{}   {place}   90 % within {most} km", answer.best),
        (None, false) => format!("can't tell; a guess is {place}, 90 % within {most} km"),
    };
    let restricted = answer.restricted_by.join(" or ");
    let restricted =
        if restricted.is_empty() { restricted } else { format!("   restricted by {}", one_line(&restricted)) };
    format!("{name}   {words}{restricted}\n")
}

/// Another place in words; where they are the answer's own, with how far it is from there.
pub(crate) fn other_place(answer: &Answer, other: &Hypothesis) -> String {
    if other.place != answer.place {
        return other.place.clone();
    }
    format!("{}, but {} km from the best place", other.place, kilometres(haversine_km(answer.best, other.at)))
}

/// A few lines that say it.
fn human(answer: &Answer) -> String {
    let mut text = format!("{}\n", one_line(answer.photo.as_deref().unwrap_or_default()));
    let mut line = |label: &str, words: String| {
        let _ = writeln!(text, "  {label:<13}{words}");
    };
    if answer.is_place_alone() {
        line("best place", format!("{}   {}", answer.best, answer.place));
        line("", "by samples alone: this model gives no density, so neither radius nor probability".to_owned());
    } else {
        density_lines(answer, &mut line);
    }
    if !answer.restricted_by.is_empty() {
        line("restricted", format!("by {}", one_line(&answer.restricted_by.join(" or "))));
    }
    if let Some(gps) = answer.gps {
        let off = kilometres(haversine_km(answer.best, gps));
        line("GPS tag", format!("{gps}, {off} km away; not used for the answer"));
    }
    text.push('\n');
    text
}

/// What was read off the density.
fn density_lines(answer: &Answer, line: &mut impl FnMut(&str, String)) {
    if !answer.can_tell {
        line("I can't tell", "where this was taken; what follows is a guess".to_owned());
    }
    line("best place", format!("{}   {}", answer.best, answer.place));
    let (half, most) = (kilometres(answer.radius_50_km), kilometres(answer.radius_90_km));
    line("radius", format!("50 % within {half} km, 90 % within {most} km"));
    if answer.from_density.as_ref().is_some_and(|from| from.not_calibrated) {
        line("", "not calibrated: radii and probabilities may not hold".to_owned());
    }
    let score = answer.locatability;
    line("locatability", format!("{score:.2}: the chance that the place is right to within 750 km"));
    let listed = answer.hypotheses.iter().enumerate();
    for (k, hypothesis) in listed.filter(|(k, h)| *k == 0 || h.probability >= WORTH_A_LINE) {
        let label = if k == 0 { "around it" } else { "or" };
        let words = if k == 0 { String::new() } else { format!("   {}", other_place(answer, hypothesis)) };
        line(label, format!("{:>3.0} %{words}", 100.0 * hypothesis.probability));
    }
    if let Some(word) = answer.gallery() {
        let (name, share) = (word.answered_by.name(), 100.0 * word.share);
        line("answered by", format!("the {name}; the gallery has {share:.0} % of the probability around it"));
        if let Some(found) = &word.matched {
            let name = found.name.as_ref().map_or(String::new(), |name| format!(" ({})", one_line(name)));
            let (row, at, km) = (found.row, found.at, kilometres(found.distance_km));
            line("match", format!("row {row}{name}, {at}, {km} km away, similarity {:.3}", found.similarity));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff::LatLon;

    #[test]
    fn no_other_place_has_the_words_of_the_best() {
        let at = |lat, probability, place: &str| {
            let mut other = Hypothesis::new(LatLon::new(lat, 2.35).unwrap(), probability);
            place.clone_into(&mut other.place);
            other
        };
        let all = vec![at(48.86, 0.5, "in France"), at(47.5, 0.43, "in France"), at(50.8, 0.07, "in Belgium")];
        let mut answer = Answer::at(all[0].at, [10.0, 90.0], all, 0.5);
        answer.place = "in France".to_owned();
        let text = human(&answer);
        assert!(text.contains(" 43 %   in France, but 150 km from the best place\n"), "{text}");
        assert!(text.contains("  7 %   in Belgium\n"), "{text}");
    }
}

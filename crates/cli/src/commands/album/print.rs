//! An album's answers for people and programs.

use crate::commands::locate::print::other_place;
use locdiff_album::{AlbumAnswer, WrongClock};
use locdiff_base::kilometres;
use locdiff_base::{counted, one_line};
use std::fmt::Write;

/// Alternatives less probable than this are left out of the text.
const WORTH_A_LINE: f64 = 0.05;

/// What is printed for a photo.
pub(super) fn text(answer: &AlbumAnswer, as_json: bool) -> String {
    if as_json {
        return format!("{}\n", answer.to_json());
    }
    let mut text = format!("{}\n", one_line(answer.name()));
    let mut line = |label: &str, words: String| {
        let _ = writeln!(text, "  {label:<13}{words}");
    };
    let by = answer.time.words();
    line("taken", answer.time.text().map_or("time unknown".to_owned(), |time| format!("{time} by {by}")));
    if let Some(trip) = answer.trip {
        line("trip", trip.to_string());
    }
    line("best place", format!("{}   {}", answer.best, answer.place));
    line("radius", format!("50 % within {} km, 90 % within {} km", km(answer.radius_50_km), km(answer.radius_90_km)));
    line("because", one_line(&answer.because));
    for other in answer.alternatives().iter().filter(|other| other.probability >= WORTH_A_LINE) {
        line("or", format!("{:>3.0} %   {}", 100.0 * other.probability, other_place(answer, other)));
    }
    if let Some(outlier) = &answer.outlier {
        line("does not fit", format!("({:.0} %) {}", 100.0 * outlier.probability, one_line(&outlier.reason)));
    }
    if let Some(hint) = &answer.hint {
        line("may not fit", format!("({:.0} %) {}", 100.0 * hint.probability, one_line(&hint.reason)));
    }
    text.push('\n');
    text
}

/// A line about a clock.
pub(crate) fn clock(clock: &WrongClock) -> String {
    let WrongClock { camera, ahead_s, by_track, gain_nats, photos, .. } = clock;
    let way = if *ahead_s > 0.0 { "ahead" } else { "behind" };
    let others = if *by_track { "the track" } else { "the others" };
    let seconds = ahead_s.abs() as u64;
    let by = match (seconds / 3600, seconds % 3600) {
        (hours, 0) => format!("{hours} hours"),
        (hours, rest) => format!("{hours}:{:02}:{:02} hours", rest / 60, rest % 60),
    };
    let camera = if camera.is_empty() { "the camera without a name" } else { camera.as_str() };
    format!(
        "the clock of {} is {by} {way}: its {photos} photos fit {others} {gain_nats:.0} nats better so, and were shifted (--trust-clocks leaves them)",
        one_line(camera)
    )
}

/// The end: how many of what.
pub(super) fn summary(answers: &[AlbumAnswer]) -> String {
    let tagged = answers.iter().filter(|answer| answer.gps.is_some()).count();
    let odd = answers.iter().filter(|answer| answer.outlier.is_some()).count();
    let sharp = answers.iter().filter(|answer| answer.gps.is_none() && answer.radius_90_km < 25.0).count();
    let mut photos = counted(answers.len(), "photo");
    if let Some(trips) = answers.iter().filter_map(|answer| answer.trip).max() {
        let _ = write!(photos, " of {trips} trips");
    }
    format!("{photos}, {tagged} with a GPS tag; {sharp} others are placed to within 25 km; {odd} do not fit\n")
}

/// Kilometres, with a digit more where they are few.
fn km(km: f64) -> String {
    if km < 10.0 { format!("{km:.1}") } else { kilometres(km) }
}

//! An album's answers for people and programs.

use locdiff_album::{AlbumAnswer, WrongClock};
use locdiff_base::{counted, distance, one_line};
use std::fmt::Write;

/// What is printed for a photo: three lines, and one for what does not fit.
pub(super) fn text(answer: &AlbumAnswer, as_json: bool) -> String {
    if as_json {
        return format!("{}\n", answer.to_json());
    }
    let by = answer.time.words();
    let mut text = one_line(answer.name());
    let _ = match answer.time.text() {
        Some(time) => write!(text, "   {time} by {by}"),
        None => write!(text, "   time unknown"),
    };
    if let Some(trip) = answer.trip {
        let _ = write!(text, "   trip {trip}");
    }
    let (half, most) = (distance(answer.radius_50_km), distance(answer.radius_90_km));
    let guess = if answer.can_tell { "" } else { "can't tell: " };
    let (headline, best, place, because) = (&answer.headline, answer.best, &answer.place, one_line(&answer.because));
    let _ = writeln!(
        text,
        "\n  {guess}{headline}   50 % within {half}, 90 % within {most}   {best}, {place}\n  because {because}"
    );
    for (what, odd) in [("does not fit", &answer.outlier), ("may not fit", &answer.hint)] {
        if let Some(odd) = odd {
            let _ = writeln!(text, "  {what} ({:.0} %): {}", 100.0 * odd.probability, one_line(&odd.reason));
        }
    }
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
    let others = if sharp == 1 { "1 other is".to_owned() } else { format!("{sharp} others are") };
    format!("{photos}, {tagged} with a GPS tag; {others} placed to within 25 km; {odd} do not fit\n")
}

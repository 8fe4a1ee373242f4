//! The kinds of clues.

use crate::clues::{ClueError, asked::AskedClue, asked::ClueFit, nature, sunlight, words};

type Read = fn(&AskedClue<'_>) -> Result<ClueFit, ClueError>;

/// A kind of clue.
pub(crate) struct ClueKind {
    pub(crate) name: &'static str,
    /// About how often such a clue is wrong.
    pub(crate) wrong: f64,
    pub(crate) read: Read,
    pub(crate) example: &'static str,
    pub(crate) what: &'static str,
}

const fn kind(name: &'static str, wrong: f64, read: Read, example: &'static str, what: &'static str) -> ClueKind {
    ClueKind { name, wrong, read, example, what }
}

/// All kinds, in the order of the help text.
pub(crate) const KINDS: [ClueKind; 16] = [
    kind(
        "language",
        0.03,
        words::named,
        "language=Polish",
        "a language of signs or people; commas separate alternatives",
    ),
    kind("script", 0.03, words::named, "script=Cyrillic", "the script of signs"),
    kind("phone", 0.03, words::phone, "phone=+46", "a phone number or its beginning, with the calling code"),
    kind("domain", 0.03, words::named, "domain=.se", "the end of an internet address"),
    kind("currency", 0.03, words::named, "currency=PLN", "the currency of prices, by code, sign or name"),
    kind("text", 0.02, words::text, "text=Kungsgatan", "text that you read in the photo"),
    kind("drives", 0.02, nature::drives, "drives=left", "the side of the road that people drive on: left or right"),
    kind("coast", 0.03, nature::coast, "coast=yes", "whether the sea is within 10 km: yes or no"),
    kind("climate", 0.03, nature::climate, "climate=BSk", "the climate by Köppen and Geiger, or its first letters"),
    kind("timezone", 0.02, nature::timezone, "timezone=+05:30", "the clocks' offset from UTC"),
    kind("hemisphere", 0.02, nature::hemisphere, "hemisphere=south", "north, south, east or west"),
    kind("season", 0.1, sunlight::season, "season=summer", "winter, spring, summer or autumn on the photo's date"),
    kind("near", 0.02, nature::near, "near=Lyon 100km", "a town or coordinates, and about how far it is"),
    kind("sun", 0.05, sunlight::altitude, "sun=34±3", "the sun's height above the horizon at the photo's time"),
    kind("shadow", 0.05, sunlight::shadow, "shadow=1.4±0.1", "a shadow's length, in heights of the object"),
    kind("sun-azimuth", 0.05, sunlight::azimuth, "sun-azimuth=120±5", "the sun's direction, clockwise from north"),
];

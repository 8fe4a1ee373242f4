//! Coordinates as people write them: `48.85, 2.35`, `48.85N 2.35E`, `48°51'24"N 2°21'03"E`.

use locdiff_shdd::sphere::LatLon;

/// The latitude and longitude that a text gives; `None` for other texts, and for numbers that are no place.
pub(crate) fn parse(text: &str) -> Option<LatLon> {
    let text = text.trim().to_lowercase();
    let text = text.strip_prefix("geo:").unwrap_or(&text);
    let is_letter = |letter: char| "nsew".contains(letter);
    let letters: Vec<(usize, char)> = text.char_indices().filter(|(_, letter)| is_letter(*letter)).collect();
    let (first, second) = match letters[..] {
        [] => {
            let comma = text.split_once([',', ';']);
            comma.or_else(|| text.split_once(char::is_whitespace)).map(|(a, b)| (a.trim(), b.trim()))?
        }
        [(0, _), (cut, _)] => text.split_at(cut),
        [(cut, _), (end, _)] if end + 1 == text.len() => text.split_at(cut + 1),
        _ => return None,
    };
    let (first, second) = (degrees(first)?, degrees(second)?);
    let is_swapped = letters.first().is_some_and(|(_, letter)| "ew".contains(*letter));
    let [lat, lon] = if is_swapped { [second, first] } else { [first, second] };
    let of = |one: &Half, letters: &str| one.letter.is_none_or(|letter| letters.contains(letter));
    let is_place = of(&lat, "ns") && of(&lon, "ew") && lon.degrees.abs() <= 180.0;
    if is_place { LatLon::new(lat.degrees, lon.degrees).ok() } else { None }
}

struct Half {
    degrees: f64,
    letter: Option<char>,
}

/// One of the two: degrees, perhaps minutes and seconds, perhaps a letter before or behind them.
fn degrees(text: &str) -> Option<Half> {
    let text = text.trim_matches(|letter: char| letter == ',' || letter == ';' || letter.is_whitespace());
    let letter = text.chars().find(char::is_ascii_alphabetic);
    let number = text.trim_matches(char::is_alphabetic).trim();
    let (is_negative, number) = number.strip_prefix(['-', '−']).map_or((false, number), |rest| (true, rest));
    let is_mark = |letter: char| letter.is_whitespace() || "°º'′’\"″”".contains(letter);
    let parts: Vec<&str> = number.split(is_mark).filter(|part| !part.is_empty()).collect();
    let mut sum = 0.0;
    for (k, part) in parts.iter().enumerate() {
        let is_plain = part.bytes().all(|byte| byte.is_ascii_digit() || (byte == b'.' && k + 1 == parts.len()));
        let value: f64 = part.parse().ok().filter(|value| is_plain && (k == 0 || *value < 60.0))?;
        sum += value / 60_f64.powi(k as i32);
    }
    let is_south_west = letter.is_some_and(|letter| "sw".contains(letter));
    let is_one = (1..=3).contains(&parts.len()) && !(is_negative && letter.is_some());
    is_one.then_some(Half { degrees: if is_negative || is_south_west { -sum } else { sum }, letter })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn coordinates_of_every_form() {
        for (text, lat, lon) in [
            ("48.85, 2.35", 48.85, 2.35),
            ("-33.9 151.2", -33.9, 151.2),
            ("geo:48.85,-2.35", 48.85, -2.35),
            ("48.85N 2.35E", 48.85, 2.35),
            ("33.9° S, 18.4° w", -33.9, -18.4),
            ("S33.9 W18.4", -33.9, -18.4),
            ("2.35E 48.85N", 48.85, 2.35),
            ("48°51'24\"N 2°21'03\"E", 48.856_667, 2.350_833),
            ("48° 51′ 24″ N, 2° 21′ 3″ W", 48.856_667, -2.350_833),
            ("48 51.4 N 2 21.05 E", 48.856_667, 2.350_833),
            ("12°02'S 77°02'W", -12.033_333, -77.033_333),
        ] {
            let place = parse(text).unwrap_or_else(|| panic!("{text}"));
            assert!((place.lat_deg() - lat).abs() < 1e-5 && (place.lon_deg() - lon).abs() < 1e-5, "{text}: {place}");
        }
        let not =
            "|5|5,|1,2,3|91,2|1,181|1N 2N|-1S 2E|48°61'N 2°E|1.5°30'N 2°E|Paris|Essen|n s|1e5 2|nan,nan|12 34 56 78 9";
        for text in not.split('|') {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

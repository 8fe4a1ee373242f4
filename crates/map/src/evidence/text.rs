//! What lines of text say about where a photo was taken.

use super::{Evidence, PlaceKernel, language, names, numbers, numbers::Clue, tables::Area, tables::country_number};
use crate::places::Countries;
use std::collections::HashSet;

/// A line of text and one thing that it was taken for. A line may be taken for several things.
#[derive(Debug, Clone)]
pub struct LineEvidence {
    /// The number of the line.
    pub line: usize,
    /// What it says about places.
    pub evidence: Evidence,
}

/// Lines that are looked at, at most.
const MOST_LINES: usize = 300;
const MOST_LETTERS: usize = 200;
/// Lines that say who took or published a photo.
const CREDITS: &str = "©|(c)|copyright|photo by|photograph|all rights|google|flickr|panoramio|getty|.jpg|shutterstock|alamy|instagram|picasa|smugmug";

/// A line without what cannot be seen: control characters, marks that turn the direction of writing, private characters.
fn cleaned(text: &str) -> String {
    let is_hidden = |letter: char| {
        let is_mark =
            matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
        letter.is_control()
            || is_mark
            || matches!(letter, '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..)
    };
    text.chars().filter(|letter| !is_hidden(*letter)).take(MOST_LETTERS).collect::<String>().trim().to_owned()
}

/// What lines of a photo say, each with its confidence from 0 to 1. Their product is the likelihood of the text, so that lines of
/// one language, or with one name, do not count twice, and three names or more count as two. Credits, watermarks, dates and times say
/// nothing.
pub fn evidence_of_text(lines: &[(&str, f64)]) -> Vec<LineEvidence> {
    let (mut kept, mut read, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for (line, (text, confidence)) in lines.iter().enumerate().take(MOST_LINES) {
        let text = cleaned(text);
        let lower = text.to_lowercase();
        let is_credit = CREDITS.split('|').any(|credit| lower.contains(credit));
        if text.is_empty() || is_credit {
            continue;
        }
        let one = (line, text, confidence.clamp(0.0, 1.0));
        let is_unread = language::unread(&one.1).is_some();
        if is_unread || seen.insert(lower) {
            kept.push(one.clone());
        }
        if !is_unread {
            read.push(one);
        }
    }
    // Without text, the tables need not be unpacked.
    if kept.is_empty() {
        return Vec::new();
    }
    let mut all = language::evidence(&kept);
    for (line, text, _) in kept.iter().filter(|one| one.2 >= LEAST_CONFIDENCE) {
        let clues = numbers::clues(text).into_iter().filter(|clue| seen.insert(format!("{} ", clue.says)));
        all.extend(clues.map(|clue| (*line, of_clue(&clue))));
    }
    all.extend(names::evidence(&read, &all));
    all.sort_by_key(|(line, _)| *line);
    all.into_iter().map(|(line, evidence)| LineEvidence { line, evidence }).collect()
}

/// Numbers and addresses of lines with less are not read.
const LEAST_CONFIDENCE: f64 = 0.6;
/// How much likelier a clue is in its countries than elsewhere, by its kind.
const RATIOS: [(&str, f64); 5] =
    [("domain", 12.0), ("phone", 20.0), ("currency", 6.0), ("postcode", 20.0), ("plate", 8.0)];
/// Dollars are shown all over the world.
const RATIO_OF_DOLLAR: f64 = 2.0;

fn of_clue(clue: &Clue) -> Evidence {
    let ratio = RATIOS.iter().find(|(kind, _)| *kind == clue.kind).map_or(1.0, |one| one.1);
    let ratio = if clue.says == "dollar" { RATIO_OF_DOLLAR } else { ratio };
    let mut countries = vec![1.0; Countries::bundled().all().len() + 1];
    clue.countries.split(' ').filter_map(country_number).for_each(|number| countries[number] = ratio);
    let mut evidence = Evidence { countries, ..Evidence::new(clue.kind, clue.says.clone()) };
    if let Some(Area { name, at: Some((centre, deviation_km)), .. }) = clue.area {
        evidence.says = format!("{} ({name})", clue.says);
        evidence.kernels.push(PlaceKernel { centre: *centre, deviation_km: *deviation_km, weight: 5.0 * ratio });
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    /// What one line says, and how much likelier it makes its country than the mean of three others.
    fn said(text: &str, lat: f64, lon: f64) -> (String, f64) {
        let all = evidence_of_text(&[(text, 0.95)]);
        let at = |lat, lon| {
            let point = LatLon::new(lat, lon).unwrap().to_unit();
            all.iter().map(|found| found.evidence.likelihood(point)).product::<f64>()
        };
        let others = [(-1.3, 36.8), (4.6, -74.1), (56.9, 60.6)].map(|(lat, lon)| at(lat, lon));
        let told = all.iter().map(|found| format!("{} {}", found.evidence.kind, found.evidence.says));
        (told.collect::<Vec<_>>().join("; "), at(lat, lon) / (others.iter().sum::<f64>() / 3.0))
    }

    #[test]
    fn lines_favour_where_they_are_written() {
        for (text, lat, lon, told, least) in [
            ("LEUKERBAD", 46.38, 7.63, "name Leukerbad (Switzerland)", 300.0),
            ("WIEN", 48.2, 16.4, "name Vienna (Austria)", 100.0),
            ("BANGKOK", 13.75, 100.5, "name Bangkok (Thailand)", 300.0),
            ("Minesota", 45.0, -93.3, "Minnesota (United States)", 30.0),
            ("NEWYORK", 40.71, -74.0, "New York City (United States)", 300.0),
            ("Deutschland", 50.1, 8.7, "name Germany", 5.0),
            ("中国上海", 31.2, 121.5, "Shanghai (China)", 300.0),
            ("TUNBRIDGE VT 1761", 44.0, -72.5, "Vermont", 50.0),
            ("Fermé le Lundi", 48.9, 2.3, "language French", 4.0),
            ("CÔNG TY KHÁCH SẠN", 10.8, 106.7, "language Vietnamese", 10.0),
            ("Belediye Caddesi çıkış", 39.9, 32.9, "language Turkish", 10.0),
            ("这一刻激发灵感的想象", 39.9, 116.4, "language Chinese", 10.0),
            ("Kungsgatan", 59.3, 18.1, "language Swedish", 4.0),
            ("+46 8 123 45 67", 59.3, 18.1, "phone telephone number +46", 10.0),
            ("(415) 555-1234", 37.8, -122.4, "phone telephone number +1 415", 50.0),
            ("www.example.se", 59.3, 18.1, "domain .se", 10.0),
            ("12,50 zł", 52.2, 21.0, "currency złoty", 5.0),
            ("SW1A 1AA", 51.5, -0.1, "postcode British", 10.0),
            ("NORTHUMBERLAND STREET WC2", 51.5, -0.1, "postal district WC2", 50.0),
            ("Welcome to Lausanne", 46.52, 6.63, "name Lausanne (Switzerland)", 300.0),
            ("Migros", 46.9, 7.4, "name Migros (Switzerland)", 10.0),
            ("TOWER BRIDGE", 51.5, -0.1, "name Tower Bridge (United Kingdom)", 50.0),
            ("(Thai letters)", 13.7, 100.5, "script Thai", 10.0),
            ("(Cyrillic letters)", 55.8, 37.6, "script Cyrillic", 2.5),
            ("(Cyrillic letters)", 47.9, 106.9, "script Cyrillic", 1.5),
        ] {
            let (found, ratio) = said(text, lat, lon);
            assert!(found.contains(told) && ratio > least, "{text}: {found}, {ratio}");
        }
    }

    #[test]
    fn what_is_no_evidence_says_nothing() {
        let lines = "Street|Toyota|Google|© Paris 2007|photo by London|2007-08-12|12:45|a|Bar|example.com|www.x.tv|QVI ROMAM|\
            SUNRISE|Metropolis|perros|Suria KLCCI|(Bengali letters)|(Arabic letters)";
        for text in lines.split('|') {
            assert_eq!(said(text, 48.9, 2.3).0, "", "{text}");
        }
        let town = |text| said(text, 45.19, 5.72).1;
        assert!(town("Grenoble Street") < 0.5 * town("in Grenoble") && town("City of Grenoble") > town("in Grenoble"));
        let two = evidence_of_text(&[("SAN", 0.95), ("FRANCISCO", 0.95)]);
        assert!(two.iter().any(|found| found.line == 0 && found.evidence.says == "San Francisco (United States)"));
        let own_name = evidence_of_text(&[("HATCH", 0.95), ("ERY", 0.95)]);
        assert!(own_name.is_empty(), "{own_name:?}");
        let bengali = evidence_of_text(&[("(Bengali letters)", 0.9), ("(Bengali letters)", 0.9)]);
        assert_eq!(bengali.len(), 2, "two lines of a rare script are no mistake");
        for line in [("上海", 0.75), ("太平山", 0.92), ("仲マンゴー", 0.93), ("CHOTEL VALLE MAR", 0.98)] {
            assert!(evidence_of_text(&[line]).iter().all(|found| found.evidence.kind != "name"), "{line:?}");
        }
        assert!(said("年年年年", 39.9, 116.4).0.is_empty());
        assert!(said("Vernon", 49.09, 1.48).1 < 350.0 && said("Paris", 48.85, 2.35).1 > 500.0);
        let paris = LatLon::new(48.9, 2.3).unwrap().to_unit();
        let french = |lines: &[(&str, f64)]| -> f64 {
            evidence_of_text(lines).iter().map(|one| one.evidence.likelihood(paris)).product()
        };
        let once = french(&[("Fermé le Lundi", 1.0)]);
        assert!((french(&[("Fermé le Lundi", 1.0), ("FERMÉ LE LUNDI", 1.0)]) - once).abs() < 1e-9 * once);
    }

    /// A board of departures: many names in one country do not make all others impossible.
    #[test]
    fn many_names_count_as_two() {
        let towns = ["Hamburg", "Bremen", "Hannover", "Leipzig", "Dresden", "Stuttgart", "Nürnberg", "Dortmund"];
        let far_from_towns = LatLon::new(53.7, 12.3).unwrap().to_unit();
        let log = |towns: &[&str]| {
            let lines: Vec<(&str, f64)> = towns.iter().map(|town| (*town, 0.95)).collect();
            let names = evidence_of_text(&lines).into_iter().filter(|found| found.evidence.kind == "name");
            names.map(|found| found.evidence.likelihood(far_from_towns).ln()).sum::<f64>()
        };
        let (two, all) = (log(&towns[..2]), log(&towns));
        assert!(two > 3.0 && (all - two).abs() < 0.35 * two, "{two} {all}");
    }

    #[test]
    fn hostile_lines_do_no_harm() {
        let long = "Ж\u{202e}\u{0}İ+1(²٣٤".repeat(500);
        let mut lines = vec![
            ("\u{202e}SIRAP\u{0}", 1.0),
            ("שלום", 0.9),
            ("", 1.0),
            ("Paris", f64::NAN),
            (&long, 0.9),
            ("+", 1.0),
            ("№.é", 1.0),
        ];
        let many: Vec<String> = (0..10_000).map(|n| format!("Fermé {n} à Paris")).collect();
        lines.extend(many.iter().map(|line| (line.as_str(), 0.99)));
        let point = LatLon::new(0.0, 0.0).unwrap().to_unit();
        assert!(
            evidence_of_text(&lines).iter().all(|one| one.line < 300 && one.evidence.likelihood(point).is_finite())
        );
    }
}

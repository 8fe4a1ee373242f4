//! Something that is known about a photo.

use crate::clues::asked::{AskedClue, ClueTime};
use crate::{clues::ClueError, clues::error::alike, clues::kinds::KINDS, evidence::Evidence};
use locdiff_shdd::sphere::UnitVec;

/// So many clues are used for a photo at the most.
pub const MOST_CLUES: usize = 50;
/// A clue has no more bytes.
const LONGEST: usize = 300;

/// Something that is known about a photo.
///
/// ```
/// use locdiff_map::clues::Clue;
/// use locdiff_shdd::sphere::LatLon;
/// let clue = Clue::parse("drives=left", None)?;
/// let [tokyo, paris] = [LatLon::new(35.7, 139.7)?, LatLon::new(48.86, 2.35)?].map(LatLon::to_unit);
/// assert!(clue.likelihood(tokyo) > 20.0 * clue.likelihood(paris));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Clue {
    evidence: Vec<Evidence>,
}

impl Clue {
    /// Reads "KIND=VALUE", or "KIND!=VALUE" for the contrary, about a photo of this time. The error names the remedy.
    pub fn parse(text: &str, time: Option<ClueTime>) -> Result<Self, ClueError> {
        let no_clue = || ClueError::NoClue { text: text.chars().take(60).collect() };
        let (kind, value) = text.split_once('=').filter(|_| text.len() <= LONGEST).ok_or_else(no_clue)?;
        let (kind, is_not) = kind.strip_suffix('!').map_or((kind, false), |kind| (kind, true));
        let (kind, value) = (kind.trim().to_lowercase(), value.trim());
        let names = || KINDS.iter().map(|kind| kind.name);
        let Some(found) = KINDS.iter().find(|own| own.name == kind) else {
            let (near, kinds) = (alike(&kind, names()), names().collect::<Vec<_>>().join(", "));
            return Err(ClueError::UnknownKind { kind, near, kinds });
        };
        let is_quoted = value.len() > 1 && value.starts_with('"') && value.ends_with('"');
        let value = if is_quoted { &value[1..value.len() - 1] } else { value };
        let asked = AskedClue { kind: found.name, value, time };
        let says = format!("{}{value}", if is_not { "not " } else { "" });
        let evidence = (found.read)(&asked)?.evidence(found.name, says, found.wrong, is_not);
        if evidence.is_empty() { Err(asked.refuse("its contrary says nothing")) } else { Ok(Self { evidence }) }
    }

    /// Reads all clues about a photo. Fails on the first that cannot be used, and on more than [`MOST_CLUES`].
    pub fn parse_all(texts: &[impl AsRef<str>], time: Option<ClueTime>) -> Result<Vec<Self>, ClueError> {
        match texts.len() {
            count if count > MOST_CLUES => Err(ClueError::TooMany { count, most: MOST_CLUES }),
            _ => texts.iter().map(|text| Self::parse(text.as_ref(), time)).collect(),
        }
    }

    /// What it says about places; a text may say several things. Likelihoods have a floor: a wrong clue gives no certainty.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// The likelihood at a point, up to a common factor.
    pub fn likelihood(&self, point: UnitVec) -> f64 {
        self.evidence.iter().map(|own| own.likelihood(point)).product()
    }

    /// All kinds, a line for each: an example, and what it says.
    pub fn help() -> String {
        let width = KINDS.iter().map(|kind| kind.example.chars().count()).max().unwrap_or(0);
        KINDS.iter().map(|kind| format!("{:width$}  {}\n", kind.example, kind.what)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cells::Cells, clues::asked::NARROWEST};
    use locdiff_shdd::sphere::{LatLon, Pixel};

    /// Clues, and the places that fit of these; the others do not.
    #[test]
    fn clues_fit_where_they_should() {
        const PLACES: &str = "Warsaw 52.23 21.01|Paris 48.86 2.35|Lyon 45.76 4.84|Tokyo 35.69 139.7|London 51.51 -0.13|\
            Sydney -33.87 151.21|Delhi 28.61 77.21|Moscow 55.75 37.62|York 40.71 -74.0|Madrid 40.42 -3.7|\
            Stockholm 59.33 18.06|Nassau 25.05 -77.35|Beijing 39.9 116.4|Oslo 59.91 10.75";
        const CLUES: &str = "language=Polish>Warsaw|language=pl>Warsaw|language=Polish, Japanese>Warsaw Tokyo|\
            Language = norwegian>Oslo|script=Cyrillic>Moscow|script=Chinese>Beijing|script!=Latin>Tokyo Delhi Moscow Beijing|\
            drives=left>Tokyo London Sydney Delhi Nassau|drives!=right>Tokyo London Sydney Delhi Nassau|\
            phone=+46 8 123>Stockholm|phone=0046>Stockholm|phone=+1-242-555>Nassau|domain=.uk>London|domain=.se>Stockholm|\
            currency=PLN>Warsaw|currency=zł>Warsaw|currency=euro>Paris Lyon Madrid|hemisphere=south>Sydney|\
            coast=yes>Tokyo Sydney York Nassau Stockholm Oslo|climate=cfb>Paris London Lyon Warsaw Stockholm|\
            climate=D>Moscow Oslo|timezone=+05:30>Delhi|timezone=UTC-5>York Nassau|near=\"Lyon\" 100km>Lyon|\
            hemisphere!=west>Warsaw Paris Lyon Tokyo Sydney Delhi Moscow Stockholm Beijing Oslo|\
            near=Lyon, France 500 km>Lyon Paris|near=40.7,-74.0 10 mi>York";
        for (clue, fits) in CLUES.split('|').filter_map(|case| case.split_once('>')) {
            let own = Clue::parse(clue, None).unwrap();
            for place in PLACES.split('|') {
                let words: Vec<&str> = place.split(' ').collect();
                let at = LatLon::new(words[1].parse().unwrap(), words[2].parse().unwrap()).unwrap();
                let (found, is_fit) = (own.likelihood(at.to_unit()), fits.split(' ').any(|fit| fit == words[0]));
                assert!(if is_fit { found > 0.3 } else { found < 0.25 }, "{clue}: {place} {found}");
            }
        }
    }

    /// However wrong a clue is, no place is ruled out: the least likelihood is the kind's floor, or for a narrow clue a hundredth of it.
    #[test]
    fn wrong_clues_give_no_certainty() {
        let time = ClueTime::parse("2024-06-21T12:00:00Z");
        let cells = Cells::bundled().indices().iter().step_by(101).map(|index| u64::from(*index));
        let towns = [(45.76, 4.84), (59.33, 18.06), (52.23, 21.01), (28.61, 77.21)];
        let towns = towns.map(|(lat, lon)| LatLon::new(lat, lon).unwrap().to_unit());
        let centres = cells.map(|index| Pixel { depth: Cells::DEPTH, index }.centre());
        let points: Vec<UnitVec> = centres.chain(towns).collect();
        for kind in KINDS.iter().filter(|kind| kind.name != "text") {
            for example in [kind.example.to_owned(), kind.example.replacen('=', "!=", 1)] {
                let clue = Clue::parse(&example, time).unwrap();
                let found = points.iter().map(|point| clue.likelihood(*point));
                let (least, most) =
                    found.fold((f64::MAX, 0.0_f64), |(least, most), one| (least.min(one), most.max(one)));
                assert!(kind.wrong >= 0.02 && least >= kind.wrong * NARROWEST, "{example}: {least}");
                // Its contrary fits almost everywhere.
                assert!(!example.contains("!=") || least >= 0.9 * kind.wrong, "{example}: {least}");
                assert!(most <= 1.0 + 1e-12, "{example}: {most}");
                assert!(most > 0.4 && least < 0.3, "{example}: {least} {most}");
            }
            assert!(Clue::help().contains(kind.example), "{}", kind.name);
        }
        // What is read in a photo has floors of its own.
        for (text, fits) in [("text=Kungsgatan 12, Stockholm", towns[1]), ("text=Bar mleczny, Warszawa", towns[2])] {
            let clue = Clue::parse(text, None).unwrap();
            let [here, there] = [fits, towns[3]].map(|place| clue.likelihood(place));
            assert!(here > 5.0 * there && there > 0.0, "{text}: {here} {there}");
        }
    }

    #[test]
    fn hostile_and_misspelt_clues_say_why() {
        const CASES: &str = ">is not a clue|Polish>is not a clue|=>no clue is of the kind \"\"|langauge=Polish>did you mean language?|\
            language=Polnish>did you mean Polish|language=>no language is called \"\"|script=Cyrilic>did you mean Cyrillic|\
            currency=zlotty>did you mean Zloty|drives=lef>did you mean left?|climate=XYZ>give Af, Am|climate=é>give Af, Am|\
            coast=NaN>give yes, no|text=>no name, language|text!=Stockholm>its contrary says nothing|domain=>is called \"\"|\
            timezone=Paris>such as +05:30|timezone=+99>such as +05:30|phone=abc>such as +46|near=Lyon>such as Lyon 100km|\
            near=Lyon nankm>such as Lyon 100km|near=Lyon 99999999km>such as Lyon 100km|near=Lyoon 100km>no town is called so|\
            near=Springfield 10km>is the name of several places";
        let long = format!("language={}", "x".repeat(100_000));
        let cases = CASES.split('|').filter_map(|case| case.split_once('>'));
        for (clue, reason) in cases.chain([(&*long, "is not a clue")]) {
            let message = Clue::parse(clue, None).unwrap_err().to_string();
            assert!(message.contains(reason) && message.len() < 900, "{clue:.50}: {message}");
        }
        let many = vec!["drives=left"; MOST_CLUES + 1];
        assert_eq!(Clue::parse_all(&many[1..], None).unwrap().len(), MOST_CLUES);
        assert_eq!(Clue::parse_all(&many, None).unwrap_err().to_string(), "51 clues are too many: give at most 50");
    }
}

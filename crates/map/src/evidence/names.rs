//! Names of places in lines of text.

use super::{Evidence, PlaceKernel, numbers, tables::Area, tables::Named, tables::Tables};
use crate::{cells::Cells, places::Countries, places::Places, places::folded::folded};
use locdiff_shdd::sphere::{LatLon, UnitVec};

/// A name that a line holds.
struct FoundName {
    line: usize,
    /// The name as it is compared: folded, without spaces.
    key: String,
    /// Whether the line holds nothing else.
    is_whole: bool,
    words: usize,
    confidence: f64,
    /// Whether one letter was put right.
    is_mended: bool,
    /// What the words beside it add to the logarithm of its weight.
    beside: f64,
}

/// Words beside a name: those of towns themselves, and those of streets, dishes and houses that are named after other places.
const TOWNSHIP: &str = " welcome bienvenue bienvenidos willkommen benvenuti city town village ville commune gemeinde stadt comune municipality \
    municipio municipal ayuntamiento mairie prefeitura camara kommune obec mesto gmina belediyesi university universite universitat universita \
    universidad universidade college airport aeroport flughafen aeroporto aeropuerto bahnhof hbf gare stazione estacion estacao station hauptbahnhof \
    police polizei polizia policia fire library borough council county port harbour museum opera cathedral cathedrale dom stadium zoo ferry metro \
    bank banco banque hospital tourist tourism visitor office ";
const NAMESAKE: &str = " street st road rd avenue ave av lane drive blvd boulevard way terrace rue via viale corso calle carrer rua ulica avenida \
    strasse straat gatan cuisine restaurant restaurante ristorante cafe food kitchen grill pizza beer ale coffee sightseeing style hotel house club bar ";
const BESIDE: [f64; 2] = [0.3, -2.0];

/// What the two words before a name and the one behind it say of it.
fn beside(words: &[String], at: usize, end: usize) -> f64 {
    let holds = |list: &str, word: &String| word.len() > 1 && list.contains(&format!(" {word} "));
    let near = || words[at.saturating_sub(2)..at].iter().chain(words.get(end));
    BESIDE[0] * f64::from(u8::from(near().any(|word| holds(TOWNSHIP, word))))
        + BESIDE[1] * f64::from(u8::from(near().any(|word| holds(NAMESAKE, word))))
}

/// The words of a line: letters and digits. "NewYork" is two.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let letters: Vec<char> = line.chars().collect();
    let is_small =
        |from: usize, to: usize| letters.get(from..to).is_some_and(|some| some.iter().all(|c| c.is_lowercase()));
    for (at, letter) in letters.iter().enumerate() {
        let is_inside = letter.is_alphanumeric() || "'’`´".contains(*letter);
        if !is_inside || letter.is_uppercase() && at >= 3 && is_small(at - 3, at) && is_small(at + 1, at + 3) {
            words.push(String::new());
        }
        words.last_mut().filter(|_| is_inside).into_iter().for_each(|word| word.push(*letter));
    }
    words.retain(|word| word.chars().any(char::is_alphanumeric));
    words
}

/// A word as it is compared. A digit or two among letters stand for those that look like them.
fn compared(word: &str) -> String {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_misread = (1..=2).contains(&digits) && word.chars().filter(|letter| letter.is_alphabetic()).count() >= 4;
    let alike = |letter: char| if is_misread { "olzeasgtbg".chars().nth(letter.to_digit(10)? as usize) } else { None };
    folded(&word.chars().map(|letter| alike(letter).unwrap_or(letter)).collect::<String>()).replace(' ', "")
}

/// Han, kana and Hangul: words have no spaces between them.
fn is_dense(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// The only name that differs by one letter from a word in plain letters.
fn nearest(word: &str, is_name: impl Fn(&str) -> bool) -> Option<String> {
    let mut found: Option<String> = None;
    for at in 0..=word.len() {
        let (before, after) = word.split_at(at);
        let (rest, letters) = (after.get(1..), || ('a'..='z').map(String::from));
        let changed = letters().chain([String::new()]).filter_map(|new| Some(format!("{before}{new}{}", rest?)));
        for other in changed.chain(letters().map(|new| format!("{before}{new}{after}"))) {
            if other != word && found.as_ref() != Some(&other) && is_name(&other) {
                if found.is_some() {
                    return None;
                }
                found = Some(other);
            }
        }
    }
    found
}

/// The names in a line, longer ones first. A word belongs to one name.
fn find(line: usize, text: &str, confidence: f64) -> Vec<FoundName> {
    const MOST_WORDS: usize = 40;
    const LONGEST: usize = 5;
    /// Shorter words are not mended.
    const LONG: usize = 8;
    const SURE: f64 = 0.7;
    /// Patterns are read as Chinese characters, with a low confidence.
    const SURE_DENSE: f64 = 0.8;
    let tables = Tables::bundled();
    let is_name = |key: &str| tables.named(key).next().is_some();
    let read = words(text);
    let words: Vec<String> = read.iter().map(|word| compared(word)).collect();
    let letters: usize = words.iter().map(|word| word.chars().count()).sum();
    let (mut is_used, mut names) = (vec![false; words.len()], Vec::new());
    let mut found = |key: String, taken: usize, words: usize, is_mended: bool, beside: f64| {
        // "Welcome to Leukerbad" says as much as the name alone.
        let is_whole = taken == letters || beside > 0.0;
        names.push(FoundName { line, key, is_whole, words, confidence, is_mended, beside });
    };
    if words.len() > MOST_WORDS {
        return names;
    }
    // "Tunbridge VT": a state of the USA, at the end or before a postcode.
    for (at, word) in read.iter().enumerate().skip(1) {
        let is_number = |word: &&String| word.contains(|letter: char| letter.is_ascii_digit());
        let next = read.get(at + 1);
        let is_before_code = next.filter(is_number).is_some_and(|next| next.len() == 5);
        if numbers::is_state(word, !is_before_code) && next.is_none_or(|next| is_number(&next)) {
            is_used[at] = true;
            found(format!("us-{}", word.to_lowercase()), 0, 2, false, 0.0);
        }
    }
    for size in (1..=LONGEST.min(words.len())).rev() {
        for at in 0..=words.len() - size {
            let key = words[at..at + size].concat();
            let count = key.chars().count();
            let is_other = key.chars().any(|letter| is_dense(letter) || letter.is_ascii_digit());
            let is_short =
                count < 4 || size > 1 && (count < 6 || words[at..at + size].iter().any(|word| word.len() == 1));
            if !is_used[at..at + size].contains(&true) && !is_other && !is_short && is_name(&key) {
                is_used[at..at + size].fill(true);
                found(key, count, size, false, beside(&words, at, at + size));
            }
        }
    }
    for (word, is_used) in words.iter().zip(is_used) {
        let is_plain = word.len() >= LONG && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_word = || tables.level(word) > 0 || tables.english.binary_search(&word.as_str()).is_ok();
        if !is_used && is_plain && confidence >= SURE && !is_word() {
            let near = nearest(word, |other| other.len() >= LONG && is_name(other) && tables.level(other) < 2);
            near.into_iter().for_each(|near| found(near, word.len(), 1, true, 0.0));
        }
        let dense: Vec<char> = word.chars().collect();
        for part in (2..=6).rev().flat_map(|size| dense.windows(size)).filter(|part| part.iter().copied().all(is_dense))
        {
            let key: String = part.iter().collect();
            if confidence >= SURE_DENSE && is_name(&key) {
                found(key, part.len(), 1, false, 0.0);
            }
        }
    }
    names
}

/// A name that goes on in the next line: "SAN" above "FRANCISCO".
fn joined(first: &(usize, String, f64), second: &(usize, String, f64)) -> Option<FoundName> {
    const MOST_WORDS: usize = 4;
    const SHORTEST: usize = 3;
    const SURE: f64 = 0.8;
    let parts = [&first.1, &second.1].map(|text| words(text).iter().map(|word| compared(word)).collect::<Vec<_>>());
    let (count, key) = (parts[0].len() + parts[1].len(), parts.concat().concat());
    let is_fit = |word: &String| word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let tables = Tables::bundled();
    let is_own = |named| !matches!(named, Named::Town(_, false));
    let is_name = || tables.named(&key).any(is_own) && tables.level(&key) < 3;
    let fits = count <= MOST_WORDS && first.2.min(second.2) >= SURE && parts.iter().all(|part| !part.is_empty());
    (fits && parts.iter().flatten().all(is_fit) && is_name()).then(|| {
        let confidence = first.2.min(second.2);
        FoundName { line: first.0, key, is_whole: true, words: count, confidence, is_mended: false, beside: 0.0 }
    })
}

/// More names than this share the effect of so many: boards of departures and maps name places far away.
const MOST_NAMES: f64 = 2.0;

/// What the names in lines say. A name counts once. Lines are numbers, texts and confidences.
pub(super) fn evidence(lines: &[(usize, String, f64)]) -> Vec<(usize, Evidence)> {
    const LEAST_CONFIDENCE: f64 = 0.65;
    let sure = lines.iter().filter(|one| one.2 >= LEAST_CONFIDENCE);
    let mut all: Vec<FoundName> = sure.flat_map(|(line, text, confidence)| find(*line, text, *confidence)).collect();
    all.extend(lines.windows(2).filter_map(|pair| joined(&pair[0], &pair[1])));
    let rank = |name: &FoundName| f64::from(u8::from(name.is_whole)) + name.confidence / 2.0;
    all.sort_by(|a, b| a.key.cmp(&b.key).then(rank(b).total_cmp(&rank(a))));
    all.dedup_by(|a, b| a.key == b.key);
    let mut found: Vec<(usize, Evidence)> = all.iter().filter_map(|name| Some((name.line, of_name(name)?))).collect();
    let share = (MOST_NAMES / found.len() as f64).min(1.0);
    for (_, Evidence { countries, kernels, .. }) in &mut found {
        let weights = countries.iter_mut().chain(kernels.iter_mut().map(|kernel| &mut kernel.weight));
        weights.for_each(|weight| *weight = weight.powf(share));
    }
    found
}

/// Logarithms of weights of names, fitted on 1,000 photos: of a town of 30,000 people, an area, a country, a landmark.
const OF_KIND: [f64; 4] = [8.3, 5.9, 3.2, 8.6];
/// What the country of these gets of that.
const COUNTRY_OF_KIND: [f64; 4] = [-6.5, -4.3, 0.0, -6.5];
/// An area of a smaller deviation, in km, is a landmark.
const LANDMARK_KM: f64 = 61.0;
/// What adds to them: a line that holds nothing else, ten times as many people, each letter over seven, and so on.
const WHOLE_LINE: f64 = 1.5;
const PEOPLE: f64 = 0.8;
const LETTER: f64 = 0.3;
const MENDED: f64 = -1.1;
const OTHER_NAME: f64 = -0.8;
const SEVERAL_WORDS: f64 = 1.3;
const UNSURE: f64 = -0.4;
const DENSE: f64 = 0.5;
/// By how common the name is as another word; for e times as many places of the name.
const LEVELS: [f64; 6] = [0.0, -0.4, -1.1, -2.7, -3.5, 0.0];
const SHARED: f64 = -0.2;
/// Kernels about a town, in km, with the logarithms of their weights.
const KERNELS: [(f64, f64); 3] = [(15.0, 0.0), (50.0, -2.7), (150.0, -5.0)];
/// Names with less are not used, by kind.
const LEAST: [f64; 4] = [6.5, 5.0, 0.5, 6.5];

/// A place that may be meant: its country, its kernels without weights, people, and whether the name is its own.
struct Meant {
    says: String,
    country: Option<usize>,
    at: Option<(UnitVec, f64)>,
    people: Option<f64>,
    is_own: bool,
    /// What adds to the logarithm of its weight.
    less: f64,
}

impl Meant {
    fn new(named: Named, key: &str) -> Option<Self> {
        let countries = Countries::bundled().all();
        let told = |name: &str, country: Option<usize>| match country.map(|number| countries[number].name()) {
            Some(country) if country != name => format!("{name} ({country})"),
            _ => name.to_owned(),
        };
        if let Named::Area(number) = named {
            let Area { name, country, at, less } = &Tables::bundled().areas[number];
            let says = told(name, *country);
            return Some(Self { says, country: *country, at: *at, people: None, is_own: true, less: *less });
        }
        let (name, at, people, is_own) = match named {
            Named::Town(town, is_own) => {
                let town = Places::bundled().town(town);
                let at = LatLon::new(town.lat_deg, town.lon_deg).ok()?.to_unit();
                (town.name, at, f64::from(town.population).max(500.0), is_own)
            }
            Named::Small(at, people) => {
                let name = key.get(..1)?.to_uppercase() + &key[1..];
                (name, at, f64::from(people).max(300.0), true)
            }
            Named::Area(_) => return None,
        };
        let cell = Cells::bundled().at(at.to_latlon());
        let country = cell.map(|cell| usize::from(Cells::bundled().country_numbers()[cell]));
        let country = country.filter(|number| *number < countries.len());
        Some(Self { says: told(&name, country), country, at: Some((at, 0.0)), people: Some(people), is_own, less: 0.0 })
    }

    /// Whether a name is likely enough to mean it: short, common, mended and foreign ones, and Han in a longer line, mean large places only.
    fn is_likely(&self, name: &FoundName, level: u8) -> bool {
        let length = name.key.len();
        match (self.people, name.key.is_ascii()) {
            (people, false) => people.is_none_or(|people| people >= 3e5 || name.is_whole),
            (None, _) if self.at.is_none() => !name.is_mended && level < 5,
            (None, _) => length >= 5 && (level < 4 || level == 4 && name.is_whole),
            (Some(people), _) => {
                let is_common = level > 4 || level > 2 && people < 3e5 || level == 4 && !(name.is_whole && self.is_own);
                // "WIEN", "METZ" on a line of their own.
                let is_large = people >= if self.is_own { 5e5 } else { 1e6 };
                let is_sign = name.is_whole && level < 2 && (is_large || self.is_own && people >= 8e4);
                let is_short = length <= 4 && !(is_sign || self.is_own && is_large && level == 0);
                let is_far = !self.is_own && people < 1e5;
                let is_mended = name.is_mended && !(self.is_own && people >= 1e5);
                let is_small = people < 5e3 && length < 7 || !name.is_whole && people < 1.5e4;
                !(is_common || is_short || is_far || is_mended || is_small)
            }
        }
    }
}

/// What a name says: the places that have it, and their countries. `None` if it is next to nothing.
fn of_name(name: &FoundName) -> Option<Evidence> {
    let level = Tables::bundled().level(&name.key);
    let meant = Tables::bundled().named(&name.key).filter_map(|named| Meant::new(named, &name.key));
    let meant: Vec<Meant> = meant.filter(|meant| meant.is_likely(name, level)).collect();
    let is_dense = !name.key.is_ascii();
    let given = |is: bool, weight: f64| if is { weight } else { 0.0 };
    let common = given(name.is_whole, WHOLE_LINE)
        + LEVELS[usize::from(level)]
        + given(!is_dense, LETTER * (name.key.len() as f64 - 7.0).clamp(-3.0, 4.0))
        + given(name.is_mended, MENDED)
        + given(name.words > 1, SEVERAL_WORDS)
        + given(name.confidence < 0.8, UNSURE)
        + given(is_dense, DENSE)
        + name.beside
        + SHARED * (meant.len() as f64).ln();
    let mut evidence = Evidence::new("name", "");
    evidence.countries = vec![1.0; Countries::bundled().all().len() + 1];
    let (mut best, mut is_used) = (f64::NEG_INFINITY, false);
    for Meant { says, country, at, people, is_own, less } in meant {
        let is_landmark = people.is_none() && at.is_some_and(|(_, deviation)| deviation < LANDMARK_KM);
        let kind = if is_landmark { 3 } else { usize::from(people.is_none()) + usize::from(at.is_none()) };
        let more = people.map_or(0.0, |people| PEOPLE * (people / 3e4).log10()) + given(!is_own, OTHER_NAME);
        let log_weight = common + OF_KIND[kind] + more + less;
        country.into_iter().for_each(|number| evidence.countries[number] += (log_weight + COUNTRY_OF_KIND[kind]).exp());
        if let Some((centre, deviation)) = at {
            let wide = [(deviation.max(15.0), 0.0), KERNELS[1], KERNELS[2]];
            let kernels = if people.is_some() { &KERNELS[..] } else { &wide[..if is_landmark { 3 } else { 1 }] };
            let kernels = kernels.iter().map(|(deviation_km, less)| (*deviation_km, (log_weight + less).exp()));
            evidence.kernels.extend(kernels.map(|(deviation_km, weight)| PlaceKernel { centre, deviation_km, weight }));
        }
        is_used |= log_weight >= LEAST[kind];
        let rank = if at.is_none() { f64::INFINITY } else { log_weight };
        if rank > best {
            (best, evidence.says) = (rank, says);
        }
    }
    is_used.then_some(evidence)
}

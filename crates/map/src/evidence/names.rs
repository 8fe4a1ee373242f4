//! Names of places in lines of text.

use super::{Evidence, PlaceKernel, numbers, tables::Area, tables::Named, tables::Tables};
use crate::{cells::Cells, places::Countries, places::Places, places::folded::folded};
use locdiff_shdd::sphere::{LatLon, UnitVec};

/// A name that a line holds.
#[expect(clippy::struct_excessive_bools, reason = "each has odds of its own")]
struct FoundName {
    line: usize,
    /// The name as it is compared: folded, without spaces.
    key: String,
    /// Whether the line holds nothing else.
    is_whole: bool,
    words: usize,
    /// Words of its line.
    of: usize,
    confidence: f64,
    /// Whether one letter was put right.
    is_mended: bool,
    /// Whether it begins with a small letter.
    is_small: bool,
    /// Whether words beside it go with towns, and whether they go with what is named after other places.
    beside: [bool; 2],
    /// Whether another line has it, too.
    is_twice: bool,
}

/// Words beside a name: those of towns themselves, and those of streets, dishes and houses that are named after other places.
const TOWNSHIP: &str = " welcome bienvenue bienvenidos willkommen benvenuti city town village ville commune gemeinde stadt comune municipality \
    municipio municipal ayuntamiento mairie prefeitura camara kommune obec mesto gmina belediyesi university universite universitat universita \
    universidad universidade college airport aeroport flughafen aeroporto aeropuerto bahnhof hbf gare stazione estacion estacao station hauptbahnhof \
    police polizei polizia policia fire library borough council county port harbour museum opera cathedral cathedrale dom stadium zoo ferry metro \
    bank banco banque hospital tourist tourism visitor office ";
const NAMESAKE: &str = " street st road rd avenue ave av lane drive blvd boulevard way terrace rue via viale corso calle carrer rua ulica avenida \
    strasse straat gatan cuisine restaurant restaurante ristorante cafe food kitchen grill pizza beer ale coffee sightseeing style hotel house club bar ";

/// Whether one of the two words before a name and the one behind it is in each of these lists.
fn beside(words: &[String], at: usize, end: usize) -> [bool; 2] {
    let holds = |list: &str, word: &String| word.len() > 1 && list.contains(&format!(" {word} "));
    let near = words[at.saturating_sub(2)..at].iter().chain(words.get(end));
    [TOWNSHIP, NAMESAKE].map(|list| near.clone().any(|word| holds(list, word)))
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
    let mut found = |key: String, taken: usize, at: std::ops::Range<usize>, is_mended: bool, beside: [bool; 2]| {
        let is_small = read[at.start].starts_with(char::is_lowercase);
        let (is_whole, words, of, is_twice) = (taken == letters, at.len(), read.len(), false);
        names.push(FoundName { line, key, is_whole, words, of, confidence, is_mended, is_small, beside, is_twice });
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
            found(format!("us-{}", word.to_lowercase()), 0, at - 1..at + 1, false, [false; 2]);
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
                found(key, count, at..at + size, false, beside(&words, at, at + size));
            }
        }
    }
    for (at, (word, is_used)) in words.iter().zip(is_used).enumerate() {
        let is_plain = word.len() >= LONG && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_word = || tables.level(word) > 0 || tables.english.binary_search(&word.as_str()).is_ok();
        if !is_used && is_plain && confidence >= SURE && !is_word() {
            let near = nearest(word, |other| other.len() >= LONG && is_name(other) && tables.level(other) < 2);
            near.into_iter().for_each(|near| found(near, word.len(), at..at + 1, true, [false; 2]));
        }
        let dense: Vec<char> = word.chars().collect();
        for part in (2..=6).rev().flat_map(|size| dense.windows(size)).filter(|part| part.iter().copied().all(is_dense))
        {
            let key: String = part.iter().collect();
            if confidence >= SURE_DENSE && is_name(&key) {
                found(key, part.len(), at..at + 1, false, [false; 2]);
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
        let (line, is_small) = (first.0, first.1.starts_with(char::is_lowercase));
        let (is_whole, is_mended, beside, is_twice) = (true, false, [false; 2], false);
        FoundName { line, key, is_whole, words: count, of: count, confidence, is_mended, is_small, beside, is_twice }
    })
}

/// More names than this share the effect of so many: boards of departures and maps name places far away.
const MOST_NAMES: f64 = 2.0;

/// What the names in lines say. A name counts once. `others` is what else the lines say. Lines are numbers, texts and confidences.
pub(super) fn evidence(lines: &[(usize, String, f64)], others: &[(usize, Evidence)]) -> Vec<(usize, Evidence)> {
    const LEAST_CONFIDENCE: f64 = 0.65;
    let sure = lines.iter().filter(|one| one.2 >= LEAST_CONFIDENCE);
    let mut all: Vec<FoundName> = sure.flat_map(|(line, text, confidence)| find(*line, text, *confidence)).collect();
    all.extend(lines.windows(2).filter_map(|pair| joined(&pair[0], &pair[1])));
    let rank = |name: &FoundName| f64::from(u8::from(name.is_whole)) + name.confidence / 2.0;
    all.sort_by(|a, b| a.key.cmp(&b.key).then(rank(b).total_cmp(&rank(a))));
    all.dedup_by(|b, a| {
        a.is_twice |= a.key == b.key && a.line != b.line;
        a.key == b.key
    });
    let meant: Vec<Vec<Meant>> = all.iter().map(Meant::all_of).collect();
    // What speaks for a country in all else that the lines say.
    let agreed = |own: usize, country: usize| -> f64 {
        let of_name = |(other, meant): (usize, &Vec<Meant>)| {
            let odds = |one: &Meant| one.log_odds.exp();
            let here = meant.iter().filter(|one| other != own && one.country == Some(country)).map(odds).sum::<f64>();
            (1.0 + SAME_COUNTRY * here / (1.0 + meant.iter().map(odds).sum::<f64>())).ln()
        };
        let of_other = |(_, one): &(usize, Evidence)| Some((one.countries.get(country)? / one.countries.last()?).ln());
        let sum = meant.iter().enumerate().map(of_name).sum::<f64>() + others.iter().filter_map(of_other).sum::<f64>();
        sum.clamp(-MOST_AGREED, MOST_AGREED)
    };
    let told = meant.iter().enumerate().filter_map(|(own, meant)| {
        let log = |one: &Meant| one.log_odds + one.country.map_or(0.0, |country| agreed(own, country));
        let odds = meant.iter().map(|one| log(one).exp()).sum::<f64>();
        (odds >= LEAST_ODDS).then(|| (all[own].line, of_name(meant)))
    });
    let mut found: Vec<(usize, Evidence)> = told.collect();
    let share = (MOST_NAMES / found.len() as f64).min(1.0);
    for (_, Evidence { countries, kernels, .. }) in &mut found {
        let weights = countries.iter_mut().chain(kernels.iter_mut().map(|kernel| &mut kernel.weight));
        weights.for_each(|weight| *weight = weight.powf(share));
    }
    found
}

/// How much likelier a photo in a country is to have another name of that country, and the most that all else may agree or disagree
/// with a name, in nats.
const SAME_COUNTRY: f64 = 20.0;
const MOST_AGREED: f64 = 3.0;
/// A name is used if the odds that it says where the photo was taken, by all that the photo says, are at least this.
const LEAST_ODDS: f64 = 0.55;

/// Kinds of places: a town, a state, a country, a landmark, and what only one country has: its shops, banks and railways.
const TOWN: usize = 0;
/// How much likelier a name is at its place than elsewhere if it means that place, as a logarithm, and what its country gets of that, by kind.
const AT_PLACE: [f64; 5] = [7.6, 5.0, 3.0, 7.6, 3.0];
const IN_COUNTRY: [f64; 5] = [-6.5, -4.3, 0.0, -6.5, 0.0];
/// An area of a smaller deviation, in km, is a landmark.
const LANDMARK_KM: f64 = 61.0;
/// Kernels about a town, in km, with the logarithms of their weights.
const KERNELS: [(f64, f64); 3] = [(15.0, 0.0), (50.0, -2.7), (150.0, -5.0)];

/// A place that may be meant: its country, its kernels without weights, and the logarithm of the odds that it is meant.
struct Meant {
    says: String,
    country: Option<usize>,
    at: Option<(UnitVec, f64)>,
    kind: usize,
    log_odds: f64,
}

impl Meant {
    fn all_of(name: &FoundName) -> Vec<Self> {
        let level = Tables::bundled().level(&name.key);
        Tables::bundled().named(&name.key).filter_map(|named| Self::new(named, name, level)).collect()
    }

    fn new(named: Named, name: &FoundName, level: u8) -> Option<Self> {
        let countries = Countries::bundled().all();
        let told = |name: &str, country: Option<usize>| match country.map(|number| countries[number].name()) {
            Some(country) if country != name => format!("{name} ({country})"),
            _ => name.to_owned(),
        };
        if let Named::Area(number) = named {
            let Area { name: own, country, at, less } = &Tables::bundled().areas[number];
            let says = told(own, *country);
            let kind = at.map_or(if says == *own { 2 } else { 4 }, |at| if at.1 < LANDMARK_KM { 3 } else { 1 });
            let log_odds = log_odds(name, level, kind, None, true) + less;
            return Some(Self { says, country: *country, at: *at, kind, log_odds });
        }
        let (own, at, people, is_own) = match named {
            Named::Town(town, is_own) => {
                let town = Places::bundled().town(town);
                let at = LatLon::new(town.lat_deg, town.lon_deg).ok()?.to_unit();
                (town.name, at, f64::from(town.population).max(500.0), is_own)
            }
            Named::Small(at, people) => {
                let own = name.key.get(..1)?.to_uppercase() + &name.key[1..];
                (own, at, f64::from(people).max(300.0), true)
            }
            Named::Area(_) => return None,
        };
        let cell = Cells::bundled().at(at.to_latlon());
        let country = cell.map(|cell| usize::from(Cells::bundled().country_numbers()[cell]));
        let country = country.filter(|number| *number < countries.len());
        let log_odds = log_odds(name, level, TOWN, Some(people), is_own);
        Some(Self { says: told(&own, country), country, at: Some((at, 0.0)), kind: TOWN, log_odds })
    }
}

/// The logarithm of the odds that a name of a line means a place of that name, one of `people` if it is a town. The weights are of a
/// conditional logit, fitted on 418 names in 228 photos with a known place.
fn log_odds(name: &FoundName, level: u8, kind: usize, people: Option<f64>, is_own: bool) -> f64 {
    const OF_KIND: [f64; 5] = [-1.2, -0.3, 1.0, 0.4, 1.2];
    /// By how common the name is as another word.
    const OF_LEVEL: [f64; 6] = [0.0, -0.2, -1.2, -2.5, -3.3, -6.1];
    let is_dense = !name.key.is_ascii();
    let length = name.key.chars().count() as f64;
    let is_long = !is_dense && length >= 8.0;
    let given = |is: bool, weight: f64| if is { weight } else { 0.0 };
    let people = people.map_or(0.0, |people| (people / 3e4).log10());
    OF_KIND[kind]
        + OF_LEVEL[usize::from(level)]
        + given(kind == TOWN, 0.3 * f64::from(level))
        + given(name.is_whole, 0.8)
        + given(is_long && name.is_whole && kind == TOWN && level == 0 && !name.is_mended, 1.4)
        + 0.3 * (name.of as f64 / name.words as f64).ln().max(0.0)
        + given(!is_dense, 0.1 * (length - 7.0).clamp(-3.0, 4.0))
        + given(!is_dense && length <= 4.0, -1.5)
        + (1.3 + 0.2 * people) * people
        + given(!is_own, -1.2)
        + given(name.is_mended, -1.1)
        + given(name.words > 1, 0.7)
        - 2.0 * (1.0 - name.confidence)
        + given(is_dense, if name.is_whole { 0.6 } else { -1.1 })
        + given(name.beside[0], 0.5)
        + given(name.beside[1], -2.0)
        + given(name.is_small, -0.7)
        + given(name.is_twice, 0.8)
}

/// What a name says: the places that it may mean, and their countries.
fn of_name(meant: &[Meant]) -> Evidence {
    let mut evidence = Evidence::new("name", "");
    evidence.countries = vec![1.0; Countries::bundled().all().len() + 1];
    let mut best = f64::NEG_INFINITY;
    for Meant { says, country, at, kind, log_odds } in meant {
        let log_weight = log_odds + AT_PLACE[*kind];
        let in_country = (log_weight + IN_COUNTRY[*kind]).exp();
        country.iter().for_each(|number| evidence.countries[*number] += in_country);
        if let Some((centre, deviation)) = *at {
            let kernels = [(deviation.max(15.0), 0.0), KERNELS[1], KERNELS[2]];
            let kernels = kernels[..if *kind == 1 { 1 } else { 3 }].iter();
            let kernel = |(deviation_km, less): &(f64, f64)| PlaceKernel {
                centre,
                deviation_km: *deviation_km,
                weight: (log_weight + less).exp(),
            };
            evidence.kernels.extend(kernels.map(kernel));
        }
        if *log_odds > best {
            (best, evidence.says) = (*log_odds, says.clone());
        }
    }
    evidence
}

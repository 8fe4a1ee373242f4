//! The language of the lines of a photo, and the countries where it is written.

use super::{Evidence, tables::Tables};
use std::sync::OnceLock;

/// The share of texts in a language that is foreign where it is seen, and how such texts are shared among languages.
const FOREIGN: f64 = 0.2;
const FOREIGN_ENGLISH: f64 = 0.6;
const FOREIGN_SHARES: &str = "fr 100 es 70 it 70 de 60 zh 40 ja 40 zt 20 pt 20 ar 20 ru 20 nl 15";
const FOREIGN_REST: f64 = 4.0;
/// The share of photos whose lines are in no language: names, brands, misread letters.
const NO_LANGUAGE: f64 = 0.3;
/// The share of lines that are in another language than the photo's.
const OTHER_LINE: f64 = 0.1;
/// Groups of letters overlap: each counts for less than it says.
const GRAM_EXPONENT: f64 = 0.4;
/// Nats that a word of a language adds.
const WORD_NATS: f64 = 2.0;
/// The most that one line, and all lines, can say, in nats.
const MOST_OF_LINE: f64 = 6.0;
const MOST_OF_PHOTO: f64 = 12.0;
const LEAST_CONFIDENCE: f64 = 0.5;
/// Fewer nats for a language in Latin letters, for one of another script, say nothing; nor does a language that is less probable, nor
/// English, which is read everywhere: alone in 44 of 237 photos, it told 0.05 nats on average.
const LEAST_NATS: [f64; 2] = [2.45, 3.45];
const LEAST_PROBABILITY: f64 = 0.3;

/// The number of English among the languages.
const ENGLISH: usize = 0;

/// How foreign texts are shared among languages, and for each language the probability that a text in each country is in it. The
/// last is that of places in no country.
fn probabilities() -> &'static (Vec<f64>, Vec<Vec<f64>>) {
    static TABLE: OnceLock<(Vec<f64>, Vec<Vec<f64>>)> = OnceLock::new();
    TABLE.get_or_init(|| {
        let Tables { languages, shares, .. } = Tables::bundled();
        let known: Vec<&str> = FOREIGN_SHARES.split(' ').collect();
        let share = |code: &str| {
            let own = known.chunks(2).find(|pair| pair[0] == code).and_then(|pair| pair[1].parse().ok());
            if code == "en" { 0.0 } else { own.unwrap_or(FOREIGN_REST) }
        };
        let mut foreign: Vec<f64> = languages.iter().map(|(code, _)| share(code)).collect();
        let total: f64 = foreign.iter().sum();
        foreign.iter_mut().for_each(|share| *share *= (1.0 - FOREIGN_ENGLISH) / total);
        foreign[ENGLISH] = FOREIGN_ENGLISH;
        let of_country = |country: usize| shares.iter().map(|of| of[country]).sum::<f64>();
        let row = |(of, foreign): (&Vec<f64>, &f64)| {
            let here = of.iter().enumerate().map(|(country, share)| {
                let unknown = (1.0 - of_country(country)).max(0.0);
                (1.0 - FOREIGN) * (share + unknown * foreign) + FOREIGN * foreign
            });
            here.chain([*foreign]).collect()
        };
        let rows = shares.iter().zip(&foreign).map(row).collect();
        (foreign, rows)
    })
}

/// Scripts that the reader tells but cannot read, each with one of its letters.
const SCRIPTS: &str = "Cyrillic ж Arabic ع Hebrew ש Thai ก Lao ກ Khmer ក Burmese က Devanagari क Bengali ক Gurmukhi ਕ Gujarati ક Tamil க \
    Telugu క Kannada ಕ Malayalam ക Sinhala ක Hangul 가 Georgian ა Armenian ա Ethiopic አ";
/// Nats for the languages of such a script, for those of a script that is found too often, and letters that it counts for.
const SCRIPT_NATS: f64 = 5.0;
const RARE_SCRIPT_NATS: f64 = 2.5;
const USUAL_SCRIPTS: &str = "Cyrillic Hebrew Thai Hangul";
const SCRIPT_LETTERS: usize = 6;

/// The script of a line that says "(Thai letters)", and one of its letters.
pub(super) fn unread(line: &str) -> Option<(&'static str, char)> {
    let name = line.strip_prefix('(')?.strip_suffix(" letters)")?;
    let words: Vec<&str> = SCRIPTS.split_whitespace().collect();
    words.chunks(2).find(|pair| pair[0] == name).and_then(|pair| Some((pair[0], pair[1].chars().next()?)))
}

/// How much likelier a line is in each language than in none, in nats, and how many letters tell. A letter of a script other than
/// Latin tells as much as two.
fn in_languages(line: &str) -> (Vec<f64>, usize) {
    /// What a Latin word takes from languages of other scripts, and a letter of another script from all that do not have it.
    const OTHER_SCRIPT: f64 = -1.0;
    const OWN_LETTER: f64 = 0.5;
    let tables = Tables::bundled();
    let step = |byte: u8| GRAM_EXPONENT * f64::from(i16::from(byte) - i16::from(b'm')) / 4.0;
    let (mut sum, mut letters) = (vec![0.0; tables.languages.len()], 0);
    if let Some((script, letter)) = unread(line) {
        let has = |(from, to, _): &&(char, char, usize)| (*from..=*to).contains(&letter);
        let nats = if USUAL_SCRIPTS.contains(script) { SCRIPT_NATS } else { RARE_SCRIPT_NATS };
        tables.letters.iter().filter(has).for_each(|one| sum[one.2] = nats);
        return (sum, SCRIPT_LETTERS);
    }
    let lower = line.to_lowercase();
    for word in lower.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()) {
        let mut own: Vec<char> = word.chars().collect();
        if !matches!(own[0], '\0'..'\u{250}' | '\u{1e00}'..'\u{1f00}') {
            own.dedup(); // patterns are read as one letter again and again
            for letter in own {
                let has = |(from, to, _): &&(char, char, usize)| (*from..=*to).contains(&letter);
                let written: Vec<usize> = tables.letters.iter().filter(has).map(|one| one.2).collect();
                let steps = tables.grams.get(letter.to_string().as_str());
                letters += if written.is_empty() { 0 } else { 2 };
                for (language, sum) in sum.iter_mut().enumerate().filter(|_| !written.is_empty()) {
                    let own = || OWN_LETTER + steps.map_or(0.0, |steps| step(steps[language]));
                    *sum += if written.contains(&language) { own() } else { OTHER_SCRIPT };
                }
            }
            continue;
        }
        if own.len() < 2 {
            continue;
        }
        letters += own.len();
        let mut add = |languages: &[usize], nats: f64| languages.iter().for_each(|one| sum[*one] += nats);
        let others = tables.letters.first().map_or(0, |first| first.2)..tables.languages.len();
        add(&others.collect::<Vec<_>>(), OTHER_SCRIPT);
        let listed = |word: &str| tables.words.get(word).map_or(&[][..], Vec::as_slice);
        add(listed(word), if own.len() > 2 { WORD_NATS } else { WORD_NATS / 2.0 });
        if tables.english.binary_search(&word).is_ok() {
            add(&[ENGLISH], 0.75 * WORD_NATS);
        }
        if own.len() < 3 {
            continue;
        }
        let ends = (4..=8.min(own.len() - 1)).map(|length| own[own.len() - length..].iter().collect::<String>());
        let ending = ends.map(|end| listed(&format!("-{end}"))).find(|languages| !languages.is_empty());
        add(ending.unwrap_or(&[]), 2.0 * WORD_NATS);
        let padded: Vec<char> = format!(" {word} ").chars().collect();
        let grams = padded.windows(3).filter_map(|gram| tables.grams.get(gram.iter().collect::<String>().as_str()));
        grams.for_each(|steps| sum.iter_mut().zip(*steps).for_each(|(sum, byte)| *sum += step(*byte)));
    }
    (sum, letters)
}

/// Whether a line is an old Latin inscription, with V for U. These are all over the world.
fn is_inscription(line: &str) -> bool {
    let is_consonant = |letter: char| "BCDFGHLMNPRSTX".contains(letter);
    let letters: Vec<char> = line.chars().collect();
    line.contains("QV")
        || letters.windows(3).any(|part| part[1] == 'V' && is_consonant(part[0]) && is_consonant(part[2]))
}

/// Languages that are found too often, since the tables have none of their words, and the nats that they lose.
const RARE: &str = " tl so sw af cy ";
const RARE_NATS: f64 = 1.0;

/// What the language of all lines says, split among them. Lines are numbers, texts and confidences.
pub(super) fn evidence(lines: &[(usize, String, f64)]) -> Vec<(usize, Evidence)> {
    /// Of a line, and of all.
    const LEAST_LETTERS: [usize; 2] = [3, 6];
    /// A line with less of what all say is not named.
    const LEAST_SHARE: f64 = 0.1;
    const ALIKE: f64 = 0.01;
    let (foreign, probabilities) = probabilities();
    let (mut total, mut each, mut all_letters) = (vec![0.0; foreign.len()], Vec::new(), 0);
    let is_address = |text: &str| {
        ["www", ".com", "·com", ".org", ".net", "http"].iter().any(|part| text.to_lowercase().contains(part))
    };
    let is_read =
        |one: &&(usize, String, f64)| one.2 >= LEAST_CONFIDENCE && !is_inscription(&one.1) && !is_address(&one.1);
    for (line, text, confidence) in lines.iter().filter(is_read) {
        let (nats, letters) = in_languages(text);
        if letters < LEAST_LETTERS[0] {
            continue;
        }
        all_letters += letters;
        let likelihood: Vec<f64> = nats.iter().map(|nats| (nats * confidence).min(MOST_OF_LINE).exp()).collect();
        let usual = 0.5 + 0.5 * foreign.iter().zip(&likelihood).map(|(share, of)| share * of).sum::<f64>();
        let gain: Vec<f64> = likelihood.iter().map(|of| ((1.0 - OTHER_LINE) * of / usual + OTHER_LINE).ln()).collect();
        total.iter_mut().zip(&gain).for_each(|(total, gain)| *total += gain);
        each.push((*line, gain));
    }
    for (total, (code, _)) in total.iter_mut().zip(&Tables::bundled().languages) {
        *total -= if RARE.contains(&format!(" {code} ")) { RARE_NATS } else { 0.0 };
    }
    let weight: Vec<f64> = total.iter().map(|nats| nats.min(MOST_OF_PHOTO).exp()).collect();
    let posterior: Vec<f64> = foreign.iter().zip(&weight).map(|(share, weight)| share.sqrt() * weight).collect();
    let best = (0..posterior.len()).max_by(|a, b| posterior[*a].total_cmp(&posterior[*b])).unwrap_or(ENGLISH);
    // Languages of one script may be alike.
    let alike = posterior.iter().zip(&total).filter(|(_, nats)| **nats >= total[best] - ALIKE).map(|one| one.0);
    let is_sure = alike.sum::<f64>() >= LEAST_PROBABILITY * posterior.iter().sum::<f64>();
    let first_other = Tables::bundled().letters.first().map_or(usize::MAX, |first| first.2);
    let inscriptions = lines.iter().filter(|(_, text, _)| is_inscription(text)).count();
    if !is_sure
        || best == ENGLISH
        || total[best] < LEAST_NATS[usize::from(best >= first_other)]
        || all_letters < LEAST_LETTERS[1]
        || inscriptions >= 2
    {
        return Vec::new();
    }
    let of_country = |country: usize| {
        let known: f64 = probabilities.iter().zip(&weight).map(|(of, weight)| of[country] * weight).sum();
        NO_LANGUAGE + (1.0 - NO_LANGUAGE) * known
    };
    let all: Vec<f64> = (0..probabilities[best].len()).map(of_country).collect();
    let gained = |each: &[(usize, Vec<f64>)]| each.iter().map(|(_, gain)| gain[best].max(0.0)).sum::<f64>();
    let least = LEAST_SHARE * gained(&each);
    each.retain(|(_, gain)| gain[best] > 0.0 && gain[best] >= least);
    let sum = gained(&each);
    let told = each.iter().map(|(line, gain)| {
        let countries = all.iter().map(|likelihood| likelihood.powf(gain[best] / sum)).collect();
        let script = lines.iter().find(|one| one.0 == *line).and_then(|one| unread(&one.1));
        let (kind, says) =
            script.map_or(("language", Tables::bundled().languages[best].1), |(script, _)| ("script", script));
        (*line, Evidence { countries, ..Evidence::new(kind, says) })
    });
    told.collect()
}

//! The bundled tables of words and names. `lab/scripts/text_tables.py` makes them and describes their layout.

use crate::places::{Countries, Places, folded::folded, inflate::inflate};
use locdiff_shdd::sphere::{LatLon, Pixel, UnitVec, Unpacker};
use std::{collections::HashMap, sync::OnceLock};

/// What has a name: a town, an area or a landmark, or a country.
#[derive(Debug, Clone, Copy)]
pub(super) enum Named {
    /// Number in [`Places`], and whether the name is the town's own.
    Town(u32, bool),
    /// A town of less than 5,000 people: where, and how many.
    Small(UnitVec, u32),
    /// A number in [`Tables::areas`].
    Area(usize),
}

/// A state, a landmark, where an area code of North America is, or a whole country or what only it has, which have no centre.
pub(super) struct Area {
    pub(super) name: &'static str,
    pub(super) country: Option<usize>,
    /// The centre and the deviation in km.
    pub(super) at: Option<(UnitVec, f64)>,
    /// What adds to the logarithm of its weight.
    pub(super) less: f64,
}

pub(super) struct Tables {
    /// Hashes of names as they are compared, ascending.
    names: Vec<(u64, Named)>,
    /// How common a name is as another word, from 1 to 5.
    levels: HashMap<u64, u8>,
    pub(super) areas: Vec<Area>,
    /// Codes and names of languages.
    pub(super) languages: Vec<(&'static str, &'static str)>,
    /// For each language the share of each country's texts.
    pub(super) shares: Vec<Vec<f64>>,
    /// Letters of scripts other than Latin, and their language.
    pub(super) letters: Vec<(char, char, usize)>,
    /// For groups of letters a byte for each language.
    pub(super) grams: HashMap<&'static str, &'static [u8]>,
    /// Words and endings of words, with their languages.
    pub(super) words: HashMap<&'static str, Vec<usize>>,
    /// Common English words, in order.
    pub(super) english: Vec<&'static str>,
    /// Calling codes with their countries, two letters each.
    pub(super) calling: HashMap<&'static str, &'static str>,
}

/// The number of a country by its two letters.
pub(super) fn country_number(code: &str) -> Option<usize> {
    Countries::bundled().all().iter().position(|country| !code.is_empty() && country.code().eq_ignore_ascii_case(code))
}

/// The hash (FNV-1a) of a folded name without its spaces.
fn hash(folded: &str) -> u64 {
    let letters = folded.bytes().filter(|byte| *byte != b' ');
    letters.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn point(lat: &str, lon: &str) -> Option<UnitVec> {
    Some(LatLon::new(lat.parse().ok()?, lon.parse().ok()?).ok()?.to_unit())
}

impl Tables {
    /// The embedded tables, unpacked when text is first read.
    pub(super) fn bundled() -> &'static Self {
        static BUNDLED: OnceLock<Tables> = OnceLock::new();
        BUNDLED.get_or_init(|| {
            let bytes = inflate(include_bytes!("../../assets/text.bin"));
            let mut unpacker = Unpacker::new(&bytes);
            let text: &'static str = String::leak(unpacker.string());
            Self::parse(text, &mut unpacker)
        })
    }

    fn parse(text: &'static str, unpacker: &mut Unpacker) -> Self {
        let mut sections: HashMap<&str, Vec<&'static str>> = HashMap::new();
        let mut name = "";
        for line in text.lines() {
            match line.strip_prefix('=') {
                Some(next) => name = next,
                None => sections.entry(name).or_default().push(line),
            }
        }
        let numbers: HashMap<&str, usize> =
            Countries::bundled().all().iter().enumerate().map(|(number, country)| (country.code(), number)).collect();
        let split = |line: &'static str| line.split('|').collect::<Vec<_>>();
        let mut section = |name| sections.remove(name).unwrap_or_default();
        let (mut languages, mut shares) = (Vec::new(), Vec::new());
        for parts in section("languages").into_iter().map(split) {
            let mut share = vec![0.0; Countries::bundled().all().len()];
            for (code, percent) in parts[2].split(',').filter_map(|one| one.split_once('=')) {
                if let Some(number) = numbers.get(code) {
                    share[*number] = percent.parse::<f64>().unwrap_or(0.0) / 100.0;
                }
            }
            languages.push((parts[0], parts[1]));
            shares.push(share);
        }
        let by_code: HashMap<&str, usize> = languages.iter().enumerate().map(|(number, one)| (one.0, number)).collect();
        let letter = |hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
        let letters = section("letters").into_iter().filter_map(|line| {
            let (span, code) = line.split_once(' ')?;
            let (from, to) = span.split_once('-')?;
            Some((letter(from)?, letter(to)?, by_code[code]))
        });
        let letters = letters.collect();
        let count = languages.len();
        let grams = section("grams").into_iter().map(|line| line.split_at(line.len() - count));
        let grams = grams.map(|(gram, steps)| (gram, steps.as_bytes())).collect();
        let words = section("words").into_iter().filter_map(|line| line.split_once('|'));
        let words = words.map(|(word, codes)| (word, codes.split(',').map(|code| by_code[code]).collect())).collect();
        let english = section("english").into_iter().flat_map(str::split_whitespace).collect();
        let common = section("common").into_iter().filter_map(|line| line.split_once(' '));
        let level = |(level, names): (&'static str, &'static str)| {
            names.split('|').map(move |name| (hash(name), level.as_bytes()[0] - b'0'))
        };
        let levels = common.flat_map(level).collect();
        let calling = section("phones").into_iter().filter_map(|line| line.split_once('|')).collect();
        let (mut areas, mut names) = (Vec::new(), Self::town_names());
        for line in section("areas") {
            let parts: Vec<&'static str> = line.split(';').collect();
            let mut own = parts[0].split('|');
            let name = own.next().unwrap_or_default();
            let at = (parts.len() == 5).then(|| Some((point(parts[2], parts[3])?, parts[4].parse().ok()?))).flatten();
            names.extend(own.map(|name| (hash(name), Named::Area(areas.len()))));
            let less = parts.get(2).filter(|_| at.is_none()).and_then(|less| less.parse().ok()).unwrap_or(0.0);
            areas.push(Area { name, country: numbers.get(parts[1]).copied(), at, less });
        }
        let count = unpacker.number();
        let mut pixel = 0;
        let mut next = |_| {
            pixel += unpacker.number() as u64;
            pixel
        };
        let pixels: Vec<u64> = (0..count).map(&mut next).collect();
        let people: Vec<usize> = (0..count).map(|_| unpacker.number()).collect();
        for ((name, index), people) in unpacker.string().lines().zip(pixels).zip(people) {
            names.push((hash(name), Named::Small(Pixel { depth: 8, index }.centre(), 100 * people as u32)));
        }
        names.sort_by_key(|(hash, _)| *hash);
        Self { names, levels, areas, languages, shares, letters, grams, words, english, calling }
    }

    /// All names of towns of 5,000 people and more.
    fn town_names() -> Vec<(u64, Named)> {
        let others = inflate(include_bytes!("../../assets/names.bin"));
        let others: Vec<&str> = std::str::from_utf8(&others).unwrap_or_default().lines().collect();
        let places = Places::bundled();
        let towns = places.in_order_of_file();
        let mut names = Vec::with_capacity(600_000);
        for (row, town) in towns.iter().enumerate() {
            let own = hash(&folded(places.name_of(*town)));
            names.push((own, Named::Town(*town, true)));
            let lines = [row, row + towns.len()].map(|line| others.get(line).copied().unwrap_or_default());
            let hashes = lines.into_iter().flat_map(|line| line.split('|')).filter(|name| !name.is_empty()).map(hash);
            names.extend(hashes.filter(|other| *other != own).map(|other| (other, Named::Town(*town, false))));
        }
        names
    }

    /// The first area of a name.
    pub(super) fn area(&self, name: &str) -> Option<&Area> {
        let number = |named| if let Named::Area(number) = named { Some(number) } else { None };
        self.named(name).find_map(number).map(|number| &self.areas[number])
    }

    /// All that a folded name means.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = Named> {
        let hash = hash(name);
        let from = self.names.partition_point(|(other, _)| *other < hash);
        self.names[from..].iter().take_while(move |(other, _)| *other == hash).map(|(_, named)| *named)
    }

    /// How common a folded name is as another word: 0 for not at all, up to 5.
    pub(super) fn level(&self, name: &str) -> u8 {
        self.levels.get(&hash(name)).copied().unwrap_or(0)
    }
}

//! Telephone numbers, internet domains, prices, postcodes and number plates: what they say about the country.

use super::tables::{Area, Tables, country_number};

/// What a line has been taken for.
pub(super) struct Clue {
    pub(super) kind: &'static str,
    pub(super) says: String,
    /// Two letters each, with spaces between.
    pub(super) countries: String,
    /// Where an area code is.
    pub(super) area: Option<&'static Area>,
}

fn clue(kind: &'static str, says: impl Into<String>, countries: impl Into<String>) -> Clue {
    Clue { kind, says: says.into(), countries: countries.into(), area: None }
}

/// Everything that a line has of these.
pub(super) fn clues(line: &str) -> Vec<Clue> {
    [domain(line), telephone(line), price(line), form(line), district(line)].into_iter().flatten().collect()
}

/// Endings of domains that are sold to everybody.
const SOLD: &str =
    " tv io co me cc fm ws to ly ai gg su nu la st vc sh ac tk ml ga cf gq pw eu ps cd ms gl im pm vg tc ";
/// Endings that are also words: only a whole address counts.
const WORDS: &str = " in is it at de no my do be as so us id pl am by an ";

fn domain(line: &str) -> Option<Clue> {
    const SECOND: &str = " co com org net gov ac edu or ne go gob gouv ";
    let lower = line.to_lowercase();
    let is_address = lower.contains("www") || lower.contains("http");
    let joined = if is_address { lower.replace(' ', "") } else { lower };
    let holds = |list: &str, word: &str| list.contains(&format!(" {word} "));
    joined.split_whitespace().find_map(|word| {
        let (address, path) = word.trim_start_matches("http://").split_once('/').unwrap_or((word, ""));
        let (name, ending) = address.trim_matches(|c: char| !c.is_alphanumeric()).rsplit_once('.')?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-@:/_".contains(c);
        let country = match ending {
            "uk" => "GB".to_owned(),
            "gov" | "mil" | "edu" => "US".to_owned(),
            _ => ending.to_uppercase(),
        };
        let is_known = !holds(SOLD, ending) && country_number(&country).is_some();
        let is_pair = name.rsplit_once('.').is_some_and(|(_, second)| holds(SECOND, second));
        let is_alone = name.len() >= 5 && joined.trim() == word && !holds(WORDS, ending);
        let is_sure = is_address || name.contains('@') || !path.is_empty() || is_pair || is_alone;
        let is_domain = is_known && is_sure && name.len() >= 2 && name.chars().all(is_plain);
        is_domain.then(|| clue("domain", format!(".{ending}"), country))
    })
}

/// Numbers as groups of digits with separators between them, each with whether "+" goes before it.
fn digit_groups(line: &str) -> Vec<(bool, Vec<String>)> {
    let (mut runs, mut is_inside) = (vec![(false, Vec::<String>::new())], false);
    for letter in line.chars() {
        let Some((_, groups)) = runs.last_mut() else { break };
        if letter.is_ascii_digit() {
            if !is_inside {
                groups.push(String::new());
            }
            groups.last_mut().into_iter().for_each(|group| group.push(letter));
        } else if !" ().-/–".contains(letter) {
            runs.push((letter == '+', Vec::new()));
        }
        is_inside = letter.is_ascii_digit();
    }
    runs.retain(|(_, groups)| !groups.is_empty());
    runs
}

fn telephone(line: &str) -> Option<Clue> {
    /// Lengths of groups, how the number begins, and the country.
    const NATIONAL: [(&[usize], &str, &str, &str); 3] =
        [(&[2; 5], "0", "FR", "French"), (&[3, 4, 4], "02", "GB", "British"), (&[5, 6], "0", "GB", "British")];
    let tables = Tables::bundled();
    let north_america = |code: &str| {
        let area = tables.area(&format!("+1{code}"));
        let is_real = area.is_some() || ["800", "888", "877", "866", "855"].contains(&code);
        is_real.then(|| Clue { area, ..clue("phone", format!("telephone number +1 {code}"), "US CA") })
    };
    digit_groups(line).into_iter().find_map(|(is_international, groups)| {
        let (digits, lengths) = (groups.concat(), groups.iter().map(String::len).collect::<Vec<_>>());
        let zeros = digits.strip_prefix("00").filter(|_| groups[0].len() <= 5 && groups.len() > 1);
        let international = is_international.then_some(digits.as_str()).or(zeros);
        if let Some(digits) = international.filter(|digits| (8..=15).contains(&digits.len())) {
            if let Some(rest) = digits.strip_prefix('1') {
                return if rest.len() == 10 { north_america(&rest[..3]) } else { None };
            }
            let code = (1..=3).map(|length| &digits[..length]).find(|code| tables.calling.contains_key(code))?;
            return Some(clue("phone", format!("telephone number +{code}"), tables.calling[code]));
        }
        if let [.., 3, 3, 4] = lengths[..]
            && (lengths.len() == 3 || lengths.len() == 4 && groups[0] == "1")
        {
            let own = &groups[groups.len() - 3..];
            return if own[..2].iter().all(|group| group.as_bytes()[0] >= b'2') {
                north_america(&own[0])
            } else {
                None
            };
        }
        let is_national =
            |(form, start, _, _): &&(&[usize], &str, &str, &str)| lengths == *form && digits.starts_with(start);
        let (_, _, country, name) = NATIONAL.iter().find(is_national).filter(|_| !digits.starts_with("00"))?;
        Some(clue("phone", format!("{name} telephone number"), *country))
    })
}

/// Signs of money, its name, and where it is used. A sign before the number ends with "#", one behind it begins so.
const MONEY: &str = "€# #€ #EUR EUR# #euro #Euro|euro|AT BE CY DE EE ES FI FR GR HR IE IT LT LU LV MC ME MT NL PT SI SK SM VA XK AD
£#|pound|GB IM JE GG GI\n¥# ￥# #円|yen or yuan|JP CN\n#元|yuan|CN TW\n#zł #PLN|złoty|PL\n#Kč #CZK|Czech koruna|CZ\n#Ft #HUF|forint|HU
#kr kr# kr.#|krona|SE NO DK IS\nRp# Rp.#|rupiah|ID\nRM#|ringgit|MY\nR$#|real|BR\n₹# Rs# Rs.#|rupee|IN PK LK NP\n#₪ ₪# #NIS|shekel|IL
฿# #฿ #บาท #Baht #baht #BAHT|baht|TH\n₫# #₫ #VND #đ|dong|VN\n₩# #원|won|KR\n₱# Php#|Philippine peso|PH\nNT$#|Taiwan dollar|TW
CHF# #CHF Fr.#|Swiss franc|CH LI\nHK$#|Hong Kong dollar|HK\n₺# #₺ #TL #YTL|lira|TR\nS/.#|sol|PE\nKSh# Ksh#|Kenyan shilling|KE
#руб #₽|rouble|RU\n#DH #Dhs|dirham|MA AE\n#грн ₴# #₴|hryvnia|UA\n#лв|lev|BG\n#lei #RON|leu|RO MD
$#|dollar|US CA AU NZ MX SG HK AR CL CO EC SV PR BS BB JM BZ";

fn price(line: &str) -> Option<Clue> {
    let stands = |sign: &str| {
        let bare = sign.trim_matches('#');
        line.match_indices(bare).any(|(at, _)| {
            let (before, after) = (line[..at].chars().next_back(), line[at + bare.len()..].chars().next());
            let digit = |text: Option<char>| text.is_some_and(|letter| letter.is_ascii_digit());
            let is_free = |text: Option<char>| !text.is_some_and(char::is_alphabetic);
            if sign.ends_with('#') {
                is_free(before) && before != Some('$') && digit(line[at + bare.len()..].trim_start().chars().next())
            } else {
                is_free(after) && digit(line[..at].trim_end_matches([' ', '-', ',', ':']).chars().next_back())
            }
        })
    };
    MONEY.lines().find_map(|money| match money.split('|').collect::<Vec<_>>()[..] {
        [signs, name, countries] if signs.split(' ').any(stands) => Some(clue("currency", name, countries)),
        _ => None,
    })
}

/// Whether a text has a form: "A" is a capital, "9" a digit, "?" makes what stands before it optional, all else is itself.
fn has_form(text: &str, form: &str) -> bool {
    let mut letters = text.chars().peekable();
    let mut wanted = form.chars().peekable();
    while let Some(want) = wanted.next() {
        let is_optional = wanted.next_if_eq(&'?').is_some();
        let fits = |letter: &char| match want {
            'A' => letter.is_ascii_uppercase(),
            '9' => letter.is_ascii_digit(),
            other => *letter == other,
        };
        if letters.next_if(fits).is_none() && !is_optional {
            return false;
        }
    }
    letters.next().is_none()
}

/// Whether a word is the abbreviation of a state of the USA. With `is_clear` it must not be a word or stand for other things.
pub(super) fn is_state(word: &str, is_clear: bool) -> bool {
    const CLEAR: &str =
        "AK AZ AR CT FL GA IL IA KS KY MD MN MT NE NV NH NJ NM NY NC ND RI SD TN TX UT VT VA WA WV WI WY DC";
    const OTHER: &str = "IN OR ME OK HI OH LA DE ID AL MS MA PA CO MO MI CA SC";
    CLEAR.split(' ').any(|state| state == word) || !is_clear && OTHER.split(' ').any(|state| state == word)
}

/// Forms of postcodes and number plates that one or two countries use.
const FORMS: [(&str, &str, &str); 10] = [
    ("AA 99999", "American postcode", "US"),
    ("AA?99? 9AA", "British postcode", "GB"),
    ("AA?9A 9AA", "British postcode", "GB"),
    ("A9A 9A9", "Canadian postcode", "CA"),
    ("AA99 ?AAA", "British number plate", "GB"),
    ("9999 ?AAA", "Spanish number plate", "ES"),
    ("AA-999-AA", "French or Italian number plate", "FR IT"),
    ("AA 99 AA 9999", "Indian number plate", "IN"),
    ("9999? AAA 99", "French number plate", "FR"),
    ("99A-99999?", "Vietnamese number plate", "VN"),
];

/// A street sign of London: "BAKER STREET NW1".
fn district(line: &str) -> Option<Clue> {
    const DISTRICTS: [&str; 6] = ["EC", "WC", "NW", "SE", "SW", "E W N"];
    const STREETS: &str =
        " STREET ROAD LANE SQUARE PLACE AVENUE GARDENS TERRACE ROW WALK COURT HILL MEWS CRESCENT GROVE GATE STREETS ";
    let upper = line.to_uppercase();
    let (before, last) = upper.trim().rsplit_once(' ').unwrap_or(("", upper.trim()));
    let letters = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_street = || before.rsplit(' ').next().is_some_and(|word| STREETS.contains(&format!(" {word} ")));
    let is_known =
        DISTRICTS[..5].contains(&letters) || is_street() && DISTRICTS[5].split(' ').any(|one| one == letters);
    let is_number = last[letters.len()..].parse::<u8>().is_ok_and(|number| (1..=28).contains(&number));
    let area = Tables::bundled().area("innerlondon");
    (is_known && is_number && (before.is_empty() || is_street()))
        .then(|| Clue { area, ..clue("postcode", format!("postal district {last}"), "GB") })
}

fn form(line: &str) -> Option<Clue> {
    let words: Vec<&str> = line.split([' ', ',', '.']).filter(|word| !word.is_empty()).collect();
    let is_post = |says: &str| says.ends_with("postcode");
    let found = FORMS.iter().find(|(form, says, _)| {
        let is_pair =
            |pair: &[&str]| has_form(&pair.join(" "), form) && (*form != FORMS[0].0 || is_state(pair[0], false));
        let is_plate =
            || has_form(line.trim(), form) && (*form != FORMS[5].0 || !line.contains(['A', 'E', 'I', 'O', 'U', 'Q']));
        if is_post(says) { words.windows(2).any(is_pair) } else { is_plate() }
    });
    found.map(|(_, says, countries)| clue(if is_post(says) { "postcode" } else { "plate" }, *says, *countries))
}

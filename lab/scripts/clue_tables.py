#!/usr/bin/env python3
"""Write crates/map/assets/clues.txt: what countries speak, write, pay with and dial, on which side they drive, and their clocks.

    pip install tzdata && npm pack @rapideditor/country-coder@5.6.1 cldr-core@48.2.0 cldr-localenames-full@48.2.0 \
        cldr-numbers-full@48.2.0
    for file in *.tgz; do mkdir -p ${file%.tgz} && tar xzf $file -C ${file%.tgz}; done
    lab/scripts/clue_tables.py FOLDER > crates/map/assets/clues.txt    # FOLDER holds these four

Sources and licences are in crates/map/assets/README.md. Lines of four fields, "|" between them:
country   ISO 3166 code, L or R, the offsets from UTC that its clocks had since 2000, in minutes
language  code of CLDR, names, countries with the share of their public texts in it, in thousandths
script    code of ISO 15924, names, countries with such shares
currency  code of ISO 4217, names, countries that have it or had it since 1999
phone     calling code, nothing, countries
domain    top-level domain, nothing, countries"""

import collections
import json
import pathlib
import sys
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import tzdata

# The map's outlines count these areas to another country.
PART_OF = {"GF": "FR", "GP": "FR", "MQ": "FR", "RE": "FR", "YT": "FR", "BQ": "NL", "SJ": "NO", "BV": "NO", "TK": "NZ", "CC": "AU", "CX": "AU"}
# More names than CLDR has.
NAMES = {
    "nb": "Norwegian", "nn": "Norwegian", "hr": "Serbo-Croatian", "sr": "Serbo-Croatian", "bs": "Serbo-Croatian", "fil": "Tagalog", "fa": "Farsi,Dari",
    "arz": "Arabic", "ary": "Arabic", "arq": "Arabic", "aeb": "Arabic", "yue": "Chinese", "zh": "Mandarin", "ms": "Bahasa", "id": "Bahasa", "el": "Modern Greek",
    "Hans": "Chinese,Simplified Chinese,Han", "Hant": "Chinese,Traditional Chinese,Han", "Jpan": "Kanji,Hiragana,Katakana", "Kore": "Hangul", "Beng": "Bengali",
    "Latn": "Roman", "EUR": "€", "USD": "Dollar", "GBP": "£,Pound", "PLN": "zł", "JPY": "Yen", "CNY": "Yuan,Renminbi", "INR": "₹,Rupee", "RUB": "₽", "TRY": "₺,Lira",
    "KRW": "₩,Won", "THB": "฿,Baht", "VND": "₫,Dong", "UAH": "₴", "ILS": "₪,Shekel", "CZK": "Kč", "HUF": "Ft", "BRL": "R$,Real", "CHF": "Franc", "NGN": "₦", "PHP": "₱",
}  # fmt: skip
# Where these are official in a region, most who know them learnt them at school: German in Denmark.
WIDELY_LEARNT = {"en", "de", "fr", "es", "ru", "it"}
LEAST = 4  # thousandths of a country's texts

folder = pathlib.Path(sys.argv[1])
cldr = lambda path: json.load(open(folder / "cldr-core-48.2.0/package/supplemental" / path))["supplemental"]
english = lambda path, kind: json.load(open(folder / "cldr-localenames-full-48.2.0/package/main/en" / path))["main"]["en"]["localeDisplayNames"][kind]
features = [(one["properties"], one["geometry"]) for one in json.load(open(folder / "rapideditor-country-coder-5.6.1/package/src/data/borders.json"))["features"]]


def line(kind, code, names, countries):
    own = [*names, *(name for name in NAMES.get(code, "").split(",") if name)]
    print(kind, code, ",".join(dict.fromkeys(own)), " ".join(countries), sep="|")


# country-coder says "left" alone. A country without an outline of its own drives as its parts (Sumatra) do.
is_left = {own["iso1A2"]: own.get("driveSide") == "left" for own, _ in features if own.get("iso1A2")}
without_outline = {own["iso1A2"] for own, outline in features if own.get("iso1A2") and outline is None}
for own, _ in features:
    if own.get("driveSide") == "left" and not own.get("iso1A2"):
        is_left |= {code: True for code in without_outline & {own.get("country"), *own.get("groups", [])}}
offsets = collections.defaultdict(set)
for row in (pathlib.Path(tzdata.__file__).parent / "zoneinfo/zone.tab").read_text().splitlines():
    if not row.startswith("#"):
        code, _, name = row.split("\t")[:3]
        times = (datetime(2000, 1, 1) + timedelta(days=20 * k) for k in range(26 * 18))
        found = {round(ZoneInfo(name).utcoffset(time).total_seconds() / 60) for time in times}
        for one in {code, PART_OF.get(code, code)}:
            offsets[one] |= found
offsets["XK"] = offsets["RS"]
for code in sorted(set(is_left) & set(offsets)):
    line("country", code, ["L" if is_left[code] else "R"], (f"{minutes:+}" for minutes in sorted(offsets[code])))

# The share of a country's public texts: official languages have at least 15 %, those without a status count for a tenth, and
# English counts twice if it is official.
shares, scripts = collections.defaultdict(dict), collections.defaultdict(collections.Counter)
likely = cldr("likelySubtags.json")["likelySubtags"]
for country, facts in cldr("territoryInfo.json")["territoryInfo"].items():
    weights, written = collections.Counter(), collections.Counter()
    for code, about in facts.get("languagePopulation", {}).items() if country in is_left else ():
        percent = float(about["_populationPercent"]) * float(about.get("_writingPercent", 100)) / 100
        status = about.get("_officialStatus", "")
        if code == "en" and status:
            percent = max(percent, 40) * 2
        elif status in ("official", "de_facto_official"):
            percent = max(percent, 15)
        elif not status or (status == "official_regional" and code in WIDELY_LEARNT):
            percent *= 0.1
        weights[code.split("_")[0]] += percent
        tag = likely.get(code.replace("_", "-"), likely.get(f"{code.split('_')[0]}-{country}", "-Latn-")).split("-")[1]
        tag = code.split("_")[1] if len(code.split("_")) > 1 and len(code.split("_")[1]) == 4 else tag
        written[tag] += percent
    for table, counter in ((shares, weights), (scripts, written)):
        for code, weight in counter.items():
            thousandths = round(1000 * weight / (sum(counter.values()) or 1))
            if thousandths >= LEAST:
                table[code][country] = thousandths
for kind, table, named in (("language", shares, english("languages.json", "languages")), ("script", scripts, english("scripts.json", "scripts"))):
    for code in sorted(table):
        if code in named:
            line(kind, code, [named[code]], (f"{country}={share}" for country, share in sorted(table[code].items())))

currencies = collections.defaultdict(set)
for country, all_of in cldr("currencyData.json")["currencyData"]["region"].items():
    for code, about in (pair for one in all_of for pair in one.items()):
        if country in is_left and about.get("_tender") != "false" and about.get("_to", "9999") > "1999":
            currencies[code].add(country)
named = json.load(open(folder / "cldr-numbers-full-48.2.0/package/main/en/currencies.json"))["main"]["en"]["numbers"]["currencies"]
for code in sorted(currencies):
    name = named.get(code, {}).get("displayName", code).split(" (")[0]
    line("currency", code, [name, name.split()[-1]], sorted(currencies[code]))

dialled, domains = collections.defaultdict(set), {code.lower(): {code} for code in is_left} | {"uk": {"GB"}}
for own, _ in features:
    for code in own.get("callingCodes", []) if (own.get("iso1A2") or own.get("country")) in is_left else ():
        dialled[code.replace(" ", "")].add(own.get("iso1A2") or own["country"])
domains["eu"] = {own["iso1A2"] for own, _ in features if own.get("iso1A2") and "EU" in own.get("groups", [])}
for code in sorted(dialled):
    line("phone", code, [], sorted(dialled[code]))
for code in sorted(domains):
    line("domain", code, [], sorted(domains[code]))

#!/usr/bin/env python3
"""Lists sentences that break the style rules: a list to judge by eye, not a gate.
    lab/scripts/style_check.py [FILE…]      default: README, docs (without results.md) and the other pages for people
Reads Markdown, Rust (doc comments and messages), snapshots of help and Python (docstrings). Prints FILE:LINE, the rule and the sentence."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_WORDS = 25
# Words that only this project uses, and what to write instead.
WORDS = {
    r"doors?": "interface",
    r"front desk|bench(?! ?/)|desk|the house|rooms?": "library API, architecture",
    r"walks?": "data flow",
    r"eyes?": "encoder",
    r"looks(?! like)|company|favour|strings": "image evidence, likelihood, neighbours",
    r"is said|are said|is told|are told|hears?": "LocDiff says; reports",
    r"surroundings?": "cluster, neighbourhood",
    r"films?": "video; animation of the sampling steps",
    r"anew": "again",
    r"whoever|whom": "who; if you",
    r"beside": "next to; combined with; compared with",
    r"and the like": "name them",
    r"what is no|is no (?!longer|more)": "is not",
    r"speaks? (?:for|against)": "supports, contradicts",
    r"takes? back": "undo (a command may say take back)",
    r"passed over": "skipped",
    r"but for": "except",
    r"wanted was|wanted were": "Target:",
    r"nats": "define once on the page",
}
# "where" that stands for "if": not after a verb or noun of place.
PLACE = r"(?:say|says|said|know|knows|knew|shows?|show|see|seen|of|about|from|is|was|region|regions|map|place|places|area|point|longitudes|latitudes|globe|page|table|tells?|search|folder|and|or|matter|matters|choose)"


def sentences(text):
    """Sentences of a paragraph, without marks and code."""
    text = re.sub(r"<!--.*?-->", "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"\b(?:e\.g|i\.e|etc|vs|approx|No)\.", "abbr", text)
    return [part.strip(" *_#-|") for part in re.split(r"(?<=[.!?:])(?:\*\*|\"|”|\))*\s+|\s\|\s", text) if part.strip(" *_#-|")]


def markdown(text):
    """(line, paragraph) of prose: each line of a list and each cell of a table by itself."""
    code, start, held = False, 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            code = not code
            line = ""
        elif code:
            continue
        is_item = re.match(r"\s*(?:[-*] |\d+\. |\||#)", line)
        if held and (not line.strip() or is_item):
            yield start, " ".join(held)
            held = []
        if line.strip().startswith("|"):
            for cell in line.strip().strip("|").split(" | "):
                yield number, cell.strip()
        elif line.startswith("#"):
            yield number, line.strip("# ")
        elif line.strip():
            start = start if held else number
            held.append(re.sub(r"^\s*(?:[-*] |\d+\. )", "", line).strip())


def rust(text):
    """(line, paragraph) of doc comments without their code, and of messages: strings of five words and more."""
    text = text.split("#[cfg(test)]")[0]
    start, held, code = 0, [], False
    for number, line in enumerate(text.splitlines() + [""], 1):
        found = re.match(r"\s*//[/!] ?(.*)", line)
        code ^= bool(found and found[1].lstrip().startswith("```"))
        if found and found[1].strip() and not code and not found[1].lstrip().startswith(("```", "|", "#")):
            start = start if held else number
            held.append(found[1].strip())
        elif held:
            yield start, " ".join(held)
            held = []
    text = re.sub(r"//.*", "", text)
    for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', text, re.S):
        words = re.sub(r"\\\s+|\\n", " ", found[1])
        if len(words.split()) > 4:
            yield text[: found.start()].count("\n") + 1, re.sub(r"\{[^}]*\}", "X", words)


def snapshot(text):
    """(line, paragraph) of a help: what each flag does, and what follows the examples."""
    start, held = 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        is_text = line.startswith("          ") or (line[:1].strip() and not line.startswith("Usage"))
        if held and not is_text:
            yield start, " ".join(held)
            held = []
        if is_text:
            start = start if held else number
            held.append(line.strip())


def python(text):
    for found in re.finditer(r'"""(.*?)"""', text, re.S):
        yield text[: found.start()].count("\n") + 1, " ".join(found[1].split())


def faults(sentence):
    words = re.findall(r"[^\s–—/|]*\w[^\s–—/|]*", sentence)
    if len(words) > MOST_WORDS:
        yield f"{len(words)} words"
    for pattern, instead in WORDS.items():
        for found in re.finditer(rf"\b(?:{pattern})\b", sentence, re.I):
            yield f'"{found[0]}" → {instead}'
    for found in re.finditer(r"(\w+)?[,;:]?\s*\bwhere\b(?! to\b)", sentence, re.I):
        if not re.fullmatch(PLACE, found[1] or "say", re.I) or sentence.lower().startswith("where ") and "," in sentence:
            yield '"where" → if?'
    if sentence.count(";") > 1:
        yield "a chain of semicolons"


def main():
    named = [Path(name) for name in sys.argv[1:]]
    pages = named or [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "MODEL_CARD.md")]
    if not named:
        pages += sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "results.md")
    count = 0
    for page in pages:
        read = {".rs": rust, ".py": python, ".pyi": python, ".snap": snapshot}.get(page.suffix, markdown)
        for line, paragraph in read(page.read_text()):
            for sentence in sentences(paragraph):
                for fault in faults(sentence):
                    count += 1
                    print(f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}:{line}: {fault}: {sentence}")
    print(f"{count} to look at", file=sys.stderr)


if __name__ == "__main__":
    main()

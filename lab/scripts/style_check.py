#!/usr/bin/env python3
"""Lists sentences that break the style rules: a list to judge by eye, not a gate.
    lab/scripts/style_check.py [--count] [FILE…]      default: all groups below; --count prints only how many each group has
Groups: pages (README, docs without results.md, and the other pages), help (snapshots), messages (snapshots, strings in Rust), doc comments
(of the crates locdiff and locdiff-shdd) and Python (docstrings). Prints FILE:LINE, the rule and the sentence."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_WORDS = 25
# Words that only this project uses, and what to write instead.
WORDS = {
    r"doors?": "interface",
    r"front desk|bench(?! ?/)|desk|the house|(?<!no )rooms?": "library API, architecture",
    r"walks?": "data flow",
    r"eyes|(?<!by )eye": "encoder",
    r"looks(?! like| for)|company|favour|strings": "image evidence, likelihood, neighbours",
    r"(?:is|are|was|were|been|be) (?:said|told)|hears?|meets|strangers?": "LocDiff says; reports",
    r"surroundings?": "cluster, neighbourhood",
    r"films?": "video; animation of the sampling steps",
    r"anew": "again",
    r"whoever|whom": "who; if you",
    r"beside": "next to; combined with; compared with",
    r"and the like": "name them",
    r"what is no|is no (?:photos?|pictures?|place|album|number|region|file|folder|model)": "is not",
    r"that of|those of": "name it again",
    r"what is (?!known|installed|here|found|opened|asked)|what are|what was": "name it",
    r"likeness": "similarity",
    r"aught|nought|thereof|of its own|besides|as to|so much|hands? out": "plainer words",
    r"speaks? (?:for|against)": "supports, contradicts",
    r"takes? back": "undo (a command may say take back)",
    r"passed over": "skipped",
    r"but for": "except",
    r"wanted was|wanted were": "Target:",
}
# "where" that stands for "if": not after a verb or noun of place.
PLACE = r"(?:expose|judge|pixel|unlawful|column|tell|finds?|locations?|globe|start|say|says|said|know|knows|knew|shows?|show|see|seen|of|about|from|is|was|region|regions|map|place|places|area|point|longitudes|latitudes|globe|page|table|tells?|search|folder|and|or|matter|matters|choose)"


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
    yield from comments(text)
    yield from messages(text)


def comments(text):
    """(line, paragraph) of doc comments without their code."""
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


def messages(text):
    """(line, text) of strings of five words and more."""
    text = re.sub(r"//.*|reason = \"[^\"]*\"", "", text.split("#[cfg(test)]")[0])
    for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', text, re.S):
        words = re.sub(r"\\\s+|\\n", " ", found[1])
        is_sentence = re.search(r"\b(?:the|an?|is|are|not|in|of|to|with|no)\b", words) and not re.search(r"(?: [A-Za-z]{2,3}){20}", words)
        if len(words.split()) > 4 and is_sentence:
            yield text[: found.start()].count("\n") + 1, re.sub(r"\{[^}]*\}", "X", words)


def snapshot(text):
    """(line, paragraph) of a help or of messages: what each flag does, the notes of examples, and what follows them."""
    start, held = 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        is_text = line.startswith("          ") or (line[:1].strip() and not line.startswith(("Usage", "---", "source:", "$")))
        note = re.match(r"  locdiff .*?   # (.*)", line)
        if note:
            yield number, note[1]
        if held and not is_text:
            yield start, " ".join(held)
            held = []
        if is_text:
            start = start if held else number
            held.append(line.strip())


def python(text):
    for found in re.finditer(r'"""(.*?)"""', text, re.S):
        told = re.sub(r"(?m)^ *>>>.*(?:\n *\S.*)*", "", found[1])
        yield text[: found.start()].count("\n") + 1, " ".join(told.split())


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
    if re.match(r"(?:Not|Wanted|Missing|Left|Measured) \w+ (?:is|are|was|were)\b|Who(?:ever)? (?:has|is|wants|gives)\b|The same[,.]", sentence):
        yield "word order"


def readers():
    """The groups: for each, its files with what reads them."""
    pages = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "MODEL_CARD.md")]
    pages += [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "results.md"]
    pages += [ROOT / "lab/README.md", ROOT / "python/README.md", *sorted(ROOT.glob("crates/*/README.md"))]
    snapshots = sorted(ROOT.glob("crates/cli/tests/snapshots/*.snap"))
    sources = sorted(ROOT.glob("crates/*/src/**/*.rs"))
    library = [path for path in sources if path.relative_to(ROOT).parts[1] in ("locdiff", "shdd")]
    package = sorted([*ROOT.glob("python/locdiff/*.py"), *ROOT.glob("python/locdiff/*.pyi")])
    return {
        "pages": [(page, markdown) for page in pages],
        "help": [(path, snapshot) for path in snapshots if path.name.startswith("help")],
        "messages": [(path, snapshot) for path in snapshots if not path.name.startswith("help")] + [(path, messages) for path in sources],
        "doc comments": [(path, comments) for path in library],
        "Python": [(path, python) for path in package] + [(path, comments) for path in sorted(ROOT.glob("python/src/*.rs"))],
    }


def main():
    named = [Path(name) for name in sys.argv[1:] if name != "--count"]
    kinds = {".rs": rust, ".py": python, ".pyi": python, ".snap": snapshot}
    groups = {"named": [(path, kinds.get(path.suffix, markdown)) for path in named]} if named else readers()
    for group, files in groups.items():
        count = 0
        for page, read in files:
            text = page.read_text()
            found = [(line, fault, sentence) for line, part in read(text) for sentence in sentences(part) for fault in faults(sentence)]
            if read is markdown and re.search(r"\bnats\b", text) and "natural logarithm" not in text:
                found.append((1, "nats are not defined on this page", ""))
            count += len(found)
            name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
            for line, fault, sentence in found if "--count" not in sys.argv else []:
                print(f"{name}:{line}: {fault}: {sentence}")
        print(f"{group}: {count} to look at", file=sys.stderr)


if __name__ == "__main__":
    main()

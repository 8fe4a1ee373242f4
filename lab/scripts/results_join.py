#!/usr/bin/env python3
"""docs/results.md from the tables in PARTS: results_join.py PARTS OLD DATE > NEW. A table that was not made in this run is taken from OLD, and says so.
Sections of OLD that no part makes (studies by other commands) are kept as they are, after the tables."""
import os
import re
import sys

parts, old, date = sys.argv[1:4]
ORDER = [
    ("00", "All methods, mean of"),
    ("05", "The paper's arm"),
    ("06", "The bundled model's probabilities"),
    ("07", "LocDiff-H:"),
    ("20", "Unseen places: no training"),
    ("30", "Gallery against even grids"),
    ("40", "Losses"),
    ("50", "Location encoders"),
    ("60", "Widths"),
    ("70", "Degrees"),
    ("71", "Sampling or a single evaluation, the default network"),
    ("74", "Sampling or a single evaluation, the paper's CS-UNet"),
    ("75", "Fewer numbers a code\n"),
    ("76", "Fewer numbers a code, trained"),
    ("80", "Times"),
]
text = open(old).read()
was = re.search(r"`(?:lab/)?scripts/results\.sh` on (\S+);", text)
NOTE = "Of {}."
sections = re.split(r"(?=\n## )", text)
print(re.sub(r"(scripts/results\.sh` on )\S+;", rf"\g<1>{date};", sections[0].strip()))
for name, title in ORDER:
    path = f"{parts}/{name}"
    if os.path.exists(path):
        print("\n" + open(path).read().strip())
        continue
    found = [section for section in sections if section.startswith(f"\n## {title}")]
    if not found:
        print(f"\n## {title.strip()}\n\nNot made yet.")
        continue
    section = found[0].strip()
    says_its_date = re.search(r"\(\d+ [A-Z][a-z]+ 20\d\d", section[:2000])
    if "\nOf " not in section[:200] and "Not made again since" not in section and not says_its_date and was and was.group(1) != date:
        head, rest = section.split("\n", 1)
        section = f"{head}\n\n{NOTE.format(was.group(1))}\n{rest}"
    print("\n" + section)
made = tuple(f"\n## {title}" for _, title in ORDER)
for section in sections[1:]:
    if not section.startswith(made):
        print("\n" + section.strip())

"""Two plots of the documents, from the tables in docs/results.md and docs/answers.md: reliability.png and speed.png.
    python3 scripts/pictures.py FOLDER     (scripts/pictures.sh runs it)"""
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

out = Path(sys.argv[1])
docs = Path(__file__).resolve().parent.parent / "docs"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"})


def rows(page, first_cell):
    """Cells of the table whose head begins so."""
    lines = (docs / page).read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith(f"| {first_cell} |"))
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


names = {"test": "street views, never seen", "validation-b (fitted on)": "street views of another collection", "im2gps3k-1000": "ordinary photos"}
colours = ["#1f5fa8", "#6b4c9a", "#c8792b"]
figure, axes = plt.subplots(figsize=(7.6, 4.2))
axes.plot([40, 100], [40, 100], color="#999999", linewidth=1)
for (name, words), colour in zip(names.items(), colours):
    row = next(row for row in rows("results.md", "fitted on") if row[0].startswith("a+b") and row[1] == name)
    held = [float(x) for x in row[5].split("/")]
    axes.plot([50, 70, 80, 90], held, "o-", color=colour, label=f"{words}, n = {int(row[2]):,}")
axes.set(xlabel="stated probability of a region, %", ylabel="true locations inside, %", xlim=(45, 95), ylim=(40, 100))
axes.legend(frameon=False, loc="lower right")
figure.tight_layout()
figure.savefig(out / "reliability.png", dpi=150)

bars = list(rows("answers.md", "what, against the fastest peer measured"))
figure, axes = plt.subplots(figsize=(7.6, 0.55 * len(bars) + 1.1))
for k, (what, ours, peer, name, _) in enumerate(reversed(bars)):
    number = lambda text: float(re.match(r"[\d.]+", text).group())
    ratio = number(ours) / number(peer) if ours.endswith("/s") else number(peer) / number(ours)
    axes.barh(k, ratio, color=colours[0], height=0.6)
    axes.text(ratio + 0.04, k, f"{ratio:.2f}× {name}", va="center")
axes.axvline(1, color="#999999", linewidth=1)
axes.set_yticks(range(len(bars)), [row[0] for row in reversed(bars)])
axes.set(xlabel="speed, as a multiple of the peer's", xlim=(0, 5.6))
figure.tight_layout()
figure.savefig(out / "speed.png", dpi=150)

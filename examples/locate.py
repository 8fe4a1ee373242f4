"""Locate a folder of photos, bad ones and all, and write a table and a map of the first."""

import sys
from pathlib import Path

import locdiff


def main(folder: Path, out: Path) -> int:
    photos = sorted(path for path in folder.iterdir() if path.suffix.lower() in {".jpg", ".jpeg", ".png", ".webp"})
    locator = locdiff.Locator()
    answers = locator.locate_many(photos, progress=lambda done, count: print(f"{done} of {count}", file=sys.stderr))
    located = 0
    for photo, answer in zip(photos, answers):
        if isinstance(answer, locdiff.Answer):
            located += 1
            print(f"{photo.name}: {answer.place}, half of the probability within {answer.radius_50_km:.0f} km")
            if located == 1:
                out.write_text(answer.to_html())
        else:
            print(f"{photo.name}: {answer}")
    return located


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

#!/usr/bin/env python3
"""Makes a folder as no user should have one: photos, broken photos, texts, HEIC, links, pipes, devices, unreadable files.

    scripts/mixed_folder.py PHOTOS FOLDER [COUNT]

takes the JPEGs of PHOTOS in turn and makes COUNT (10,000) entries. Then, as a user that is not root (root reads everything):

    /usr/bin/time -v locdiff locate FOLDER --csv answers.csv --json > answers.jsonl
"""

import os
import random
import shutil
import sys
from pathlib import Path

SHARES = {  # of 100
    "photo": 30,
    "cut": 12,
    "damaged": 10,
    "text named .jpg": 8,
    "text": 22,
    "HEIC": 3,
    "unreadable": 3,
    "dangling link": 4,
    "link to a photo": 4,
    "pipe": 2,
    "link to its own folder": 1,
    "link to /dev/zero": 1,
}


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    photos = sorted(Path(sys.argv[1]).rglob("*.jpg"))
    folder = Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) == 4 else 10_000
    heic = Path(__file__).parent.parent / "fixtures/vision/turned.heic"
    chance = random.Random(0)
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    made = dict.fromkeys(SHARES, 0)
    whole = []
    for index in range(count):
        kind = kinds[index % len(kinds)]
        made[kind] += 1
        below = folder / f"{index % 37:02}"
        below.mkdir(parents=True, exist_ok=True)
        name = below / f"{index:05}"
        jpeg = photos[index % len(photos)]
        if kind == "photo":
            target = name.with_suffix(".jpg")
            shutil.copyfile(jpeg, target)
            whole.append(target)
        elif kind == "cut":
            contents = jpeg.read_bytes()
            name.with_suffix(".jpg").write_bytes(contents[: chance.randrange(len(contents) // 2)])
        elif kind == "damaged":
            contents = bytearray(jpeg.read_bytes())
            contents[: 600] = chance.randbytes(600)
            name.with_suffix(".jpg").write_bytes(contents)
        elif kind == "text named .jpg":
            name.with_suffix(".jpg").write_text("this is no photo\n" * chance.randrange(1, 500))
        elif kind == "text":
            name.with_suffix(".txt").write_text("notes\n")
        elif kind == "HEIC":
            shutil.copyfile(heic, name.with_suffix(".heic"))
        elif kind == "unreadable":
            target = name.with_suffix(".jpg")
            shutil.copyfile(jpeg, target)
            target.chmod(0)
        elif kind == "dangling link":
            name.with_suffix(".jpg").symlink_to("/nowhere/at/all.jpg")
        elif kind == "link to a photo":
            name.with_suffix(".jpg").symlink_to(os.path.relpath(whole[chance.randrange(len(whole))], below))
        elif kind == "pipe":
            os.mkfifo(name.with_suffix(".jpg"))
        elif kind == "link to its own folder":
            name.symlink_to(".")
        else:
            name.with_suffix(".jpg").symlink_to("/dev/zero")
    for kind, number in made.items():
        print(f"{number:6} {kind}")


main()

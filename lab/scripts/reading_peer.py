#!/usr/bin/env python3
"""Compares our reader with RapidOCR 3.10 (PP-OCRv6 small) on photos of Im2GPS3k: words found, false words, processor time.

    reading_peer.py rapid --photos FOLDER --rows im2gps3k_places365.csv --count 200 --output rapid.jsonl [--models DET REC KEYS]
    read_text PHOTO... > ours.jsonl                     (lab/examples/read_text.rs, RAYON_NUM_THREADS=1)
    reading_peer.py compare rapid.jsonl ours.jsonl

`rapid` reads every fifth of the rows 0 to 999 on one thread and writes JSON lines {name, seconds, lines: [{text, confidence,
corners}]}. A word has three letters or more in a line with a confidence of at least 0.8; case does not count. Needs the PyPI
packages rapidocr 3.10.0 and onnxruntime. The photos are never committed.
"""

import argparse
import collections
import csv
import json
import pathlib
import re
import time

WORD = re.compile(r"[^\W\d_]{3,}")


def rows_of(path, count):
    with open(path, encoding="utf-8") as file:
        names = [row["IMG_ID"] for row in csv.DictReader(file)][:1000]
    return names[:: len(names) // count][:count]


def rapid(options):
    import cv2
    from rapidocr import RapidOCR

    settings = {"EngineConfig.onnxruntime.intra_op_num_threads": 1, "EngineConfig.onnxruntime.inter_op_num_threads": 1}
    settings |= {"Global.text_score": 0.3, "Global.log_level": "error"}
    if options.models:
        settings |= dict(zip(("Det.model_path", "Rec.model_path", "Rec.rec_keys_path"), options.models))
    engine = RapidOCR(params=settings)
    with open(options.output, "w", encoding="utf-8") as output:
        for name in rows_of(options.rows, options.count):
            picture = cv2.imread(str(pathlib.Path(options.photos) / name))
            start = time.process_time()
            answer = engine(picture)
            seconds = time.process_time() - start
            found = zip(answer.txts or (), answer.scores or (), answer.boxes if answer.boxes is not None else ())
            lines = [{"text": t, "confidence": float(s), "corners": b.tolist()} for t, s, b in found]
            output.write(json.dumps({"name": name, "seconds": seconds, "lines": lines}, ensure_ascii=False) + "\n")


def load(path):
    with open(path, encoding="utf-8") as lines:
        return {pathlib.Path(row["name"]).name: row for row in map(json.loads, lines)}


def words(row, least):
    texts = (line["text"] for line in row["lines"] if line["confidence"] >= least)
    return collections.Counter(word for text in texts for word in WORD.findall(text.casefold()))


def compare(options):
    theirs, ours = load(options.theirs), load(options.ours)
    names = [name for name in theirs if name in ours and name not in options.without]
    wanted = shared = extra = loose = 0
    times = collections.defaultdict(list)
    for name in names:
        peer, own = words(theirs[name], 0.8), words(ours[name], options.least)
        wanted += peer.total()
        shared += (peer & own).total()
        loose += (peer & words(ours[name], 0.0)).total()
        extra += (own - words(theirs[name], 0.0)).total()
        kind = "with text" if theirs[name]["lines"] else "without text"
        times[kind].append((theirs[name]["seconds"], ours[name]["seconds"]))
        if options.verbose and (peer != own):
            print(name, "| theirs alone:", *(peer - own), "| ours alone:", *(own - peer))
    print(f"{len(names)} photos, {wanted} words of theirs; ours has {shared} ({shared / wanted:.3f}) at a confidence of")
    print(f"{options.least} or more, {loose} ({loose / wanted:.3f}) at any; {extra} words that theirs has nowhere")
    for kind, pairs in sorted(times.items()):
        mean = [sum(column) / len(pairs) for column in zip(*pairs)]
        print(f"{kind}: {len(pairs)} photos, theirs {mean[0]:.3f} s, ours {mean[1]:.3f} s of processor time a photo")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    run = parts.add_parser("rapid")
    for name in ("photos", "rows", "output"):
        run.add_argument(f"--{name}", required=True)
    run.add_argument("--count", type=int, default=200)
    run.add_argument("--models", nargs=3, help="other models than small: detector, recogniser, characters")
    run.set_defaults(call=rapid)
    both = parts.add_parser("compare")
    both.add_argument("theirs")
    both.add_argument("ours")
    both.add_argument("--least", type=float, default=0.8)
    both.add_argument("--without", nargs="+", default=[], help="photos that do not count")
    both.add_argument("--verbose", action="store_true")
    both.set_defaults(call=compare)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()

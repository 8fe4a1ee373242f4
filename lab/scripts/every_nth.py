#!/usr/bin/env python3
"""Every N-th row of DATA's embeddings and tables, to try a script that trains from start to end: every_nth.py DATA N OUT

    lab/scripts/every_nth.py ../shared/data/streetview 8 small
    STEPS=20 OOD_FIRST=200 DEVICE=cpu lab/scripts/train_cs_unet.sh small out
"""
import csv
import json
import pathlib
import struct
import sys

import numpy as np

data, step, out = pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
out.mkdir(parents=True, exist_ok=True)
raw = (data / "embeddings.safetensors").read_bytes()
size = struct.unpack("<Q", raw[:8])[0]
header, parts, at = json.loads(raw[8 : 8 + size]), [], 0
for name, entry in header.items():
    if name == "__metadata__":
        continue
    begin, end = entry["data_offsets"]
    rows = np.frombuffer(raw[8 + size + begin : 8 + size + end], np.uint8).reshape(entry["shape"][0], -1)[::step]
    entry["shape"][0], entry["data_offsets"] = len(rows), [at, at + rows.size]
    parts.append(rows.tobytes())
    at += rows.size
head = json.dumps(header).encode()
head += b" " * (-len(head) % 8)
(out / "embeddings.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + b"".join(parts))
for table in ("train", "validation", "test", "im2gps3k"):
    first, *rows = csv.reader(open(data / f"{table}.csv", newline=""))
    with open(out / f"{table}.csv", "w", newline="") as file:
        csv.writer(file).writerows([first, *([str(k), *row[1:]] for k, row in enumerate(rows[::step]))])

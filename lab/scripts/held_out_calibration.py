#!/usr/bin/env python3
"""What the bundled model's probabilities are worth on rows that nothing was fitted on. Standard library only.

    held_out_calibration.py split DATA PARTS              rows of single collections as files of their own
    held_out_calibration.py run LOCDIFF MODEL DATA PARTS  calibrates copies of MODEL with collections left out, locates PARTS/*.safetensors
    held_out_calibration.py table PARTS                   Markdown

DATA has embeddings.safetensors (validation, test, im2gps3k), validation.csv with a column source, test.csv, im2gps3k.csv.
"""
import csv
import json
import os
import shutil
import struct
import subprocess
import sys

# Name of the rows, tensor, file of places, which rows.
PARTS = [
    ("test", "test", "test.csv", lambda k, row: True),
    ("validation-a", "validation", "validation.csv", lambda k, row: row["source"] == "a"),
    ("validation-b", "validation", "validation.csv", lambda k, row: row["source"] == "b"),
    ("im2gps3k-1000", "im2gps3k", "im2gps3k.csv", lambda k, row: k >= 1000),
]
# Name of the fit, the collections of validation it sees, what is left out.
FITS = [("a-and-b", ("a", "b")), ("without-b", ("a",)), ("without-a", ("b",))]


def split(data, out):
    os.makedirs(out, exist_ok=True)
    with open(f"{data}/embeddings.safetensors", "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        for name, tensor, places, keep in PARTS:
            entry = header[tensor]
            count, columns = entry["shape"]
            width = (entry["data_offsets"][1] - entry["data_offsets"][0]) // count
            rows = list(csv.DictReader(open(f"{data}/{places}")))
            assert len(rows) == count
            chosen = [k for k, row in enumerate(rows) if keep(k, row)]
            body = b""
            for k in chosen:
                file.seek(8 + length + entry["data_offsets"][0] + k * width)
                body += file.read(width)
            head = json.dumps({"embeddings": {"dtype": entry["dtype"], "shape": [len(chosen), columns], "data_offsets": [0, len(body)]}})
            head += " " * (-len(head) % 8)
            open(f"{out}/{name}.safetensors", "wb").write(struct.pack("<Q", len(head)) + head.encode() + body)
            with open(f"{out}/{name}.csv", "w") as to:
                to.write("lat,lon\n" + "".join(f"{rows[k]['lat']},{rows[k]['lon']}\n" for k in chosen))
    sources = [row["source"] for row in csv.DictReader(open(f"{data}/validation.csv"))]
    for fit, seen in FITS:
        with open(f"{out}/{fit}.rows", "w") as to:
            to.write("".join(f"{k}\n" for k, source in enumerate(sources) if source in seen))


def run(locdiff, model, data, parts):
    embeddings = f"{data}/embeddings.safetensors"
    for fit, _ in FITS:
        folder = f"{parts}/model-{fit}"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(model, folder)
        if fit != "a-and-b":  # that one is as shipped
            os.remove(f"{folder}/calibration.json")  # so that a fit that does not end is not taken for the shipped one
            command = [locdiff, "calibrate", "--model", folder, "--embeddings", embeddings, "--tensor", "validation", "--truth", f"{data}/validation.csv"]
            command += ["--surroundings", embeddings, "--surroundings-tensor", "train", "--surroundings-truth", f"{data}/train.csv"]
            command += ["--rows", f"{parts}/{fit}.rows", "--ood", embeddings, "--ood-tensor", "im2gps3k", "--ood-truth", f"{data}/im2gps3k.csv"]
            subprocess.run(command + ["--ood-first", "1000", "--device", "cpu"], check=True, stdout=subprocess.DEVNULL)
            count = json.load(open(f"{folder}/calibration.json"))["fit"]["n"]
            assert count == sum(1 for _ in open(f"{parts}/{fit}.rows")), (fit, count)
        for name, *_ in PARTS:
            rows = ["--embeddings", f"{parts}/{name}.safetensors", "--truth", f"{parts}/{name}.csv"]
            command = [locdiff, "locate", "--model", folder, *rows, "--device", "cpu", "--json"]
            said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            open(f"{parts}/{fit}-{name}.json", "w").write(said.strip().splitlines()[-1])


def table(parts):
    def percents(curve, at=(4, 6, 7, 8)):
        return " / ".join(f"{100 * curve['curve'][k]['observed']:.1f}" for k in at)

    print("| fitted on | rows | n | NLL | 200 / 750 / 2500 km | regions of 50 / 70 / 80 / 90 % hold | radii of 50 / 90 % hold | where it answers | where it can't tell |")
    print("|---|---|---|---|---|---|---|---|---|")
    for fit, seen in FITS:
        for name, *_ in PARTS:
            if not os.path.exists(f"{parts}/{fit}-{name}.json"):
                continue  # not run: no row
            said = json.load(open(f"{parts}/{fit}-{name}.json"))["summary"]
            fitted = name.startswith("validation-") and name[-1] in seen
            within = " / ".join(f"{100 * share:.1f}" for share in said["accuracy"]["within"][2:])
            apart = []
            for key, part in (("held_where_answered", "answered"), ("held_where_cannot_tell", "cannot_tell")):
                apart.append(f"{percents(said[key]['radii'], (4, 8))} (n = {said[part]['n']})" if said[part]["n"] else "–")
            words = "+".join(seen) + (", as shipped" if fit == "a-and-b" else " alone")
            cells = [words, name + (" (fitted on)" if fitted else ""), str(said["accuracy"]["n"]), f"{said['nll_nats']:.2f}", within]
            cells += [percents(said["regions"]), percents(said["radii"], (4, 8)), *apart]
            print("| " + " | ".join(cells) + " |")


{"split": split, "run": run, "table": table}[sys.argv[1]](*sys.argv[2:])

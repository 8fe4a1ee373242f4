#!/usr/bin/env python3
"""Albums of real photos with photos of elsewhere mixed in that say no time: what `locdiff album` makes of those, and how alike they are.

    lab/scripts/untimed_albums.py ALBUMS.json FOREIGN OUT --locdiff target/release/locdiff

ALBUMS.json is a list of [name, [[path, ISO time, lat, lon], …]], one for each album; FOREIGN is a folder of photos, NAME.csv beside it their
places (IMG_ID, LAT, LON). Of each album a third of the photos has a time and a GPS tag, a third a time, a third neither; as many photos of
elsewhere (more than 1,000 km away) have neither, and names between the others'. Albums of even number are for choosing, the others for
reporting: a logistic regression of belonging on the cosine to the most alike photo of the album that has a time, and what became of all.
Needs exiftool.
"""
import argparse, csv, json, math, pathlib, random, shutil, subprocess


def km(a, b):
    (p, l), (q, m) = map(math.radians, a), map(math.radians, b)
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin((m - l) / 2) ** 2
    return 12742 * math.asin(min(1, math.sqrt(h)))


def build(albums, foreign, places, out, rng):
    """Folders of photos; for each photo its album, its kind (tagged, timed, own, foreign), its file and its place."""
    rows, tags = [], []
    for number, (name, photos) in enumerate(albums):
        folder = out / f"{number:02}-{name}"
        folder.mkdir(parents=True)
        kinds = [["tagged", "timed", "own"][k % 3] for k in range(len(photos))]
        far = [one for one in foreign if km(places[one.name], photos[0][2:]) > 1000]
        strange = rng.sample(far, max(3, kinds.count("own")))
        members = list(zip(kinds, photos)) + [("foreign", [str(one), None, *places[one.name]]) for one in strange]
        rng.shuffle(members)
        for k, (kind, (path, time, lat, lon)) in enumerate(members):
            file = folder / f"{k:03}.jpg"
            shutil.copy(path, file)
            tag = {"SourceFile": str(file), "AllDates": "", "GPS:All": ""}
            if kind in ("tagged", "timed"):
                tag = {"SourceFile": str(file), "DateTimeOriginal": time.replace("-", ":").replace("T", " ")}
            if kind == "tagged":
                tag |= {"GPSLatitude": abs(lat), "GPSLongitude": abs(lon)}
                tag |= {"GPSLatitudeRef": "N" if lat >= 0 else "S", "GPSLongitudeRef": "E" if lon >= 0 else "W"}
            tags.append(tag)
            rows.append((number, kind, str(file), (lat, lon)))
    strip = ["exiftool", "-q", "-overwrite_original", "-r", "-m", "-all=", str(out)]
    subprocess.run(strip, check=True)
    (out / "tags.json").write_text(json.dumps([tag for tag in tags if len(tag) > 3 or "DateTimeOriginal" in tag]))
    subprocess.run(["exiftool", "-q", "-m", "-n", "-overwrite_original", f"-json={out / 'tags.json'}", "-r", str(out)], check=True)
    return rows


def logistic(x, y):
    """Intercept and slope, by Newton's method, with a little shrinkage."""
    even, slope = 0.0, 0.0
    for _ in range(50):
        p = [1 / (1 + math.exp(-even - slope * one)) for one in x]
        w = [one * (1 - one) for one in p]
        g = [sum(b - a for a, b in zip(p, y)) - 0.01 * even, sum((b - a) * one for a, b, one in zip(p, y, x)) - 0.01 * slope]
        h = [sum(w) + 0.01, sum(a * b for a, b in zip(w, x)), sum(a * b * b for a, b in zip(w, x)) + 0.01]
        det = h[0] * h[2] - h[1] ** 2
        even, slope = even + (h[2] * g[0] - h[1] * g[1]) / det, slope + (h[0] * g[1] - h[1] * g[0]) / det
    return even, slope


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("albums", type=pathlib.Path)
    parser.add_argument("foreign", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--locdiff", default="locdiff")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", help="settings of `locdiff album`")
    args = parser.parse_args()
    more = ["--settings", args.settings] if args.settings else []
    rng = random.Random(args.seed)
    with open(args.foreign.with_suffix(".csv")) as file:
        places = {row["IMG_ID"]: (float(row["LAT"]), float(row["LON"])) for row in csv.DictReader(file)}
    foreign = [path for path in sorted(args.foreign.iterdir()) if path.name in places]
    albums = json.loads(args.albums.read_text())
    rows = build(albums, foreign, places, args.out, rng)
    run = lambda *words: subprocess.run([args.locdiff, *map(str, words)], check=True, capture_output=True, text=True).stdout
    answers, tagged = {}, set()
    for folder in sorted(path for path in args.out.iterdir() if path.is_dir()):
        for line in run("album", folder, "--json", *more).splitlines():
            answer = json.loads(line)
            answers[answer["photo"]] = answer
        for line in run("album", folder, "--write-exif", args.out / "tagged", "--dry-run", "--json", *more).splitlines():
            step = json.loads(line)
            if step.get("action") not in ("skip", None):
                tagged.add(step["photo"])
    run("embed", args.out, "--out", args.out / "all.jsonl", "--locations", args.out / "names.csv", "--force")
    with open(args.out / "names.csv") as file:
        names = [row["path"] for row in csv.DictReader(file)]
    vectors = [json.loads(line) for line in (args.out / "all.jsonl").read_text().splitlines()]
    unit = {name: [x / math.hypot(*vector) for x in vector] for name, vector in zip(names, vectors)}
    dot = lambda a, b: sum(x * y for x, y in zip(unit[a], unit[b]))
    alike = lambda number, file: max(dot(other, file) for n, kind, other, _ in rows if n == number and kind in ("tagged", "timed"))
    untimed = [(n, kind == "own", alike(n, file), file, place) for n, kind, file, place in rows if kind in ("own", "foreign")]
    for half in (0, 1):
        some = [one for one in untimed if one[0] % 2 == half]
        x, y = [one[2] - 0.5 for one in some], [float(one[1]) for one in some]
        even, slope = logistic(x, y)
        print(f"albums {half}, {half + 2}, …: n = {len(some)} ({int(sum(y))} belong); log odds {even:.2f} + {slope:.2f} (cosine − 0.5)")
    for half, words in ((0, "chosen on"), (1, "reported")):
        for kind in ("own", "foreign", "timed"):
            mine = [(answers[file], place, file) for n, k, file, place in rows if n % 2 == half and k == kind]
            off = [km((a["best"]["lat"], a["best"]["lon"]), place) for a, place, _ in mine]
            alone = [km((a["alone"]["lat"], a["alone"]["lon"]), place) for a, place, _ in mine]
            mean = lambda list: 100 * sum(list) / max(1, len(list))
            share = lambda list, most: mean([one < most for one in list])
            held = [mean([d <= a[f"radius_{p}_km"] for d, (a, _, _) in zip(off, mine)]) for p in (50, 90)]
            sure = sum(a["can_tell"] and a["radius_90_km"] <= 25 for a, _, _ in mine)
            print(
                f"{words}, {kind}: n = {len(mine)}; within 25 / 200 / 750 km {share(off, 25):.0f} / {share(off, 200):.0f} / {share(off, 750):.0f} %"
                f" (alone {share(alone, 25):.0f} / {share(alone, 200):.0f} / {share(alone, 750):.0f}); radii hold {held[0]:.0f} / {held[1]:.0f} %;"
                f" sure {sure}; would be tagged {sum(file in tagged for _, _, file in mine)}"
            )


main()

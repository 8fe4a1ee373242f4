#!/usr/bin/env python3
"""Simulated trips from the rows of data/streetview (read from ../shared; nothing of it is committed), for `locdiff evaluate --album`.

    lab/scripts/album_trips.py --rows test --kind single --gps 0.1 --seed 0 --out DIR

writes DIR/embeddings.npy and DIR/trips.csv (row, album, name, time, gps_lat, gps_lon, camera, lat, lon, stray, person).
kinds:
  single  every photo has a place of its own: a row with its own embedding; next places 10 to 500 km on
  stays   at each place (a row) 1 to 14 photos within a few kilometres; the first has the row's own embedding, the others a
          simulated view: the row's embedding plus a part (--view-noise, half; 1 is as unlike as real views are) of the difference of
          two of the four views of a place of source b
  base    days from one base: photos there in the morning and the evening, each day an excursion of 10 to 200 km to one or two places
          and back; photos as in stays. Nothing of the model was fitted to these
  views   four real views of each place of source b, 20 minutes at each, through places of one region
  place   the four views of each place of source b as one album (for --same-place)
  traces  real traces of data/trips (times and places of people, --rows fit too), each point with a street-view photo of the region: the
          nearest row within 300 km that no other place of the album has; points within 1 km of one another have simulated views of one
          row; albums with fewer than 8 such points are left out
  turned  the same, with the trace turned about the globe, its shape kept, to where the rows (of validation or test alone) leave out fewest of
          its points: of 20 rows at random the best; half of the points must have a row within 150 km
  strange photos of Im2GPS3k, which the model was not made for: times of a real trace, photos of one region whatever its places
--photos im2gps3k lays photos of Im2GPS3k on traces and turned instead of street views; turned lays street views of validation on fit, too.
--in-a-row N makes one album of all trips, 12 hours between two, of its first N photos.
--blocks gives all tags of an album to photos next to one another in time, in one to three blocks: a phone beside a camera without GPS.
--half 0|1 takes one half of the places of b (seeded split), for choosing on one and reporting on the other.
"""
import argparse, csv, datetime, json, pathlib, random, struct, sys
import numpy as np

EARTH = 6371.0


def tensor(path, name):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8 : 8 + size])[name]
    begin, end = entry["data_offsets"]
    kind = {"F16": np.float16, "F32": np.float32}[entry["dtype"]]
    return np.frombuffer(data[8 + size + begin : 8 + size + end], kind).reshape(entry["shape"]).astype(np.float32)


def unit(place):
    lat, lon = np.radians(place)
    return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def km(a, b):
    return 2 * EARTH * np.arcsin(min(1.0, np.linalg.norm(unit(a) - unit(b)) / 2))


def continent(place):
    """Which one, by a few lines on the map: for strays, which must be from another."""
    lat, lon = place
    if lon < -30:
        return "north america" if lat > 13 else "south america"
    if lat < -10 and lon > 110 or lat < 0 and lon > 140:
        return "oceania"
    if lat > 36 and lon < 45:
        return "europe"
    if lon < 34 or lon < 52 and lat < 12:
        return "africa"
    return "asia"


def moved(place, distance, turn):
    """A place so many km away in a direction."""
    lat = place[0] + np.degrees(distance / EARTH) * np.cos(turn)
    lon = place[1] + np.degrees(distance / EARTH) * np.sin(turn) / max(0.1, np.cos(np.radians(place[0])))
    return max(-89.9, min(89.9, lat)), (lon + 540) % 360 - 180


def turned(points, centre, target):
    """Places turned about the globe such that one comes to another, north kept there."""
    (lat, lon), (new_lat, new_lon) = np.radians(centre), np.radians(target)
    about_z = lambda a: np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    tilt = lat - new_lat
    about_y = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
    x, y, z = about_z(new_lon) @ about_y @ about_z(-lon) @ np.array([unit(place) for place in points]).T
    return list(zip(np.degrees(np.arcsin(np.clip(z, -1, 1))), np.degrees(np.arctan2(y, x))))


def next_place(rng, here, places, left):
    """A place 10 to 500 km on, nearer ones more often."""
    near = [(km(places[here], places[k]), k) for k in left]
    near = [(d, k) for d, k in near if 10 <= d <= 500]
    if not near:
        return None
    weights = [np.exp(-d / 120) for d, _ in near]
    return rng.choices(near, weights)[0]


def travel_time(rng, distance):
    """Seconds on the way: 50 to 90 km/h with a break, and a night where the day is over."""
    return 3600 * (distance / rng.uniform(50, 90) + rng.expovariate(1.0))


def join(folders, out):
    """The trips of several folders (seeds) as one table."""
    vectors, lines, head = [], [], None
    for number, folder in enumerate(folders):
        own = np.load(folder / "embeddings.npy")
        with open(folder / "trips.csv", newline="") as file:
            head, *rows = csv.reader(file)
        before = sum(len(part) for part in vectors)
        lines += [[int(row[0]) + before, f"{number}-{row[1]}", f"{number}-{row[2]}", *row[3:]] for row in rows]
        vectors.append(own)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "embeddings.npy", np.concatenate(vectors))
    with open(out / "trips.csv", "w", newline="") as file:
        csv.writer(file).writerows([head, *lines])
    print(f"{len({line[1] for line in lines})} albums, {len(lines)} photos")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="test", choices=["test", "validation", "fit"])
    parser.add_argument("--kind", default="single", choices=["single", "stays", "base", "views", "place", "traces", "turned", "strange"])
    parser.add_argument("--gps", type=float, default=0.1, help="share of photos with a tag")
    parser.add_argument("--albums", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--photos", default="streetview", choices=["streetview", "im2gps3k"], help="what is laid on traces and turned")
    parser.add_argument("--in-a-row", type=int, default=0, metavar="N", help="all trips one after the other as one album, N photos")
    parser.add_argument("--half", type=int, choices=[0, 1])
    parser.add_argument("--blocks", action="store_true", help="tags in blocks of photos next to one another in time")
    parser.add_argument("--view-noise", type=float, default=0.5, help="how unlike simulated views are, in parts of real ones")
    parser.add_argument("--wrong-clock", type=float, default=0, help="hours by which a second camera is ahead")
    parser.add_argument("--two-cameras", action="store_true", help="40 %% of the photos by a second camera, whose clock is right")
    parser.add_argument("--strays", type=float, default=0, help="share of photos replaced by one from elsewhere (another continent)")
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[3] / "shared")
    parser.add_argument("--join", type=pathlib.Path, nargs="+", metavar="DIR", help="join what was written for several seeds, and make nothing")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    if args.join:
        return join(args.join, args.out)
    folder = args.shared / "data/streetview"
    if not folder.is_dir():
        sys.exit(f"{folder} is not there: this script needs the shared data")
    rng = random.Random(args.seed)

    def rows(name, source):
        table = [row for row in csv.DictReader(open(folder / f"{name}.csv")) if row["source"] in source]
        places = [(float(row["lat"]), float(row["lon"])) for row in table]
        return places, tensor(folder / "embeddings.safetensors", name)[[int(row["row"]) for row in table]]

    b_places, b_vectors = rows("validation", "b")
    groups = {}
    for k, place in enumerate(b_places):
        groups.setdefault(place, []).append(k)
    groups = sorted(groups.items())
    random.Random(18).shuffle(groups)
    if args.half is not None:
        groups = groups[args.half :: 2]

    def view_noise():
        first, second = rng.sample(rng.choice(groups)[1], 2)
        return args.view_noise * (b_vectors[first] - b_vectors[second])

    vectors, lines = [], []

    def photo(album, time, place, vector, camera="a"):
        lines.append([len(vectors), album, f"{album}-{len(vectors)}", time, None, camera, place])
        vectors.append(vector)

    def stay(place, vector, begin, photos, minutes):
        """Photos at one place: the first with the row's own embedding, the others simulated views about it."""
        stop = []
        for k in range(photos):
            where = moved(place, min(8.0, rng.lognormvariate(-0.7, 1.2)), rng.uniform(0, 2 * np.pi)) if k else place
            stop.append((begin, where, vector if k == 0 else vector + view_noise()))
            begin += 60 * rng.expovariate(1 / minutes)
        return stop, begin

    def traces():
        """Albums of real people: times in seconds, and places."""
        albums = {}
        for row in csv.DictReader(open(args.shared / f"data/trips/{args.rows}.csv")):
            time = datetime.datetime.fromisoformat(row["time"]).replace(tzinfo=datetime.timezone.utc).timestamp()
            albums.setdefault(row["album"], []).append((time, (float(row["lat"]), float(row["lon"]))))
        names = sorted(albums)
        rng.shuffle(names)
        return [(name, sorted(albums[name])) for name in names]

    if args.kind in ("traces", "turned", "strange"):
        # A street-view photo that the model was trained on would know too much: rows of validation and test only.
        if args.kind == "strange" or args.photos == "im2gps3k":
            places, table = rows("im2gps3k", ["im2gps3k"])
        else:
            own = "validation" if args.rows == "fit" else args.rows
            parts = [rows(name, "ab") for name in (("validation", "test") if args.kind == "traces" else (own,))]
            places, table = sum((part[0] for part in parts), []), np.concatenate([part[1] for part in parts])
        if args.kind == "turned":  # one view of each place of b
            first = sorted({place: k for k, place in reversed(list(enumerate(places)))}.values())
            places, table = [places[k] for k in first], table[first]
        units = np.array([unit(place) for place in places])
        nearest = lambda place: np.argsort(-(units @ unit(place)))
        made = 0
        for name, points in traces():
            if made == args.albums:
                break
            if args.kind == "strange":
                around = nearest(places[rng.randrange(len(places))])[: min(25, len(points))]
                chosen = [(time, places[k], table[k]) for (time, _), k in zip(points, around)]
            else:
                chosen, seen, reach = [], [], 300
                if args.kind == "turned":
                    reach, where = 150, [place for _, place in points]
                    # The cosine of the reach: which points have a row near by.
                    covered = lambda some: (np.array([unit(p) for p in some]) @ units.T).max(1) > np.cos(reach / EARTH)
                    tries = [turned(where, where[len(where) // 2], places[rng.randrange(len(places))]) for _ in range(20)]
                    best = max(tries, key=lambda some: covered(some).sum())
                    points = [(time, place) for (time, _), place in zip(points, best)]
                    if 2 * covered(best).sum() < len(points):
                        continue
                for time, place in points:
                    k = next((k for other, k in seen if km(other, place) < 1), None)
                    noise = 0.0 if k is None else view_noise()
                    taken = {k for _, k in seen}
                    k = next((k for k in nearest(place)[:200] if k not in taken), None) if k is None else k
                    if k is not None and km(place, places[k]) < reach:
                        seen.append((place, k))
                        chosen.append((time, place, table[k] + noise))
            if len(chosen) >= 8:
                made += 1
                for time, place, vector in chosen:
                    photo(name, time, place, vector)
    elif args.kind == "base":
        places, table = rows(args.rows, "a")
        for number in range(args.albums):
            while True:
                base = rng.randrange(len(places))
                near = [k for k in range(len(places)) if 10 <= km(places[base], places[k]) <= 200]
                if len(near) >= 3:
                    break
            begin = 1.7e9
            for day in range(rng.randint(2, 5)):
                time = begin + 86400 * day + 3600 * rng.uniform(7, 9)
                visited, here = [], base
                for target in [base, *rng.sample(near, rng.choice([1, 1, 2])), base]:
                    if target != here:
                        time += travel_time(rng, km(places[here], places[target]))
                    photos = rng.choice([0, 1, 2, 4]) if target == base else rng.choice([1, 2, 4, 6, 9])
                    stop, time = stay(places[target], table[target], time, photos, 15)
                    visited += stop
                    here = target
                for when, where, vector in visited:
                    photo(f"trip{number}", when, where, vector)
    elif args.kind == "place":
        for number, (place, views) in enumerate(groups):
            for k in views:
                photo(f"place{number}", 0.0, place, b_vectors[k])
    else:
        if args.kind == "views":
            places, choices = [place for place, _ in groups], [views for _, views in groups]
        else:
            places, table = rows(args.rows, "a")
            choices = None
        made = 0
        for attempt in range(args.albums * 20):
            if made == args.albums:
                break
            here = rng.randrange(len(places))
            left, time, stops = set(range(len(places))) - {here}, 1.7e9 + 8 * 3600, []
            wanted = rng.randint(4, 9) if args.kind == "stays" else rng.randint(8, 16)
            begin = time
            while len(stops) < wanted:
                stop = []
                if args.kind == "single":
                    stop.append((time, places[here], table[here]))
                    time += 60 * rng.expovariate(1 / 20)
                elif args.kind == "stays":
                    stop, time = stay(places[here], table[here], time, rng.choice([1, 2, 4, 6, 9, 14]), 25)
                else:
                    for k in choices[here]:
                        stop.append((time, places[here], b_vectors[k]))
                        time += 60 * rng.expovariate(1 / 5)
                stops.append(stop)
                if args.kind == "views":
                    near = [(max(0.3, km(places[here], places[k])), k) for k in left if km(places[here], places[k]) <= 500]
                    step = rng.choices(near, [1 / (3 + d) for d, _ in near])[0] if near else None
                else:
                    step = next_place(rng, here, places, left)
                if step is None:
                    break
                time += travel_time(rng, step[0])
                if (time - begin) % 86400 > 13 * 3600:  # the day is over
                    time += 86400 - (time - begin) % 86400
                here = step[1]
                left.discard(here)
            if len(stops) < 4:
                continue
            for stop in stops:
                for time, where, vector in stop:
                    photo(f"trip{made}", time, where, vector)
            made += 1

    if args.in_a_row:
        shift, last = 0.0, None
        for k, line in enumerate(lines):
            if k and line[1] != last:
                shift = lines[k - 1][3] + 12 * 3600 - line[3]
            last, line[1] = line[1], "all"
            line[3] += shift
        del lines[args.in_a_row :], vectors[args.in_a_row :]
    albums = {}
    for line in lines:
        albums.setdefault(line[1], []).append(line)
    for members in albums.values():
        count = round(args.gps * len(members))
        tagged = rng.sample(members, count)
        if args.blocks and count:
            members = sorted(members, key=lambda line: line[3])
            blocks = rng.randint(1, min(3, count))
            begins = sorted(rng.sample(range(len(members) - count + blocks), blocks))
            sizes = [count // blocks + (k < count % blocks) for k in range(blocks)]
            tagged, end = [], 0
            for begin, size in zip(begins, sizes):
                begin = min(max(begin, end), len(members) - size)
                tagged += members[begin : begin + size]
                end = begin + size
            tagged = list({line[0]: line for line in tagged}.values())
        for line in tagged:
            line[4] = moved(line[6], abs(rng.gauss(0, 0.01)), rng.uniform(0, 2 * np.pi))
        if args.wrong_clock or args.two_cameras:
            for line in members:
                if rng.random() < 0.4:
                    line[5] = "b"
                    line[3] += 3600 * args.wrong_clock
    strays = []
    if args.strays:
        for line in rng.sample(lines, round(args.strays * len(lines))):
            far = [k for k in lines if km(k[6], line[6]) > 5000 and continent(k[6]) != continent(line[6])]
            other = rng.choice(far)
            vectors[line[0]] = vectors[other[0]]
            line[6], line[4] = other[6], None
            strays.append(line[2])
    # Intervals resample persons: albums of one person, and of one person with other tags, are alike.
    person = lambda album: album.rsplit("-", 1)[0] if args.kind in ("traces", "turned") else ""
    args.out.mkdir(parents=True, exist_ok=True)
    np.save(args.out / "embeddings.npy", np.array(vectors, np.float32))
    with open(args.out / "trips.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("row album name time gps_lat gps_lon camera lat lon stray person".split())
        for row, album, name, time, gps, camera, place in lines:
            tag = ["", ""] if gps is None else [f"{gps[0]:.6f}", f"{gps[1]:.6f}"]
            writer.writerow([row, album, name, f"{time:.0f}", *tag, camera, f"{place[0]:.6f}", f"{place[1]:.6f}", int(name in strays), person(album)])
    print(f"{len(albums)} albums, {len(lines)} photos, {sum(line[4] is not None for line in lines)} with a tag")


if __name__ == "__main__":
    main()

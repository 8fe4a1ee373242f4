#!/usr/bin/env python3
"""What reading text is worth on Im2GPS3k: answers of photos with it and without it.

    lab/scripts/reading_report.py LOCDIFF FOLDER LIST.csv OUT [FIRST [LAST]]

FOLDER has the photos, LIST.csv (im2gps3k_places365.csv of the repository tungduong0708/G3-main) their names and true locations. Rows FIRST to
LAST are answered, 1000 to 2996 if not given, in groups of one block of 15° each, and kept in OUT. Prints accuracies, radii and −log density
with and without text, their differences with 95 % intervals over the blocks, and of photos with text that is used how many true locations it
favours. No seed plays but that of the intervals (0). Needs numpy.
"""
import collections, csv, json, math, pathlib, subprocess, sys
import numpy as np

RADII = (25, 200, 750, 2500)


def km(a, b):
    (la, lo), (lb, lp) = ([math.radians(x) for x in p] for p in (a, b))
    h = math.sin((lb - la) / 2) ** 2 + math.cos(la) * math.cos(lb) * math.sin((lp - lo) / 2) ** 2
    return 6371.0 * 2 * math.asin(min(1.0, math.sqrt(h)))


def answers(program, folder, rows, out, flags):
    """The answers for photos of one block and their mean −log density, from the file that an earlier run left if there is one."""
    if not out.exists():
        lists = out.with_suffix(".list"), out.with_suffix(".csv")
        lists[0].write_text("".join(f"{folder / name}\n" for name, _ in rows))
        lists[1].write_text("lat,lon\n" + "".join(f"{lat},{lon}\n" for _, (lat, lon) in rows))
        command = [program, "locate", f"@{lists[0]}", "--truth", str(lists[1]), "--json", "-q", *flags]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(ran.stderr)
        out.write_text(ran.stdout)
    *said, last = map(json.loads, out.read_text().splitlines())
    assert len(said) == len(rows)
    return said, last["summary"]["nll_nats"]


def main():
    program, folder, names, out, *span = sys.argv[1:]
    first, last = [int(x) for x in span] + [1000, 2996][len(span) :]
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    rows = [(row["IMG_ID"], (float(row["LAT"]), float(row["LON"]))) for row in csv.DictReader(open(names))][first : last + 1]
    blocks = collections.defaultdict(list)
    for row in rows:
        blocks[math.floor(row[1][0] / 15), math.floor(row[1][1] / 15)].append(row)
    arms = {"without text": ["--no-text"], "with text": []}
    table, size = {arm: [] for arm in arms}, []
    used, same = [], 0
    for block, members in sorted(blocks.items()):
        size.append(len(members))
        said = {}
        for arm, flags in arms.items():
            place = out / arm.replace(" ", "-")
            place.mkdir(parents=True, exist_ok=True)
            said[arm], nll = answers(program, folder, members, place / f"{block[0]}_{block[1]}.jsonl", flags)
            off = np.array([km((one["best"]["lat"], one["best"]["lon"]), at) for one, (_, at) in zip(said[arm], members)])
            held = [off <= [one[f"radius_{level}_km"] for one in said[arm]] for level in (50, 90)]
            told = [one["can_tell"] for one in said[arm]]
            table[arm].append(np.array([*[(off < radius).sum() for radius in RADII], *[x.sum() for x in held], nll * len(members), sum(told)]))
        for plain, full, row in zip(said["without text"], said["with text"], members):
            full.pop("text", None)
            same += plain == full
            if plain != full:
                each = [answers(program, folder, [row], out / f"{arm.replace(' ', '-')}/{row[0]}.jsonl", flags)[1] for arm, flags in arms.items()]
                used.append((plain, full, row[1], each[0] - each[1]))
    n, size = sum(size), np.array(size)
    draws = np.random.default_rng(0).integers(0, len(size), (2000, len(size)))
    sums = {arm: np.array(rows, float) for arm, rows in table.items()}
    print(f"rows {first} to {last}: {n} photos in {len(size)} blocks; the answer is the same for {same}\n")
    print("| | within 25 / 200 / 750 / 2500 km | radii of 50 / 90 % hold | −log density | can tell |\n|---|---|---|---|---|")
    for arm, rows in sums.items():
        mean = rows.sum(0) / n
        places, radii = ([f"{100 * x:.1f}" for x in mean[part]] for part in (slice(0, 4), slice(4, 6)))
        print(f"| {arm} | {' / '.join(places)} % | {' / '.join(radii)} % | {mean[6]:.3f} | {100 * mean[7]:.1f} % |")
    gain = sums["with text"] - sums["without text"]
    drawn = gain[draws].sum(1) / size[draws].sum(1)[:, None]
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    mean = gain.sum(0) / n
    cells = [f"{s * m:+.{d}f} [{s * a:.{d}f}, {s * b:.{d}f}]" for m, a, b, s, d in zip(mean, low, high, [100] * 6 + [1, 100], [1] * 6 + [3, 1])]
    print(f"| difference | {' / '.join(cells[:4])} | {' / '.join(cells[4:6])} | {cells[6]} | {cells[7]} |\n")
    for arm, k in (("without", 0), ("with", 1)):
        off = np.array([km((row[k]["best"]["lat"], row[k]["best"]["lon"]), row[2]) for row in used])
        held = [np.mean(off <= [row[k][f"radius_{level}_km"] for row in used]) for level in (50, 90)]
        print(f"{len(used)} photos with text that is used, {arm}: within {' / '.join(f'{100 * np.mean(off < r):.1f}' for r in RADII)} %, radii hold {100 * held[0]:.1f} / {100 * held[1]:.1f} %")
    gains = np.array([row[3] for row in used])
    print(f"the density at the true location is higher with text for {(gains > 0).sum()} of them ({100 * np.mean(gains > 0):.1f} %), by {gains.mean():.2f} nats in the mean")


if __name__ == "__main__":
    main()

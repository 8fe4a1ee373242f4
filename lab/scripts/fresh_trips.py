#!/usr/bin/env python3
"""Albums of check-ins as data/trips has them, of persons that no choice was made on: fresh_trips.py CHECKINS.csv > SHARED/data/trips/test.csv

CHECKINS.csv has user,place,time (UTC),lat,lon,… : the format of Weeplaces. A part of it, 7,983 check-ins of 39 persons, is a public file:
    git show 3e8be1279899cd4771320fd7b06f700211e8e372:rezervasyon.txt      of github.com/onurkus7/KOUPL1P4-Reservation_Classification_System
Names are replaced by numbers; nothing of it is committed. Home is where most check-ins lie within 30 km. Albums have 12 to 80 points, at most 30 days
and no gap over 7 days: t is a run more than 60 km from home, w what is left with more than 30 km of extent, h with less.
"""
import csv
import datetime
import sys

import numpy as np

DAY = 86400


def pieces(points):
    """Points cut where 7 days pass, and after 30 days or 80 points."""
    found = [[]]
    for point in points:
        last = found[-1]
        if last and (point[0] - last[-1][0] > 7 * DAY or point[0] - last[0][0] > 30 * DAY or len(last) == 80):
            found.append([])
        found[-1].append(point)
    return [piece for piece in found if len(piece) >= 12]


def km(a, b):
    a, b = np.radians(a), np.radians(b)
    h = np.sin((a[..., 0] - b[..., 0]) / 2) ** 2 + np.cos(a[..., 0]) * np.cos(b[..., 0]) * np.sin((a[..., 1] - b[..., 1]) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(np.minimum(1, h)))


def main():
    persons = {}
    for row in csv.reader(open(sys.argv[1], encoding="utf-8", errors="replace")):
        try:
            time = datetime.datetime.fromisoformat(row[2]).replace(tzinfo=datetime.timezone.utc)
            persons.setdefault(row[0], []).append((time.timestamp(), float(row[3]), float(row[4])))
        except (ValueError, IndexError):
            continue  # the head
    out = csv.writer(sys.stdout)
    out.writerow(["album", "time", "lat", "lon"])
    count = {"t": 0, "w": 0, "h": 0}
    for number, name in enumerate(sorted(persons)):
        points = sorted(set(persons[name]))
        places = np.array([point[1:] for point in points])
        apart = km(places[:, None], places[None])
        home = (apart < 30).sum(1).argmax()
        away = apart[home] > 60
        starts = [0, *(np.flatnonzero(np.diff(away)) + 1), len(points)]
        trips = [piece for a, b in zip(starts, starts[1:]) if away[a] for piece in pieces(points[a:b])]
        used = {point for trip in trips for point in trip}
        albums = [("t", trip) for trip in trips]
        for piece in pieces([point for point in points if point not in used]):
            where = np.array([point[1:] for point in piece])
            albums.append(("w" if km(where[:, None], where[None]).max() > 30 else "h", piece))
        for index, (kind, album) in enumerate(albums):
            count[kind] += 1
            for time, lat, lon in album:
                moment = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
                out.writerow([f"fresh-{number:03}-{kind}{index:02}", f"{moment:%Y-%m-%dT%H:%M:%S}", f"{lat:.4f}", f"{lon:.4f}"])
    print(f"{len(persons)} persons, albums: {count}", file=sys.stderr)


if __name__ == "__main__":
    main()

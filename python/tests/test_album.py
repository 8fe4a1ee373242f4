"""Albums: the command's answers, with times and tags from the photos or from the caller."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import locdiff
import pytest


@pytest.fixture(scope="module")
def locator() -> locdiff.Locator:
    return locdiff.Locator(device="cpu")


def test_a_tag_spreads_to_photos_of_the_same_minutes(locator: locdiff.Locator, china: str) -> None:
    rome = (41.9, 12.5)
    begin = datetime.datetime(2024, 5, 12, 10, 0, tzinfo=datetime.timezone.utc)
    times = [begin, begin.timestamp() + 300, "2024-05-12T10:10:00Z"]
    answers = locator.album([china] * 3, times=times, gps=[rome, None, None])
    for answer in answers:
        assert isinstance(answer, dict)
        assert answer["best"]["lat"] == pytest.approx(rome[0], abs=0.01)
        assert answer["best"]["lon"] == pytest.approx(rome[1], abs=0.01)
    assert isinstance(answers[1], dict) and "5 minutes after" in answers[1]["because"]
    one, two = locator.album([china, china], same_place=True)
    assert isinstance(one, dict) and isinstance(two, dict) and one["best"] == two["best"]


def test_answers_are_the_commands(locator: locdiff.Locator, china: str, tmp_path: Path, run) -> None:
    names = [tmp_path / f"IMG_20240512_13{k}510.jpg" for k in range(3)]
    for name in names:
        name.write_bytes(Path(china).read_bytes())
    said = run("album", *map(str, names), "--json", "--device", "cpu")
    assert said.returncode == 0, said.stderr
    assert locator.album(map(str, names)) == [json.loads(line) for line in said.stdout.splitlines()]


def test_what_does_not_fit_is_named(locator: locdiff.Locator, china: str) -> None:
    with pytest.raises(locdiff.SettingError, match="times has 1 entries for 2 photos"):
        locator.album([china, china], times=[0.0])
    with pytest.raises(locdiff.SettingError, match="yesterday"):
        locator.album([china], times=["yesterday"])
    with pytest.raises(locdiff.SettingError):
        locator.album([china], gps=[(95.0, 0.0)])
    bad, good = locator.album([b"no photo", china], times=[0.0, 60.0])
    assert isinstance(bad, locdiff.PhotoError) and isinstance(good, dict)

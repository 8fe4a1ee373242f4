"""Albums: the command's answers, with times and tags from the photos or from the caller."""

from __future__ import annotations

import datetime
import json
import pickle
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
        assert isinstance(answer, locdiff.AlbumAnswer)
        assert answer.best == pytest.approx(rome, abs=0.01)
    assert isinstance(answers[1], locdiff.AlbumAnswer) and "5 minutes after" in answers[1].because
    assert (answers[1].time.utc - begin).total_seconds() == 300 and answers[1].time.source == "table"
    assert isinstance(answers[1].best, locdiff.Place) and answers[1].radius_50_km <= answers[1].radius_90_km
    assert answers[1].hypotheses[1:] == answers[1].alternatives and answers[1].hypotheses[0].lat == answers[1].best.lat
    one, two = locator.album([china, china], same_place=True)
    assert isinstance(one, locdiff.AlbumAnswer) and isinstance(two, locdiff.AlbumAnswer) and one.best == two.best


def test_an_answer_is_a_record(locator: locdiff.Locator, china: str) -> None:
    (answer,) = locator.album([china], times=[0.0])
    assert isinstance(answer, locdiff.AlbumAnswer)
    with pytest.warns(DeprecationWarning, match=r"\.best instead"):
        assert answer["best"] == {"lat": answer.best.lat, "lon": answer.best.lon}
    again = pickle.loads(pickle.dumps(answer))
    assert again == answer and again.to_json() == answer.to_json() and hash(again) == hash(answer)
    with pytest.raises(AttributeError):
        answer.best = locdiff.Place(0, 0)  # type: ignore[misc]


def test_an_exception_of_the_callback_ends_it(locator: locdiff.Locator, china: str) -> None:
    def tell(done: int, count: int) -> None:
        if done == 3:
            raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        locator.album([china] * 200, progress=tell)


def test_answers_are_the_commands(locator: locdiff.Locator, china: str, tmp_path: Path, run) -> None:
    names = [tmp_path / f"IMG_20240512_13{k}510.jpg" for k in range(3)]
    for name in names:
        name.write_bytes(Path(china).read_bytes())
    said = run("album", *map(str, names), "--json", "--device", "cpu")
    assert said.returncode == 0, said.stderr
    answers = locator.album(map(str, names))
    assert [answer.to_json() for answer in answers] == said.stdout.splitlines()
    assert answers[1].to_dict() == json.loads(said.stdout.splitlines()[1])


def test_what_does_not_fit_is_named(locator: locdiff.Locator, china: str) -> None:
    with pytest.raises(locdiff.SettingError, match="times has 1 entries for 2 photos"):
        locator.album([china, china], times=[0.0])
    with pytest.raises(locdiff.SettingError, match="yesterday"):
        locator.album([china], times=["yesterday"])
    with pytest.raises(locdiff.SettingError):
        locator.album([china], gps=[(95.0, 0.0)])
    with pytest.raises(TypeError, match="there is no option 'same_plaice': there are .*same_place"):
        locator.album([china], same_plaice=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="there is no option 'model'"):
        locator.album([china], model="geoclip")  # type: ignore[call-arg]
    with pytest.raises(locdiff.SettingError, match="within = with an album cannot be used"):
        locator.album([china], within="Japan")
    bad, good = locator.album([b"no photo", china], times=[0.0, 60.0])
    assert isinstance(bad, locdiff.PhotoError) and isinstance(good, locdiff.AlbumAnswer)

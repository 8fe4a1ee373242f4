"""Answers: the command's own, from any kind of photo, one bad photo at a time."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from pathlib import Path

import locdiff
import numpy
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def locator() -> locdiff.Locator:
    return locdiff.Locator(device="cpu")


def test_answers_are_the_commands_bit_for_bit(locator: locdiff.Locator, photos: list[str], run) -> None:
    assert len(photos) == 200
    said = run("locate", *photos, "--json", "--device", "cpu")
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    answers = locator.locate_many(photos)
    assert [answer.to_json() for answer in answers] == lines
    for k in (0, 77, 199):
        assert locator.locate(photos[k]).to_json() == lines[k]
    assert answers[3].to_dict() == json.loads(lines[3])


def test_an_answer_says_it_all(locator: locdiff.Locator, china: str) -> None:
    answer = locator.locate(china)
    assert answer.photo == china and 0 <= answer.locatability <= 1
    assert answer.best == (answer.hypotheses[0].lat, answer.hypotheses[0].lon)
    assert isinstance(answer.best, locdiff.Place)
    assert 0 < answer.radius_50_km < answer.radius_90_km
    assert answer.headline and answer.countries == answer.to_dict()["countries"] and answer.continents
    assert 0.5 < sum(country["probability"] for country in answer.countries) <= 1
    density = answer.density
    assert density.shape == (12 * answer.nside**2,) and density.dtype == numpy.float64
    assert density.sum() * 4 * numpy.pi / len(density) == pytest.approx(1, abs=1e-3)
    at_best = answer.log_density([answer.best.lat], [answer.best.lon])[0]
    assert numpy.exp(at_best) > density.mean()
    near = answer.mass_within_km(*answer.best, answer.radius_90_km)
    assert 0.5 < near <= 1
    kinds = {feature["geometry"]["type"] for feature in answer.to_geojson()["features"]}
    assert "Point" in kinds and len(kinds) > 1
    assert "<canvas" in answer.to_html() or "<svg" in answer.to_html()
    assert answer._repr_html_().startswith("<iframe srcdoc=")
    assert answer.to_png().startswith(b"\x89PNG") and "<kml" in answer.to_kml()
    assert answer.headline in repr(answer)


def test_photos_of_every_kind(locator: locdiff.Locator, china: str) -> None:
    by_path = locator.locate(china)
    contents = Path(china).read_bytes()
    same = [Path(china), contents, bytearray(contents)]
    for photo in same:
        assert locator.locate(photo).best == by_path.best
    image = Image.open(china)
    array = numpy.asarray(image)
    by_array = locator.locate(array)
    # Another decoder's pixels differ in the last bit here and there.
    assert by_array.photo is None and by_array.radius_50_km == pytest.approx(by_path.radius_50_km, rel=0.2)
    assert locator.locate(image).to_json() == by_array.to_json()
    assert locator.locate(array[:, ::-1][:, ::-1]).to_json() == by_array.to_json()
    assert locator.locate(array[:, :, 0]).best != by_array.best
    with pytest.raises(TypeError, match="is not a photo: give uint8"):
        locator.locate(array[:, :, :2])
    with pytest.raises(TypeError, match="a photo is a path, bytes"):
        locator.locate(array.astype(float))


def test_a_turned_image_is_turned_back(locator: locdiff.Locator, china: str) -> None:
    folder = Path(china).parent
    upright = locator.locate(Image.open(folder / "turned_1.jpg")).best
    turned = locator.locate(Image.open(folder / "turned_6.jpg")).best
    assert upright == pytest.approx(turned, abs=15)


def test_bad_photos_are_values(locator: locdiff.Locator, china: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no picture")
    steps: list[tuple[int, int]] = []
    answers = locator.locate_many([china, broken, "nowhere.jpg", b"", china], progress=lambda a, b: steps.append((a, b)))
    assert [type(answer) for answer in answers] == [locdiff.Answer, *[locdiff.PhotoError] * 3, locdiff.Answer]
    assert str(broken) in str(answers[1]) and "nowhere.jpg" in str(answers[2])
    assert answers[0].to_json() == answers[4].to_json()
    assert steps[-1] == (5, 5)
    found = locator.embed_many([china, broken])
    assert found[0].shape == (locator.embedding_dim,) and isinstance(found[1], locdiff.PhotoError)
    with pytest.raises(locdiff.PhotoError, match="broken.jpg"):
        locator.locate(broken)


def test_an_iterator_gives_the_same_answers_block_by_block(locator: locdiff.Locator, china: str) -> None:
    photos: list[str] = [china, "nowhere.jpg", china]
    steps: list[tuple[int, int | None]] = []
    found = locdiff.locate_iter(iter(photos), locator=locator, block=2, progress=lambda done, count: steps.append((done, count)))
    said = [answer.to_json() if isinstance(answer, locdiff.Answer) else str(answer) for answer in found]
    several = locator.locate_many(photos)
    assert said == [answer.to_json() if isinstance(answer, locdiff.Answer) else str(answer) for answer in several]
    assert steps == [(2, None), (3, None)]
    with pytest.raises(locdiff.SettingError, match="block"):
        next(locdiff.locate_iter(photos, block=0))


def test_embeddings_answer_as_their_photos(locator: locdiff.Locator, photos: list[str]) -> None:
    few = photos[:5]
    embeddings = numpy.stack([locator.embed(photo) for photo in few])
    assert embeddings.dtype == numpy.float32
    by_embedding = locator.locate_embeddings(embeddings)
    for one, other in zip(by_embedding, locator.locate_many(few)):
        left, right = one.to_dict(), other.to_dict()
        assert left.pop("photo") != right.pop("photo")
        left.pop("gps"), right.pop("gps")
        assert left == right
    with pytest.raises(locdiff.SettingError, match="the model takes"):
        locator.locate_embeddings(embeddings[:, :-1].copy())


def test_options(locator: locdiff.Locator, china: str, run) -> None:
    options = {"within": ["Japan", "Korea"], "hypotheses": 3, "views": 2, "seed": 7}
    answer = locator.locate(china, **options)
    said = run("locate", china, "--json", "--within", "Japan", "--within", "Korea", "-k", "3", "--views", "2", "--seed", "7")
    assert answer.to_json() == said.stdout.strip(), said.stderr
    assert answer.restricted_by == ["Japan", "Korea"] and locator.locate(china).restricted_by == []
    with pytest.raises(locdiff.SettingError, match="Atlantis"):
        locator.locate(china, within="Atlantis")
    with pytest.raises(locdiff.SettingError, match="did you mean left"):
        locator.locate(china, clue="drives=lef")
    left = locator.locate(china, clue=["drives=left", "hemisphere=south"], why=True)
    assert left.ledger is not None and [row["factor"] for row in left.ledger][-2:] == ["drives", "hemisphere"]
    said = run("locate", china, "--json", "--why", "--clue", "drives=left", "--clue", "hemisphere=south")
    assert left.to_json() == said.stdout.strip() and answer.ledger is None, said.stderr
    with pytest.raises(locdiff.SettingError, match="views"):
        locator.locate(china, views=0)
    with pytest.raises(TypeError, match="there is no option 'wihtin': there are .*within, .*max_megapixels$"):
        locator.locate(china, wihtin="Japan")  # type: ignore[call-arg]
    for opening in ("model", "encoder", "device", "gallery"):  # it was opened with these: another is not ignored
        with pytest.raises(TypeError, match=f"there is no option '{opening}'"):
            locator.locate(china, **{opening: "geoclip"})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="views: invalid type"):
        locator.locate(china, views="two")  # type: ignore[arg-type]
    with pytest.raises(locdiff.SettingError, match="medain cannot be used: choose pool, mean"):
        locator.locate(china, pool="medain")
    assert locator.locate(china, samples=numpy.int64(8), window_km=300, within=None).window_km == 300
    with pytest.raises(locdiff.PhotoError, match="china.jpg.*pixels"):
        locator.embed(china, max_megapixels=0)


def test_samples_mean_a_place(locator: locdiff.Locator, china: str, run) -> None:
    options = {"pool": "mean", "views": 4, "samples": 4, "sampler": "ddim", "steps": 5}
    said = run("locate", china, "--json", "--pool", "mean", "--views", "4", "--samples", "4", "--sampler", "ddim", "--steps", "5")
    assert locator.locate(china, **options).to_json() == said.stdout.strip(), said.stderr
    with pytest.raises(locdiff.SettingError, match="pool"):
        locator.locate(china, pool="mean", within="Japan")
    for idle in ({"steps": 5}, {"sampler": "ddpm"}):
        with pytest.raises(locdiff.SettingError, match="no samples are made"):
            locator.locate(china, **idle)


def test_one_tree_of_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCDIFF_HOME", str(tmp_path))
    with pytest.raises(locdiff.ModelError, match="geoclip is not downloaded. Download it with: locdiff get geoclip"):
        locdiff.Locator("geoclip")
    kinds = [locdiff.PhotoError, locdiff.SettingError, locdiff.ModelError, locdiff.DataError, locdiff.DeviceError, locdiff.JobError]
    assert all(issubclass(kind, locdiff.LocDiffError) for kind in kinds)
    with pytest.raises(locdiff.ModelError):
        locdiff.Locator(tmp_path)
    with pytest.raises(locdiff.SettingError, match="quantum"):
        locdiff.Locator(device="quantum")
    with pytest.raises(locdiff.SettingError):
        locdiff.set_threads(0)


def test_a_locator_pickles(locator: locdiff.Locator, china: str) -> None:
    again = pickle.loads(pickle.dumps(locator))
    assert again.locate(china).to_json() == locator.locate(china).to_json()
    assert pickle.loads(pickle.dumps(locdiff.Codec(7))).degree == 7


def _density(answer: locdiff.Answer) -> tuple[bytes, str]:
    return answer.density.tobytes(), answer.to_json()


def test_an_answer_pickles(locator: locdiff.Locator, china: str, tmp_path: Path) -> None:
    answers = locator.locate_many([china, Path(china).read_bytes()]) + [locator.locate(china, within="Asia", views=2)]
    for answer in answers:
        assert isinstance(answer, locdiff.Answer)
        again = pickle.loads(pickle.dumps(answer))
        assert again.to_json() == answer.to_json() and repr(again) == repr(answer)
        assert again.best == answer.best and again.hypotheses == answer.hypotheses and again.photo == answer.photo
        assert _density(again) == _density(answer) and again.nside == answer.nside
        assert again.log_density([39.9], [116.3]) == answer.log_density([39.9], [116.3])
        assert again.to_geojson() == answer.to_geojson()
        assert pickle.loads(pickle.dumps(again)).to_json() == answer.to_json()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_density, answers) == [_density(answer) for answer in answers]
        (there,) = pool.map(locdiff.locate, [china])
    assert _density(there) == _density(answers[0])


def test_a_density_is_of_the_model_that_answered(locator: locdiff.Locator, china: str) -> None:
    unpickle, (line, request, views, encoder) = locator.locate(china).__reduce__()
    other = json.loads(line) | {"best": {"lat": -50.0, "lon": 0.0}}
    answer = unpickle(json.dumps(other), request, views, encoder)
    assert answer.best == (-50, 0)
    with pytest.raises(locdiff.ModelError, match="not what this answer was made with"):
        answer.density


def test_geodataframe(locator: locdiff.Locator, china: str) -> None:
    geopandas = pytest.importorskip("geopandas")
    answers = locator.locate_many([china, "nowhere.jpg"])
    frame = locdiff.to_geodataframe(answers)
    assert isinstance(frame, geopandas.GeoDataFrame) and len(frame) == 2 and frame.crs.to_epsg() == 4326
    assert frame.geometry[0].x == answers[0].best.lon and frame.geometry[1] is None
    regions = locdiff.to_geodataframe(answers[:1], regions=True)
    assert sorted(regions.probability) == [0.5, 0.9] and regions.geometry.is_valid.all()

"""A model from embeddings: trained, calibrated, judged, with a gallery beside it."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import locdiff
import numpy
import pytest

SMALL = {"preset": "small", "degree": 7, "width": 32, "batch": 64, "steps": 200, "device": "cpu"}


def test_from_embeddings_to_numbers(towns: str, tmp_path: Path) -> None:
    told: list[dict[str, object]] = []
    run = tmp_path / "run"
    said = locdiff.train(f"{towns}.npy", f"{towns}.csv", run, progress=told.append, log_every=50, **SMALL)
    assert isinstance(said, locdiff.TrainingRun) and said.step == 200 and not said.interrupted
    assert told[-1]["step"] == 200 and said.validation is None and said.out == str(run)
    with pytest.warns(DeprecationWarning):
        assert said["step"] == 200
    with pytest.raises(locdiff.SettingError, match="there is no setting 'stepps'"):
        locdiff.train(f"{towns}.npy", f"{towns}.csv", tmp_path / "other", stepps=3)
    with pytest.raises(locdiff.LocDiffError, match="run"):
        locdiff.train(f"{towns}.npy", f"{towns}.csv", run, **SMALL)

    read: list[int] = []
    calibration = locdiff.calibrate(run, f"{towns}.npy", f"{towns}.csv", device="cpu", progress=lambda a, b: read.append(a))
    assert (run / "calibration.json").exists() and calibration.window_km > 0 and read[-1] == 120
    assert calibration.fit is not None and calibration.fit.n == 120 and len(calibration.radius_levels) == 9
    assert json.loads((run / "calibration.json").read_text()) == calibration.to_dict()

    truth = numpy.loadtxt(f"{towns}.csv", delimiter=",", skiprows=1)[:, 1:]
    report = locdiff.evaluate(truth, truth + 0.1, replicates=100)
    assert report.to_dict()["bootstrap"]["replicates"] == report.bootstrap.replicates == 100
    nearest = report.scores.radii[0]
    assert report.scores.n == 120 and nearest.share.low <= nearest.share.value <= nearest.share.high
    assert {"continent", "country"} <= {part.by for part in report.breakdowns}
    missing = truth.copy()
    missing[3] = numpy.nan
    assert locdiff.evaluate(f"{towns}.csv", missing, replicates=100) != report


def test_an_error_of_the_callback_stops_the_run(towns: str, tmp_path: Path) -> None:
    def tell(event: dict[str, object]) -> None:
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        locdiff.train(f"{towns}.npy", f"{towns}.csv", tmp_path / "run", progress=tell, log_every=10, **{**SMALL, "steps": 100000})


def _embeddings_of(encoder: str, towns: str, path: Path) -> Path:
    """The towns' embeddings as a safetensors file that names its encoder."""
    values = numpy.load(f"{towns}.npy")
    tensor = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [0, values.nbytes]}
    header = json.dumps({"__metadata__": {"encoder": encoder}, "embeddings": tensor}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + values.tobytes())
    return path


def test_a_calibration_is_whole_or_not_there(towns: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    mine = _embeddings_of(f"mine@{1:032x}", towns, tmp_path / "mine.safetensors")
    locdiff.train(mine, f"{towns}.csv", run, **SMALL)
    file = run / "calibration.json"
    locdiff.calibrate(run, mine, f"{towns}.csv", device="cpu")
    before = file.read_bytes()

    def tell(done: int, count: int) -> None:
        assert count == 120
        if done == 110:
            raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        locdiff.calibrate(run, mine, f"{towns}.csv", seed=1, device="cpu", progress=tell)
    assert file.read_bytes() == before
    other = _embeddings_of(f"other@{2:032x}", towns, tmp_path / "other.safetensors")
    with pytest.raises(locdiff.SettingError, match="other@.*mine@"):
        locdiff.calibrate(run, other, f"{towns}.csv", device="cpu")
    assert file.read_bytes() == before
    renamed = _embeddings_of(f"another-name@{1:032x}", towns, tmp_path / "renamed.safetensors")
    assert locdiff.calibrate(run, renamed, f"{towns}.csv", device="cpu").encoder == f"mine@{1:032x}"


def test_rivals_are_in_the_laboratory() -> None:
    with pytest.raises(locdiff.LocDiffError, match="locdiff-lab compare"):
        locdiff.compare(("a.npy", "a.csv"), methods=["knn"])


def test_galleries(towns: str, tmp_path: Path, photos: list[str]) -> None:
    gallery = locdiff.Gallery.build(f"{towns}.npy", f"{towns}.csv", tmp_path / "gallery")
    assert len(gallery) == 120 and gallery.dimension == 5
    embeddings = numpy.load(f"{towns}.npy")
    (row, place, cosine), *_ = gallery.search(embeddings[:1], most=3)[0]
    assert row % 4 == 0 and place.lat == pytest.approx(48, abs=2) and cosine > 0.9

    locator = locdiff.Locator(device="cpu")
    few = photos[:12]
    numpy.save(tmp_path / "e.npy", numpy.stack([locator.embed(photo) for photo in few]))
    (tmp_path / "e.csv").write_text("lat,lon\n" + "".join(f"{k},{k}\n" for k in range(12)))
    locdiff.Gallery.build(tmp_path / "e.npy", tmp_path / "e.csv", tmp_path / "own")
    answer = locdiff.Locator(device="cpu", gallery=tmp_path / "own").locate(few[3])
    assert answer.gallery is not None and answer.gallery["match"]["row"] == 4
    settles = locdiff.Locator(device="cpu", gallery=tmp_path / "own", gallery_rule="paper", hybrid={"radius_km": 20000.0})
    settled = settles.locate(few[3])
    assert settled.gallery is not None and settled.best == pytest.approx((3, 3), abs=0.01)
    for one, locator in ((answer, None), (settled, settles)):
        again = pickle.loads(pickle.dumps(one))
        assert again.to_json() == one.to_json() and again.density.tobytes() == one.density.tobytes()
        if locator is not None:
            assert pickle.loads(pickle.dumps(locator)).locate(few[3]).to_json() == one.to_json()
    with pytest.raises(locdiff.SettingError, match="hybird"):
        locdiff.Locator(device="cpu", gallery=tmp_path / "own", gallery_rule="hybird")

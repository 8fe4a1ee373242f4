"""A model from embeddings: trained, calibrated, judged, compared, with a gallery beside it."""

from __future__ import annotations

import json
from pathlib import Path

import locdiff
import numpy
import pytest

SMALL = {"preset": "small", "degree": 7, "width": 32, "batch": 64, "steps": 200, "device": "cpu"}


def test_from_embeddings_to_numbers(towns: str, tmp_path: Path) -> None:
    told: list[dict[str, object]] = []
    run = tmp_path / "run"
    said = locdiff.train(f"{towns}.npy", f"{towns}.csv", run, progress=told.append, log_every=50, **SMALL)
    assert said["step"] == 200 and not said["interrupted"] and told[-1]["step"] == 200
    with pytest.raises(locdiff.SettingError, match="there is no setting 'stepps'"):
        locdiff.train(f"{towns}.npy", f"{towns}.csv", tmp_path / "other", stepps=3)
    with pytest.raises(locdiff.LocDiffError, match="run"):
        locdiff.train(f"{towns}.npy", f"{towns}.csv", run, **SMALL)

    read: list[int] = []
    calibration = locdiff.calibrate(run, f"{towns}.npy", f"{towns}.csv", device="cpu", progress=lambda a, b: read.append(a))
    assert (run / "calibration.json").exists() and calibration["window_km"] > 0 and read[-1] == 120

    truth = numpy.loadtxt(f"{towns}.csv", delimiter=",", skiprows=1)[:, 1:]
    report = locdiff.evaluate(truth, truth + 0.1, replicates=100)
    assert json.dumps(report) and report["bootstrap"]["replicates"] == 100
    missing = truth.copy()
    missing[3] = numpy.nan
    assert locdiff.evaluate(f"{towns}.csv", missing, replicates=100) != report


def test_an_error_of_the_callback_stops_the_run(towns: str, tmp_path: Path) -> None:
    def tell(event: dict[str, object]) -> None:
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        locdiff.train(f"{towns}.npy", f"{towns}.csv", tmp_path / "run", progress=tell, log_every=10, **{**SMALL, "steps": 100000})


def test_methods_beside_each_other(towns: str) -> None:
    photos = (f"{towns}.npy", f"{towns}.csv")
    told: list[dict[str, object]] = []
    table = locdiff.compare(photos, photos, photos, methods=["knn"], device="cpu", progress=told.append)
    assert "knn" in json.dumps(table)
    with pytest.raises(locdiff.SettingError):
        locdiff.compare(photos, photos, photos, methods=["oracle"])


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

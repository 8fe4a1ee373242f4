"""Jobs in shards: the same as `locate`, whole or not there, in every format."""

from __future__ import annotations

import pickle
from pathlib import Path

import locdiff
import locdiff.batch
import numpy
import pytest


@pytest.fixture()
def folder(tmp_path: Path, photos: list[str]) -> Path:
    lines = [*photos[:9], str(tmp_path / "nowhere.jpg")]
    (tmp_path / "photos.csv").write_text("path\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_a_job_gives_what_locate_gives(folder: Path, run) -> None:
    said = run("locate", str(folder / "photos.csv"), "--csv", str(folder / "plain.csv"), "--allow-bad", "--device", "cpu")
    assert said.returncode == 0, said.stderr
    job = folder / "job"
    about = locdiff.batch.plan(folder / "photos.csv", job, shard_photos=3)
    assert (about["photos"], about["shards"], about["missing"]) == (10, 4, [0, 1, 2, 3])
    assert locdiff.batch.run_shard(job, 2)["made"] == 1
    assert locdiff.batch.run_shard(job, 2) == {"made": 0, "skipped": 1, "busy": 0, "photos": 0}
    with pytest.raises(locdiff.JobError, match="3 of 4 parts are missing"):
        locdiff.batch.merge(job, folder / "answers.parquet")
    read: list[int] = []
    done = locdiff.batch.run(job, device="cpu", progress=read.append)
    assert (done["made"], done["skipped"], done["photos"]) == (3, 1, 7) and read[-1] == 7
    merged = locdiff.batch.merge(job, folder / "answers.csv")
    assert (merged["answered"], merged["failed"]) == (9, 1)
    assert (folder / "answers.csv").read_bytes() == (folder / "plain.csv").read_bytes()


def test_parquet(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    locdiff.batch.plan(folder / "photos.csv", folder / "job", shard_photos=4)
    locdiff.batch.run(folder / "job", device="cpu")
    merged = locdiff.batch.merge(folder / "job", folder / "answers.parquet")
    assert (merged["answered"], merged["failed"]) == (9, 1)
    table = parquet.read_table(folder / "answers.parquet")
    objects = [one for shard in range(3) for one in locdiff.batch.part(folder / "job", shard)[0]]
    assert table.column("lat").to_pylist()[:9] == [one["best"]["lat"] for one in objects[:9]]
    assert table.column("error").null_count == 9 and table.column("lat")[9].as_py() is None
    assert sorted(path.name for path in folder.glob("answers*")) == ["answers.parquet"]


def test_embeddings(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    locdiff.batch.plan(folder / "photos.csv", folder / "job", task="embed", shard_photos=4)
    locdiff.batch.run(folder / "job", device="cpu")
    locdiff.batch.merge(folder / "job", folder / "e.npy")
    embeddings = numpy.load(folder / "e.npy")
    locator = locdiff.Locator(device="cpu")
    paths = (folder / "photos.csv").read_text().split()[1:10]
    assert numpy.array_equal(embeddings, numpy.stack([locator.embed(path) for path in paths]))
    locdiff.batch.merge(folder / "job", folder / "e.parquet")
    rows = parquet.read_table(folder / "e.parquet").column("embedding").to_pylist()
    assert numpy.array_equal(numpy.array(rows[:9], dtype=numpy.float32), embeddings) and rows[9] is None


def test_settings_and_errors(folder: Path) -> None:
    job = folder / "job"
    about = locdiff.batch.plan(folder / "photos.csv", job, within="Japan", hypotheses=2)
    assert about["settings"]["within"] == ["Japan"]
    with pytest.raises(locdiff.JobError, match="already holds a job"):
        locdiff.batch.plan(folder / "photos.csv", job)
    with pytest.raises(TypeError, match="there is no option 'wihtin'"):
        locdiff.batch.plan(folder / "photos.csv", folder / "other", wihtin="Japan")
    other = folder / "other model"
    about = locdiff.batch.plan(folder / "photos.csv", other, model="nowhere")
    assert about["settings"]["model"].endswith("nowhere")
    with pytest.raises(locdiff.ModelError, match="nowhere"):
        locdiff.batch.Runner(other)
    runner = pickle.loads(pickle.dumps(locdiff.batch.Runner(job, device="cpu")))
    assert runner.run([0])["photos"] == 10
    objects, embeddings = locdiff.batch.part(job, 0)
    assert embeddings is None and all(one["country_code"] == "JP" for one in objects[:9])
    with pytest.raises(locdiff.SettingError, match="shard 5 does not exist"):
        runner.run([5])

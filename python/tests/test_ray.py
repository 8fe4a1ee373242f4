"""Ray on one machine; bench/ray_cluster.py kills nodes and drivers."""

from __future__ import annotations

from pathlib import Path

import locdiff
import locdiff.batch
import pytest

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def test_a_job_on_actors(photos: list[str], tmp_path: Path) -> None:
    import locdiff.ray

    job = tmp_path / "job"
    locdiff.batch.plan(photos[:12], job, shard_photos=3)
    told: list[tuple[int, int]] = []
    done = locdiff.ray.locate(job, actors=2, device="cpu", progress=lambda a, b: told.append((a, b)))
    assert (done["made"], done["photos"], done["busy"]) == (4, 12, 0) and told[-1] == (4, 4)
    assert locdiff.ray.locate(job)["skipped"] == 4
    answers = locdiff.Locator(device="cpu").locate_many(photos[:12])
    objects = [one for shard in range(4) for one in locdiff.batch.part(job, shard)[0]]
    assert objects == [answer.to_dict() for answer in answers]


def test_callables_for_map_batches(photos: list[str]) -> None:
    import locdiff.ray

    few = [*photos[:7], "nowhere.jpg"]
    data = ray.data.from_items([{"path": path} for path in few])
    options = {"batch_size": 4, "compute": ray.data.ActorPoolStrategy(size=1), "fn_constructor_kwargs": {"device": "cpu", "threads": 1}}
    rows = {row["path"]: row for row in data.map_batches(locdiff.ray.Locate, **options).take_all()}
    assert len(rows) == 8 and "nowhere.jpg" in rows["nowhere.jpg"]["error"]
    for path, answer in zip(few, locdiff.Locator(device="cpu").locate_many(few)):
        if isinstance(answer, locdiff.Answer):
            assert (rows[path]["lat"], rows[path]["lon"]) == tuple(answer.best) and rows[path]["error"] is None
    embedded = data.map_batches(locdiff.ray.Embed, **options).take_all()
    assert sorted(len(row["embedding"]) for row in embedded)[1:] == [locdiff.Locator(device="cpu").embedding_dim] * 7

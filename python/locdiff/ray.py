"""LocDiff on Ray: jobs in shards, or callables for `map_batches`.

    locdiff.batch.plan("archive/", "job")
    locdiff.ray.locate("job")                       # any number of times, until every part is there
    locdiff.batch.merge("job", "answers.parquet")

    photos.map_batches(locdiff.ray.Locate, batch_size=64, compute=ray.data.ActorPoolStrategy(size=4), num_gpus=1)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

from . import Answer, Locator, set_threads
from .batch import Runner, _make, describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import StrPath

__all__ = ["Embed", "Locate", "embed", "locate"]

Batch = dict[str, "NDArray[Any]"]


class _ShardActor:
    """Actor that opens model and encoder once, then makes parts."""

    def __init__(self, job: str, device: str, root: str | None, threads: int | None) -> None:
        if threads is not None:
            set_threads(threads)
        self.runner = Runner(job, device=device, root=root)

    def run(self, shard: int) -> dict[str, int]:
        return _make(self.runner, shard)


def locate(
    job: StrPath,
    *,
    actors: int | None = None,
    cpus: float = 1,
    gpus: float = 0,
    device: str | None = None,
    root: StrPath | None = None,
    retries: int = 3,
    progress: Any = None,
) -> dict[str, int]:
    """Make all missing parts of a job by `actors` actors, or as many as fit, each with these cores and GPUs.

    An actor that dies is replaced, and its shard given to another; a driver that dies is started again with the same call:
    parts that are there are skipped. `progress(done, count)` is called after each shard.
    """
    import ray

    if not ray.is_initialized():
        ray.init()
    folder = os.path.abspath(job)
    about = describe(folder)
    waiting: list[int] = list(reversed(about["missing"]))
    count = len(waiting)
    total = {"made": 0, "skipped": about["shards"] - count, "busy": 0, "photos": 0, "retried": 0}
    if count == 0:
        return total
    have: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    if actors is None:
        fit = have.get("GPU", 0) / gpus if gpus else have.get("CPU", 1) / cpus
        actors = max(1, int(fit))
    device = device or ("cuda" if gpus else "cpu")
    threads = max(1, int(cpus)) if not gpus else None
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=0)(_ShardActor)
    path = None if root is None else os.fspath(root)

    def start() -> Any:
        return remote.remote(folder, device, path, threads)

    tries: dict[int, int] = {}
    idle = [start() for _ in range(min(actors, count))]
    running: dict[Any, tuple[Any, int]] = {}
    done = 0
    while waiting or running:
        while waiting and idle:
            actor, shard = idle.pop(), waiting.pop()
            running[actor.run.remote(shard)] = (actor, shard)
        ready, _ = ray.wait(list(running), num_returns=1)
        actor, shard = running.pop(ready[0])
        try:
            for name, value in ray.get(ready[0]).items():
                total[name] += value
            idle.append(actor)
            done += 1
            if progress is not None:
                progress(done, count)
        except ray.exceptions.RayActorError:
            tries[shard] = tries.get(shard, 0) + 1
            if tries[shard] > retries:
                raise
            total["retried"] += 1
            waiting.append(shard)
            idle.append(start())
    return total


embed = locate
"""Alias of `locate` for a job that embeds: the job itself has the task."""


class _OnBatches:
    """Base of callables that open a locator once in an actor."""

    def __init__(
        self,
        model: StrPath | None = None,
        encoder: StrPath | None = None,
        *,
        device: str = "auto",
        column: str | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        if threads is not None:
            set_threads(threads)
        self.locator = Locator(model, encoder, device=device)
        self.column = column
        self.options = options

    def photos(self, batch: Batch) -> Sequence[Any]:
        """Return the column of photos: paths, bytes or arrays."""
        names = (self.column,) if self.column else ("path", "bytes", "image", "photo", "jpg", "item")
        for name in names:
            if name in batch:
                return list(batch[name])
        raise KeyError(f"no column of photos: there are {sorted(batch)}; name it with column=")


class Locate(_OnBatches):
    """Add lat, lon, radius_50_km, radius_90_km, probability, locatability, can_tell, place, country, headline and error to batches.

    For `Dataset.map_batches(Locate, batch_format="numpy", compute=ActorPoolStrategy(size=n))`. The photos are in a column of paths,
    bytes or arrays. A photo that cannot be read is a row with an error.
    """

    def __call__(self, batch: Batch) -> Batch:
        import numpy

        answers = self.locator.locate_many(self.photos(batch), **self.options)
        rows = [_row(answer) for answer in answers]
        columns = {name: numpy.array([row[k] for row in rows], dtype=kind) for k, (name, kind) in enumerate(_COLUMNS)}
        return {**batch, **columns}


class Embed(_OnBatches):
    """Add an embedding and an error to batches, as `Locate` does for answers."""

    def __call__(self, batch: Batch) -> Batch:
        import numpy

        found = self.locator.embed_many(self.photos(batch))
        nothing = numpy.zeros(0, dtype=numpy.float32)
        good = [not isinstance(one, Exception) for one in found]
        rows = numpy.empty(len(found), dtype=object)
        for k, one in enumerate(found):
            rows[k] = one if good[k] else nothing
        errors = [None if fine else str(one) for fine, one in zip(good, found)]
        embedding: Any = numpy.stack(list(rows)) if found and all(good) else rows
        return {**batch, "embedding": embedding, "error": numpy.array(errors, dtype=object)}


_COLUMNS: list[tuple[str, Any]] = [
    ("lat", float),
    ("lon", float),
    ("radius_50_km", float),
    ("radius_90_km", float),
    ("probability", float),
    ("locatability", float),
    ("can_tell", bool),
    ("place", object),
    ("country", object),
    ("headline", object),
    ("error", object),
]


def _row(answer: Answer | Exception) -> tuple[Any, ...]:
    if not isinstance(answer, Answer):
        nothing = float("nan")
        return (*[nothing] * 6, False, None, None, None, str(answer))
    best = answer.best
    return (
        best.lat,
        best.lon,
        answer.radius_50_km,
        answer.radius_90_km,
        answer.hypotheses[0].probability,
        answer.locatability,
        answer.can_tell,
        answer.place,
        answer.country,
        answer.headline,
        None,
    )

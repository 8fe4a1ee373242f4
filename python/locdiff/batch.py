"""Jobs of millions of photos: folders of shards that any engine can run.

>>> import locdiff.batch, tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> locdiff.batch.plan([photo], folder / "job")["shards"]
1
>>> locdiff.batch.run(folder / "job")["made"]
1
>>> locdiff.batch.merge(folder / "job", folder / "answers.csv")["answered"]
1
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable

from ._locdiff import JobError, Runner, describe, part, plan
from ._locdiff import merge as _merge

if TYPE_CHECKING:
    from ._types import StrPath
    import pyarrow

__all__ = ["Runner", "describe", "merge", "part", "plan", "run", "run_shard"]



def run(
    job: StrPath,
    shards: Iterable[int] | None = None,
    *,
    device: str = "auto",
    root: StrPath | None = None,
    progress: Callable[[int], object] | None = None,
) -> dict[str, int]:
    """Make the parts of some shards, or of all; see `Runner.run`."""
    return Runner(job, device=device, root=root).run(None if shards is None else list(shards), progress=progress)


_runners: dict[tuple[str, str, int, int], Runner] = {}


def run_shard(job: StrPath, shard: int, *, device: str = "auto", root: StrPath | None = None) -> dict[str, int]:
    """Make the part of one shard, for Spark, Dask and others. The model is opened once in a process.

    A shard that another run works on counts as busy.
    """
    settings = os.stat(os.path.join(os.fspath(job), "job.json")).st_mtime_ns
    key = (f"{os.path.abspath(job)} {root}", device, settings, os.getpid())
    runner = _runners.get(key)
    if runner is None:
        _runners.clear()
        runner = _runners.setdefault(key, Runner(job, device=device, root=root))
    return _make(runner, shard)


def _make(runner: Runner, shard: int) -> dict[str, int]:
    try:
        return runner.run([shard])
    except JobError as error:
        if "in use by another run" in str(error):
            return {"made": 0, "skipped": 0, "busy": 1, "photos": 0}
        raise


def merge(job: StrPath, out: StrPath) -> dict[str, Any]:
    """Write all parts into one file: answers as .csv, .jsonl or .parquet, embeddings as .safetensors, .npy or .parquet.

    Parquet is written with pyarrow, a row group a shard.
    """
    if os.fspath(out).lower().endswith(".parquet"):
        return _merge_parquet(job, out)
    return _merge(job, out)


def _merge_parquet(job: StrPath, out: StrPath) -> dict[str, Any]:
    import pyarrow.parquet

    about = describe(job)
    missing = about["missing"]
    if missing:
        raise JobError(
            f"{len(missing)} of {about['shards']} parts are missing, the first is shard {missing[0]}: "
            "run the job to its end first"
        )
    pending = f"{os.fspath(out)}.{os.getpid()}.tmp"
    answered = failed = 0
    writer: pyarrow.parquet.ParquetWriter | None = None
    try:
        for shard in range(about["shards"]):
            table = _table(job, shard)
            errors = table.num_rows - table.column("error").null_count
            answered, failed = answered + table.num_rows - errors, failed + errors
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(pending, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        os.replace(pending, out)
    except BaseException:
        if os.path.exists(pending):
            os.remove(pending)
        raise
    return {"answered": answered, "failed": failed, "files": [os.fspath(out)]}


def _table(job: StrPath, shard: int) -> pyarrow.Table:
    import pyarrow

    objects, embeddings = part(job, shard)
    columns: dict[str, Any] = {"photo": pyarrow.array([one["photo"] for one in objects], pyarrow.string())}
    if embeddings is None:
        columns |= {name: _column(objects, name) for name in _ANSWER}
    else:
        places = [one.get("at") or (None, None, None) for one in objects]
        columns["lat"] = pyarrow.array([place[0] for place in places], pyarrow.float64())
        columns["lon"] = pyarrow.array([place[1] for place in places], pyarrow.float64())
        rows = iter(embeddings)
        found = [None if "error" in one else next(rows) for one in objects]
        columns["embedding"] = pyarrow.array(found, pyarrow.list_(pyarrow.float32()))
    columns["error"] = pyarrow.array([one.get("error") for one in objects], pyarrow.string())
    return pyarrow.table(columns)


_ANSWER: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lat": lambda one: one["best"]["lat"],
    "lon": lambda one: one["best"]["lon"],
    "radius_50_km": lambda one: one["radius_50_km"],
    "radius_90_km": lambda one: one["radius_90_km"],
    "probability": lambda one: one["hypotheses"][0]["probability"],
    "locatability": lambda one: one["locatability"],
    "can_tell": lambda one: one["can_tell"],
    "place": lambda one: one["place"],
    "country": lambda one: one["country"],
    "headline": lambda one: one.get("headline"),
}


def _column(objects: list[dict[str, Any]], name: str) -> pyarrow.Array:
    import pyarrow

    kinds = {"can_tell": pyarrow.bool_(), **dict.fromkeys(("place", "country", "headline"), pyarrow.string())}
    values = [None if "error" in one else _ANSWER[name](one) for one in objects]
    return pyarrow.array(values, kinds.get(name, pyarrow.float64()))

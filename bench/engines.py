"""The lines of docs/python.md for Spark and Dask in local mode, each on a job of its own; the tables must be those of `locate`.

    python bench/engines.py FOLDER [--photos 40] [--engines spark dask]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import locdiff.batch
from locdiff.batch import describe, run_shard


def spark(job: str) -> int:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the workers are another Python, without locdiff
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    shards = session.sparkContext.parallelize(describe(job)["missing"], 4)
    photos: int = shards.map(lambda shard: run_shard(job, shard)["photos"]).sum()
    session.stop()
    return photos


def dask(job: str) -> int:
    import dask

    work = [dask.delayed(run_shard)(job, shard) for shard in describe(job)["missing"]]
    return sum(done["photos"] for done in dask.compute(*work, scheduler="processes", num_workers=2))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--photos", type=int, default=40)
    options.add_argument("folder", type=Path, help="a folder of .jpg photos")
    options.add_argument("--engines", nargs="+", choices=["spark", "dask"], default=["spark", "dask"])
    options = options.parse_args()
    work = Path(tempfile.mkdtemp(prefix="locdiff-engines-"))
    photos = sorted(str(path) for path in options.folder.glob("*.jpg"))[: options.photos]
    plain = [sys.executable, "-m", "locdiff", "locate", *photos, "--csv", str(work / "plain.csv"), "--allow-bad", "--quiet"]
    subprocess.run(plain, check=True, stdout=subprocess.DEVNULL)
    for name in options.engines:
        job = work / name
        locdiff.batch.plan(photos, job, shard_photos=7)
        done = {"spark": spark, "dask": dask}[name](str(job))
        locdiff.batch.merge(job, work / f"{name}.csv")
        same = (work / f"{name}.csv").read_bytes() == (work / "plain.csv").read_bytes()
        print(f"{name}: {done} photos, the table of locate: {same}")
        assert same and done == len(photos)


if __name__ == "__main__":
    main()

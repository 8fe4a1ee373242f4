"""A job in shards on this machine; on Ray the second call is `locdiff.ray.locate(job)`."""

import sys
from pathlib import Path

import locdiff.batch


def main(photos: list[str], job: Path, out: Path) -> int:
    if not (job / "job.json").exists():
        locdiff.batch.plan(photos, job, shard_photos=100)
    locdiff.batch.run(job)
    merged = locdiff.batch.merge(job, out)
    print(f"{merged['answered']} photos answered, {merged['failed']} could not be read: {out}")
    return int(merged["answered"])


if __name__ == "__main__":
    main(sys.argv[3:], Path(sys.argv[1]), Path(sys.argv[2]))

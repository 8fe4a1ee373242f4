"""A three-node Ray cluster on one machine: a job runs, a node is killed in the middle, then the driver; the driver is started again.
Every photo must be there exactly once, no part torn, and the answers those of `locdiff locate`.

    python bench/ray_cluster.py FOLDER [--photos 5000] [--shard-photos 50] [--time]

--time also runs the same photos undisturbed, on Ray and by `locate` itself, and prints what Ray costs (for a quiet machine).
"""

import argparse
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import locdiff.batch

DRIVER = """
import sys, ray, locdiff.ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
print("running", flush=True)
print(locdiff.ray.locate(sys.argv[2], actors=int(sys.argv[3]), device="cpu",
                         progress=lambda done, count: print(done, count, flush=True)), flush=True)
"""


def plan(paths: list[str], folder: Path, name: str, shard_photos: int) -> Path:
    table = folder / f"{name}.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["path"], *([path] for path in paths)])
    locdiff.batch.plan(table, folder / name, shard_photos=shard_photos)
    return folder / name


def driver(address: str, job: Path, actors: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, address, str(job), str(actors)], stdout=subprocess.PIPE, text=True
    )


def wait_for(process: "subprocess.Popen[str]", shards: int) -> None:
    """Reads the driver's progress until so many shards are done."""
    assert process.stdout is not None
    for line in process.stdout:
        words = line.split()
        if len(words) == 2 and words[0].isdigit() and int(words[0]) >= shards:
            return
    raise SystemExit("the driver ended before it was disturbed: more photos, or smaller shards")


def parents_of_actors() -> set[int]:
    """The raylets that actors of this machine belong to."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cmdline").read_bytes().startswith(b"ray::_ShardActor"):
                found.add(int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1]))
        except OSError:
            continue  # it has ended
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--photos", type=int, default=5000)
    options.add_argument("folder", type=Path, help="a folder of .jpg photos")
    options.add_argument("--shard-photos", type=int, default=50)
    options.add_argument("--actors", type=int, default=2)
    options.add_argument("--time", action="store_true")
    options = options.parse_args()

    from ray.cluster_utils import Cluster

    found = sorted(str(path) for path in options.folder.glob("*.jpg"))
    work = Path(tempfile.mkdtemp(prefix="locdiff-ray-"))
    # More photos than files: links, so that every row is a photo of its own.
    paths = []
    (work / "photos").mkdir()
    for k in range(options.photos):
        # Hard links, which keep their own name: a link would be taken for the photo it leads to.
        target = work / "photos" / f"{k:06}.jpg"
        source = found[k % len(found)]
        try:
            os.link(source, target)
        except OSError:
            target.write_bytes(Path(source).read_bytes())
        paths.append(str(target))
    job = plan(paths, work, "job", options.shard_photos)
    shards = locdiff.batch.describe(job)["shards"]

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=2) for _ in range(3)]
    print(f"{options.photos} photos in {shards} shards, {len(nodes)} nodes, {options.actors} actors", flush=True)

    begin = time.perf_counter()
    first = driver(cluster.address, job, options.actors)
    wait_for(first, max(1, shards // 4))
    victim = next(node for node in nodes if node.all_processes["raylet"][0].process.pid in parents_of_actors())
    cluster.remove_node(victim, allow_graceful=False)
    print(f"{time.perf_counter() - begin:.0f} s: a node with an actor is killed", flush=True)
    wait_for(first, max(2, shards // 2))
    first.send_signal(signal.SIGKILL)
    first.wait()
    left = len(locdiff.batch.describe(job)["missing"])
    print(f"{time.perf_counter() - begin:.0f} s: the driver is killed, {left} of {shards} parts are missing", flush=True)
    assert left > 0
    second = driver(cluster.address, job, options.actors)
    said, _ = second.communicate()
    assert second.returncode == 0
    print(f"{time.perf_counter() - begin:.0f} s: {said.strip().splitlines()[-1]}", flush=True)

    merged = locdiff.batch.merge(job, work / "answers.csv")
    with (work / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["photo"] for row in rows] == paths, "every photo exactly once, in order"
    others = [path.name for path in (job / "parts").iterdir() if not path.name.isdigit()]
    print(f"every one of {len(rows)} photos once; {merged['failed']} could not be read; beside the parts: {others or 'nothing'}")

    few = paths[:: max(1, len(paths) // 100)]
    locator = locdiff.Locator(device="cpu")
    by_name = {row["photo"]: row for row in rows}
    for path, answer in zip(few, locator.locate_many(few)):
        if isinstance(answer, locdiff.Answer):
            assert by_name[path]["lat"] == f"{answer.best.lat:.6f}", path
    print(f"{len(few)} of them looked up again by `locate`: the same")

    if options.time:
        timed = paths[: min(len(paths), 2000)]
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "locdiff", "locate", f"@{_list(work, timed)}", "--csv", str(work / "plain.csv"),
                        "--device", "cpu", "--quiet", "--allow-bad"], check=True, stdout=subprocess.DEVNULL)
        plain = time.perf_counter() - begin
        again = plan(timed, work, "timed", options.shard_photos)
        begin = time.perf_counter()
        assert driver(cluster.address, again, options.actors).communicate() and not locdiff.batch.describe(again)["missing"]
        on_ray = time.perf_counter() - begin
        print(f"{len(timed)} photos: locate {plain:.1f} s, Ray {on_ray:.1f} s: {100 * (on_ray / plain - 1):+.1f} %")
    cluster.shutdown()


def _list(folder: Path, paths: list[str]) -> Path:
    (folder / "list.txt").write_text("\n".join(paths) + "\n")
    return folder / "list.txt"


if __name__ == "__main__":
    main()

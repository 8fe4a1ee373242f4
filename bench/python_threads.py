"""How Python threads scale: photos a second by one thread and by eight, each call on one core.

    python bench/python_threads.py FOLDER
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import locdiff


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    photos = sorted(str(path) for path in folder.glob("*.jpg"))[:200]
    locdiff.set_threads(1)
    locator = locdiff.Locator(device="cpu")
    locator.locate_many(photos[:8])
    begin = time.perf_counter()
    for photo in photos:
        locator.locate(photo)
    one = time.perf_counter() - begin
    begin = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(locator.locate, photos))
    eight = time.perf_counter() - begin
    count = len(photos)
    print(f"{count} photos on {os.cpu_count()} cores: 1 thread {count / one:.1f} a second, "
          f"8 threads {count / eight:.1f} a second: {one / eight:.2f} times")


if __name__ == "__main__":
    main()

"""The GIL is free, threads scale, Ctrl-C is answered, forks go on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import locdiff
import pytest


@pytest.fixture(scope="module")
def locator() -> locdiff.Locator:
    return locdiff.Locator(device="cpu")


def test_python_goes_on_beside_a_long_call(locator: locdiff.Locator, photos: list[str]) -> None:
    turns = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    locator.locate_many(photos[:48])
    seconds = time.perf_counter() - begin
    stop.set()
    thread.join()
    # A call that holds the GIL would leave the loop a turn a block of photos: three.
    assert turns > 20 * seconds, (turns, seconds)


def test_eight_threads_scale(locator: locdiff.Locator, photos: list[str]) -> None:
    """Eight threads on two cores and more; bench/python_threads.py prints the figure."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one core")
    before = locdiff.threads()
    locdiff.set_threads(1)
    try:
        few = photos[:48]
        best = 0.0
        for _ in range(3):
            begin = time.perf_counter()
            alone = [locator.locate(photo).to_json() for photo in few]
            one = time.perf_counter() - begin
            begin = time.perf_counter()
            with ThreadPoolExecutor(8) as pool:
                together = list(pool.map(lambda photo: locator.locate(photo).to_json(), few))
            best = max(best, one / (time.perf_counter() - begin))
            assert alone == together
            if best > 1.8:
                break
        if best <= 1.8 and os.getloadavg()[0] > 8 + (os.cpu_count() or 1):
            pytest.skip(f"others are busy on this machine: {best:.2f} times, load {os.getloadavg()[0]:.1f}")
        assert best > 1.8, best
    finally:
        locdiff.set_threads(before)


def test_threads_do_not_change_answers(locator: locdiff.Locator, photos: list[str]) -> None:
    before = locdiff.threads()
    said = []
    for threads in (1, 3):
        locdiff.set_threads(threads)
        said.append([answer.to_json() for answer in locator.locate_many(photos[:6])])
    locdiff.set_threads(before)
    assert said[0] == said[1]


def _locate_in_child(photo: str, queue: "multiprocessing.Queue[str]") -> None:
    queue.put(_LOCATOR.locate(photo).to_json())


_LOCATOR: locdiff.Locator


def test_a_fork_goes_on(locator: locdiff.Locator, china: str) -> None:
    global _LOCATOR
    _LOCATOR = locator
    here = locator.locate(china).to_json()
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[str] = context.Queue()
    child = context.Process(target=_locate_in_child, args=(china, queue))
    child.start()
    assert queue.get(timeout=120) == here
    child.join(30)
    assert child.exitcode == 0
    assert locator.locate(china).to_json() == here


LONG = """
import sys, locdiff
locator = locdiff.Locator(device="cpu")
print("ready", flush=True)
try:
    locator.locate_many([sys.argv[1]] * 100000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

TRAIN = """
import sys, locdiff
def tell(event):
    print("ready", flush=True)
try:
    locdiff.train(sys.argv[1] + ".npy", sys.argv[1] + ".csv", sys.argv[2], preset="small", degree=7, width=32,
                  batch=64, steps=1000000, log_every=10, device="cpu", progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def _interrupt(program: str, *arguments: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(60) == 0 and "interrupted" in rest
    assert time.monotonic() - begin < 30


def test_interrupts_are_answered(china: str, tmp_path: Path, towns: str) -> None:
    _interrupt(LONG, china)
    _interrupt(TRAIN, towns, str(tmp_path / "run"))
    assert (tmp_path / "run" / "run.json").exists(), "what is finished is kept"

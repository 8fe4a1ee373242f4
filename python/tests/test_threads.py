"""The GIL is free, threads scale, Ctrl-C is answered, forks go on."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import locdiff
import pytest


@pytest.fixture(scope="module")
def locator() -> locdiff.Locator:
    return locdiff.Locator(device="cpu")


def test_python_goes_on_beside_a_long_call(locator: locdiff.Locator, photos: list[str]) -> None:
    """With an endless switch interval another thread's Python runs only where the call gives the GIL away."""
    go, ran = threading.Event(), threading.Event()

    def other() -> None:
        go.wait()
        ran.set()

    thread = threading.Thread(target=other)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        go.set()
        locator.locate_many(photos[:48])
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


def test_calls_of_eight_threads_run_beside_each_other(locator: locdiff.Locator, photos: list[str]) -> None:
    """Eight calls are all under way before one may go on, and answer as one after the other do. Speed: bench/python_threads.py."""
    before = locdiff.threads()
    locdiff.set_threads(1)
    try:
        few = photos[:16]
        alone = [locator.locate(photo).to_json() for photo in few]
        everyone = threading.Barrier(8)
        met: set[int] = set()

        def tell(done: int, count: int) -> None:
            me = threading.get_ident()
            if me not in met:
                met.add(me)
                everyone.wait(120)

        def call(_: int) -> list[str]:
            return [answer.to_json() for answer in locator.locate_many(few, progress=tell)]

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(call, range(8))) == [alone] * 8
        assert len(met) == 8
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
try:
    locator.locate_many([sys.argv[1]] * 100000, progress=lambda done, count: print("ready", flush=True))
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
    # A shell that runs the tests in the background has switched the signal off.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)" + program
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(60) == 0 and "interrupted" in rest


def test_interrupts_are_answered(china: str, tmp_path: Path, towns: str) -> None:
    _interrupt(LONG, china)
    _interrupt(TRAIN, towns, str(tmp_path / "run"))
    assert (tmp_path / "run" / "run.json").exists(), "what is finished is kept"

"""The package itself: imports quickly, is the command, and its examples run."""

from __future__ import annotations

import doctest
import subprocess
import sys
import time
from pathlib import Path

import locdiff
import locdiff.batch
from locdiff._locdiff import run_command


def test_import_takes_a_moment() -> None:
    program = "import time; import numpy; a = time.perf_counter(); import locdiff; print(time.perf_counter() - a)"
    times = []
    for _ in range(5):
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        times.append(float(said.stdout))
    assert min(times) < 0.1, times


def test_python_m_locdiff_is_the_command(run, china: str) -> None:
    module = [sys.executable, "-m", "locdiff"]
    said = subprocess.run([*module, "locate", china, "--json"], capture_output=True, text=True, check=True)
    assert said.stdout == run("locate", china, "--json").stdout
    wrong = subprocess.run([*module, "locate", "nowhere.jpg"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and wrong.stderr.startswith("error: ")
    usage = subprocess.run([*module, "locate", "--colour"], capture_output=True, text=True, check=False)
    assert usage.returncode == 2


def test_the_command_gives_codes_and_calls_share_nothing(tmp_path: Path) -> None:
    assert [run_command(["locdiff", word]) for word in ("--help", "frobnicate", "compare")] == [0, 2, 2]
    encode = ["locdiff", "encode", "--at", "1,2", "-L", "3", "--out", str(tmp_path / "codes.npy")]
    assert [run_command(encode + more) for more in ([], [], ["--force"], [])] == [0, 1, 0, 1]


def test_examples_of_the_docs_run(china: str) -> None:
    for module in (locdiff, locdiff.batch, locdiff._types):
        failed, tried = doctest.testmod(module, extraglobs={"photo": china}, optionflags=doctest.ELLIPSIS)
        assert tried > 0 and failed == 0, module


def test_nothing_is_opened_before_it_is_needed() -> None:
    begin = time.perf_counter()
    assert locdiff.threads() >= 1
    assert time.perf_counter() - begin < 0.05

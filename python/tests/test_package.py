"""The package itself: imports little, is the command, and its examples run."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import locdiff
import locdiff.batch
import locdiff.results
import pytest
from locdiff._locdiff import run_command


def test_an_import_brings_little() -> None:
    """No heavy package comes with it, and no thread is started: nothing is opened before it is needed."""
    program = (
        "import sys, threading, os, numpy, locdiff\n"
        "heavy = {'ray', 'pandas', 'geopandas', 'shapely', 'pyarrow', 'PIL', 'multiprocessing'} & set(sys.modules)\n"
        "tasks = len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else threading.active_count()\n"
        "print(sorted(heavy), tasks)"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout == "[] 1\n"


def test_python_m_locdiff_is_the_command(run, china: str) -> None:
    module = [sys.executable, "-m", "locdiff"]
    said = subprocess.run([*module, "locate", china, "--json"], capture_output=True, text=True, check=True)
    assert said.stdout == run("locate", china, "--json").stdout
    wrong = subprocess.run([*module, "locate", "nowhere.jpg"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and wrong.stderr.startswith("error: ")
    usage = subprocess.run([*module, "locate", "--colour"], capture_output=True, text=True, check=False)
    assert usage.returncode == 2


def test_run_command_returns_and_shares_nothing(china: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Failures, wrong usage, --help and --version are exit codes, and a flag of one call is none of the next."""
    def command(*arguments: str) -> tuple[int, str, str]:
        code = run_command(["locdiff", *arguments])
        said = capfd.readouterr()
        return code, said.out, said.err

    for flags in (["--quiet"], ["--force"], ["--json"], []):
        code, out, err = command("locate", "nowhere.jpg", *flags)
        assert code == 1 and "nowhere.jpg" in out + err, flags
    assert command("locate", "--colour")[0] == 2
    assert command("--version")[:2] == (0, f"locdiff {locdiff.__version__}\n")
    assert command("locate", "--help")[0] == 0
    table, locate = str(tmp_path / "answers.csv"), ["locate", china, "--device", "cpu"]
    code, out, err = command(*locate, "--csv", table, "--json", "--verbose")
    assert code == 0 and json.loads(out)["photo"] == china and " threads" in err
    code, out, err = command(*locate, "--csv", table)
    assert code == 1 and table in err and " threads" not in err, "--verbose was the other call's, and nothing is overwritten"
    assert command(*locate, "--csv", table, "--force", "--quiet")[::2] == (0, "")
    code, out, err = command(*locate, "--csv", table)
    assert code == 1 and table in err, "--force was the other call's"
    code, out, err = command(*locate)
    assert code == 0 and not out.startswith("{"), "--json was the other call's"


def test_the_command_gives_codes_and_calls_share_nothing(tmp_path: Path) -> None:
    assert [run_command(["locdiff", word]) for word in ("--help", "frobnicate", "compare")] == [0, 2, 2]
    encode = ["locdiff", "encode", "--at", "1,2", "-L", "3", "--out", str(tmp_path / "codes.npy")]
    assert [run_command(encode + more) for more in ([], [], ["--force"], [])] == [0, 1, 0, 1]


def test_examples_of_the_docs_run(china: str) -> None:
    for module in (locdiff, locdiff.batch, locdiff.results, locdiff._types):
        failed, tried = doctest.testmod(module, extraglobs={"photo": china}, optionflags=doctest.ELLIPSIS)
        assert tried > 0 and failed == 0, module

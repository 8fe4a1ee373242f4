"""Photos and the command for all tests: the project's own, or pictures made on the spot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
CHINA = ROOT / "fixtures" / "vision" / "china.jpg"
PHOTOS = os.environ.get("LOCDIFF_PHOTOS")
COUNT = int(os.environ.get("LOCDIFF_PHOTO_COUNT", "200"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Every skip gets its line in the list that scripts/check ends with."""
    if report.skipped and not hasattr(report, "wasxfail"):
        _list_skip(report.nodeid, report.longrepr)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _list_skip(report.nodeid, report.longrepr)


def _list_skip(test: str, why: object) -> None:
    listed = os.environ.get("LOCDIFF_SKIPPED")
    if listed:
        reason = why[2] if isinstance(why, tuple) else str(why)
        with open(listed, "a", encoding="utf-8") as file:
            file.write(f"{test}: {' '.join(str(reason).split())}\n")


@pytest.fixture(scope="session")
def china() -> str:
    return str(CHINA)


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """200 photos: of the folder that LOCDIFF_PHOTOS names, else crops of one photo with colours of their own."""
    if PHOTOS:
        found = sorted(str(path) for path in Path(PHOTOS).glob("*.jpg"))[:COUNT]
        assert len(found) == COUNT, f"LOCDIFF_PHOTOS={PHOTOS} has {len(found)} .jpg photos, not {COUNT}"
        return found
    folder = tmp_path_factory.mktemp("photos")
    picture = Image.open(CHINA)
    random = numpy.random.default_rng(0)
    made = []
    for k in range(COUNT):
        width, height = random.integers(120, picture.width), random.integers(100, picture.height)
        left, top = random.integers(0, picture.width - width), random.integers(0, picture.height - height)
        crop = picture.crop((left, top, left + width, top + height))
        tint = Image.new("RGB", crop.size, tuple(int(c) for c in random.integers(0, 255, 3)))
        path = folder / f"{k:03}.jpg"
        Image.blend(crop, tint, 0.3).save(path, quality=90)
        made.append(str(path))
    return made


@pytest.fixture(scope="session")
def command() -> list[str]:
    """The command: a binary of its own where one is built, else `python -m locdiff`, which is the same program."""
    binary = os.environ.get("LOCDIFF_COMMAND") or shutil.which("locdiff", path=str(ROOT / "target" / "debug"))
    return [binary] if binary else [sys.executable, "-m", "locdiff"]


@pytest.fixture(scope="session")
def run(command: list[str]):
    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]

    return run


@pytest.fixture(scope="session")
def towns(tmp_path_factory: pytest.TempPathFactory) -> str:
    """120 photos of four towns as NAME.npy and NAME.csv: five numbers tell the town."""
    name = tmp_path_factory.mktemp("towns") / "towns"
    places = [(48.0, 2.0), (-33.0, 151.0), (40.0, -100.0), (-10.0, -50.0)]
    rows, lines = [], ["row,lat,lon"]
    for k in range(120):
        jitter = float(numpy.sin(k * 0.7))
        rows.append([1.0 if c == k % 4 else 0.1 * jitter for c in range(5)])
        lines.append(f"{k},{places[k % 4][0] + jitter},{places[k % 4][1] - jitter}")
    numpy.save(f"{name}.npy", numpy.array(rows, dtype=numpy.float32))
    Path(f"{name}.csv").write_text("\n".join(lines) + "\n")
    return str(name)

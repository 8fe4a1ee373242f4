#!/usr/bin/env bash
# Makes the pictures of the documents: docs/pictures/*.png, small enough to commit. Needs Python with Pillow and matplotlib, exiftool, and what
# scripts/serve_browser needs (Chromium, npm).
#     scripts/pictures.sh [FOLDER WITH locdiff AND locdiff-lab]
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-target/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/pictures" "$work/trip"
"$programs/locdiff" locate fixtures/vision/lund.jpg --png "$work/pictures/lund.png" >/dev/null
"$programs/locdiff" locate fixtures/vision/china.jpg --png "$work/pictures/china.png" >/dev/null
"$programs/locdiff-lab" plot resolution -L 15,23,47 --out "$work/pictures/resolution.png" >/dev/null
"$programs/locdiff-lab" plot noise --out "$work/pictures/noise.png" >/dev/null

# A walk for the pages of `album` and `review`: parts of one photo, two of them with a tag.
python3 - fixtures/vision/lund.jpg "$work/trip" <<'PYTHON'
import sys
from PIL import Image
photo = Image.open(sys.argv[1]).convert("RGB")
for k in range(9):
    left, top = 60 * k, 20 * (k * 4 % 9)
    photo.crop((left, top, left + 512, top + 384)).save(f"{sys.argv[2]}/walk-{k + 1}.jpg", quality=90)
PYTHON
for k in 1 2 3 4 5 6 7 8 9; do
  exiftool -q -overwrite_original -Model="Camera One" -DateTimeOriginal="2024:05:12 1$k:05:00" -OffsetTimeOriginal=+02:00 "$work/trip/walk-$k.jpg"
done
exiftool -q -overwrite_original -GPSLatitude=55.7029 -GPSLatitudeRef=N -GPSLongitude=13.1929 -GPSLongitudeRef=E "$work/trip/walk-2.jpg"
exiftool -q -overwrite_original -GPSLatitude=55.6050 -GPSLatitudeRef=N -GPSLongitude=13.0038 -GPSLongitudeRef=E "$work/trip/walk-8.jpg"
program=$(realpath "$programs/locdiff")
(cd "$work/trip" && "$program" album . --map "$work/album.html" --quiet >/dev/null)

modules=target/page-check
mkdir -p "$modules"
echo '{"private":true}' >"$modules/package.json"
(cd "$modules" && npm install --silent --no-fund --no-audit playwright-core@1.65)
node scripts/pictures.mjs "$modules" "$programs/locdiff" fixtures/vision/thun.jpg "$work/album.html" "$work/trip" "$work/pictures"

python3 scripts/pictures.py "$work/pictures"
python3 - "$work/pictures" docs/pictures <<'PYTHON'
import sys
from pathlib import Path
from PIL import Image
for path in Path(sys.argv[1]).glob("*.png"):
    picture = Image.open(path).convert("RGB")
    picture.thumbnail((1000, 1000))
    picture.save(Path(sys.argv[2]) / path.name, optimize=True)
PYTHON

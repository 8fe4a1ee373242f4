#!/usr/bin/env bash
# A benchmark that anybody can run: public photos, a small model, one table. No private file, no GPU.
#
#   lab/scripts/public_benchmark.sh FOLDER OUT
#
# FOLDER holds the programs locdiff and locdiff-lab (target/release). OUT keeps photos, embeddings and tables: a run that was cut off goes on.
# It fetches two repositories at fixed commits with git (470 MB): the list of Im2GPS3k (TIBHannover/GeoEstimation) and its photos (a copy in
# tungduong0708/G3-main). PHOTOS, a folder with the photos, and LIST, the list, spare the fetch. Needs git, python3, 2 GB of disk.
# Rows 0–999 train and choose (700 and 300, split by author), rows 1000–2996 of other authors report. public_benchmark.py compares the table with the expected
# one and fails outside the tolerances.
set -euo pipefail
locdiff=$1/locdiff lab=$1/locdiff-lab out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
# fetch FOLDER ADDRESS COMMIT PATH: one path of a repository at a commit.
fetch() {
  [ -d "$out/$1/.git" ] || git init -q "$out/$1"
  git -C "$out/$1" config core.sparseCheckout true
  printf '%s\n' "$4" >"$out/$1/.git/info/sparse-checkout"
  git -C "$out/$1" fetch -q --depth 1 --filter=blob:none "$2" "$3"
  git -C "$out/$1" -c "remote.origin.url=$2" checkout -q FETCH_HEAD
}
if [ -z "${LIST:-}" ]; then
  LIST=$out/list/meta/im2gps3k_places365.csv
  [ -e "$LIST" ] || fetch list https://github.com/TIBHannover/GeoEstimation 5e091c0c5a73886635ddb10a870ff5c4907cfd0c /meta/im2gps3k_places365.csv
fi
if [ -z "${PHOTOS:-}" ]; then
  PHOTOS=$out/photos/data/im2gps3k/images
  [ -d "$PHOTOS" ] || fetch photos https://github.com/tungduong0708/G3-main 25d1e4a8082aea17961ed552544280b52ca2f6ba /data/im2gps3k/images/
fi
"$here/public_benchmark.py" split "$LIST" "$PHOTOS" "$out"
for set in train validation test; do
  [ -e "$out/$set.safetensors" ] || "$locdiff" embed "$out/$set.csv" --out "$out/$set.partial.safetensors" --locations "$out/$set.places.csv" --dtype f16 ${FORCE:+--force}
  [ -e "$out/$set.safetensors" ] || mv "$out/$set.partial.safetensors" "$out/$set.safetensors"
done
[ -e "$out/compare/compare.json" ] || "$lab" compare --preset quick --device cpu --seeds 1 \
  --methods constant,knn,planet,vmf-mixture,geoclip-gallery,locdiff,locdiff-knn,locdiff-cs-unet \
  --embeddings "$out/train.safetensors" --locations "$out/train.places.csv" --validation-embeddings "$out/validation.safetensors" \
  --validation-locations "$out/validation.places.csv" --test-embeddings "$out/test.safetensors" --test-locations "$out/test.places.csv" \
  --out "$out/compare" >/dev/null
"$here/public_benchmark.py" check "$out"

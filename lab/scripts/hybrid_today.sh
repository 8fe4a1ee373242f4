#!/usr/bin/env bash
# LocDiff-H of today: the bundled model beside a gallery of the training photos, by both rules and every seed, on the photos of SPLIT (test).
#   lab/scripts/hybrid_today.sh FOLDER DATA OUT      then lab/scripts/hybrid_today.py DATA OUT [SPLIT]
set -euo pipefail
locdiff=$1/locdiff rows=(--embeddings "$2/embeddings.safetensors" --tensor "${SPLIT:-test}") out=$3 seeds=${SEEDS:-3} device=${DEVICE:-cpu}
mkdir -p "$out"
[ -e "$out/gallery" ] || "$locdiff" gallery build --embeddings "$2/embeddings.safetensors" --tensor train --locations "$2/train.csv" --out "$out/gallery" >/dev/null
for ((seed = 0; seed < seeds; seed++)); do
  for rule in hybrid paper; do
    "$locdiff" locate "${rows[@]}" --gallery "$out/gallery" --gallery-rule "$rule" --seed "$seed" --device "$device" --csv "$out/$rule-$seed.csv" --force -q >/dev/null
  done
done
"$locdiff" locate "${rows[@]}" --device "$device" --csv "$out/plain-0.csv" --force -q >/dev/null
"$locdiff" gallery search "$out/gallery" "${rows[@]}" --top 1 --out "$out/retrieval-0.csv" --force >/dev/null

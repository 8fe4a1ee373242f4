#!/bin/sh
# Trains, calibrates and writes the bundled model, models/streetview-l23. Seconds on a GPU, about an hour on two cores.
#   scripts/train_default_model.sh [DATA [OUT]]
# DATA holds embeddings.safetensors (train, train_augmented, validation) and train.csv, validation.csv with lat, lon, source.
# The committed weights are those of an H200 (tf32), seed 0; the calibration was fitted on a CPU.
set -eu
data=${1:-../shared/data/streetview}
out=${2:-models/streetview-l23}
locdiff=${LOCDIFF:-target/release/locdiff}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$locdiff" train --embeddings "$data/embeddings.safetensors" --tensor train --augmented train_augmented \
  --locations "$data/train.csv" --validation-embeddings "$data/embeddings.safetensors" --validation-tensor validation \
  --validation-locations "$data/validation.csv" --validate-every 0 --seed 0 --out "$work/run"
# The calibration is for photos like those of source a, which the test split is drawn from too.
awk -F, 'NR > 1 && $4 ~ /^a/ { print NR - 2 }' "$data/validation.csv" > "$work/rows"
"$locdiff" calibrate --model "$work/run" --embeddings "$data/embeddings.safetensors" --tensor validation \
  --truth "$data/validation.csv" --rows "$work/rows" --export "$out"

#!/bin/sh
# Trains, calibrates and writes the bundled model, models/streetview-l31. A minute on a GPU, about an hour on two cores.
#   lab/scripts/train_default_model.sh [DATA [OUT]]
# DATA holds embeddings.safetensors (train, train_augmented, validation, im2gps3k) and train.csv, validation.csv, im2gps3k.csv
# with lat, lon, source, made with models/streetview-lite2.
# The committed weights are those of an H200 (tf32), seed 0; the calibration was fitted on a CPU.
set -eu
data=${1:-../shared/data/streetview}
out=${2:-models/streetview-l31}
locdiff=${LOCDIFF:-target/release/locdiff}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
embeddings=$data/embeddings.safetensors
"$locdiff" train --embeddings "$embeddings" --tensor train --augmented train_augmented --locations "$data/train.csv" \
  --validation-embeddings "$embeddings" --validation-tensor validation --validation-locations "$data/validation.csv" \
  --validate-every 0 --seed 0 --out "$work/run"
# Collection a of the validation photos chooses factors and window, radii are to hold in a and b alike, and for ordinary photos, of
# which the first 1,000 of Im2GPS3k teach how they are told (the other 1,997 report). Heads for map factors see the training photos.
"$locdiff" calibrate --model "$work/run" --embeddings "$embeddings" --tensor validation --truth "$data/validation.csv" \
  --groups source --chosen-by a --surroundings "$embeddings" --surroundings-tensor train --surroundings-truth "$data/train.csv" --ood "$embeddings" --ood-tensor im2gps3k --ood-truth "$data/im2gps3k.csv" \
  --ood-first 1000 --export "$out"
# The data file does not say which encoder made it: the model does.
encoder=$("$locdiff" encoder inspect models/streetview-lite2 --json | sed -n 's/.*"fingerprint":"\([^"]*\)".*/\1/p')
sed -i "s/^  \"data_fingerprint\"/  \"encoder\": \"$encoder\",\n&/" "$out/config.json"

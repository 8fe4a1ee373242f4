#!/bin/sh
# Trains and calibrates the paper's network, a CS-UNet, on the bundled encoder's embeddings, and puts it into the data folder under the name cs-unet.
# Then a real diffusion can be watched:
#   locdiff locate photo.jpg --model cs-unet --trace steps.gif
#
#   lab/scripts/train_cs_unet.sh [DATA [OUT]]
#
# DATA holds embeddings.safetensors and the CSV files, as for train_default_model.sh; OUT is by default cs-unet in the data folder of LocDiff.
# About a minute on a GPU. LOCDIFF (target/release/locdiff) and DEVICE (auto) may be set. Degree 31, hidden width 384, 2,000 steps, likelihood
# loss, seed 0.
set -eu
data=${1:-../shared/data/streetview}
home=${LOCDIFF_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/locdiff}
out=${2:-$home/models/cs-unet}
locdiff=${LOCDIFF:-target/release/locdiff}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
embeddings=$data/embeddings.safetensors
"$locdiff" train --embeddings "$embeddings" --tensor train --augmented train_augmented --locations "$data/train.csv" \
  --validation-embeddings "$embeddings" --validation-tensor validation --validation-locations "$data/validation.csv" \
  --network cs-unet --hidden 384 --dropout 0.3 --validate-every 0 --seed 0 --device "${DEVICE:-auto}" --out "$work/run"
mkdir -p "$(dirname "$out")"
"$locdiff" calibrate --model "$work/run" --embeddings "$embeddings" --tensor validation --truth "$data/validation.csv" \
  --groups source --chosen-by a --export "$out"
# The data file does not say which encoder made it: the model does.
encoder=$("$locdiff" encoder inspect models/streetview-lite2 --json | sed -n 's/.*"fingerprint":"\([^"]*\)".*/\1/p')
sed -i "s/^  \"data_fingerprint\"/  \"encoder\": \"$encoder\",\n&/" "$out/config.json"
echo "wrote $out"

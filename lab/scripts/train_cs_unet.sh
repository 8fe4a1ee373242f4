#!/bin/sh
# Trains, calibrates and writes the bundled model of the paper's network: a CS-UNet of 5.8 MB as f16, 3.9 MB compressed. With it a real diffusion can be watched:
#   locdiff locate photo.jpg --model cs-unet --trace steps.gif
#
#   lab/scripts/train_cs_unet.sh [DATA [OUT]]
#
# DATA holds embeddings.safetensors and the CSV files, as for train_default_model.sh. Ten seconds of training on a GPU, then minutes of calibration on a CPU.
# LOCDIFF (target/release/locdiff), DEVICE (auto), STEPS (2000) and OOD_FIRST (1000) may be set; lab/scripts/every_nth.py makes data small enough to try it. Degree 31, hidden width 304, 2,000 steps, likelihood loss, half of the rows at pure noise, seed 0: of
# fourteen settings the most accurate on validation a (docs/results.md, "The bundled CS-UNet").
# The committed weights are those of an H200 (tf32); the calibration was fitted on a CPU.
set -eu
data=${1:-../shared/data/streetview}
out=${2:-crates/bundled-model/cs-unet}
locdiff=${LOCDIFF:-target/release/locdiff}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
embeddings=$data/embeddings.safetensors
"$locdiff" train --embeddings "$embeddings" --tensor train --augmented train_augmented --locations "$data/train.csv" \
  --validation-embeddings "$embeddings" --validation-tensor validation --validation-locations "$data/validation.csv" \
  --network cs-unet --steps "${STEPS:-2000}" --hidden 304 --dropout 0.3 --pure-noise 0.5 --validate-every 0 --seed 0 --device "${DEVICE:-auto}" --out "$work/run"
# As the default model: a chooses, a and b fit the radii.
"$locdiff" calibrate --model "$work/run" --embeddings "$embeddings" --tensor validation --truth "$data/validation.csv" \
  --groups source --chosen-by a --surroundings "$embeddings" --surroundings-tensor train --surroundings-truth "$data/train.csv" --ood "$embeddings" --ood-tensor im2gps3k --ood-truth "$data/im2gps3k.csv" \
  --ood-first "${OOD_FIRST:-1000}" --export "$out" --device cpu
# The data file does not say which encoder made it: the model does.
encoder=$("$locdiff" encoder inspect models/streetview-lite2 --json | sed -n 's/.*"fingerprint":"\([^"]*\)".*/\1/p')
sed -i "s/^  \"data_fingerprint\"/  \"encoder\": \"$encoder\",\n&/" "$out/config.json"
# As the program embeds it. Unpacked (gunzip), OUT is a model's folder.
gzip -9 -n -f "$out/model.safetensors"
echo "wrote $out"

#!/usr/bin/env bash
# The paper's arm from end to end on embeddings at hand, and the same network with another loss beside it.
#
#   lab/scripts/paper_arm.sh FOLDER DATA OUT
#
# FOLDER holds the program locdiff, DATA embeddings.safetensors and the CSV files; OUT gets the runs and every reading's places. Then
# lab/scripts/paper_arm.py DATA OUT prints the table. PAPER_STEPS (40000), NLL_STEPS (1500), SEEDS (3) and DEVICE (cuda) may be set; the paper
# has 750,000 steps.
set -euo pipefail
locdiff=$1/locdiff data=$2 out=$3
paper_steps=${PAPER_STEPS:-40000} nll_steps=${NLL_STEPS:-1500} seeds=${SEEDS:-3} device=${DEVICE:-cuda}
mkdir -p "$out"
files=(--embeddings "$data/embeddings.safetensors" --tensor train --locations "$data/train.csv" --augmented "${AUGMENTED:-train_augmented}"
  --validation-embeddings "$data/embeddings.safetensors" --validation-tensor validation --validation-locations "$data/validation.csv")

# arm NAME SEED STEPS ARGUMENTS…: trains a model and reads it in every way.
arm() {
  local name=$1 seed=$2 steps=$3; shift 3
  local run=$out/$name-$seed
  [ -e "$run/best/config.json" ] || "$locdiff" train "${files[@]}" "$@" --steps "$steps" --checkpoint-every "$steps" \
    --seed "$seed" --device "$device" --out "$run" >"$out/$name-$seed.log" 2>&1
  # read READING SAMPLER STEPS SAMPLES POOL
  read_off() {
    "$locdiff" sample --model "$run/best" --embeddings "$data/embeddings.safetensors" --tensor test --device "$device" --seed "$seed" --sampler "$2" \
      --steps "$3" --samples "$4" --pool "$5" --out "$out/$name-$seed-$1.csv" --force >/dev/null
  }
  read_off algorithm-2 ddpm 200 16 mean
  read_off pooled ddpm 200 16 pool
  read_off one-sample ddpm 200 16 single
  read_off single-evaluation ddim 1 16 pool
  grep -o '"trained_steps": *[0-9]*' "$run/best/config.json" | grep -o '[0-9]*$' >"$out/$name-$seed.best"
}
running=()
for ((seed = 0; seed < seeds; seed++)); do
  arm kl-paper "$seed" "$paper_steps" --preset paper --validate-every $((paper_steps / 5)) & running+=($!)
done
for process in "${running[@]}"; do wait "$process"; done
running=()
# A validation of a density of degree 47 takes half a minute of 16 processors: one, at the end. Sampling it fills the GPU: two at a time.
for ((seed = 0; seed < seeds; seed++)); do
  arm nll "$seed" "$nll_steps" --preset paper --loss nll --validate-every 0 & running+=($!)
  arm bayes "$seed" "$nll_steps" --preset default --degree 47 --validate-every 0 & running+=($!)
  for process in "${running[@]}"; do wait "$process"; done
  running=()
done
for process in "${running[@]}"; do wait "$process"; done

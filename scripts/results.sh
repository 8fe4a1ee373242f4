#!/usr/bin/env bash
# Regenerate docs/results.md, which is never edited by hand.
#
#   scripts/results.sh FOLDER DATA [OUT]
#
# FOLDER holds the programs locdiff and locdiff-lab (target/release), DATA is a folder with embeddings.safetensors (train, train_augmented, validation, test) and the three
# CSV files (an absolute path). PRESET (full), DEVICE (auto), SEEDS (3), PARTS (a folder for the single tables) and TABLES (the
# numbers of those to make, by default all) may be set. Minutes on a GPU, a night on two cores. The seeds of the first table run at
# once, a process each; a table that fails leaves the old file as it was, and tables that were not asked for stay as they were, with their date (scripts/results_join.py).
set -euo pipefail
locdiff=$1/locdiff lab=$1/locdiff-lab data=$2 out=${3:-"$(dirname "$0")/../docs/results.md"}
preset=${PRESET:-full} device=${DEVICE:-auto} seeds=${SEEDS:-3}
if [ -n "${PARTS:-}" ]; then
  parts=$PARTS; mkdir -p "$parts" # kept; a table that is there is not made again, so that a run cut off can go on
else
  parts=$(mktemp -d); trap 'rm -rf "$parts"' EXIT
fi

split=(--embeddings "$data/embeddings.safetensors" --train-tensor train --augmented train_augmented
  --locations "$data/train.csv" --validation-tensor validation --validation-locations "$data/validation.csv"
  --test-tensor test --test-locations "$data/test.csv" --preset "$preset" --device "$device")

# table NAME TITLE ARGUMENTS…: one section, with the command that made it. What is no Markdown is fenced (FENCE='```').
table() {
  local name=$1 title=$2; shift 2
  [ ! -e "$parts/$name" ] || return 0
  if [ -n "${TABLES:-}" ] && [[ " $TABLES " != *" $name "* ]]; then return 0; fi
  local shown=" $* "; shown=${shown//"$data"/DATA}; shown=${shown# }
  local fence=${FENCE:-}
  {
    printf '\n## %s\n\n`locdiff-lab %s`\n\n' "$title" "${shown% }"
    [ -z "$fence" ] || echo "$fence"
    "$lab" "$@"
    [ -z "$fence" ] || echo "$fence"
  } >"$parts/$name.partial"
  mv "$parts/$name.partial" "$parts/$name"
  printf '%s done, %s s\n' "$name" "$SECONDS" >&2
}

running=()
for ((seed = 0; seed < seeds; seed++)); do
  table "1$seed" "All methods on the same embeddings, seed $seed" compare --methods main "${split[@]}" --seeds 1 --seed "$seed" \
    --out "$parts/compare-$seed" --force --markdown & running+=($!)
done
# piece NAME TITLE COMMAND TABLE…: a section made by a script; COMMAND is what is shown.
piece() {
  local name=$1 title=$2 shown=$3; shift 3
  [ ! -e "$parts/$name" ] || return 0
  if [ -n "${TABLES:-}" ] && [[ " $TABLES " != *" $name "* ]]; then return 0; fi
  { printf '\n## %s\n\n`%s`\n\n' "$title" "$shown"; "$@"; } >"$parts/$name.partial"
  mv "$parts/$name.partial" "$parts/$name"
  printf '%s done, %s s\n' "$name" "$SECONDS" >&2
}
here=$(dirname "$0")
paper_arm() { DEVICE=$device SEEDS=$seeds "$here/paper_arm.sh" "$(dirname "$locdiff")" "$data" "$parts/paper-arm" >&2 && "$here/paper_arm.py" "$data" "$parts/paper-arm"; }
held_out() {
  "$here/held_out_calibration.py" split "$data" "$parts/held-out" && "$here/held_out_calibration.py" run "$locdiff" "$here/../models/streetview-l31" "$data" "$parts/held-out" &&
    "$here/held_out_calibration.py" table "$parts/held-out"
}
hybrid() { DEVICE=$device SEEDS=$seeds "$here/hybrid_today.sh" "$(dirname "$locdiff")" "$data" "$parts/hybrid" >&2 && "$here/hybrid_today.py" "$data" "$parts/hybrid"; }
piece 05 "The paper's arm: L = 47, its loss, network and sampler" "scripts/paper_arm.sh FOLDER DATA OUT; scripts/paper_arm.py DATA OUT" paper_arm & running+=($!)
piece 06 "The bundled model's probabilities on rows that nothing was fitted on" "scripts/held_out_calibration.py" held_out & running+=($!)
piece 07 "LocDiff-H: the bundled model beside a gallery of the training photos" "scripts/hybrid_today.sh FOLDER DATA OUT; scripts/hybrid_today.py DATA OUT" hybrid & running+=($!)
for process in "${running[@]}"; do wait "$process"; done
FENCE='```' table 75 "Fewer numbers a code" reproduce drift -L 47 --keep-dimensions 1024 --places "$data/train.csv" -n 2000
table 80 "Times" reproduce timing --device "$device" --steps 200 --photos 16 --markdown
running=()
table 20 "Unseen places: no training photo within 200 km of a test photo" compare \
  --methods knn,cells,geoclip-gallery,geoclip-grid,rfm-s2,locdiff --hide-km 200 "${split[@]}" --seeds "$seeds" --markdown & running+=($!)
table 30 "Gallery against even grids" reproduce anchors --sizes 21000,100000,500000,1000000 "${split[@]}" --seeds 1 --markdown & running+=($!)
table 40 "Losses" reproduce losses "${split[@]}" --seeds 1 --markdown & running+=($!)
table 50 "Location encoders, losses and readings" reproduce encoders "${split[@]}" --steps 1000 --seeds "$seeds" --markdown & running+=($!)
table 60 "Widths" reproduce widths "${split[@]}" --seeds "$seeds" --markdown & running+=($!)
table 70 "Degrees" reproduce degrees "${split[@]}" --steps 1500 --seeds 1 --markdown & running+=($!)
for process in "${running[@]}"; do wait "$process"; done
if [ ! -e "$parts/76" ] && [[ -z "${TABLES:-}" || " $TABLES " == *" 76 "* ]]; then
  printf '\n## Fewer numbers a code, trained\n\n`scripts/kept_dimensions.sh LOCDIFF DATA %s 1000`\n\n' "$device" >"$parts/76.partial"
  "$(dirname "$0")/kept_dimensions.sh" "$locdiff" "$data" "$device" 1000 >>"$parts/76.partial"
  mv "$parts/76.partial" "$parts/76"
fi
running=()
looks() { # NAME WHAT NETWORK DEGREE SHARE
  table "$1" "Sampling or a single evaluation, $2" reproduce diffusion --network "$3" "${split[@]}" --degrees "$4" --shares "$5" --seeds "$seeds" --markdown
}
looks 71 "the default network" bayes 31 1 & running+=($!)
looks 72 "the paper's CS-UNet: L = 15, and L = 31 with a tenth of the photos" cs-unet 15 0.1 & running+=($!)
looks 73 "the paper's CS-UNet: L = 23, and L = 31 with three tenths" cs-unet 23 0.3 & running+=($!)
looks 74 "the paper's CS-UNet: L = 31" cs-unet 31 1 & running+=($!)
for process in "${running[@]}"; do wait "$process"; done

if ls "$parts"/compare-*/compare.json >/dev/null 2>&1; then
  { printf '## All methods, mean of %s seeds\n\n`scripts/seed_means.py` of the runs below\n\n' "$(ls -d "$parts"/compare-* | wc -l)"
    "$here/seed_means.py" "$data/test.csv" "$parts"/compare-*; } >"$parts/00"
fi
docs=$here/../docs
"$here/results_join.py" "$parts" "$docs/results.md" "$(date -u +%F)" "$docs/corrections.md" "$docs/sampling.md" >"$out.partial"
mv "$out.partial" "$out"

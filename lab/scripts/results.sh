#!/usr/bin/env bash
# Regenerate docs/results.md, which is never edited by hand.
#
#   lab/scripts/results.sh FOLDER DATA [OUT]
#
# FOLDER holds the programs locdiff and locdiff-lab (target/release), DATA is a folder with embeddings.safetensors (train, train_augmented, validation, test) and the three
# CSV files (an absolute path). PRESET (full), DEVICE (auto), SEEDS (3), PARTS (a folder for the single tables) and TABLES (the
# numbers of those to make, by default all) may be set, STEPS (2000) and DISTANCES (km) too. Minutes on a GPU, a night on two cores. The seeds of a table run at
# once, a process each; a table that fails leaves the old file as it was, and tables that were not asked for stay as they were, with their date (lab/scripts/results_join.py).
set -euo pipefail
locdiff=$1/locdiff lab=$1/locdiff-lab data=$2 out=${3:-"$(dirname "$0")/../../docs/results.md"}
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

# wanted NAME: whether a table is to be made in this run.
wanted() { [ ! -e "$parts/$1" ] && [[ -z "${TABLES:-}" || " $TABLES " == *" $1 "* ]]; }
# by_seed FOLDER ARGUMENTS…: a process for each seed of `locdiff-lab`, whose answers go to FOLDER-SEED.
by_seed() {
  local folder=$1 own=() seed; shift
  for ((seed = 0; seed < seeds; seed++)); do
    "$lab" "$@" "${split[@]}" --seeds 1 --seed "$seed" --out "$parts/$folder-$seed" --force >/dev/null & own+=($!)
  done
  for process in "${own[@]}"; do wait "$process"; done
}
running=()
# Of the main table a process for each group of methods and seed, as many at once as there are: one GPU serves them all.
steps=${STEPS:-2000}
groups=(planet,cells,cplanet,isns geoclip-gallery,geoclip-grid,vmf,vmf-mixture diff-r3 fm-r3 rfm-s2 locdiff,locdiff-knn locdiff-cs-unet locdiff-paper)
certain=constant,bundled,knn,bundled-knn
# grouped FOLDER GROUPS ARGUMENTS…: compare of each group and seed; the files of a seed go to FOLDER-SEED. Methods without chance run once.
grouped() {
  local folder=$1 own=() seed group first=$2; shift 2
  for group in $first; do
    for ((seed = 0; seed < seeds; seed++)); do
      if [[ ",$certain," == *",${group%%,*},"* && $seed != 0 ]] || [ -e "$parts/$folder-$seed/$group.done" ]; then continue; fi
      mkdir -p "$parts/$folder-$seed"
      { "$lab" compare --methods "$group" "${split[@]}" --seeds 1 --seed "$seed" --out "$parts/$folder-$seed/$group" "$@" --force >/dev/null 2>"$parts/$folder-$seed/$group.log"
        cp "$parts/$folder-$seed/$group"/*-"$seed"*.{csv,txt} "$parts/$folder-$seed/"; echo "$SECONDS" >"$parts/$folder-$seed/$group.done"; } & own+=($!)
    done
  done
  for process in "${own[@]}"; do wait "$process" || echo "$folder: a process failed" >&2; done
}
if wanted 00 && [ ! -e "$parts/compare-0/$certain.done" ]; then grouped compare "${certain} ${groups[*]}" --steps "$steps" & running+=($!); fi
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
paper_arm() {
  [ -e "$parts/paper-arm/bayes-0.best" ] || DEVICE=$device SEEDS=$seeds "$here/paper_arm.sh" "$(dirname "$locdiff")" "$data" "$parts/paper-arm" >&2
  "$here/paper_arm.py" "$data" "$parts/paper-arm"
}
held_out() {
  "$here/held_out_calibration.py" split "$data" "$parts/held-out" && "$here/held_out_calibration.py" run "$locdiff" "$here/../../models/streetview-l31" "$data" "$parts/held-out" &&
    "$here/held_out_calibration.py" table "$parts/held-out"
}
hybrid() { DEVICE=$device SEEDS=$seeds "$here/hybrid_today.sh" "$(dirname "$locdiff")" "$data" "$parts/hybrid" >&2 && "$here/hybrid_today.py" "$data" "$parts/hybrid"; }
piece 05 "The paper's arm: L = 47, its loss, network and sampler" "lab/scripts/paper_arm.sh FOLDER DATA OUT; lab/scripts/paper_arm.py DATA OUT" paper_arm & running+=($!)
piece 06 "The bundled model's probabilities on rows that nothing was fitted on" "lab/scripts/held_out_calibration.py" held_out & running+=($!)
# Encodings with both losses: every method of compare that is named after one.
encodings=shdd,xyz,sphere-c-plus,geoclip,siren-sh,rff,wrap,dfs,grid,theory,nerf,sphere-c,sphere-m,sphere-m-plus,rbf,tile
encoders() {
  [ -e "$parts/encoders-0" ] || by_seed encoders compare --steps 1000 --methods \
    "shdd-mse,shdd-samples,locdiff-cs-unet,encoder-${encodings//,/,encoder-},density-${encodings//,/,density-}"
  cat <<'END'
Network cs-unet everywhere, 1000 steps, batch 512; n = 600 test photos. The density loss reads the network's output e as q(x) ∝ exp(e·φ(x)) over 49,152 pixels, φ the encoding: for SHDD that is nll, for xyz a von Mises–Fisher
density. Encodings with both losses share network, steps, standardised targets and diffusion; "SHDD with its codec" has LocDiff's own training besides (codes blurred by 100 km, its rate). Exponent, floor, kernel and window of every row by validation. Codes of "SHDD with its codec, 16 samples" are decoded without a learned part; other samples by a learned decoder.

END
  "$here/encoder_means.py" "$data/test.csv" "$parts"/encoders*-[0-9]
}
looks() { # NAME NETWORK DEGREES SHARES CHAINS
  local own=() seed
  for ((seed = 0; seed < seeds; seed++)); do
    [ -e "$parts/$1-$seed.json" ] || { "$lab" reproduce diffusion --network "$2" "${split[@]}" --degrees "$3" --shares "$4" --chains "$5" --seeds 1 --seed "$seed" --json >"$parts/$1-$seed.partial" &&
      mv "$parts/$1-$seed.partial" "$parts/$1-$seed.json"; } & own+=($!)
  done
  for process in "${own[@]}"; do wait "$process"; done
  "$here/diffusion_means.py" "$data/test.csv" "$parts/$1"-[0-9]*.json
}
shown="--embeddings DATA/embeddings.safetensors … --preset $preset --device $device --seeds 1 --seed 0 …"
piece 07 "LocDiff-H: the bundled model beside a gallery of the training photos" "lab/scripts/hybrid_today.sh FOLDER DATA OUT; lab/scripts/hybrid_today.py DATA OUT" hybrid & running+=($!)
for process in "${running[@]}"; do wait "$process"; done
FENCE='```' table 75 "Fewer numbers a code" reproduce drift -L 47 --keep-dimensions 1024 --places "$data/train.csv" -n 2000
table 80 "Times" reproduce timing --device "$device" --steps 200 --photos 16 --markdown
running=()
# Training photos near a test or validation photo are left out: choices are made by photos as unseen as those reported on.
distances=${DISTANCES:-100 250 500 1000}
transfer=(constant,knn planet,cells,cplanet,isns geoclip-gallery,geoclip-grid,vmf-mixture rfm-s2 locdiff,locdiff-knn locdiff-cs-unet)
unseen() {
  local km
  for km in $distances; do [ -e "$parts/unseen-$km-0/constant,knn.done" ] || grouped "unseen-$km" "${transfer[*]}" --steps 1000 --hide-km "$km" & done
  wait
  echo 'Training photos within a distance of a test photo or of a validation photo of collection a are left out. The default has seen them and is no row here.'
  for km in $distances; do
    printf '\n### No training photo within %s km: %s photos to train on\n\n' "$km" "$(grep -ho '^[0-9]* training' "$parts/unseen-$km-0/constant,knn/compare.md" | head -1 | cut -d' ' -f1)"
    "$here/seed_means.py" "$data/test.csv" "$parts/unseen-$km"-[0-9] --brief
  done
}
piece 20 "Unseen places: no training photo within 100 to 1,000 km" "locdiff-lab compare --steps 1000 --methods ${transfer[*]} --hide-km KM $shown; lab/scripts/seed_means.py" unseen & running+=($!)
table 30 "Gallery against even grids" reproduce anchors --sizes 21000,100000,500000,1000000 "${split[@]}" --seeds "$seeds" --markdown & running+=($!)
table 40 "Losses" reproduce losses "${split[@]}" --seeds "$seeds" --markdown & running+=($!)
piece 50 "Location encoders, losses and readings" "locdiff-lab compare --steps 1000 --methods shdd-mse,…,encoder-…,density-… $shown; lab/scripts/encoder_means.py" encoders & running+=($!)
table 60 "Widths" reproduce widths "${split[@]}" --seeds "$seeds" --markdown & running+=($!)
table 70 "Degrees" reproduce degrees "${split[@]}" --steps 1500 --seeds "$seeds" --markdown & running+=($!)
for process in "${running[@]}"; do wait "$process"; done
if [ ! -e "$parts/76" ] && [[ -z "${TABLES:-}" || " $TABLES " == *" 76 "* ]]; then
  printf '\n## Fewer numbers a code, trained\n\n`lab/scripts/kept_dimensions.sh LOCDIFF DATA %s 1000`\n\n' "$device" >"$parts/76.partial"
  "$(dirname "$0")/kept_dimensions.sh" "$locdiff" "$data" "$device" 1000 >>"$parts/76.partial"
  mv "$parts/76.partial" "$parts/76"
fi
running=()
piece 71 "Sampling or a single evaluation, the default network" "locdiff-lab reproduce diffusion --network bayes --degrees 31 --shares 1 --json $shown; lab/scripts/diffusion_means.py" looks 71 bayes 31 1 16 & running+=($!)
piece 74 "Sampling or a single evaluation, the paper's CS-UNet" "locdiff-lab reproduce diffusion --network cs-unet --degrees 31 --shares 1 --chains 16,128 --json $shown; lab/scripts/diffusion_means.py" looks 74 cs-unet 31 1 16,128 & running+=($!)
for process in "${running[@]}"; do wait "$process"; done

if [ -e "$parts/compare-0" ]; then
  { printf '## All methods, mean of %s seeds\n\n`locdiff-lab compare --methods GROUP --steps %s %s`, GROUP one of %s; `lab/scripts/seed_means.py`\n\n' "$(ls -d "$parts"/compare-[0-9] | wc -l)" "$steps" "$shown" "$(printf '%s; ' "$certain" "${groups[@]}" | sed 's/; $//')"
    "$here/seed_means.py" "$data/test.csv" "$parts"/compare-[0-9]
    reports=("$parts"/compare-0/*/compare.json)
    blank=$(tr -d '[:space:]' <"${reports[0]}" | grep -o '"blank_rows":\[[^]]*' | tr -dc '0-9,')
    printf '\nSizes are tried from half to twice the usual number of cells or components, and on from there. Of the flows'"'"' sampler the least of three numbers of steps is chosen. Flows take five times the steps, LocDiff with the loss and sampler of the paper 25 times. The places of its row are read through the window that validation chose, as those of other rows, and its density is that of the pooled code of 16 samples, so its NLL measures the draws as well; the mean of places of Algorithm 2 is in the next section. Only the default has map factors here; "Map factors" gives them to its rivals.\n'
    printf '\n### Without the test rows that show nothing (%s, from 0)\n\n"Sorry, we have no imagery here": their embeddings have 23 or 24 copies more than 500 km away in the training rows, where such copies are left out. The blocks of the intervals are drawn anew.\n\n' "${blank//,/, }"; "$here/seed_means.py" "$data/test.csv" "$parts"/compare-[0-9] "--without=$blank"
    grep -e '^row' -e ',b$' "$data/validation.csv" >"$parts/validation-b.csv"
    printf '\n### Validation b: nothing is chosen by it\n\nThe default'"'"'s radii were fitted on a and b.\n\n'; "$here/seed_means.py" "$parts/validation-b.csv" "$parts"/compare-[0-9] --apart; } >"$parts/00"
fi
docs=$here/../../docs
"$here/results_join.py" "$parts" "$docs/results.md" "$(date -u +%F)" >"$out.partial"
mv "$out.partial" "$out"

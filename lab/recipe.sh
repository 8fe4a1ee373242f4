#!/usr/bin/env bash
# The paper's main tables from the published data: embed, train, calibrate, evaluate, tables. lab/recipe.md says what to download.
#
#     lab/recipe.sh [--dry-run] DATA [OUT]          OUT is `paper` unless given; --dry-run prints what is missing and every command
#
# A stage works in OUT/STAGE.partial, which is renamed to OUT/STAGE at its end. A stage whose folder exists is skipped, so the same
# command continues after any stop. To make a stage again, delete its folder and those of the stages that follow from it.
# Sets of photos that are missing are named and left out.
#
# Settings (environment):
#   PROGRAMS      folder of locdiff and locdiff-lab (target/release)
#   ENCODER       folder of the image encoder (DATA/clip-vit-large-patch14), or `bundled`
#   TRAIN_ON      "mp16 osv5m"
#   BENCHMARKS    "im2gps im2gps3k yfcc4k yfcc26k gws15k osv5m"
#   TRAIN         more flags of `locdiff train`: "--degree 23 --steps 20000"
#   HELD_OUT      share of the land to validate and calibrate with (0.002)
#   SHARD_PHOTOS  photos of a shard of embeddings (10000)
#   DEVICE        auto, cpu, cuda, cuda:N
#   SEED          0
set -euo pipefail

dry=''
if [ "${1:-}" = --dry-run ]; then dry=1; shift; fi
[ $# -ge 1 ] && [ $# -le 2 ] || { echo "usage: lab/recipe.sh [--dry-run] DATA [OUT]" >&2; exit 2; }
data=$1 out=${2:-paper}
programs=${PROGRAMS:-$(dirname "$0")/../target/release}
encoder=${ENCODER:-$data/clip-vit-large-patch14} train_on=${TRAIN_ON:-mp16 osv5m}
benchmarks=${BENCHMARKS:-im2gps im2gps3k yfcc4k yfcc26k gws15k osv5m}
held_out=${HELD_OUT:-0.002} shard_photos=${SHARD_PHOTOS:-10000} device=${DEVICE:-auto} seed=${SEED:-0}
read -ra more <<<"${TRAIN:-}"
loss=nll degree=47 steps=750000
for ((k = 0; k + 1 < ${#more[@]}; k++)); do
  case ${more[k]} in --loss) loss=${more[k + 1]} ;; --degree) degree=${more[k + 1]} ;; --steps) steps=${more[k + 1]} ;; esac
done

say() { printf '%s\n' "$*" >&2; }
run() { if [ -n "$dry" ]; then say "  $*"; else "$@"; fi; }
# A command whose output is a file.
save() { local file=$1; shift; if [ -n "$dry" ]; then say "  $* > $file"; else "$@" >"$file"; fi; }
locdiff() { run "$programs/locdiff" "$@"; }
lab() { run "$programs/locdiff-lab" "$@"; }

# stage NAME FUNCTION ARGUMENTS…: the function makes its files in the folder $work.
stage() {
  local name=$1; shift
  if [ -e "$out/$name" ]; then say "$name: done before"; return; fi
  say "$name"
  work=$out/$name.partial
  run mkdir -p "$work"
  "$@"
  run mv "$work" "$out/$name"
}

# find_set SET: the arguments of `batch plan` in `photos`, those of `recipe truth` in `places`; fails where the set is missing.
find_set() {
  local folder=$data/${1%-test} split=train pictures='' lists list
  case $1 in
    mp16) lists="MP16_Pro_filtered.csv MP16_Pro_places365.csv mp16_places365.csv mp16.csv" ;;
    osv5m) lists=train.csv pictures=images/train ;;
    osv5m-test) lists=test.csv pictures=images/test split=test ;;
    yfcc4k) lists="info.txt yfcc4k_places365.csv yfcc4k.csv" ;;
    yfcc26k) lists="yfcc25600_places365.csv yfcc26k.csv" ;;
    gws15k) lists="gws15k.csv GWS15k.csv gws15k_places365.csv" ;;
    *) lists="$1_places365.csv $1.csv" ;;
  esac
  for list in $lists; do
    for list in "$folder/$list" "$folder/metadata/$list"; do
      if [ -f "$list" ]; then
        [ -d "$folder/$pictures" ] || { say "missing: the pictures of $1, sought in $folder/$pictures"; return 1; }
        photos=("$list" --images "$folder/$pictures") places=("$list")
        return
      fi
    done
  done
  [ -d "$folder/$split" ] && folder=$folder/$split
  shopt -s nullglob
  photos=("$folder"/*.tar "$folder"/*.parquet)
  shopt -u nullglob
  places=("${photos[@]}")
  [ "${#photos[@]}" -gt 0 ] || { say "missing: the list ${lists%% *} of $1, sought in $folder (lab/recipe.md)"; return 1; }
}

embed() { # test | train
  local own=()
  [ "$encoder" = bundled ] || own=(--encoder "$encoder")
  [ -e "$work/job/job.json" ] ||
    locdiff batch plan "${photos[@]}" --task embed --located --shard-photos "$shard_photos" --out "$work/job" "${own[@]}"
  locdiff batch run "$work/job" --device "$device"
  locdiff batch merge "$work/job" --out "$work/embeddings.safetensors" --dtype f16 --force
  [ "$1" = train ] || lab recipe truth "${places[@]}" --out "$work/truth.csv" --force
}

train() { # SET
  locdiff train --preset paper --embeddings "$out/embed-$1/embeddings.safetensors" --locations "$out/embed-$1/embeddings.csv" \
    --validation-share "$held_out" --seed "$seed" --out "$work/run" --resume --loss "$loss" --device "$device" "${others[@]}"
}

calibrate() { # SET
  run mkdir -p "$work/model"
  run cp "$out/train-$1/run/config.json" "$out/train-$1/run/model.safetensors" "$work/model/"
  lab recipe held-out "$out/embed-$1/embeddings.csv" --share "$held_out" --seed "$seed" --out "$work/held-out.txt" --force
  locdiff calibrate --model "$work/model" --embeddings "$out/embed-$1/embeddings.safetensors" --truth "$out/embed-$1/embeddings.csv" \
    --rows "$work/held-out.txt" --seed "$seed" --device "$device"
}

evaluate() { # BENCHMARK EMBEDDED MODEL
  locdiff evaluate --benchmark "$1" --truth "$2/truth.csv" --model "$3" --embeddings "$2/embeddings.safetensors" \
    --embedded "$2/embeddings.csv" --by continent --csv "$work/report.csv" --html "$work/report.html" --seed "$seed" --device "$device" --force
}

# LocDiff-H: GeoCLIP's retrieval near the samples of the model, by the paper's rule.
hybrid() { # BENCHMARK EMBEDDED MODEL
  locdiff sample --gallery-rule paper --gallery "$data/geoclip/gallery.csv" --geoclip "$data/geoclip" --model "$3" \
    --embeddings "$2/embeddings.safetensors" --seed "$seed" --device "$device" --out "$work/places.csv" --force
  save "$work/answers.csv" python3 -c '
import csv, sys
names = [row["path"] for row in csv.DictReader(open(sys.argv[1], newline=""))]
answers = csv.writer(sys.stdout)
answers.writerow(["id", "lat", "lon"])
answers.writerows([name, row["lat"], row["lon"]] for name, row in zip(names, csv.DictReader(open(sys.argv[2]))))
' "$2/embeddings.csv" "$work/places.csv"
  locdiff evaluate --benchmark "$1" --truth "$2/truth.csv" --predictions "$work/answers.csv" --allow-absent --by continent \
    --csv "$work/report.csv" --html "$work/report.html" --seed "$seed" --force
}

tables() {
  local read="read off the calibrated density" by="an encoder of the user's"
  [ -n "$has_densities" ] || read="decoded from 16 samples together"
  [ "$encoder" != bundled ] || by="the bundled encoder"
  local about="LocDiff, L = $degree, $steps steps, loss $loss, flags of train beside the paper's preset: ${TRAIN:-none}; $by, answers $read; OSV-5M by a model trained on it, all others by one trained on MP16 (the paper's YFCC4k is of a model trained on YFCC)"
  save "$work/tables.md" python3 "$(dirname "$0")/scripts/paper_tables.py" "$out" --about "$about"
  save "$work/tables.json" python3 "$(dirname "$0")/scripts/paper_tables.py" "$out" --about "$about" --json
}

# The loss is given once; losses without densities are not calibrated.
others=()
for ((k = 0; k < ${#more[@]}; k++)); do
  if [ "${more[k]}" = --loss ]; then k=$((k + 1)); else others+=("${more[k]}"); fi
done
has_densities=''
case $loss in nll | kl) has_densities=1 ;; esac

settings="encoder $encoder; train on $train_on; train ${TRAIN:-}; held out $held_out; seed $seed"
if [ -z "$dry" ]; then
  mkdir -p "$out"
  exec 9>"$out/lock"
  flock -n 9 || { say "error: another run works in $out"; exit 1; }
  [ -e "$out/settings" ] || printf '%s\n' "$settings" >"$out/settings"
  [ "$(cat "$out/settings")" = "$settings" ] ||
    { say "error: $out was made with other settings ($(cat "$out/settings")): name another folder"; exit 1; }
fi
[ "$encoder" = bundled ] || [ -e "$encoder/config.json" ] || [ -e "$encoder/encoder.json" ] ||
  { say "missing: the encoder CLIP ViT-L/14, sought in $encoder"; [ -n "$dry" ] || exit 1; }

models=''
for set in $train_on; do
  find_set "$set" || continue
  stage "embed-$set" embed train
  stage "train-$set" train "$set"
  [ -z "$has_densities" ] || stage "calibrate-$set" calibrate "$set"
  models="$models $set "
done
[ -n "$models" ] || { say "error: there is nothing to train on in $data"; exit 1; }
for benchmark in $benchmarks; do
  if [ "$benchmark" = osv5m ]; then set=osv5m test=osv5m-test; else set=mp16 test=$benchmark; fi
  [[ $models == *" $set "* ]] || { say "$benchmark: left out, there is no model of $set"; continue; }
  find_set "$test" || continue
  stage "embed-$test" embed test
  model=$out/train-$set/run
  if [ -n "$has_densities" ]; then model=$out/calibrate-$set/model; fi
  stage "evaluate-$benchmark" evaluate "$benchmark" "$out/embed-$test" "$model"
  # The benchmarks of which the paper has a row of LocDiff-H.
  if [ -e "$data/geoclip/geoclip.json" ] && [[ " im2gps3k yfcc26k gws15k " == *" $benchmark "* ]]; then
    stage "hybrid-$benchmark" hybrid "$benchmark" "$out/embed-$test" "$out/train-$set/run"
  fi
done
# Cheap, and of whatever is there: made in every run.
run rm -rf "$out/tables"
stage tables tables
[ -n "$dry" ] || cat "$out/tables/tables.md"

#!/usr/bin/env bash
# Two binaries side by side on the same work, in turns: user time on one thread, the median of the rounds, and whether the answers
# are the same bytes.
#     bench/against.sh OLD NEW PHOTOS EMBEDDINGS [TENSOR [ROUNDS]]
# PHOTOS is a folder, EMBEDDINGS a .safetensors file (tensor `test` unless told), 5 rounds unless told.
set -euo pipefail
[ $# -ge 4 ] || { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
old=$1 new=$2 photos=$3 embeddings=$4 tensor=${5:-test} rounds=${6:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export RAYON_NUM_THREADS=1
TIMEFORMAT=%U

# run BINARY NAME WORK...
run() {
  local binary=$1 name=$2
  shift 2
  { time "$binary" locate --device cpu --json "$@" >"$folder/$name.jsonl" 2>"$folder/$name.log"; } 2>>"$folder/$name.times" ||
    { cat "$folder/$name.log" >&2; exit 1; }
}
median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }

compare() {
  local what=$1
  shift
  rm -f "$folder"/*
  for _ in $(seq "$rounds"); do
    run "$old" old "$@"
    run "$new" new "$@"
  done
  local a b
  a=$(median "$folder/old.times") b=$(median "$folder/new.times")
  echo "$what: old $a s ($(sort -n "$folder/old.times" | paste -sd' ')), new $b s ($(sort -n "$folder/new.times" | paste -sd' ')), old/new $(awk "BEGIN{printf \"%.3f\", $a / $b}")"
  if cmp --silent "$folder/old.jsonl" "$folder/new.jsonl"; then
    echo "  the same bytes, $(wc -l <"$folder/new.jsonl") answers"
  else
    echo "  the answers differ in $(diff "$folder/old.jsonl" "$folder/new.jsonl" | grep -c '^>') of $(wc -l <"$folder/new.jsonl") lines"
  fi
}
compare photos "$photos"
compare embeddings --embeddings "$embeddings" --tensor "$tensor"

#!/usr/bin/env bash
# Makes every figure of the part "Albums" of docs/results.md.
#   lab/scripts/album_figures.sh SHARED OUT [ROW …]      SHARED holds data/trips and data/streetview; rows: see the end of this file
# Builds with cargo, or takes LOCDIFF=path/to/locdiff. PYTHON: one with numpy. PART=validation (for choosing; test is looked at once) and SEEDS="0 1 2".
# Albums, tables and answers lie under OUT; a row that is there is made again.
set -euo pipefail
cd "$(dirname "$0")/../.."
shared=$(realpath "$1") out=$(mkdir -p "$2" && realpath "$2")
shift 2
part=${PART:-test} seeds=${SEEDS:-0 1 2} python=${PYTHON:-python3}
if [ -z "${LOCDIFF:-}" ]; then
  cargo build --release --quiet -p locdiff-cli --bin locdiff
  LOCDIFF=target/release/locdiff
fi

# A name, then options of lab/scripts/album_trips.py: albums of all seeds as one table.
albums() {
  local name=$1 folders=()
  shift
  for seed in $seeds; do
    "$python" lab/scripts/album_trips.py --shared "$shared" --rows "$part" --seed "$seed" --out "$out/$name-$seed" "$@" >/dev/null
    folders+=("$out/$name-$seed")
  done
  "$python" lab/scripts/album_trips.py --join "${folders[@]}" --out "$out/$name"
  rm -r "${folders[@]}"
}

# The albums of a name, judged; more options of `locdiff evaluate` behind.
judged() {
  local name=$1
  shift
  "$LOCDIFF" evaluate --album "$out/$name/trips.csv" --embeddings "$out/$name/embeddings.npy" --device cpu --replicates 500 --quiet "$@" |
    tee "$out/$name/scores.txt"
}

both() {
  local name=$1
  shift
  printf '\n== %s (%s, seeds %s): album_trips.py %s\n' "$name" "$part" "$seeds" "$*"
  albums "$name" "$@"
  judged "$name" --trust-clocks
}

traces() {
  printf '\n== traces: time and tags alone on data/trips/%s.csv (t: trips, w: everyday life, h: within 30 km)\n' "$part"
  cargo run --release --quiet -p locdiff-lab --example traces -- "$shared/data/trips/$part.csv" 2>&1 >"$out/traces.csv" | tee "$out/traces.txt"
}

clock() {
  local name=$1
  shift
  printf '\n== %s: album_trips.py --kind stays --half 1 --albums 14 --gps 0.3 %s\n' "$name" "$*"
  albums "$name" --kind stays --half 1 --albums 14 --gps 0.3 "$@"
  judged "$name" | grep -E 'albums,|clocks set' || true
}

# One album of 10,000 photos: processor time and memory from embeddings on, cut into trips as it is by default, and as one trip.
many() {
  "$python" lab/scripts/album_trips.py --shared "$shared" --rows "$part" --kind stays --gps 0.1 --seed 3 --albums 290 --in-a-row 10000 --out "$out/many"
  for how in "" --one-trip; do
    printf '\n== many: locdiff album --embeddings … --times … --json --trust-clocks %s\n' "$how"
    "$python" - "$LOCDIFF" album --embeddings "$out/many/embeddings.npy" --times "$out/many/trips.csv" --json --trust-clocks --device cpu --quiet $how <<'PY'
import resource, subprocess, sys, time
begin = time.time()
lines = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True).stdout.count(b"\n")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
spent = used.ru_utime + used.ru_stime
print(f"{lines} photos, {1000 * spent / lines:.1f} ms of processor time each, {time.time() - begin:.0f} s by the clock, {used.ru_maxrss / 1024:.0f} MiB at the most")
PY
  done
}

row() {
  case "$1" in
    traces) traces ;;
    in-place) both in-place --kind traces --gps 0.1 --albums 1000 ;;
    turned) both turned --kind turned --gps 0.1 --albums 1000 ;;
    strange) both strange --kind strange --gps 0 --albums 60 ;;
    strange-tags) both strange-tags --kind strange --gps 0.1 --albums 60 ;;
    strange-turned) both strange-turned --kind turned --photos im2gps3k --gps 0.1 --albums 60 ;;
    stays-0) both stays-0 --kind stays --half 1 --albums 30 --gps 0 ;;
    single-0) both single-0 --kind single --half 1 --albums 60 --gps 0 ;;
    stays-10) both stays-10 --kind stays --half 1 --albums 30 --gps 0.1 ;;
    stays-30) both stays-30 --kind stays --half 1 --albums 30 --gps 0.3 ;;
    strays) both strays --kind stays --half 1 --albums 30 --gps 0.3 --strays 0.03 ;;
    blocks) both blocks --kind stays --half 1 --albums 30 --gps 0.3 --blocks --view-noise 1 ;;
    clocks) clock clocks --wrong-clock 8 ;;
    right-clocks) clock right-clocks --two-cameras ;;
    many) many ;;
    *) echo "no row $1" >&2; exit 2 ;;
  esac
}

if [ $# = 0 ]; then
  set -- traces in-place turned strange strange-tags strange-turned stays-0 single-0 stays-10 stays-30 strays blocks clocks right-clocks many
fi
for one in "$@"; do row "$one"; done

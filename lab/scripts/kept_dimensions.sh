#!/usr/bin/env bash
# The appendix's low-pass reduction in training: L = 47 whole and with 1,024 of its 2,304 numbers, as a Markdown table.
#     lab/scripts/kept_dimensions.sh LOCDIFF DATA DEVICE [STEPS]      DATA as for lab/scripts/results.sh
# Each is trained alone, calibrated on validation and judged on test; the network is the paper's, whose step the reduction is for.
set -euo pipefail
locdiff=$1 data=$2 device=$3 steps=${4:-1000}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
e=$data/embeddings.safetensors
echo '| numbers kept | seconds of training | steps/s | most GPU memory, MiB | weights, MB | within 200 / 750 / 2500 km, test |'
echo '|---|---|---|---|---|---|'
for keep in 2304 1024; do
  kept=(); [ "$keep" = 2304 ] || kept=(--keep-dimensions "$keep")
  begin=$(date +%s.%N)
  "$locdiff" train --embeddings "$e" --tensor train --augmented train_augmented --locations "$data/train.csv" \
    --validation-embeddings "$e" --validation-tensor validation --validation-locations "$data/validation.csv" --validate-every 0 \
    --network cs-unet -L 47 --steps "$steps" --device "$device" --out "$work/$keep" "${kept[@]}" >"$work/$keep.log" 2>&1 & process=$!
  most=0
  while kill -0 "$process" 2>/dev/null; do
    now=$(nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits 2>/dev/null | awk -F', ' -v p="$process" '$1 == p {print $2}' || true)
    [ "${now:-0}" -le "$most" ] || most=$now
    sleep 0.5
  done
  wait "$process" || { tail -3 "$work/$keep.log" >&2; exit 1; }
  seconds=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN {printf "%.1f", b - a}')
  "$locdiff" calibrate --model "$work/$keep" --embeddings "$e" --tensor validation --truth "$data/validation.csv" --export "$work/m$keep" \
    --device "$device" >"$work/$keep.calibrate" 2>&1
  "$locdiff" locate --model "$work/m$keep" --embeddings "$e" --tensor test --truth "$data/test.csv" --device "$device" --json --quiet \
    >"$work/$keep.json" 2>"$work/$keep.locate"
  shares=$(python3 - "$work/$keep.json" "$data/test.csv" <<'P'
import csv, json, math, sys
answers = [answer for answer in map(json.loads, open(sys.argv[1])) if "best" in answer]
truth = list(csv.DictReader(open(sys.argv[2])))
def km(a, b, c, d):
    a, b, c, d = map(math.radians, (a, b, c, d))
    return 2 * 6371.0088 * math.asin(math.sqrt(math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2))
away = [km(float(t["lat"]), float(t["lon"]), a["best"]["lat"], a["best"]["lon"]) for a, t in zip(answers, truth, strict=True)]
print(" / ".join(f"{100 * sum(d <= r for d in away) / len(away):.1f}" for r in (200, 750, 2500)))
P
)
  weights=$(du -bc "$work/m$keep"/*.safetensors | awk 'END {printf "%.1f", $1 / 1e6}')
  rate=$(awk -v n="$steps" -v s="$seconds" 'BEGIN {printf "%.0f", n / s}')
  [ "$most" -gt 0 ] || most="not seen"
  echo "| $keep | $seconds | $rate | $most | $weights | $shares |"
done

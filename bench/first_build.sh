#!/usr/bin/env bash
# What the README's first command costs from a cold clone: wall time, processor time, and the slowest units of the build.
#     bench/first_build.sh [COMMIT]
# Dependencies are fetched before the clock starts. Processor time rises by up to a half when other work shares the cores.
set -euo pipefail
cd "$(dirname "$0")/.."
commit=${1:-HEAD}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet . "$folder/clone"
git -C "$folder/clone" checkout --quiet "$(git rev-parse "$commit")"
cd "$folder/clone"
unset CARGO_TARGET_DIR CARGO_BUILD_JOBS RUSTFLAGS RUSTC_WRAPPER
cargo fetch --locked --quiet

echo "commit $(git rev-parse --short HEAD), $(rustc --version), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
TIMEFORMAT='wall %R s, processor time %U s user + %S s system'
time cargo run --release --timings --bin locdiff -- locate fixtures/vision/china.jpg --map map.html --png map.png 2>build.log

echo "slowest units (s, wall):"
python3 - target/cargo-timings/cargo-timing.html <<'PYTHON'
import json, re, sys
units = json.loads(re.search(r"UNIT_DATA = (\[.*?\]);\n", open(sys.argv[1]).read(), re.S).group(1))
for unit in sorted(units, key=lambda unit: -unit["duration"])[:15]:
    print(f'{unit["duration"]:6.1f}  {unit["name"]}{unit["target"]}')
PYTHON

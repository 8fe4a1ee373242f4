#!/usr/bin/env python3
"""The tables of bench/hybrid_results.md: plain LocDiff, plain retrieval and LocDiff-H on the street-view embeddings.

  cargo build --release -p locdiff-cli && cargo build --release -p locdiff-gallery --example hybrid_study
  scripts/hybrid_study.py --locdiff target/release/locdiff --study target/release/examples/hybrid_study \\
      --data ../shared/data/streetview --out /tmp/hybrid

Trains one model a seed (or takes --models FOLDER/s0, s1, …), samples validation and test photos, builds a gallery of the
training photos, chooses the hybrid's settings on validation and reports on test. Standard library only.
"""
import argparse, os, subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--locdiff", default="target/release/locdiff")
    parser.add_argument("--study", default="target/release/examples/hybrid_study")
    parser.add_argument("--data", default="../shared/data/streetview")
    parser.add_argument("--out", default="/tmp/hybrid")
    parser.add_argument("--models", help="folder with trained models s0, s1, …; trained here where absent")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    embeddings = f"{args.data}/embeddings.safetensors"
    run = lambda *a: subprocess.run(a, check=True)
    os.makedirs(f"{args.out}/samples", exist_ok=True)
    for seed in range(args.seeds):
        model = f"{args.models or args.out}/s{seed}"
        if not os.path.exists(f"{model}/config.json"):
            run(args.locdiff, "train", "--embeddings", embeddings, "--tensor", "train", "--augmented", "train_augmented",
                "--locations", f"{args.data}/train.csv", "--validation-embeddings", embeddings, "--validation-tensor",
                "validation", "--validation-locations", f"{args.data}/validation.csv", "--validate-every", "0",
                "--device", args.device, "--seed", str(seed), "--out", model)
        for split in ("validation", "test"):
            base = f"{args.out}/samples/{split}-{seed}"
            if not os.path.exists(f"{base}.csv"):
                run(args.locdiff, "sample", "--model", model, "--embeddings", embeddings, "--tensor", split, "--device",
                    args.device, "--seed", str(seed), "--out", f"{base}.csv", "--per-sample", f"{base}-each.csv",
                    "--codes", f"{base}-codes.npy")
    run(args.locdiff, "gallery", "build", "--embeddings", embeddings, "--tensor", "train", "--locations",
        f"{args.data}/train.csv", "--out", f"{args.out}/gallery")
    run(args.study, f"{args.out}/gallery", args.data, f"{args.out}/samples", str(args.seeds))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A CLIP tower of random weights, ours beside PyTorch's, in one interleaved run.

    cargo build --release -p locdiff-vision --example tower_bench
    python scripts/clip_fixtures.py /tmp/b32 ViT-B/32
    python scripts/clip_bench.py target/release/examples/tower_bench /tmp/b32 BATCH ROUNDS DEVICE

Needs torch and transformers. On the CPU PyTorch runs f32 with as many threads as there are cores; on CUDA bf16, eager with
SDPA and as a CUDA graph of the compiled model, the faster of which is its figure. Both sides get the same pixels and
give back features in memory; the distance between the features is printed.
"""
import json
import subprocess
import sys
import time

import numpy as np
import torch
from transformers import CLIPVisionModelWithProjection


def noise(shape):
    """The same formula stands in crates/vision/examples/tower_bench.rs."""
    numbers = np.arange(np.prod(shape), dtype=np.uint64) * 2654435761 % 2**32
    return (numbers.astype(np.float32) / np.float32(2**31) - 1).reshape(shape)


def median(times):
    return sorted(times)[len(times) // 2]


def main():
    binary, folder, batch, rounds, device = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    cuda = device.startswith("cuda")
    side = json.load(open(f"{folder}/config.json"))["image_size"]
    ours = subprocess.Popen([binary, folder, str(batch), device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    embedding = np.array(json.loads(ours.stdout.readline()))
    pixels = torch.from_numpy(noise((batch, side, side, 3))).permute(0, 3, 1, 2).contiguous()
    model = CLIPVisionModelWithProjection.from_pretrained(folder, attn_implementation="sdpa").eval()
    with torch.inference_mode():
        exact = model(pixels[:1]).image_embeds[0].double().numpy()
        print(f"distance to PyTorch f32: {np.linalg.norm(embedding - exact) / np.linalg.norm(exact):.1e} relative")
        if cuda:
            model = model.to(device, torch.bfloat16)
        peers = {"eager": model}
        if cuda:
            peers["compiled"] = torch.compile(model, mode="reduce-overhead")

        def peer(model):
            inputs = pixels.to(device, non_blocking=True).to(torch.bfloat16) if cuda else pixels
            return model(inputs).image_embeds.float().cpu()

        for one in peers.values():
            for _ in range(3):
                peer(one)
        times = {"ours": [], **{name: [] for name in peers}}
        for _ in range(rounds):
            ours.stdin.write("\n")
            times["ours"].append(float(ours.stdout.readline()))
            for name, one in peers.items():
                start = time.perf_counter()
                peer(one)
                times[name].append((time.perf_counter() - start) * 1e3)
    ours.stdin.close()
    best = min(median(times[name]) for name in peers)
    for name, all_times in times.items():
        middle = median(all_times)
        print(f"{name:<9} median {middle:9.2f} ms  fastest {min(all_times):9.2f} ms  {batch / middle * 1e3:8.1f} pictures/s  {best / middle:5.2f}× the faster PyTorch")
    print(f"{folder}, batch {batch}, {rounds} rounds, {device}, {torch.get_num_threads()} threads, torch {torch.__version__}")


if __name__ == "__main__":
    main()

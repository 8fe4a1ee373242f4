#!/usr/bin/env python3
"""A CLIP tower of random weights, ours beside PyTorch's, in one interleaved run.

    cargo build --release --manifest-path lab/Cargo.toml --example tower_bench
    python scripts/clip_fixtures.py /tmp/b32 ViT-B/32
    python lab/scripts/clip_bench.py lab/target/release/examples/tower_bench /tmp/b32 BATCH ROUNDS DEVICE [PRECISION]

Needs torch and transformers. On the CPU PyTorch runs f32 and bf16 with as many threads as there are cores, and ONNX Runtime
f32 where it is installed (with onnx and onnxscript, which export the model); the faster f32 one is the figure to compare
with; PRECISION (int8) is ours alone. On CUDA PyTorch runs bf16, eager with SDPA and as a CUDA graph of the compiled model. All sides get the same pixels
and give back features in memory ("whole"); on CUDA also the pass alone is timed, with the pixels already there. The distance
between the features is printed.
"""
import json
import os
import subprocess
import sys
import time

import numpy as np
import torch
from transformers import CLIPVisionModelWithProjection


def noise(shape):
    """The same formula stands in lab/examples/tower_bench.rs."""
    numbers = np.arange(np.prod(shape), dtype=np.uint64) * 2654435761 % 2**32
    return (numbers.astype(np.float32) / np.float32(2**31) - 1).reshape(shape)


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def median(times):
    return sorted(times)[len(times) // 2]


def cpu_peers(folder, pixels):
    """PyTorch in bf16, and ONNX Runtime in f32 where it is installed."""
    half = CLIPVisionModelWithProjection.from_pretrained(folder, attn_implementation="sdpa", dtype=torch.bfloat16).eval()
    peers = {"bf16": lambda inputs: half(inputs.to(torch.bfloat16)).image_embeds}
    try:
        import onnxruntime
    except ImportError:
        return peers
    file = f"{folder}/bench-{len(pixels)}.onnx"
    if not os.path.exists(file):
        class Features(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = CLIPVisionModelWithProjection.from_pretrained(folder, attn_implementation="eager").eval()

            def forward(self, pixels):
                return self.model(pixels).image_embeds

        torch.onnx.export(Features().eval(), (pixels,), file, input_names=["pixels"], output_names=["features"], dynamo=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    peers["onnxruntime"] = lambda inputs: torch.from_numpy(session.run(None, {"pixels": inputs.numpy()})[0])
    return peers


def main():
    binary, folder, batch, rounds, device = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    cuda = device.startswith("cuda")
    side = json.load(open(f"{folder}/config.json"))["image_size"]
    ours = subprocess.Popen([binary, folder, str(batch), device, *sys.argv[6:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    embedding = np.array(json.loads(ours.stdout.readline()))
    pixels = torch.from_numpy(noise((batch, side, side, 3))).permute(0, 3, 1, 2).contiguous()
    model = CLIPVisionModelWithProjection.from_pretrained(folder, attn_implementation="sdpa").eval()
    with torch.inference_mode():
        exact = model(pixels[:1]).image_embeds[0].double().numpy()
        print(f"distance to PyTorch f32: {np.linalg.norm(embedding - exact) / np.linalg.norm(exact):.1e} relative")
        if cuda:
            model = model.to(device, torch.bfloat16)
        peers = {"eager": lambda inputs: model(inputs).image_embeds}
        if cuda:
            compiled = torch.compile(model, mode="reduce-overhead")
            peers["compiled"] = lambda inputs: compiled(inputs).image_embeds
        else:
            peers |= cpu_peers(folder, pixels)

        def whole(one):
            inputs = pixels.to(device).to(torch.bfloat16) if cuda else pixels
            return one(inputs).float().cpu()

        resident = pixels.to(device).to(torch.bfloat16) if cuda else pixels

        def alone(one):
            one(resident)
            torch.cuda.synchronize()

        measures = {"whole": whole, "pass alone": alone} if cuda else {"whole": whole}
        for one in peers.values():
            for _ in range(4):
                for measure in measures.values():
                    measure(one)
        wall = {(name, what): [] for name in ["ours", *peers] for what in measures}
        cpu = {name: 0.0 for name in ["ours", *peers]}
        for _ in range(rounds):
            before = cpu_seconds(ours.pid)
            ours.stdin.write("\n")
            for what, ms in zip(measures, ours.stdout.readline().split(), strict=True):
                wall["ours", what].append(float(ms))
            cpu["ours"] += cpu_seconds(ours.pid) - before
            for name, one in peers.items():
                before = time.process_time()
                for what, measure in measures.items():
                    start = time.perf_counter()
                    measure(one)
                    wall[name, what].append((time.perf_counter() - start) * 1e3)
                cpu[name] += time.process_time() - before
    ours.stdin.close()
    for what in measures:
        best = min(median(wall[name, what]) for name in peers if cuda or name != "bf16")
        for name in ["ours", *peers]:
            times = wall[name, what]
            middle = median(times)
            print(
                f"{what:<10} {name:<11} median {middle:9.2f} ms  fastest {min(times):9.2f} ms  {batch / middle * 1e3:8.1f} pictures/s  "
                f"{best / middle:5.2f}× the faster peer  {cpu[name] / rounds * 1e3:9.1f} ms of CPU time a round"
            )
    print(f"{folder}, batch {batch}, {rounds} rounds, {device}, {torch.get_num_threads()} threads, torch {torch.__version__}")


if __name__ == "__main__":
    main()

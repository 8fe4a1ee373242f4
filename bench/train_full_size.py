#!/usr/bin/env python3
"""Training at full size on one GPU: 4.7 million synthetic embeddings of 768 numbers (f16, 7.2 GB), the paper's settings, the whole
command `locdiff train` beside its bare step and beside PyTorch with a data path of its own.

    cargo build --release --bin locdiff && cargo build --release -p locdiff-lab --example engine_bench
    python3 bench/train_full_size.py --locdiff target/release/locdiff --engine target/release/examples/engine_bench --out OUT

PyTorch runs the whole step as one CUDA graph (bench/engine.py), harmonics of places and of 2,048 fresh anchors included, by the same
recurrence. Its embeddings lie in GPU memory (`resident`, gathered inside the graph), or come from a DataLoader over the file with
workers, pinned memory and asynchronous copies (`loader`).
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import B, NA, T, Engine, Net, ab, time_table

COLUMNS = 768


def lines(places):
    return "\n".join("%.5f,%.5f" % (a, b) for a, b in places) + "\n"


def make(folder, rows):
    """Embeddings that are a noisy function of the place; places in clusters, as photos are."""
    os.makedirs(folder, exist_ok=True)
    path, table = f"{folder}/embeddings.npy", f"{folder}/places.csv"
    if os.path.exists(table):
        return path, table
    start = time.perf_counter()
    g = torch.Generator(device="cuda").manual_seed(1)
    centres = torch.stack([torch.asin(torch.rand(5000, device="cuda", generator=g) * 1.7 - 0.75), (torch.rand(5000, device="cuda", generator=g) * 2 - 1) * math.pi], 1)
    pick = torch.randint(5000, (rows,), device="cuda", generator=g)
    places = centres[pick] + 0.03 * torch.randn(rows, 2, device="cuda", generator=g)
    lat, lon = places[:, 0].clamp(-1.5, 1.5), torch.remainder(places[:, 1] + math.pi, 2 * math.pi) - math.pi
    xyz = torch.stack([lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()], 1)
    w = torch.randn(3, COLUMNS, device="cuda", generator=g) * torch.logspace(0, 1.5, COLUMNS, device="cuda")
    phase = torch.rand(COLUMNS, device="cuda", generator=g) * 2 * math.pi
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(rows, COLUMNS))
    for at in range(0, rows, 200_000):
        block = torch.sin(xyz[at:at + 200_000] @ w + phase)
        block += 0.5 * torch.randn(block.shape, device="cuda", generator=g)
        out[at:at + 200_000] = block.half().cpu().numpy()
    out.flush()
    del out
    degrees = np.degrees(torch.stack([lat, lon], 1).cpu().numpy())
    parts = np.array_split(degrees, 64)
    with ProcessPoolExecutor() as pool, open(table + ".part", "w") as file:
        file.write("lat,lon\n")
        file.writelines(pool.map(lines, parts))
    os.rename(table + ".part", table)
    torch.cuda.empty_cache()
    print(f"data: {rows} rows made in {time.perf_counter() - start:.1f} s", flush=True)
    return path, table


def ours(a, path, table, degree, steps, *more):
    out = f"{a.data}/run-{degree}-{'-'.join(more).replace('--', '')}"
    command = [a.locdiff, "train", "--embeddings", path, "--locations", table, "--preset", "paper", "--degree", str(degree), "--steps", str(steps),
               "--device", "cuda", "--out", out, "--force", "--json", "--validate-every", "0", *more]
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    memory = 0
    while child.poll() is None:
        said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout
        memory = max(memory, int(said.split()[0]) if said.split() else 0)
        time.sleep(1)
    wall = time.perf_counter() - start
    if child.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {child.returncode}")
    said = json.loads(child.stdout.read())
    rows = [json.loads(line) for line in open(f"{out}/metrics.jsonl")]
    rows = [row for row in rows if "loss" in row]
    rate = said["steps_per_second"]
    tail = rows[len(rows) // 2:]
    startup = said["startup_seconds"]
    steady = 1 / (sum(1 / row["steps_per_second"] for row in tail) / len(tail))
    print(f"RESULT locdiff train L={degree} {' '.join(more)}: {rate:.1f} steps/s over all {steps} (second half {steady:.1f}), wall {wall:.1f} s, "
          f"before the steps {startup:.1f} s, after {wall - startup - steps / rate:.1f} s, GPU memory {memory} MiB, 750k steps {750_000 / rate / 3600:.2f} h", flush=True)
    name = f"{a.out}/loss_L{degree}{'_stream' if '--stream' in more else ''}.csv"
    with open(name, "w") as file:
        file.write("step,loss,steps_per_second\n")
        file.writelines(f"{row['step']},{row['loss']:.6f},{row['steps_per_second']:.1f}\n" for row in rows)
    return rate


def bare(a, degree):
    engine = Engine(a.engine, "cuda", 0)
    d = (degree + 1) ** 2
    engine.ask(f"prepare t train {d} tf32 full")
    times = [engine.run("t", 500)["median_ms"] for _ in range(3)]
    engine.p.stdin.close()
    engine.p.wait()
    ms = sorted(times)[1]
    print(f"RESULT bare step L={degree}: {ms:.4f} ms, {1000 / ms:.1f} steps/s", flush=True)
    return 1000 / ms


class TorchHarmonics:
    """All harmonics of points, the recurrence over the degrees for all orders at once."""

    def __init__(s, degree, dev):
        l, m = np.meshgrid(np.arange(degree + 1.0), np.arange(degree + 1.0), indexing="ij")
        with np.errstate(all="ignore"):
            a = np.sqrt((4 * l * l - 1) / (l * l - m * m))
            b = np.where(l - 1 > m, np.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1)), 0.0)
        a = np.where(m < l, a, 0.0)
        s.a, s.c = torch.tensor(a, device=dev), torch.tensor(np.where(m < l, -a * np.nan_to_num(b), 0.0), device=dev)
        diagonal, value = [], math.sqrt(0.25 / math.pi)
        for k in range(degree + 1):
            if k:
                value *= math.sqrt((2 * k + 1) / (2 * k)) * (math.sqrt(2) if k == 1 else 1)
            diagonal.append(value)
        s.diagonal, s.degree = torch.diag(torch.tensor(diagonal, dtype=torch.float64, device=dev)), degree
        s.m = torch.arange(degree + 1, dtype=torch.float64, device=dev)

    def __call__(s, xyz):
        x, y, z = xyz.unbind(1)
        r, angle = torch.sqrt(x * x + y * y)[:, None], torch.atan2(y, x)[:, None]
        power = r ** s.m
        re, im = power * torch.cos(angle * s.m), power * torch.sin(angle * s.m)
        now = before = torch.zeros_like(re)
        parts = []
        for l in range(s.degree + 1):
            now, before = s.a[l] * z[:, None] * now + s.c[l] * before + s.diagonal[l], now
            parts += [(now[:, 1:l + 1] * im[:, 1:l + 1]).flip(1), now[:, :l + 1] * re[:, :l + 1]]
        return torch.cat(parts, 1).float()


class Rows(torch.utils.data.Dataset):
    def __init__(s, path, xyz):
        s.path, s.xyz, s.file = path, xyz, None

    def __len__(s):
        return len(s.xyz)

    def __getitems__(s, rows):
        if s.file is None:
            s.file = np.load(s.path, mmap_mode="r")
        return torch.from_numpy(s.file[rows]), s.xyz[rows]


def peer(a, path, places, degree, kind, steps):
    dev, d = torch.device("cuda"), (degree + 1) ** 2
    torch.set_float32_matmul_precision("high")
    lat, lon = torch.tensor(np.radians(places)).unbind(1)
    xyz = torch.stack([lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()], 1)
    net = Net(d, 0.0).to(dev)
    params = list(net.parameters())
    opt = torch.optim.Adam(params, lr=1e-4, betas=(0.9, 0.99), weight_decay=5e-4, fused=True, capturable=True)
    ema = [p.detach().clone() for p in params]
    tab, abt = time_table(dev), torch.tensor(ab, dtype=torch.float32, device=dev)
    harmonics = TorchHarmonics(degree, dev)
    where, rows16 = torch.zeros(B, 3, dtype=torch.float64, device=dev), torch.zeros(B, COLUMNS, dtype=torch.float16, device=dev)
    mean, deviation = torch.zeros(COLUMNS, device=dev), torch.ones(COLUMNS, device=dev)
    start = time.perf_counter()
    if kind == "resident":
        table, all_xyz = torch.from_numpy(np.load(path)).to(dev), xyz.to(dev)
    torch.cuda.synchronize()
    loaded = time.perf_counter() - start
    loss_now = torch.zeros((), device=dev)

    def step():
        nonlocal where, rows16
        if kind == "resident":
            pick = torch.randint(len(xyz), (B,), device=dev)
            where, rows16 = all_xyz[pick], table[pick]
        e = (rows16.float() - mean) / deviation
        points = torch.randn(NA, 3, dtype=torch.float64, device=dev)
        codes = harmonics(torch.cat([where, points / points.norm(dim=1, keepdim=True)]))
        x0, A = codes[:B], codes[B:]
        opt.zero_grad(set_to_none=True)
        z, t = torch.randn_like(x0), torch.randint(T, (B,), device=dev)
        I = e * (torch.rand(B, 1, device=dev) > 0.1)
        s = abt[t][:, None]
        out = net(s.sqrt() * x0 + (1 - s).sqrt() * z, I, tab[t])
        lq, lp = F.log_softmax(out @ A.t(), 1), F.log_softmax(x0 @ A.t(), 1)
        loss = (lq.exp() * (lq - lp)).sum(1).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0, foreach=True)
        opt.step()
        torch._foreach_lerp_(ema, params, 0.001)
        loss_now.copy_(loss.detach())

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        step()
    torch.cuda.synchronize()
    if kind == "loader":
        sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(range(len(xyz)), replacement=True, num_samples=(steps + 20) * B), B, False)
        loader = torch.utils.data.DataLoader(Rows(path, xyz), batch_sampler=sampler, num_workers=12, pin_memory=True, prefetch_factor=8, collate_fn=lambda x: x)
        batches = iter(loader)
        for _ in range(20):
            next(batches)
    start = time.perf_counter()
    for _ in range(steps):
        if kind == "loader":
            emb, at = next(batches)
            rows16.copy_(emb, non_blocking=True)
            where.copy_(at, non_blocking=True)
        graph.replay()
    torch.cuda.synchronize()
    rate = steps / (time.perf_counter() - start)
    print(f"RESULT PyTorch CUDA graph L={degree} {kind}: {rate:.1f} steps/s over {steps} (loading {loaded:.1f} s, loss {loss_now.item():.3f})", flush=True)
    del net, opt, graph, ema
    torch.cuda.empty_cache()
    return rate


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--locdiff", required=True)
    ap.add_argument("--engine", required=True)
    ap.add_argument("--data", default="/tmp/full_size")
    ap.add_argument("--out", default=".")
    ap.add_argument("--rows", type=int, default=4_700_000)
    ap.add_argument("--steps47", type=int, default=10_000)
    ap.add_argument("--steps23", type=int, default=20_000)
    ap.add_argument("--stream-steps", type=int, default=2_000, help="0: not streamed")
    ap.add_argument("--peers", default="resident,loader")
    ap.add_argument("--peer-steps", type=int, default=1_000)
    a = ap.parse_args()
    path, table = make(a.data, a.rows)
    places = np.loadtxt(table, delimiter=",", skiprows=1, max_rows=200_000)
    places = np.concatenate([places] * (a.rows // len(places) + 1))[:a.rows]
    for degree, steps in [(47, a.steps47), (23, a.steps23)]:
        step = bare(a, degree)
        resident = ours(a, path, table, degree, steps)
        ratios = [f"whole command / bare step {resident / step:.3f}"]
        if a.stream_steps:
            ratios.append(f"streamed {ours(a, path, table, degree, min(steps, a.stream_steps), '--stream') / step:.3f}")
        for kind in filter(None, a.peers.split(",")):
            try:
                ratios.append(f"over PyTorch {kind} {resident / peer(a, path, places, degree, kind, a.peer_steps):.2f}")
            except Exception as error:  # a variant that PyTorch cannot run is reported and left out
                print(f"PyTorch {kind}: FAILED {type(error).__name__}: {str(error)[:300]}", flush=True)
        print(f"RESULT L={degree}: " + ", ".join(ratios), flush=True)


if __name__ == "__main__":
    main()

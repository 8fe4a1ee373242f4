#!/usr/bin/env python3
"""Our engine beside PyTorch, interleaved in one run: the training step (CS-UNet, batch 512, KL over 2048 anchors, Adam) and the
DDPM sampler (16 and 1024 samples).

    cargo build --release -p locdiff-lab --example engine_bench
    python3 bench/engine.py --engine target/release/examples/engine_bench --device cpu --d 576 --threads 1,2
    python3 bench/engine.py --engine ./engine_bench --device cuda --d 576,2304 --modes f32,tf32,bf16 --compile

Both sides start from the same hashed weights and data; their first losses are printed and must agree. `bare` is the step
alone; `full` adds fresh noise, dropout, condition dropout, gradient clipping, L2 decay and the moving average of the
weights. The sampler's PyTorch twin is timed as written in the prototype (`plain`) and with our shortcut of computing the
image and time projections once (`cached`). In mode bf16 both
round operands to bf16: PyTorch by autocast (bf16 weights in the sampler), our engine before each product. Ratio = PyTorch / ours: above 1 we are faster.
"""
import argparse
import contextlib
import math
import os
import resource
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DI, DT, NA, T, B = 768, 200, 2048, 200, 512


def hashu(n, k):
    m = np.uint64(0xFFFFFFFF)
    h = (np.arange(n, dtype=np.uint64) * np.uint64(2654435761) + np.uint64((k + 1) * 0x9E3779B9 & 0xFFFFFFFF)) & m
    h = ((h ^ (h >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & m
    h = ((h ^ (h >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & m
    h ^= h >> np.uint64(16)
    return (h >> np.uint64(8)).astype(np.float32) / np.float32(16777216)


def hsym(shape, k, scale):
    u = hashu(int(np.prod(shape)), k)
    return torch.from_numpy(((u * np.float32(2) - np.float32(1)) * np.float32(scale)).reshape(shape))


class CSiren(nn.Module):
    def __init__(s, i, o, drop):
        super().__init__()
        s.x, s.I, s.o, s.d = nn.Linear(i, o), nn.Linear(DI, o), nn.Linear(o, o), nn.Dropout(drop)
        s.t = nn.Sequential(nn.Linear(DT, DT), nn.GELU(), nn.Linear(DT, 2 * o))

    def prepare(s, I, t):
        return s.I(I), *s.t(t).chunk(2, 1)

    def body(s, x, h, a, b):
        return torch.sin(s.d(s.o((1 + a) * s.x(x) + b + h)))

    def forward(s, x, I, t):
        return s.body(x, *s.prepare(I, t))


class Net(nn.Module):
    """locdiff_torch.py's CSUNet at the engine's widths (rounded to multiples of 8)."""

    def __init__(s, d, drop=0.0, w=128, depth=3):
        super().__init__()
        ws = [d] + [round(d * (w / d) ** (k / depth) / 8) * 8 for k in range(1, depth)] + [w]
        s.inp = nn.Linear(d, d)
        s.dn = nn.ModuleList(CSiren(ws[k], ws[k + 1], drop) for k in range(depth))
        s.up = nn.ModuleList(CSiren(ws[k + 1] * (1 if k == depth - 1 else 2), ws[k], drop) for k in reversed(range(depth)))
        s.out = nn.Linear(2 * d, d)
        params = dict(s.named_parameters())
        with torch.no_grad():
            for k, name in enumerate(sorted(params)):
                fan_in = params[name.replace(".bias", ".weight")].shape[1]
                params[name].copy_(hsym(tuple(params[name].shape), k, 1 / math.sqrt(fan_in)))

    def blocks(s):
        return [*s.dn, *s.up]

    def run(s, x, call):
        x = s.inp(x)
        skips = [x]
        for b in s.dn:
            x = call(b, x)
            skips.append(x)
        skips.pop()
        for k, b in enumerate(s.up):
            x = call(b, x if k == 0 else torch.cat([x, skips.pop()], 1))
        return s.out(torch.cat([x, skips.pop()], 1))

    def forward(s, x, I, t):
        return s.run(x, lambda b, x: b(x, I, t))

    def prepared(s, x, ready):
        it = iter(ready)
        return s.run(x, lambda b, x: b.body(x, *next(it)))


def time_table(dev):
    t = torch.arange(T, dtype=torch.float32)[:, None]
    f = torch.exp(-math.log(1e4) * torch.arange(DT // 2) / (DT // 2 - 1))[None]
    return torch.cat([torch.sin(t * f), torch.cos(t * f)], 1).to(dev)


beta = np.linspace(1e-4 * 1000 / T, 0.02 * 1000 / T, T)
alpha = 1 - beta
ab = np.cumprod(alpha)
abp = np.concatenate([[1.0], ab[:-1]])
c1, c2 = beta * np.sqrt(abp) / (1 - ab), (1 - abp) * np.sqrt(alpha) / (1 - ab)
sig = np.sqrt(beta * (1 - abp) / (1 - ab))


def graphed(step, side):
    """Captures `step` on the stream it was warmed up on: autograd remembers where its nodes were made."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        step()

    def run(keep=step):  # the graph reads tensors that only `step` keeps alive
        graph.replay()

    return run


def torch_train(dev, d, mode, variant, full):
    cuda = dev.type == "cuda"
    net = Net(d, 0.3 if full else 0.0).to(dev)
    wd = 5e-4 if full else 0.0
    opt = torch.optim.Adam(net.parameters(), lr=1e-4, betas=(0.9, 0.99), eps=1e-8, weight_decay=wd, fused=True, capturable=cuda)
    A, x0 = hsym((NA, d), 1001, 1.0).to(dev), hsym((B, d), 1002, 2 * math.sqrt(3 / d)).to(dev)
    z0, e = hsym((B, d), 1003, math.sqrt(3)).to(dev), hsym((B, DI), 1004, math.sqrt(3)).to(dev)
    t0 = torch.from_numpy((hashu(B, 1005) * np.float32(T)).astype(np.int64)).to(dev)
    tab, abt = time_table(dev), torch.tensor(ab, dtype=torch.float32, device=dev)
    ema = [p.detach().clone() for p in net.parameters()] if full else None
    params = list(net.parameters())
    last = torch.zeros((), device=dev)

    def loss_fn():
        z, t, I = z0, t0, e
        if full:
            z, t = torch.randn_like(z0), torch.randint(T, (B,), device=dev)
            I = e * (torch.rand(B, 1, device=dev) > 0.1)
        s = abt[t][:, None]
        x = s.sqrt() * x0 + (1 - s).sqrt() * z
        with torch.autocast(dev.type, dtype=torch.bfloat16, enabled=mode == "bf16"):
            out = net(x, I, tab[t])
            lq, lp = F.log_softmax((out @ A.t()).float(), 1), F.log_softmax((x0 @ A.t()).float(), 1)
            return (lq.exp() * (lq - lp)).sum(1).mean()

    f = torch.compile(loss_fn) if variant == "compile" else loss_fn

    def step():
        opt.zero_grad(set_to_none=True)
        loss = f()
        loss.backward()
        if full:
            nn.utils.clip_grad_norm_(params, 1.0, foreach=True)
        opt.step()
        if full:
            torch._foreach_lerp_(ema, params, 0.001)
        last.copy_(loss.detach())

    losses = []
    side = torch.cuda.Stream() if variant == "graph" else None
    with torch.cuda.stream(side) if side else contextlib.nullcontext():
        for _ in range(3):
            step()
            losses.append(f"{last.item():.6f}")
    if side:
        torch.cuda.synchronize()
    return (graphed(step, side) if side else step), "losses " + " ".join(losses)


def torch_sample(dev, d, mode, variant, batch, steps, cached):
    dt = torch.bfloat16 if mode == "bf16" else torch.float32
    net = Net(d).to(dev).to(dt).eval()
    z, xT = hsym((batch, d), 2001, math.sqrt(3)).to(dev), hsym((batch, d), 2002, math.sqrt(3)).to(dev)
    I, tab = hsym((batch, DI), 2003, math.sqrt(3)).to(dev).to(dt), time_table(dev).to(dt)
    out = torch.zeros_like(xT)
    options = {"mode": "reduce-overhead"} if dev.type == "cuda" else {}
    plain = torch.compile(net, **options) if variant == "compile" else net

    @torch.no_grad()
    def step():
        x = xT
        if cached:
            hs = [b.I(I) for b in net.blocks()]
            films = [b.t(tab) for b in net.blocks()]
        for j in range(T - 1, T - 1 - steps, -1):
            if cached:
                ready = [(h, *f[j:j + 1].chunk(2, 1)) for h, f in zip(hs, films)]
                p = net.prepared(x.to(dt), ready).float()
            else:
                p = plain(x.to(dt), I, tab[j:j + 1].expand(batch, DT)).float()
            x = float(c1[j]) * p + float(c2[j]) * x + float(sig[j]) * z
        out.copy_(x)

    side = torch.cuda.Stream() if variant == "graph" else None
    with torch.cuda.stream(side) if side else contextlib.nullcontext():
        step()
    if side:
        torch.cuda.synchronize()
    run = graphed(step, side) if side else step
    return run, f"mean_abs {out.abs().mean().item():.6f}"


class Torch:
    def __init__(s, dev):
        s.dev, s.jobs = dev, {}
        s.sync = torch.cuda.synchronize if dev.type == "cuda" else lambda: None

    def prepare(s, key, make):
        s.jobs[key], note = make()
        s.sync()
        return note

    def run(s, key, n):
        times, cpu = [], time.process_time()
        for _ in range(n):
            start = time.perf_counter()
            s.jobs[key]()
            s.sync()
            times.append((time.perf_counter() - start) * 1e3)
        return {"median_ms": statistics.median(times), "min_ms": min(times), "cpu_ms": (time.process_time() - cpu) * 1e3 / n}


class Engine:
    def __init__(s, path, device, threads):
        env = os.environ | ({"RAYON_NUM_THREADS": str(threads)} if threads else {})
        s.p = subprocess.Popen([path, device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        print("engine:", s.p.stdout.readline().strip(), flush=True)

    def ask(s, line):
        s.p.stdin.write(line + "\n")
        s.p.stdin.flush()
        answer = s.p.stdout.readline().strip()
        if not answer.startswith("ok"):
            raise RuntimeError(f"{line}: {answer}")
        return answer[3:]

    def run(s, key, n):
        before = s.cpu_ms()
        words = s.ask(f"run {key} {n}").split()
        return {k: float(v) for k, v in zip(words[::2], words[1::2])} | {"cpu_ms": (s.cpu_ms() - before) / n}

    def cpu_ms(s):
        """Time that all its threads ran."""
        return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{s.p.pid}/task").glob("*/schedstat")) / 1e6

    def peak_rss_mib(s):
        status = Path(f"/proc/{s.p.pid}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1024


def compare(title, engine, ours, torch_side, theirs, rounds, iters, field, scale=1.0):
    """`ours`: name → engine key; `theirs`: name → function that prepares. Rounds are interleaved."""
    samples = {}
    for name, (key, command) in ours.items():
        try:
            print(f"  ours {name}: {engine.ask(f'prepare {key} {command}')}", flush=True)
            samples["ours " + name] = []
        except RuntimeError as error:
            print(f"  ours {name}: FAILED {error}", flush=True)
    for name, make in theirs.items():
        try:
            print(f"  torch {name}: {torch_side.prepare(name, make)}", flush=True)
            samples["torch " + name] = []
        except Exception as error:  # a variant that PyTorch cannot run is reported and left out
            print(f"  torch {name}: FAILED {type(error).__name__}: {str(error)[:200]}", flush=True)
    for _ in range(rounds):
        for name in samples:
            side, key = name.split(" ", 1)
            result = engine.run(ours[key][0], iters) if side == "ours" else torch_side.run(key, iters)
            samples[name].append(result[field] * scale)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    print(f"RESULT {title} ({field}{'' if scale == 1 else f', scaled by {scale:g}'}; median of {rounds} interleaved rounds of {iters})")
    for name, value in medians.items():
        low, high = min(samples[name]), max(samples[name])
        print(f"  {name:32s} {value:10.3f}  ({low:.3f} to {high:.3f})")
    for name in medians:
        if name.startswith("torch "):
            ratios = [f"{medians[name] / medians[o]:.2f}x {o[5:]}" for o in medians if o.startswith("ours")]
            print(f"  ratio {name} / ours: " + ", ".join(ratios), flush=True)
    for key, _ in ours.values():
        engine.ask(f"drop {key}")
    torch_side.jobs.clear()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--engine", default="target/release/examples/engine_bench")
    ap.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    ap.add_argument("--d", default="576,2304")
    ap.add_argument("--modes", default="f32", help="f32,tf32,bf16 on cuda")
    ap.add_argument("--what", default="train,full,s16,s1024")
    ap.add_argument("--threads", default="1", help="CPU thread counts, compared one after the other")
    ap.add_argument("--compile", action="store_true")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--iters", type=int, default=0)
    ap.add_argument("--cpu-sampler-steps", type=int, default=20)
    a = ap.parse_args()
    dev = torch.device(a.device)
    cuda = a.device == "cuda"
    what = a.what.split(",")
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name() if cuda else 'cpu'}", flush=True)
    for threads in [0] if cuda else [int(n) for n in a.threads.split(",")]:
        engine, side = Engine(a.engine, a.device, threads), Torch(dev)
        if threads:
            torch.set_num_threads(threads)
        for d in map(int, a.d.split(",")):
            for mode in a.modes.split(",") if cuda else ["f32"]:
                torch.set_float32_matmul_precision("highest" if mode == "f32" else "high")
                variants = ["eager"] + (["graph"] if cuda else []) + (["compile"] if a.compile else [])
                tag = f"d={d} {mode}" + (f" threads={threads}" if threads else "")
                # CPU: process time with one thread (robust against other load), wall time with more.
                field = "median_ms" if cuda or threads > 1 else "cpu_ms"
                def train(full):
                    kind = "full" if full else "bare"
                    theirs = {v: (lambda v=v: torch_train(dev, d, mode, v, full)) for v in variants}
                    iters = a.iters or (50 if cuda else 3)
                    compare(f"train {kind} {tag}", engine, {kind: ("t", f"train {d} {mode} {kind}")}, side, theirs, a.rounds, iters, field)
                if "train" in what:
                    train(False)
                for batch in (16, 1024):
                    if f"s{batch}" not in what:
                        continue
                    steps = T if cuda else (T if batch == 16 and d < 1000 else a.cpu_sampler_steps)
                    theirs = {f"{v} plain": (lambda v=v: torch_sample(dev, d, mode, v, batch, steps, False)) for v in variants}
                    theirs |= {f"{v} cached": (lambda v=v: torch_sample(dev, d, mode, v, batch, steps, True)) for v in variants if v != "compile"}
                    iters = a.iters or (3 if cuda else 1)
                    compare(f"sampler {batch} samples {tag}, ms per {T} steps", engine, {"cached": ("s", f"sample {d} {mode} {batch} {steps}")}, side, theirs, a.rounds, iters, field, T / steps)
                if "full" in what:
                    train(True)
        print(f"memory ours: peak_rss_mib {engine.peak_rss_mib():.0f}")
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        gpu = f" gpu_allocated_mib {torch.cuda.max_memory_allocated() / 2**20:.0f} gpu_reserved_mib {torch.cuda.max_memory_reserved() / 2**20:.0f}" if cuda else ""
        print(f"memory torch: peak_rss_mib {rss:.0f}{gpu}")
        if cuda:
            print(subprocess.run(["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv"], capture_output=True, text=True).stdout.strip(), f"(engine pid {engine.p.pid}, torch pid {os.getpid()})")
        engine.p.stdin.close()
        engine.p.wait()


if __name__ == "__main__":
    main()

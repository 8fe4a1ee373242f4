#!/usr/bin/env python3
"""Regenerates fixtures/nn/*.safetensors: what PyTorch computes, in f64 from f32 inputs, for the tests of crates/nn.

    scripts/fixtures nn
"""
import math
import pathlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "nn"
GEN = torch.Generator().manual_seed(20240607)


def rand(*shape, scale=1.0):
    """f64 values that f32 holds exactly, and a leaf of the graph."""
    return (torch.randn(*shape, generator=GEN) * scale).float().double().requires_grad_()


def save(name, tensors):
    OUT.mkdir(parents=True, exist_ok=True)
    flat = {k: v.detach().float().contiguous() for k, v in tensors.items()}
    save_file(flat, str(OUT / f"{name}.safetensors"))
    print(name, sum(v.numel() for v in flat.values()), "values")


def grads(output, d_output, **inputs):
    got = torch.autograd.grad(output, list(inputs.values()), d_output, retain_graph=True)
    return {f"d_{k}": g for k, g in zip(inputs, got)}


def ops():
    t = {}
    x, dy = rand(5, 37, scale=2.0), rand(5, 37)
    t |= {"act.x": x, "act.dy": dy}
    for name, f in {"silu": F.silu, "gelu": F.gelu, "relu": F.relu, "sine": lambda v: torch.sin(1.5 * v)}.items():
        y = f(x)
        t |= {f"{name}.y": y, f"{name}.dx": grads(y, dy, x=x)["d_x"]}
    hx, ss, hi, dh = rand(4, 19), rand(4, 38), rand(4, 19), rand(4, 19)
    a, b = ss.chunk(2, 1)
    h = (1 + a) * hx + b + hi
    t |= {"film.hx": hx, "film.ss": ss, "film.hi": hi, "film.dh": dh, "film.h": h}
    t |= {f"film.{k}": v for k, v in grads(h, dh, hx=hx, ss=ss).items()}
    x, g, dy = rand(6, 33, scale=3.0), rand(1, 66), rand(6, 33)
    y = F.layer_norm(x, (33,), g[0, :33], g[0, 33:], 1e-5)
    t |= {"ln.x": x, "ln.gs": g, "ln.dy": dy, "ln.y": y} | {f"ln.{k}": v for k, v in grads(y, dy, x=x, gs=g).items()}
    ss = rand(6, 66)
    y = F.layer_norm(x, (33,), eps=1e-5) * (1 + ss[:, :33]) + ss[:, 33:]
    t |= {"adaln.ss": ss, "adaln.y": y} | {f"adaln.{k}": v for k, v in grads(y, dy, x=x, ss=ss).items()}
    y = F.normalize(x, dim=1)
    t |= {"norm.y": y, "norm.dx": grads(y, dy, x=x)["d_x"]}
    logits, bias = rand(5, 83, scale=20.0), rand(1, 83)
    t |= {"soft.x": logits, "soft.bias": bias, "soft.lse": torch.logsumexp(logits + bias, 1, keepdim=True)}
    t |= {"soft.softmax": (logits + bias).softmax(1), "soft.log_softmax": (logits + bias).log_softmax(1)}
    t |= {"soft.lse_plain": torch.logsumexp(logits, 1, keepdim=True)}
    x, w, b, dy = rand(9, 21), rand(14, 21), rand(14), rand(9, 14)
    y = F.linear(x, w, b)
    t |= {"lin.x": x, "lin.w": w, "lin.b": b, "lin.dy": dy, "lin.y": y}
    t |= {f"lin.{k}": v for k, v in grads(y, dy, x=x, w=w, b=b).items()}
    # As the prototype computes it, in f32.
    steps = torch.tensor([0.0, 1.0, 7.0, 63.0, 128.0, 199.0])
    f = torch.exp(-math.log(1e4) * torch.arange(100) / 99)
    t |= {"time.t": steps[:, None], "time.y": torch.cat([(steps[:, None] * f).sin(), (steps[:, None] * f).cos()], 1)}
    save("ops", t)


def losses():
    e, y, grid, lw = rand(7, 16), rand(7, 16), rand(59, 16), rand(1, 59)
    t = {"e": e, "y": y, "grid": grid, "log_weights": lw}

    def add(name, rows):
        t[f"{name}.loss"] = rows[:, None]
        t[f"{name}.de"] = torch.autograd.grad(rows.mean(), e, retain_graph=True)[0]

    lq = e @ grid.T + lw
    add("nll", torch.logsumexp(lq, 1) - (e * y).sum(1))
    q, p = lq.log_softmax(1), (y @ grid.T + lw).log_softmax(1)
    add("kl", (q.exp() * (q - p)).sum(1))
    add("cosine", 1 - F.cosine_similarity(e, y, dim=1))
    add("l1", (e - y).abs().mean(1))
    add("l2", ((e - y) ** 2).mean(1))
    t["posterior_mean"] = lq.softmax(1) @ grid
    save("losses", t)


def philox(block, stream, state):
    """Philox4x32-10 with u64 numpy integers: an implementation independent of the Rust one."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.asarray(v, np.uint64) for v in (block, np.full_like(block, stream), np.full_like(block, state[2]), np.full_like(block, state[3]))]
    k = [np.uint64(state[0]), np.uint64(state[1])]
    for r in range(10):
        if r:
            k = [(k[0] + np.uint64(0x9E3779B9)) & mask, (k[1] + np.uint64(0xBB67AE85)) & mask]
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ k[0], b & mask, (a >> np.uint64(32)) ^ c[3] ^ k[1], a & mask]
    return np.stack(c, 1).reshape(-1)


def words(rows, cols, stream, state):
    n = rows * cols
    return philox(np.arange((n + 3) // 4, dtype=np.uint64), stream, state)[:n].reshape(rows, cols)


class CSiren(nn.Module):
    def __init__(s, i, m, o, dI, dT):
        super().__init__()
        s.x, s.I, s.o = nn.Linear(i, m), nn.Linear(dI, m), nn.Linear(m, o)
        s.t = nn.Sequential(nn.Linear(dT, dT), nn.GELU(), nn.Linear(dT, 2 * m))

    def forward(s, x, I, t, mask):
        a, b = s.t(t).chunk(2, 1)
        return torch.sin(W0 * s.o((1 + a) * s.x(x) + b + s.I(I)) * mask)


W0 = 1.25


class CsUnet(nn.Module):
    """locdiff_torch.py's CSUNet, with its three layouts."""

    def __init__(s, d, dI, w, depth, dT, h, layout):
        super().__init__()
        s.layout, s.dT = layout, dT
        s.inp = nn.Linear(d, h)
        if layout == "bottleneck":
            s.mid = nn.ModuleList(CSiren(h, w, h, dI, dT) for _ in range(2 * depth))
            s.out = nn.Linear(h, d)
            return
        ws = [round(h * (w / h) ** (k / depth)) for k in range(depth + 1)] if layout == "funnel" else [h] * (depth + 1)
        s.dn = nn.ModuleList(CSiren(ws[k], ws[k + 1], ws[k + 1], dI, dT) for k in range(depth))
        s.up = nn.ModuleList(CSiren(ws[k + 1] * (1 if k == depth - 1 else 2), ws[k], ws[k], dI, dT) for k in reversed(range(depth)))
        s.out = nn.Linear(2 * h, d)

    def forward(s, x, I, t, mask):
        f = torch.exp(-math.log(1e4) * torch.arange(s.dT // 2) / (s.dT // 2 - 1))
        angle = (t.float() * f).double()  # in f32, as the prototype
        e = torch.cat([angle.sin(), angle.cos()], 1)
        x = s.inp(x)
        if s.layout == "bottleneck":
            for k, b in enumerate(s.mid):
                x = b(x, I, e, mask(k, b))
            return s.out(x)
        skips, n = [x], len(s.dn)
        for k, b in enumerate(s.dn):
            x = b(x, I, e, mask(k, b))
            skips.append(x)
        skips.pop()
        for k, b in enumerate(s.up):
            x = b(x if k == 0 else torch.cat([x, skips.pop()], 1), I, e, mask(n + k, b))
        return s.out(torch.cat([x, skips.pop()], 1))


def csunet(layout, hidden):
    torch.manual_seed({"funnel": 1, "constant": 2, "bottleneck": 3}[layout])
    B, d, dI, w, dT, p = 6, 20, 12, 5, 8, 0.3
    net = CsUnet(d, dI, w, 3, dT, hidden, layout)
    params = {k: v.detach().clone() for k, v in net.named_parameters()}
    net.double()
    x, cond, d_out = rand(B, d), rand(B, dI), rand(B, d)
    t = torch.tensor([[0.0], [3.0], [10.0], [17.0], [29.0], [60.0]]).double()
    tensors = {f"param.{k}": v for k, v in params.items()} | {"x": x, "cond": cond, "t": t, "d_out": d_out}
    state, first = (77, 5, 11, 0), 40
    keep = lambda k, b: torch.from_numpy((words(B, b.o.out_features, first + k, state) >= int(np.float64(np.float32(p)) * 2**32)).astype(np.float64)) / (1 - p)
    for name, mask in {"eval": lambda k, b: 1.0, "train": keep}.items():
        out = net(x, cond, t, mask)
        got = torch.autograd.grad(out, list(net.parameters()), d_out.detach())
        tensors |= {f"{name}.out": out} | {f"{name}.grad.{k}": g for k, g in zip(params, got)}
    save(f"csunet_{layout}", tensors)


def adam():
    steps, n = 8, 45
    w0 = rand(n)
    g = rand(steps, n, scale=0.3)
    t = {"w0": w0, "g": g}
    schedule = lambda s: min(1, s / 3) * (0.1 + 0.9 * (0.5 + 0.5 * math.cos(math.pi * min((s - 1) / 6, 1))))
    for name, (cls, wd, clip, sched) in {
        "plain": (torch.optim.Adam, 0.0, 0.0, False),
        "l2": (torch.optim.Adam, 0.05, 1.0, False),
        "decoupled": (torch.optim.AdamW, 0.05, 1.0, True),
    }.items():
        w = nn.Parameter(w0.detach().clone())
        opt = cls([w], lr=0.02, betas=(0.9, 0.99), eps=1e-8, weight_decay=wd)
        ema, rows, emas, norms = w.detach().clone(), [], [], []
        for s in range(1, steps + 1):
            w.grad = g[s - 1].detach().clone()
            norms.append(w.grad.norm())
            if clip:
                torch.nn.utils.clip_grad_norm_([w], clip)
            opt.param_groups[0]["lr"] = 0.02 * (schedule(s) if sched else 1.0)
            opt.step()
            ema += (1 - min(0.9, s / (s + 10))) * (w.detach() - ema)
            rows.append(w.detach().clone())
            emas.append(ema.clone())
        t |= {f"{name}.w": torch.stack(rows), f"{name}.ema": torch.stack(emas), f"{name}.norm": torch.stack(norms)}
    save("adam", t)


def random():
    state = (0x9ABCDEF0, 0x12345678, 0xFFFFFFFF, 2)
    w = words(3, 7, 9, state)
    uniform = ((w >> np.uint64(9)).astype(np.float64) + 0.5) / 8388608
    blocks = np.concatenate([uniform.reshape(-1), [0.5] * 3]).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log(blocks[:, 0])), 2 * np.pi * blocks[:, 1]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:20]
    save("random", {"uniform": torch.from_numpy(uniform), "normal": torch.from_numpy(normal), "below_1000": torch.from_numpy(((w * np.uint64(1000)) >> np.uint64(32)).astype(np.float64))})


if __name__ == "__main__":
    ops()
    losses()
    csunet("funnel", 20)
    csunet("constant", 14)
    csunet("bottleneck", 20)
    adam()
    random()

#!/usr/bin/env python3
"""How should a density be read off the model? Compares readings on validation photos: bench/calibration_results.md.

  scripts/calibration_study.py --model models/streetview-l23 --data ../shared/data/streetview --source a

For each reading: -log density at the true places (nats per steradian, lower is better), and how far the shares of true
places inside the regions (and within the radii about the pooled answer) said to hold 10 ... 90 % are off, in points.
Every reading gets its best temperature and its best weights of a uniform and a background floor, fitted on the same
photos. Needs numpy, scipy and torch (CPU). About ten minutes on two cores.
"""
import argparse, csv, json, math, struct
import numpy as np, torch
from scipy.optimize import minimize

SAMPLES, STEPS, T, GRID = 16, 20, 200, 12288
LEVELS = np.arange(0.1, 0.95, 0.1)


def tensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    kinds = {"F16": np.float16, "F32": np.float32}
    out = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            a, b = entry["data_offsets"]
            out[name] = np.frombuffer(data[8 + size + a : 8 + size + b], kinds[entry["dtype"]]).reshape(entry["shape"]).astype(np.float32)
    return out


def harmonics(L, xyz):
    """Real orthonormal Y_lm, index l*l + l + m, by the normalised recurrence."""
    x, y, z = xyz.T
    s, phi = np.sqrt(np.maximum(0, 1 - z * z)), np.arctan2(y, x)
    P = np.zeros((L + 1, L + 1, len(x)))
    P[0, 0] = math.sqrt(1 / (4 * math.pi))
    for m in range(1, L + 1):
        P[m, m] = P[m - 1, m - 1] * s * math.sqrt((2 * m + 1) / (2 * m))
    for m in range(L):
        P[m + 1, m] = z * math.sqrt(2 * m + 3) * P[m, m]
        for l in range(m + 2, L + 1):
            a, b = math.sqrt((4 * l * l - 1) / (l * l - m * m)), math.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1))
            P[l, m] = a * (z * P[l - 1, m] - b * P[l - 2, m])
    out = np.zeros((len(x), (L + 1) ** 2), np.float32)
    for l in range(L + 1):
        out[:, l * l + l] = P[l, 0]
        for m in range(1, l + 1):
            out[:, l * l + l + m] = math.sqrt(2) * P[l, m] * np.cos(m * phi)
            out[:, l * l + l - m] = math.sqrt(2) * P[l, m] * np.sin(m * phi)
    return out


def fibonacci(n):
    i = np.arange(n) + 0.5
    z, phi = 1 - 2 * i / n, math.pi * (3 - math.sqrt(5)) * i
    s = np.sqrt(1 - z * z)
    return np.stack([s * np.cos(phi), s * np.sin(phi), z], 1)


class Net:
    """CS-UNet, layout funnel."""

    def __init__(self, folder):
        self.config = json.load(open(f"{folder}/config.json"))
        self.w = {k: torch.from_numpy(v) for k, v in tensors(f"{folder}/model.safetensors").items()}

    def linear(self, name, x):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def block(self, name, x, cond, e):
        a, b = self.linear(name + ".t.2", torch.nn.functional.gelu(self.linear(name + ".t.0", e))).chunk(2, 1)
        return torch.sin(self.config["w0"] * self.linear(name + ".o", (1 + a) * self.linear(name + ".x", x) + b + self.linear(name + ".I", cond)))

    def __call__(self, x, cond, t):
        half, depth = self.config["time_dim"] // 2, self.config["depth"]
        angle = t * torch.exp(-math.log(1e4) * torch.arange(half) / (half - 1))
        e = torch.cat([angle.sin(), angle.cos()])[None]
        x = self.linear("inp", x)
        skips = [x]
        for k in range(depth):
            x = self.block(f"dn.{k}", x, cond, e)
            skips.append(x)
        skips.pop()
        for k in range(depth):
            x = self.block(f"up.{k}", x if k == 0 else torch.cat([x, skips.pop()], 1), cond, e)
        return self.linear("out", torch.cat([x, skips.pop()], 1))


@torch.no_grad()
def run(net, embeddings, Y):
    """Clean codes and last natural parameters of every sample, and the mean natural parameters at pure noise."""
    dim = Y.shape[1]
    f = lambda t: math.cos((t / T + 0.008) / 1.008 * math.pi / 2) ** 2
    alpha = [min(1, max(1e-5, f(t + 1) / f(0))) for t in range(T)]
    lam = [0.5 * math.log(a / (1 - a)) for a in alpha]
    times = [round((T - 1) * (1 - k / (STEPS - 1))) for k in range(STEPS)]
    noise = torch.Generator().manual_seed(0)
    codes, last, first = [], [], []
    for i in range(0, len(embeddings), 64):
        cond = embeddings[i : i + 64].repeat_interleave(SAMPLES, 0)
        x, before = torch.randn(len(cond), dim, generator=noise), None
        for k, t in enumerate(times):
            e = net(x, cond, float(t))
            if k == 0:
                first.append(e.view(-1, SAMPLES, dim).mean(1))
            mean = torch.softmax(e @ Y.T, 1) @ Y
            clean = mean * math.sqrt(4 * math.pi)
            if k + 1 < STEPS:
                to = times[k + 1]
                h = lam[to] - lam[t]
                gain = -math.sqrt(alpha[to]) * math.expm1(-h)
                share = h / (2 * (lam[t] - lam[times[k - 1]])) if 0 < k < STEPS - 2 else 0
                x = math.sqrt((1 - alpha[to]) / (1 - alpha[t])) * x + gain * (1 + share) * clean - (gain * share * before if share else 0)
                before = clean
        codes.append(mean.view(-1, SAMPLES, dim))
        last.append(e.view(-1, SAMPLES, dim))
    return [torch.cat(part).numpy() for part in (codes, last, first)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--source", default="a", help="a, b, or all")
    parser.add_argument("--rows", type=int, default=10**9, help="the first rows alone")
    args = parser.parse_args()
    net = Net(args.model)
    L = net.config["degree"]
    rows = list(csv.DictReader(open(f"{args.data}/validation.csv")))
    keep = [i for i, r in enumerate(rows) if args.source in ("all", r["source"])][: args.rows]
    lat, lon = (np.radians([float(rows[i][c]) for i in keep]) for c in ("lat", "lon"))
    truth = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], 1)
    grid = fibonacci(GRID)
    Y, YX = harmonics(L, grid), harmonics(L, truth)
    E = tensors(f"{args.data}/embeddings.safetensors")["validation"][keep]
    E = (E - net.w["standardisation.mean"].numpy().ravel()) / net.w["standardisation.deviation"].numpy().ravel()
    codes, last, first = run(net, torch.from_numpy(E), torch.from_numpy(Y))
    with torch.no_grad():
        noise = torch.Generator().manual_seed(1)
        e0 = net(torch.randn(256, Y.shape[1], generator=noise), torch.zeros(256, E.shape[1]), T - 1.0).mean(0).numpy()
    pooled, n = codes.mean(1), len(keep)
    log_cell, log_uniform = math.log(4 * math.pi / GRID), -math.log(4 * math.pi)

    def normal(F, FX):
        top = F.max(1, keepdims=True)
        log_z = top[:, 0] + np.log(np.exp(F - top).sum(1)) + log_cell
        return F - log_z[:, None], FX - log_z

    back, back_x = normal((Y @ e0)[None], (YX @ e0)[None])
    back_x = YX @ e0 - ((Y @ e0)[0] - back[0, 0])
    answer = grid[(pooled @ Y.T).argmax(1)]
    near, reach = answer @ grid.T, (answer * truth).sum(1)[:, None]

    def report(name, a, b, told):
        q = np.exp(a + log_cell)
        denser, nearer = (q * (a > b[:, None])).sum(1), (q * (near > reach)).sum(1)
        off = [[100 * ((v <= p).mean() - p) for p in LEVELS] for v in (denser, nearer)]
        cells = [" ".join(f"{x:+.0f}" for x in o) for o in off]
        print(f"| {name} | {told} | {-b.mean():.3f} | {cells[0]} | {cells[1]} |", flush=True)

    def floors(a, b):
        s = lambda v: 0.5 / (1 + math.exp(-v))
        mix = lambda x, p, w, v: np.logaddexp(np.logaddexp(math.log(1 - w - v) + x, math.log(v) + p), math.log(w) + log_uniform)
        got = minimize(lambda v: -mix(b, back_x, s(v[0]), s(v[1])).mean(), [-3, -2], method="Nelder-Mead", options={"maxiter": 200})
        w, v = s(got.x[0]), s(got.x[1])
        return got.fun, w, v, lambda: (mix(a, back, w, v), mix(b, back_x, w, v))

    def best(name, readings):
        """The reading (a, b, told) whose density with its best floors is best, alone and with them."""
        found = min(((*floors(a, b), a, b, told) for a, b, told in readings), key=lambda f: f[0])
        _, w, v, mixed, a, b, told = found
        report(name, a, b, told)
        report(name + ", floors", *mixed(), f"{told}, uniform {w:.3f}, background {v:.3f}")

    print(f"n = {n}, source {args.source}; uniform {-log_uniform:.3f}, background alone {-back_x.mean():.3f} nats\n")
    print("| reading | parameters | −log density | regions off at 10 … 90 % | radii off |\n|---|---|---|---|---|")
    temper = lambda F, FX, ts: [(*normal(t * F, t * FX), f"τ {t}") for t in ts]
    best("exp(τ · pooled code)", temper(pooled @ Y.T, (pooled * YX).sum(1), [0.2, 0.3, 0.5, 0.7, 1, 1.5, 2]))

    def mixture(t):
        parts = [normal(t * (last[:, k] @ Y.T), t * (last[:, k] * YX).sum(1)) for k in range(SAMPLES)]
        return np.logaddexp.reduce([p[0] for p in parts]) - math.log(SAMPLES), np.logaddexp.reduce([p[1] for p in parts]) - math.log(SAMPLES)

    best("mixture of the samples' last densities", [(*mixture(t), f"τ {t}") for t in (0.3, 0.4, 0.5, 0.7, 1)])
    degree = np.repeat(np.arange(L + 1), 2 * np.arange(L + 1) + 1)

    def linear(km):
        c = pooled * np.exp(-0.5 * (km / 6371) ** 2 * degree * (degree + 1))
        q = np.maximum(c @ Y.T, 1e-6)
        z = q.sum(1) * 4 * math.pi / GRID
        return np.log(q / z[:, None]), np.log(np.maximum((c * YX).sum(1), 1e-6) / z)

    best("pooled code as a density, blurred", [(*linear(km), f"{km} km") for km in (0, 200, 400, 600, 800)])

    def max_entropy():
        """The density of largest entropy whose moments are the pooled code: the convex dual by L-BFGS."""
        Yt, c = torch.from_numpy(Y), torch.from_numpy(pooled)
        e = torch.zeros_like(c, requires_grad=True)
        solver = torch.optim.LBFGS([e], max_iter=150, history_size=10, line_search_fn="strong_wolfe")

        def closure():
            solver.zero_grad()
            loss = (torch.logsumexp(e @ Yt.T, 1) - (e * c).sum(1)).sum() + 1e-4 * (e * e).sum()
            loss.backward()
            return loss

        solver.step(closure)
        return e.detach().numpy()

    e = max_entropy()
    best("maximum entropy with the pooled moments", temper(e @ Y.T, (e * YX).sum(1), [0.3, 0.4, 0.5, 0.7, 1]))
    F, FX = first @ Y.T, (first * YX).sum(1)
    best("natural parameters at pure noise", temper(F, FX, [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 1]))
    report("natural parameters at pure noise, at their word", *normal(F, FX), "τ 1")
    B, BX = Y @ e0, YX @ e0
    pairs = [(t, s) for t in (0.4, 0.45, 0.5, 0.55, 0.6) for s in (0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    best("… and those without a photo", [(*normal(t * F + s * B, t * FX + s * BX), f"τ {t}, background × {s}") for t, s in pairs])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How much other heads, ensembles and retrieval settings read from the same embeddings: validation only, PyTorch.

    bench/heads.py DATA [--steps 2000] [--seeds 6]

DATA has embeddings.safetensors (train, train_augmented, validation, f16) and train.csv, validation.csv with lat, lon, source.
Every head gives the coefficients of a log density over the sphere (as our image network does) and is trained by −log density.
Each is read alike: exponent and floor by −log density, then a window, the two sources of validation weighing the same; then
mixed with kernels about the most similar training photos, settings and share by −log density. A minute or two on a GPU for
each head; test is not looked at. Results: docs/results.md.
"""
import argparse, csv, json, math, struct, time
import numpy as np
import torch

EARTH_KM = 6371.0088
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_float32_matmul_precision("high")
WINDOWS_KM = (300.0, 600.0, 1200.0)
RADII_KM = (200, 750, 2500)


def tensors(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        found = {}
        for name in ("train", "train_augmented", "validation"):
            begin, end = header[name]["data_offsets"]
            file.seek(8 + size + begin)
            rows = np.frombuffer(file.read(end - begin), np.float16).reshape(header[name]["shape"])
            found[name] = torch.tensor(rows.astype(np.float32), device=DEVICE)
    return found


def places(path):
    rows = list(csv.DictReader(open(path)))
    lat, lon = (np.radians([float(row[key]) for row in rows]) for key in ("lat", "lon"))
    points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], 1)
    return torch.tensor(points, device=DEVICE), np.array([row["source"] for row in rows])


def fibonacci(count):
    index = torch.arange(count, dtype=torch.float64, device=DEVICE) + 0.5
    z, turn = 1 - 2 * index / count, index * math.pi * (1 + 5**0.5)
    return torch.stack([(1 - z * z).sqrt() * torch.cos(turn), (1 - z * z).sqrt() * torch.sin(turn), z], 1)


def harmonics(points, degree, blur_km):
    """Real orthonormal harmonics times √4π, blurred, [points, (degree + 1)²]."""
    x, y, z = points.T
    out = torch.empty(len(points), (degree + 1) ** 2, dtype=torch.float64, device=points.device)
    sine, turn = (x * x + y * y).clamp_min(1e-300).sqrt(), torch.atan2(y, x)
    sectoral = torch.full_like(x, 1.0)
    for m in range(degree + 1):
        if m:
            sectoral = sectoral * sine * math.sqrt((2 * m + 1) / (2 * m))
        before, now = torch.zeros_like(x), sectoral
        for l in range(m, degree + 1):
            if l > m:
                a = math.sqrt((4 * l * l - 1) / (l * l - m * m))
                b = math.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1)) if l > m + 1 else 0.0
                before, now = now, a * (z * now - b * before)
            blur = math.exp(-l * (l + 1) * (blur_km / EARTH_KM) ** 2 / 2)
            out[:, l * l + l + m] = now * blur * (math.sqrt(2) * torch.cos(m * turn) if m else 1.0)
            if m:
                out[:, l * l + l - m] = now * blur * math.sqrt(2) * torch.sin(m * turn)
    return out.float()


class Study:
    def __init__(self, data, steps, pixels):
        found = tensors(f"{data}/embeddings.safetensors")
        self.train_places, self.train_source = places(f"{data}/train.csv")
        self.truth, source = places(f"{data}/validation.csv")
        self.a = torch.tensor(source == "a", device=DEVICE)
        self.weights = torch.where(self.a, 0.5 / self.a.sum(), 0.5 / (~self.a).sum()).float()
        self.raw, self.raw_validation = found["train"], found["validation"]
        mean, deviation = self.raw.mean(0), self.raw.std(0) + 1e-6
        self.copies = torch.stack([(found[name] - mean) / deviation for name in ("train", "train_augmented")])
        self.validation = (found["validation"] - mean) / deviation
        self.pixels, self.steps, self.began = fibonacci(pixels), steps, time.time()
        self.area = 4 * math.pi / pixels
        self.tables, self.retrievals = {}, []

    def table(self, name, points, degree, blur_km):
        key = (name, degree, blur_km)
        if key not in self.tables:
            self.tables[key] = torch.cat([harmonics(part, degree, blur_km) for part in points.split(8192)])
        return self.tables[key]

    def head(self, seed, degree=31, blur_km=100.0, hidden=1024, depth=1, dropout=0.5, noise=1.0, lr=3e-4, batch=512,
             source_a=1.0, mixup=0.0):
        """A trained head's log density (but for a constant) at the pixels and at the truths."""
        torch.manual_seed(seed)
        points = {23: 12288, 31: 38848, 47: 65536}[degree]
        grid = self.table("grid", fibonacci(points), degree, blur_km)
        at_places = self.table("train", self.train_places, degree, blur_km)
        layers, width = [], self.copies.shape[2]
        for _ in range(depth):
            layers += [torch.nn.Linear(width, hidden), torch.nn.GELU(), torch.nn.Dropout(dropout)]
            width = hidden
        net = torch.nn.Sequential(*layers, torch.nn.Linear(width, (degree + 1) ** 2)).to(DEVICE)
        with torch.no_grad():
            net[-1].weight.mul_(0.1)
            net[-1].bias.zero_()
        optimiser = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=5e-4)
        averaged = [p.detach().clone() for p in net.parameters()]
        drawn = torch.ones(len(self.train_places), device=DEVICE)
        drawn[torch.tensor(self.train_source == "a", device=DEVICE)] = source_a
        warm = max(1, self.steps // 10)
        for step in range(self.steps):
            rise, fall = (step + 1) / warm, 0.5 * (1 + math.cos(math.pi * (step - warm) / (self.steps - warm)))
            for group in optimiser.param_groups:
                group["lr"] = lr * (rise if step < warm else fall)
            rows = torch.multinomial(drawn, batch, True)
            x = self.copies[torch.randint(2, (batch,), device=DEVICE), rows]
            x = x + noise * torch.randn_like(x)
            x = torch.where(torch.rand(batch, 1, device=DEVICE) < 0.5, 0.0, x)
            share, other = torch.ones(batch, 1, device=DEVICE), torch.arange(batch, device=DEVICE)
            if mixup:
                share = torch.distributions.Beta(mixup, mixup).sample((batch, 1)).to(DEVICE)
                other = torch.randperm(batch, device=DEVICE)
                x = share * x + (1 - share) * x[other]
            code, target = net(x), at_places[rows]
            log_integral = torch.logsumexp(code @ grid.T, 1) + math.log(4 * math.pi / points)
            target = share * target + (1 - share) * target[other]
            loss = (log_integral - (code * target).sum(1)).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            decay = min(0.999, (1 + step) / (10 + step))
            torch._foreach_mul_(averaged, decay)
            torch._foreach_add_(averaged, [p.detach() for p in net.parameters()], alpha=1 - decay)
        with torch.no_grad():
            for p, mean in zip(net.parameters(), averaged):
                p.copy_(mean)
            code = net.eval()(self.validation)
            at_pixels = code @ self.table("pixels", self.pixels, degree, blur_km).T
            return at_pixels, (code * self.table("truth", self.truth, degree, blur_km)).sum(1)

    def retrieve(self):
        """Densities of retrieval, for every setting."""
        mean = self.raw.mean(0)
        values, vectors = torch.linalg.eigh(torch.cov((self.raw - mean).T))
        whiten = vectors @ torch.diag(1 / (values + 0.1 * values.mean()).sqrt()) @ vectors.T
        spaces = [("cosine", self.raw, self.raw_validation, (0.05, 0.1, 0.2)),
                  ("whitened", (self.raw - mean) @ whiten, (self.raw_validation - mean) @ whiten, (0.033, 0.066, 0.13))]
        unit = lambda rows: rows / rows.norm(dim=1, keepdim=True)
        for width_km in (100.0, 200.0):
            kappa = (EARTH_KM / width_km) ** 2
            near = lambda to: torch.cat([torch.exp(kappa * (part @ to.T - 1)).float() for part in self.train_places.split(2048)])
            at_pixels, at_truth = near(self.pixels).half(), near(self.truth).T
            for name, train, validation, temperatures in spaces:
                similar = unit(validation) @ unit(train).T
                for neighbours in (40, 100, 300):
                    top, index = similar.topk(neighbours, 1)
                    for temperature in temperatures:
                        share = torch.zeros_like(similar).scatter_(1, index, torch.softmax(top / temperature, 1))
                        mass = (share.half() @ at_pixels).float() if DEVICE == "cuda" else share @ at_pixels.float()
                        density = (share * at_truth).sum(1) * kappa / (2 * math.pi)
                        setting = f"{name}, k {neighbours}, T {temperature}, {width_km:.0f} km"
                        self.retrievals.append((setting, (mass / mass.sum(1, keepdim=True)).half(), density))

    def calibrated(self, at_pixels, at_truth):
        best = (math.inf,)
        for exponent in np.arange(0.2, 1.31, 0.05):
            log_integral = torch.logsumexp(exponent * at_pixels, 1) + math.log(self.area)
            density = (exponent * at_truth - log_integral).exp()
            for floor in (0.003, 0.01, 0.02, 0.05):
                mixed = (1 - floor) * density + floor / (4 * math.pi)
                best = min(best, (self.nll(mixed), exponent, floor, mixed), key=lambda found: found[0])
        _, exponent, floor, density = best
        mass = (1 - floor) * torch.softmax(exponent * at_pixels, 1) + floor / len(self.pixels)
        return exponent, mass, density

    def nll(self, density):
        return -float((self.weights * torch.log(density)).sum())

    def places(self, mass, window_km):
        """Where a Gaussian window holds most: the best of a grid, then mean shift."""
        width, found = window_km / 2 / EARTH_KM, []
        centres = self.pixels[:: max(1, len(self.pixels) // 20000)]
        for part in mass.split(128):
            held = torch.zeros(len(part), len(centres), device=DEVICE)
            for k, some in enumerate(centres.split(2000)):
                held[:, 2000 * k : 2000 * k + len(some)] = part @ torch.exp(((self.pixels @ some.T) - 1) / width**2).float()
            at = centres[held.argmax(1)]
            for _ in range(8):
                at = (torch.exp(((at @ self.pixels.T) - 1) / width**2) * part) @ self.pixels
                at = at / at.norm(dim=1, keepdim=True)
            found.append(at)
        return torch.cat(found)

    def judged(self, mass, density):
        """The window with the best mean over radii and sources, in words."""
        best = (-1.0,)
        for window_km in WINDOWS_KM:
            km = EARTH_KM * torch.arccos((self.places(mass, window_km) * self.truth).sum(1).clamp(-1, 1))
            shares = [[100 * float((km[of] < r).float().mean()) for r in RADII_KM] for of in (self.a, ~self.a)]
            best = max(best, (sum(map(sum, shares)) / 6, window_km, shares))
        text = ["/".join(f"{share:.1f}" for share in of) for of in best[2]]
        return f"NLL {self.nll(density):.3f}; a {text[0]}, b {text[1]}, mean {best[0]:.2f} (window {best[1]:.0f} km)"

    def show(self, name, head):
        exponent, mass, density = self.calibrated(*head)
        print(f"{name}: exponent {exponent:.2f}, {self.judged(mass, density)} [{time.time() - self.began:.0f} s]", flush=True)
        tried = ((self.nll((1 - share) * density + share * found[2]), share, found)
                 for found in self.retrievals for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
        _, share, (setting, kernels, at_truth) = min(tried, key=lambda each: each[0])
        both = self.judged((1 - share) * mass + share * kernels.float(), (1 - share) * density + share * at_truth)
        print(f"  + {share:.0%} retrieval ({setting}): {both}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--pixels", type=int, default=60000)
    args = parser.parse_args()
    study = Study(args.data, args.steps, args.pixels)
    study.retrieve()
    own = [study.head(seed) for seed in range(args.seeds)]
    for seed in range(min(2, args.seeds)):
        study.show(f"default, seed {seed}", own[seed])
    mean = lambda heads: tuple(sum(each) / len(heads) for each in zip(*heads))
    for count in (2, 3, 6):
        if count <= args.seeds:
            study.show(f"mean evidence of {count} seeds", mean(own[:count]))
    changes = {"source a three times as often": dict(source_a=3.0), "two hidden layers, dropout 0.3": dict(depth=2, dropout=0.3),
               "mixup 0.5": dict(mixup=0.5), "L = 47, blur 50 km": dict(degree=47, blur_km=50.0)}
    for name, change in changes.items():
        for seed in (100, 101):
            study.show(f"{name}, seed {seed}", study.head(seed, **change))


main()

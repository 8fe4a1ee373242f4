#!/usr/bin/env python3
"""Train on the street-view embeddings, locate the unseen photos, and print how good they are.

  scripts/train_streetview.py --locdiff target/release/locdiff --data ../shared/data/streetview --out /tmp/streetview

The data folder holds embeddings.safetensors (train, train_augmented, validation, test) and the three CSV files. Choose
on the columns "validation" (1,022 photos); the columns "998" are the test photos and validation's source a together.
Needs nothing but Python's standard library. Exits 1 if a run fails.
"""
import argparse, concurrent.futures, csv, json, math, os, subprocess, sys, threading, time

RADII = [25, 200, 750, 2500]
SEEDS = [0, 1, 2]

# name: (arguments of train, arguments of sample, seeds)
TABLE = {
    "L=23 default": ([], [], SEEDS),
    "L=47 default": (["--degree", "47"], [], SEEDS),
    "L=47 1500 steps": (["--degree", "47", "--steps", "1500"], [], SEEDS),
    "L=23 kl-paper, the paper's settings": (["--preset", "paper", "--degree", "23", "--steps", "6000"], [], SEEDS),
    "L=23 no low-pass": (["--low-pass-km", "0"], [], SEEDS),
    "L=47 no low-pass": (["--degree", "47", "--low-pass-km", "0"], [], SEEDS),
    "L=23 kl-paper, unit RMS, lr 3e-4 cosine": (["--loss", "kl-paper", "--steps", "6000"], [], [0]),
    "L=23 kl": (["--loss", "kl"], [], [0]),
    "L=23 cosine": (["--loss", "cosine"], [], [0]),
    "L=23 l2": (["--loss", "l2"], [], [0]),
}
PLAIN = ["--low-pass-km", "0"]
# One choice changed at a time, without the low-pass filter.
STUDY = {
    name: (PLAIN + arguments, [], [0])
    for name, arguments in {
        "dropout 0.1": ["--dropout", "0.1"],
        "dropout 0.5": ["--dropout", "0.5"],
        "noise 0.3": ["--embedding-noise", "0.3"],
        "noise 0.6": ["--embedding-noise", "0.6"],
        "noise 1.0": ["--embedding-noise", "1.0"],
        "width 256": ["--width", "256"],
        "hidden 1024, width 256": ["--hidden", "1024", "--width", "256"],
        "1500 steps": ["--steps", "1500"],
        "6000 steps": ["--steps", "6000"],
        "6000 steps, noise 0.6": ["--steps", "6000", "--embedding-noise", "0.6"],
        "lr 1e-3": ["--lr", "1e-3"],
        "lr 1e-4": ["--lr", "1e-4"],
        "L=31": ["--degree", "31"],
        "L=47 hidden 1024": ["--degree", "47", "--hidden", "1024"],
        "L=47 noise 0.6": ["--degree", "47", "--embedding-noise", "0.6"],
    }.items()
}
# The low-pass filter and what goes with it, three seeds each.
for _name, _arguments in {
    "low-pass 100": "--low-pass-km 100",
    "low-pass 150": "--low-pass-km 150",
    "low-pass 300": "--low-pass-km 300",
    "low-pass 150, 1500 steps": "--low-pass-km 150 --steps 1500",
    "low-pass 200, 1500 steps": "--low-pass-km 200 --steps 1500",
    "low-pass 150, 1500 steps, noise 0.3, dropout 0.5":
        "--low-pass-km 150 --steps 1500 --embedding-noise 0.3 --dropout 0.5",
    "L=47 low-pass 50": "--degree 47 --low-pass-km 50",
    "L=47 low-pass 75, 1500 steps": "--degree 47 --low-pass-km 75 --steps 1500",
    "L=47 low-pass 50, 1500 steps, hidden 1024": "--degree 47 --low-pass-km 50 --steps 1500 --hidden 1024",
}.items():
    STUDY[_name] = (_arguments.split(), [], SEEDS)
# Sampling alone, on the model of seed 0 without the low-pass filter.
SAMPLING = {
    "guidance 0.5": ["--guidance", "0.5"],
    "guidance 1": ["--guidance", "1"],
    "guidance 2": ["--guidance", "2"],
    "ddim 20": ["--sampler", "ddim"],
    "ddpm 200": ["--sampler", "ddpm", "--steps", "200"],
    "dpmpp 10": ["--steps", "10"],
    "dpmpp 50": ["--steps", "50"],
    "64 samples": ["--samples", "64"],
}


def km(a, b):
    (la, lo), (lb, lp) = ([math.radians(x) for x in p] for p in (a, b))
    h = math.sin((lb - la) / 2) ** 2 + math.cos(la) * math.cos(lb) * math.sin((lp - lo) / 2) ** 2
    return 6371.0 * 2 * math.asin(min(1.0, math.sqrt(h)))


def mean_place(places):
    x = y = z = 0.0
    for lat, lon in places:
        la, lo = math.radians(lat), math.radians(lon)
        x += math.cos(la) * math.cos(lo); y += math.cos(la) * math.sin(lo); z += math.sin(la)
    return math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def place(row):
    return float(row["lat"]), float(row["lon"])


def shares(distances):
    return [100.0 * sum(d < r for d in distances) / len(distances) for r in RADII]


class Bench:
    def __init__(self, args):
        self.args = args
        self.truth = {split: rows(f"{args.data}/{split}.csv") for split in ("validation", "test")}
        self.lock = threading.Lock()
        self.results = []
        os.makedirs(args.out, exist_ok=True)

    def locdiff(self, *arguments):
        done = subprocess.run([self.args.locdiff, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def train(self, folder, arguments, seed):
        e = f"{self.args.data}/embeddings.safetensors"
        text = self.locdiff(
            "train", "--embeddings", e, "--tensor", "train", "--augmented", "train_augmented", "--locations",
            f"{self.args.data}/train.csv", "--validation-embeddings", e, "--validation-tensor", "validation",
            "--validation-locations", f"{self.args.data}/validation.csv", "--validate-every", "0", "--device",
            self.args.device, "--seed", str(seed), "--out", folder, "--json", *arguments)
        return json.loads(text.strip().splitlines()[-1])["steps_per_second"]

    def sample(self, folder, arguments, tag):
        """Distances by way of pooling, for validation and for the 998."""
        found = {}
        for split in ("validation", "test"):
            out, each = f"{folder}/{tag}-{split}.csv", f"{folder}/{tag}-{split}-samples.csv"
            self.locdiff("sample", "--model", folder, "--embeddings", f"{self.args.data}/embeddings.safetensors",
                         "--tensor", split, "--device", self.args.device, "--out", out, "--per-sample", each, *arguments)
            samples = {}
            for row in rows(each):
                samples.setdefault(int(float(row["row"])), []).append(place(row))
            for k, (row, truth) in enumerate(zip(rows(out), self.truth[split])):
                own, at = samples[k + 1], place(truth)
                one = {"pooled": km(place(row), at), "mean": km(mean_place(own), at), "single": km(own[0], at)}
                for way, distance in one.items():
                    if split == "validation":
                        found.setdefault(("validation", way), []).append(distance)
                    if split == "test":
                        found.setdefault(("test", way), []).append(distance)
                    if truth["source"] == "a":
                        found.setdefault(("998", way), []).append(distance)
        return {f"{split} {way}": shares(distances) for (split, way), distances in found.items()}

    def one(self, name, seed, train, sample, folder=None):
        start = time.time()
        speed = None
        if folder is None:
            folder = f"{self.args.out}/{name.replace(' ', '_').replace('=', '').replace(',', '').replace(chr(39), '')}-{seed}"
            speed = self.train(folder, train, seed)
        trained = time.time() - start
        tag = "p" + "".join(c for c in "".join(sample) if c.isalnum())
        result = {"name": name, "seed": seed, "steps_per_second": speed, "train_s": trained, **self.sample(folder, sample, tag)}
        with self.lock:
            self.results.append(result)
            with open(f"{self.args.out}/results.jsonl", "a") as file:
                file.write(json.dumps(result) + "\n")
            print("DONE", name, seed, f"{time.time() - start:.0f}s", "speed", speed and round(speed), "val",
                  [round(x, 1) for x in result["validation pooled"]], "998", [round(x, 1) for x in result["998 pooled"]],
                  "mean", [round(x, 1) for x in result["998 mean"]], "single", [round(x, 1) for x in result["998 single"]], flush=True)
        return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--locdiff", default="target/release/locdiff")
    parser.add_argument("--data", default="../shared/data/streetview")
    parser.add_argument("--out", default="/tmp/streetview")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time; speeds are fair with 1 only")
    parser.add_argument("--groups", default="table", help="table, study, sampling; by commas")
    parser.add_argument("--only", default="", help="names that contain one of these, by |")
    parser.add_argument("--extra", action="append", default=[], help="NAME::TRAIN ARGUMENTS::SEEDS::SAMPLE ARGUMENTS, another run")
    args = parser.parse_args()
    bench = Bench(args)
    jobs = []
    wanted = lambda name: not args.only or any(part in name for part in args.only.split("|"))
    for group in args.groups.split(","):
        for name, (train, sample, seeds) in {"table": TABLE, "study": STUDY}.get(group, {}).items():
            jobs += [(name, seed, train, sample) for seed in seeds if wanted(name)]
    for text in args.extra:
        name, train, seeds, sample = (text + "::").split("::")[:4]
        jobs += [(name, int(seed), train.split(), sample.split()) for seed in seeds.split(",")]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        if "sampling" in args.groups.split(","):
            base = bench.one("sampling base, no low-pass", 0, PLAIN, [])
            jobs = [(name, 0, [], sample, base) for name, sample in SAMPLING.items() if wanted(name)] + jobs
        for job, future in [(job, pool.submit(bench.one, *job)) for job in jobs]:
            try:
                future.result()
            except Exception as error:  # one run that fails must not cost the others
                failed.append(f"{job[0]}: {error}")
                print("FAILED", failed[-1], flush=True)
    print("\n| run | seeds | steps/s | validation pooled (n=1022) | pooled (n=998) | mean (n=998) | single (n=998) | pooled, test alone (n=600) |\n|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(result["name"] for result in bench.results):
        runs = [result for result in bench.results if result["name"] == name]
        cell = lambda key: " / ".join(f"{sum(run[key][k] for run in runs) / len(runs):.1f}" for k in range(4))
        speeds = [run["steps_per_second"] for run in runs if run["steps_per_second"]]
        speed = f"{sum(speeds) / len(speeds):.0f}" if speeds else ""
        print(f"| {name} | {len(runs)} | {speed} | {cell('validation pooled')} | {cell('998 pooled')} | {cell('998 mean')} | {cell('998 single')} | {cell('test pooled')} |")
    print("\n% within 25 / 200 / 750 / 2500 km")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The codec beside its peers, in one interleaved run on one thread.

    bench/codec.py [--rounds 5] [--degree 47]

Installs sphericart, scipy and ducc0 from PyPI into a throw-away environment (bench/out/venv); our side is
`cargo bench -p locdiff-bench --bench codec`, whose rate of items (coefficients or vectors) in the fastest run is read.
Times are the median over rounds of each round's best; machines are noisy, so read the ratios.
"""
import argparse, json, os, pathlib, re, statistics, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / "bench" / "out" / "venv"
PEERS = ["numpy", "scipy>=1.15", "sphericart==2.0.4", "ducc0==0.42.0"]
BENCH = ["cargo", "bench", "-q", "-p", "locdiff-bench", "--bench", "codec", "--"]
ONE_THREAD = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")}


def setup():
    if os.environ.get("LOCDIFF_BENCH_READY"):
        return
    if not (VENV / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin" / "pip", "install", "-q", *PEERS], check=True)
    subprocess.run([*BENCH[:-1], "--no-run"], cwd=ROOT, check=True)
    python = str(VENV / "bin" / "python")
    os.execve(python, [python, __file__, *sys.argv[1:]], {**os.environ, **ONE_THREAD, "LOCDIFF_BENCH_READY": "1"})


def ours(bench, degree, seconds):
    """Items a second of the fastest run of one of our benches (a regular expression)."""
    limits = ["--min-time", str(seconds), "--max-time", str(seconds)]
    out = subprocess.run([*BENCH, bench, *limits], cwd=ROOT, check=True, capture_output=True, text=True,
                         env={**os.environ, "LOCDIFF_DEGREES": str(degree)}).stdout
    number, prefix = re.search(r"([\d.]+) ([KMGT]?)item/s", out).groups()
    return float(number) * 1e3 ** " KMGT".index(prefix or " ")


def best(run, seconds):
    run()
    end, fastest = time.perf_counter() + seconds, float("inf")
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--degree", type=int, default=47)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    setup()
    import numpy as np, sphericart, ducc0
    from scipy.special import sph_harm_y_all

    l, seconds = arguments.degree, arguments.seconds
    d = (l + 1) ** 2
    rng = np.random.default_rng(1)
    count = (8 << 20) // d  # the points of our own encode benches
    xyz = rng.normal(size=(count, 3)); xyz /= np.linalg.norm(xyz, axis=1, keepdims=True)
    theta, phi = np.arccos(xyz[:, 2]), np.arctan2(xyz[:, 1], xyz[:, 0])
    sh = sphericart.SphericalHarmonics(l)
    xyz32 = xyz.astype(np.float32)
    few = slice(0, max(4, 200_000 // d))
    fill64, fill32 = np.empty(count * d), np.empty(count * d, np.float32)
    alm = rng.normal(size=(1, (l + 1) * (l + 2) // 2)) + 1j * rng.normal(size=(1, (l + 1) * (l + 2) // 2))
    loc = np.stack([theta, phi % (2 * np.pi)], 1)[:4096].copy()
    anchors = rng.normal(size=(21_000, d)).astype(np.float32)
    batch = rng.normal(size=(512, d)).astype(np.float32)
    rings = 2 * (l + 1)
    per = 1e9 / d
    coefficient, vector = "ns/coefficient", "us/vector"
    # operation: unit, our bench, peers, limit
    table = {
        f"encode f64, {count} points": (coefficient, "encode_f64", {
            "sphericart f64": lambda: best(lambda: sh.compute(xyz), seconds) * per / count,
            "scipy": lambda: best(lambda: sph_harm_y_all(l, l, theta[few], phi[few]), seconds) * per / len(theta[few]),
        }, ("write bandwidth", lambda: best(lambda: fill64.fill(1.5), seconds) * per / count)),
        f"encode f32, {count} points": (coefficient, "encode_f32", {
            "sphericart f32": lambda: best(lambda: sh.compute(xyz32), seconds) * per / count,
        }, ("write bandwidth", lambda: best(lambda: fill32.fill(1.5), seconds) * per / count)),
        **{f"fused e·Y, {n} points": (coefficient, f"field_f64.*{n}", {
            "ducc0 synthesis_general": lambda p=loc[:n], n=n: best(
                lambda: ducc0.sht.synthesis_general(alm=alm, spin=0, lmax=l, loc=p, epsilon=1e-12, nthreads=1), seconds) * per / n,
        }, None)
           for n in (256, 4096)},
        "decode, exact": (vector, "decode_exact", {
            "dense, 21k anchors (paper)": lambda: best(lambda: (batch @ anchors.T).argmax(1), seconds) * 1e6 / 512,
            "our anchors mode, 21k": lambda: 1e6 / ours("decode_anchors", l, seconds),
            "ducc0 synthesis_2d alone": lambda: best(lambda: ducc0.sht.synthesis_2d(
                alm=alm, spin=0, lmax=l, geometry="F1", ntheta=rings, nphi=2 * rings, nthreads=1), seconds) * 1e6,
        }, None),
    }
    samples = {}
    for _ in range(arguments.rounds):
        for name, (unit, operation, peers, limit) in table.items():
            add = lambda who, value: samples.setdefault((name, who), []).append(value)
            add("ours", (1e9 if unit == coefficient else 1e6) / ours(operation, l, seconds))
            for peer, run in peers.items():
                add(peer, run())
            if limit:
                add("limit", limit[1]())
    median = {k: statistics.median(v) for k, v in samples.items()}
    if arguments.json:
        print(json.dumps([{"operation": n, "who": w, "value": v, "unit": table[n][0]} for (n, w), v in median.items()]))
        return
    print(f"L={l}, one thread, median of {arguments.rounds} interleaved rounds\n")
    for name, (unit, _, peers, limit) in table.items():
        mine = median[name, "ours"]
        print(f"{name} ({unit})\n  {'ours':<28} {mine:9.3f}")
        for peer in peers:
            value = median[name, peer]
            print(f"  {peer:<28} {value:9.3f}   ours is {value / mine:.1f}x as fast")
        if limit:
            value = median[name, "limit"]
            print(f"  {'limit: ' + limit[0]:<28} {value:9.3f}   ours reaches {100 * value / mine:.0f} %")
    print("\ndensity with log Z, modes (us/vector):", round(1e6 / ours("codec::density", l, seconds), 1))


if __name__ == "__main__":
    main()

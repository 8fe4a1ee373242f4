#!/usr/bin/env python3
"""Every ratio that the documents give, in one run, each next to its peer: encoder, answers, `locate`, server, browser, codec, training and
sampling. Peers are installed from PyPI and npm into target/ratios. Rows of a GPU are made if CUDA is found.

    bench/ratios.py [NAME …] [--full] [--photos FOLDER] [--binary LOCDIFF] [--json FILE]

NAME: the parts to run; all of them unless told. About 6 minutes on 2 quiet cores once all is built and fetched; --full has more photos and
rounds. --photos: JPEG files to make the photos from, better ones than the fixtures. A ratio above 1 means that ours is faster, by what the
column says: `clock`, or `processor` time, which other work on the machine disturbs less. A part that cannot run says why and is left out.
"""
import argparse, json, os, pathlib, re, resource, shutil, statistics, subprocess, sys, tempfile, time, venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ["ducc0", "fastapi", "k6", "onnx", "onnxruntime", "pillow", "pyvips-binary", "pyvips", "safetensors", "scipy", "uvicorn"]
OUT = ROOT / "target/ratios"
PYTHON, ONE = OUT / "venv/bin/python", {name: "1" for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VIPS_CONCURRENCY")}
TABLE = []


def add(work, peer, ours, theirs, unit, by, n, ratio=None):
    row = {"work": work, "peer": peer, "ours": float(ours), "peer's": float(theirs), "unit": unit, "by": by, "n": n, "load": round(os.getloadavg()[0], 1)}
    row["ratio"] = float(ratio or row["peer's"] / row["ours"])
    TABLE.append(row)
    print(f"| {work} | {peer} | {float(ours):.4g} | {float(theirs):.4g} {unit} | {row['ratio']:.2f} | {by} | {n} | {row['load']} |", flush=True)


def run(*command, one_thread=True, **more):
    """What a command prints."""
    environment = {**os.environ, **(ONE if one_thread else {}), **more}
    done = subprocess.run(list(map(str, command)), cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))[:120]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def codec(quick):
    rounds = 2 if quick else 5
    found = json.loads(run(sys.executable, "bench/codec.py", "--json", "--rounds", rounds))
    ours = {one["operation"]: one["value"] for one in found if one["who"] == "ours"}
    for one in found:
        if one["who"] not in ("ours", "limit"):
            add(f"{one['operation']}, L = 47", one["who"], ours[one["operation"]], one["value"], one["unit"], "clock", rounds)


def engine(quick):
    if quick and subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        raise RuntimeError("PyTorch is not installed: --full installs it (3 GB)")
    run(PYTHON, "-m", "pip", "install", "--quiet", "torch")
    program, rounds = ROOT / "target/release/examples/engine_bench", 2 if quick else 5
    run("cargo", "build", "--release", "--quiet", "--manifest-path", "lab/Cargo.toml", "--target-dir", "target", "--example", "engine_bench")
    for device, more in [("cpu", ["--d", 576, "--threads", 1]), ("cuda", ["--d", "576,2304", "--modes", "tf32"])]:
        if device == "cuda" and not shutil.which("nvidia-smi"):
            continue
        told = run(PYTHON, "bench/engine.py", "--engine", program, "--device", device, "--what", "train,s16", "--rounds", rounds, *more)
        for title, lines in re.findall(r"^RESULT (.*)\n((?: .*\n)+)", told, re.M):
            values = dict(re.findall(r"^  (ours \S+|torch \S+(?: \S+)?) +([\d.]+)  \(", lines, re.M))
            mine = next(float(value) for name, value in values.items() if name.startswith("ours"))
            for name, value in values.items():
                if name.startswith("torch"):
                    add(title.split(" (")[0], f"PyTorch {name[6:]}", mine, value, "ms", "clock" if device == "cuda" else "processor", rounds)


def encoder(quick):
    count, rounds = (40, 2) if quick else (200, 5)
    told = run(PYTHON, "lab/scripts/vision_bench.py", "--pipeline", LOCDIFF, small() if FROM else count, rounds, one_thread=False)
    n, ours, theirs = re.search(r"^(\d+) photos.* and .*?, ([\d.]+) and ([\d.]+) ms of processor", told, re.M).groups()
    add("embedding a photo of 1.5 megapixels", "onnxruntime + Pillow", ours, theirs, "ms", "processor", n)


def answers(quick):
    files = sorted(small().glob("*.jpg"))[: 40 if quick else 120]
    with tempfile.TemporaryDirectory() as folder:
        def seconds(name, few):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            table = f"{folder}/{len(few)}.safetensors"
            run(LOCDIFF, *(["embed", *few, "-o", table, "--force"] if name == "embed" else ["locate", "--embeddings", table, "--json"]), "--device", "cpu")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        # Starting is taken off by a run of one photo.
        turns = [[1e3 * (seconds(name, files) - seconds(name, files[:1])) / (len(files) - 1) for name in ("embed", "answer")] for _ in range(3 if quick else 5)]
    embed, answer = map(statistics.median, zip(*turns))
    add("an answer, after the embedding", "embedding the photo", answer, embed, "ms", "processor", len(files))


# What a peer is made of, in words: its decoder and its answer (bench/laptop.py, bench/peer_fastapi.py).
WORDS = {"pillow": "Pillow", "draft": "Pillow, reduced", "pyvips": "pyvips", "same": "the same answer in numpy and ducc0", "head": "a linear head, no answer"}


def words(peer, frame):
    decoder, answer = peer.split()
    return f"{frame}, {WORDS[decoder]}; {WORDS[answer]}"


def locate(quick):
    told = OUT / "laptop.json"
    run(PYTHON, "bench/laptop.py", LOCDIFF, large(40 if quick else 1000), "--turns", 2 if quick else 5, "--json", told, RAYON_NUM_THREADS=str(len(os.sched_getaffinity(0))))
    for row in json.loads(told.read_text()):
        for by, key in (("processor", "ratio"), ("clock", "ratio_by_the_clock")):
            ours, theirs = (row["ours_ms"], row["peer_ms"]) if by == "processor" else (row["ours_clock_ms"], row["peer_clock_ms"])
            add("`locate --no-text`, 12 megapixels", words(row["peer"], "onnxruntime"), ours, theirs, "ms", by, row["n"], row[key])


def server(quick):
    told = OUT / "server.json"
    few = ["--turns", 3, "--photos-most", 40] if quick else ["--turns", 5, "--tries"]
    run(PYTHON, "bench/serve.py", LOCDIFF, small(), "--tools", OUT / "venv/bin", "--only", "peer", *few, "--json", told, one_thread=False)
    for row in json.loads(told.read_text()):
        peer = words(row["peer"], "FastAPI, onnxruntime")
        add("a request to `serve`, 1.5 megapixels", peer, row["ours_ms"], row["peer_ms"], "ms", "processor", row["n"], row["ratio"])
        add("the same, 32 at a time", peer, row["ours_rate"], row["peer_rate"], "requests/s", "clock", row["n"], row["ratio_by_the_clock"])
        for share in ("p50", "p99") if row["peer"].endswith("same") else ():
            add(f"the same, {share} of what a request takes", peer, row[f"ours_{share}_ms"], row[f"peer_{share}_ms"], "ms", "clock", row["n"])


def browser(quick):
    modules, onnx = OUT / "node_modules", OUT / "encoder.onnx"
    if not (modules / "playwright-core").exists():
        run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", OUT, "onnxruntime-web@1.30", "playwright-core")
    run(PYTHON, "bench/browser_onnx.py", onnx)
    if not (quick and (ROOT / "target/site/locdiff/index.js").exists()):
        run("scripts/site", "--quick", one_thread=False)
    found = json.loads(run("node", "bench/browser.mjs", modules, "target/site", modules / "onnxruntime-web/dist", onnx))
    add("the encoder in a browser, one thread", "onnxruntime-web", found["ours_ms"], found["onnxruntime_web_ms"], "ms", "clock", found["rounds"], found["ratio"])
    add("the same, the fastest rounds", "onnxruntime-web", found["ours_fastest_ms"], found["onnxruntime_web_fastest_ms"], "ms", "clock", found["rounds"])


def small():
    return photos("small", 120, "1414x1061", 85)


def large(count):
    return photos(f"large-{count}", count, "4032x3024", 95)


def photos(name, count, size, quality):
    folder = OUT / f"photos/{name}"
    if not folder.exists():
        run(PYTHON, "bench/serve_photos.py", FROM or ROOT / "fixtures/vision", folder, count, size, quality)
    return folder


def main():
    global FROM, LOCDIFF
    parts = [encoder, answers, locate, server, browser, codec, engine]
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME", help=", ".join(part.__name__ for part in parts))
    options.add_argument("--full", action="store_true")
    options.add_argument("--photos", type=pathlib.Path)
    options.add_argument("--binary", type=pathlib.Path, help="the program, if it is not to be built")
    options.add_argument("--json", type=pathlib.Path)
    options = options.parse_args()
    if unknown := set(options.names) - {part.__name__ for part in parts}:
        sys.exit(f"no such part: {', '.join(sorted(unknown))}")
    LOCDIFF = options.binary.resolve() if options.binary else ROOT / "target/release/locdiff"
    FROM = options.photos and options.photos.resolve()
    if not PYTHON.exists():
        venv.create(OUT / "venv", with_pip=True)
    run(PYTHON, "-m", "pip", "install", "--quiet", *PEERS)
    if not options.binary:
        run("cargo", "build", "--release", "--quiet", "--bin", "locdiff", one_thread=False)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, commit {run('git', 'rev-parse', '--short', 'HEAD').strip()}\n")
    print("| work | peer | ours | peer's | ratio | by | n | load |\n|---|---|---|---|---|---|---|---|")
    for part in parts:
        if not options.names or part.__name__ in options.names:
            begin = time.perf_counter()
            try:
                part(not options.full)
                print(f"{part.__name__}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
            except (RuntimeError, OSError, AttributeError) as error:
                print(f"{part.__name__}: left out: {error}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(TABLE, indent=1))


if __name__ == "__main__":
    main()

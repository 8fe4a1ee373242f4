#!/usr/bin/env python3
"""`locdiff locate` on a folder of large photos, compared with what one would write in Python: Pillow or pyvips, onnxruntime, and numpy for the
same image network and its density. In turns, as many processes as cores, one thread each.

    python bench/laptop.py LOCDIFF PHOTOS [--turns 5] [--text] [--json FILE]     (numpy, scipy, onnx, onnxruntime, pillow, pyvips, safetensors)

Peers: `pillow` decodes whole photos, `draft` asks Pillow for the reduced size that JPEG allows, `pyvips` makes thumbnails, which does so, too.
Each gives the best place, five hypotheses and two radii of the density at 12,288 points; ours gives all that an answer has (249,671 cells,
countries, regions), and starts again in each turn. With --text, ours also reads text; the peers do not.
"""
import argparse, json, multiprocessing, os, pathlib, resource, statistics, subprocess, sys, time

import numpy as np
from PIL import Image
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab/scripts"))
from vision_bench import SHORT, preprocess, session_on_one_thread  # noqa: E402

MODEL = HERE.parent / "crates/bundled-model/streetview-l31"
POINTS, DEGREE = 12_288, 31
KINDS = ["pillow", "draft", "pyvips"]


def start():
    global SESSION, NETWORK, HARMONICS, PLACES
    from scipy.special import erf, sph_harm_y_all

    SESSION = session_on_one_thread()
    weights = {name: value.astype(np.float32) for name, value in load_file(MODEL / "model.safetensors").items()}
    layer = lambda x, k: weights[f"image.{k}.weight"] @ x + weights[f"image.{k}.bias"]  # noqa: E731
    gelu = lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2)))  # noqa: E731
    standard = lambda x: (x - weights["standardisation.mean"]) / weights["standardisation.deviation"]  # noqa: E731
    NETWORK = lambda x: layer(gelu(layer(standard(x), 0)), 1)  # noqa: E731
    index = np.arange(POINTS) + 0.5
    z, turn = 1 - 2 * index / POINTS, index * np.pi * (1 + 5**0.5)
    PLACES = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], 1).astype(np.float32)
    complex_ones = sph_harm_y_all(DEGREE, DEGREE, np.arccos(z), turn)
    columns = []
    for l in range(DEGREE + 1):
        for m in range(-l, l + 1):
            value = complex_ones[l, abs(m)] * (-1) ** m  # no Condon–Shortley sign
            columns.append(value.real if m == 0 else np.sqrt(2) * (value.real if m > 0 else value.imag))
    exponent = json.loads((MODEL / "calibration.json").read_text())["evidence"]
    HARMONICS = (exponent * np.stack(columns, 1)).astype(np.float32)


def pixels_of(path, kind):
    if kind == "pyvips":
        import pyvips

        # The shorter side becomes SHORT; the crop in the middle is `preprocess`'s.
        head = pyvips.Image.new_from_file(path)
        image = pyvips.Image.thumbnail(path, SHORT * head.width // min(head.width, head.height), height=10**7)
        return preprocess(Image.fromarray(image.numpy()[:, :, :3]))
    with Image.open(path) as image:
        if kind == "draft":
            image.draft("RGB", (2 * SHORT, 2 * SHORT))
        return preprocess(image.convert("RGB"))


def locate(job):
    path, kind = job
    begin = time.process_time()
    log = HARMONICS @ NETWORK(SESSION.run(None, {"pixels": pixels_of(path, kind)})[0][0])
    density = np.exp(log - log.max())
    density /= density.sum()
    left, found = density.copy(), []
    for _ in range(5):
        best = int(left.argmax())
        cosines = PLACES @ PLACES[best]
        near = cosines > np.cos(500 / 6371)
        found.append((PLACES[best].tolist(), float(left[near].sum())))
        left[near] = 0
    order = np.argsort(-(PLACES @ PLACES[int(density.argmax())]))
    within = np.cumsum(density[order])
    radii = [float(np.arccos(np.clip(PLACES[order[np.searchsorted(within, share)]] @ PLACES[order[0]], -1, 1))) for share in (0.5, 0.9)]
    return {"hypotheses": found, "radii": radii, "seconds": time.process_time() - begin}


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("locdiff")
    options.add_argument("photos", type=pathlib.Path)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--text", action="store_true")
    options.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    options.add_argument("--json", type=pathlib.Path)
    options = options.parse_args()
    files, cores = sorted(map(str, options.photos.glob("*.jpg"))), len(os.sched_getaffinity(0))
    command = [options.locdiff, "locate", "--device", "cpu", "--quiet", "--json", *([] if options.text else ["--no-text"])]

    def ours(few):
        begin, before = time.perf_counter(), processor_s()
        subprocess.run([*command, *few], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin, processor_s() - before

    def peer(kind, few):
        begin = time.perf_counter()
        answers = pool.map(locate, [(path, kind) for path in few], chunksize=1)
        return time.perf_counter() - begin, sum(answer["seconds"] for answer in answers)

    rates = {name: [] for name in ["locdiff", *options.kinds]}
    with multiprocessing.Pool(cores, start) as pool:
        pool.map(locate, [(path, kind) for kind in options.kinds for path in files[: 2 * cores]])
        for turn in range(options.turns):
            few = files[turn :: options.turns]
            for name in rates:
                wall, processor = ours(few) if name == "locdiff" else peer(name, few)
                rates[name].append((1e3 * wall / len(few), 1e3 * processor / len(few)))
    rows = []
    for kind in options.kinds:
        wall, processor = (statistics.median(p[k] / o[k] for p, o in zip(rates[kind], rates["locdiff"])) for k in (0, 1))
        our_ms, peer_ms = (statistics.median(ms for _, ms in rates[name]) for name in ("locdiff", kind))
        rows.append({"peer": kind, "n": len(files), "ours_ms": our_ms, "peer_ms": peer_ms, "ratio": processor, "ratio_by_the_clock": wall})
        print(f"{kind:<7} {len(files)} photos, {options.turns} turns, {cores} cores: processor time a photo {our_ms:.1f} and {peer_ms:.1f} ms, {processor:.2f} times; by the clock {wall:.2f} times")
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()

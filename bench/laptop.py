#!/usr/bin/env python3
"""`locdiff locate` on a folder of large photos, compared with what one would write in Python: Pillow or pyvips, onnxruntime with the same
image network, and an answer of bench/numpy_answer.py. In turns, as many processes as cores, one thread each.

    python bench/laptop.py LOCDIFF PHOTOS [--turns 5] [--text] [--json FILE]     (numpy, scipy, ducc0, onnx, onnxruntime, pillow, pyvips, safetensors)

A peer is a decoder and an answer. `pillow` decodes whole photos, `draft` asks Pillow for the reduced size that JPEG allows, `pyvips` makes
thumbnails, which does so, too. `same` gives what our answer gives, `head` hardly more than the embedding. Starting is not counted: our time
less that for one photo. With --text, ours also reads text; the peers do not.
"""
import argparse, json, multiprocessing, os, pathlib, resource, statistics, subprocess, sys, time

from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab/scripts"))
from vision_bench import SHORT, preprocess, session_on_one_thread  # noqa: E402

PEERS = ["pillow same", "draft same", "pyvips same", "draft head"]


def start():
    global SESSION, ANSWERS
    import numpy_answer

    SESSION, ANSWERS = session_on_one_thread(), {name: made() for name, made in numpy_answer.ANSWERS.items()}


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
    path, peer = job
    begin, (decoder, answer) = time.process_time(), peer.split()
    ANSWERS[answer](SESSION.run(None, {"pixels": pixels_of(path, decoder)})[0][0])
    return time.process_time() - begin


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("locdiff")
    options.add_argument("photos", type=pathlib.Path)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--text", action="store_true")
    options.add_argument("--peers", nargs="+", default=PEERS)
    options.add_argument("--json", type=pathlib.Path)
    options = options.parse_args()
    files, cores = sorted(map(str, options.photos.glob("*.jpg"))), len(os.sched_getaffinity(0))
    command = [options.locdiff, "locate", "--device", "cpu", "--quiet", "--json", *([] if options.text else ["--no-text"])]

    def run(few):
        begin, before = time.perf_counter(), processor_s()
        subprocess.run([*command, *few], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin, processor_s() - before

    def ours(few):
        return [(whole - one) / (len(few) - 1) for whole, one in zip(run(few), run(few[:1]))]

    def theirs(peer, few):
        begin = time.perf_counter()
        spent = sum(pool.map(locate, [(path, peer) for path in few], chunksize=1))
        return [(time.perf_counter() - begin) / len(few), spent / len(few)]

    turns = []
    with multiprocessing.Pool(cores, start) as pool:
        pool.map(locate, [(path, peer) for peer in options.peers for path in files[: 2 * cores]])
        for turn in range(options.turns):
            few = files[turn :: options.turns]
            turns.append({"locdiff": ours(few), **{peer: theirs(peer, few) for peer in options.peers}})
    rows = []
    for peer in options.peers:
        clock, processor = (statistics.median(turn[peer][k] / turn["locdiff"][k] for turn in turns) for k in (0, 1))
        (our_clock, peer_clock), (our_ms, peer_ms) = ([1e3 * statistics.median(turn[name][k] for turn in turns) for name in ("locdiff", peer)] for k in (0, 1))
        rows.append({"peer": peer, "n": len(files), "ours_ms": our_ms, "peer_ms": peer_ms, "ratio": processor, "ours_clock_ms": our_clock, "peer_clock_ms": peer_clock, "ratio_by_the_clock": clock})
        print(f"{peer:<11} {len(files)} photos, {options.turns} turns, {cores} cores: processor time a photo {our_ms:.1f} and {peer_ms:.1f} ms, {processor:.2f} times; by the clock {clock:.2f} times")
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()

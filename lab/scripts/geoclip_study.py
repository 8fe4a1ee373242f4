#!/usr/bin/env python3
"""GeoCLIP as a model of ours beside the Python package, and its calibration on embeddings whose truth is known.

  pip install geoclip==1.3.0 transformers safetensors
  lab/scripts/geoclip_study.py --wheel geoclip-1.3.0-py3-none-any.whl --locdiff target/release/locdiff --work /tmp/study

CLIP's weights cannot be had offline: a CLIP of random weights (exact in f16, 4 layers, seed 0) stands in for it, in the hub's layout, with GeoCLIP's
own heads and places. Five parts: first places and scores of 200 made-up photos; radii on places' own vectors with noise of 0.5, 1.5 and 3 times
their length, brought through the image head (fitted on --rows of --seed, all noises together, judged on three times as many of the seed after it); times of one
row and of 200 more, the fastest of five; the same radii with --refine for the first 150; radii where a collection has one noise: fitted on --rows of
it, judged on as many others.
"""
import argparse, csv, glob, json, math, os, resource, shutil, subprocess, sys, time, types
import numpy as np, torch

ENCODER = "clip-vit-large-patch14"


def made_up_clip(folder):
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel
    torch.manual_seed(0)
    text = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, projection_dim=768, bos_token_id=0, eos_token_id=2, vocab_size=1000)
    vision = dict(hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4, patch_size=14, image_size=224, projection_dim=768)
    model = CLIPModel(CLIPConfig(projection_dim=768, text_config=text, vision_config=vision))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                parameter.copy_(torch.randn_like(parameter) / np.sqrt(np.prod(parameter.shape[1:])))
            parameter.copy_(parameter.half().float())
    model.save_pretrained(folder)
    CLIPImageProcessor().save_pretrained(folder)


def package(clip):
    training = sys.modules["geoclip.train"] = types.ModuleType("geoclip.train")  # it wants torchvision and geopy
    training.train = training.eval_images = training.img_train_transform = training.img_val_transform = training.GeoDataLoader = None
    from geoclip import GeoCLIP
    return GeoCLIP(from_pretrained=True, clip_path=clip).eval()


def distance_km(a, b, c, d):
    a, b, c, d = map(math.radians, (a, b, c, d))
    h = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(h))


def report(name, answers, rows):
    for level in ["0", "1", "2", ""]:
        own = [(distance_km(a["best"]["lat"], a["best"]["lon"], float(r["lat"]), float(r["lon"])), a) for a, r in zip(answers, rows) if level in ("", r["level"])]
        if not own or (level == "" and len({r["level"] for r in rows}) == 1):
            continue
        held = [100 * np.mean([km <= a[f"radius_{p}_km"] for km, a in own]) for p in (50, 90)]
        print(f"{name}, noise {level or 'all'}: n = {len(own)}, radii of 50/90 % hold {held[0]:.1f}/{held[1]:.1f} %, median error {np.median([km for km, _ in own]):.1f} km, "
              f"{sum(km <= 5 for km, _ in own)} within 5 km")


def made_up_rows(model, gallery, path, seed, n):
    """Embeddings of CLIP's size whose vectors are those of places with noise, one level after another; and the places."""
    unit = lambda x: torch.nn.functional.normalize(x, dim=1)
    torch.manual_seed(seed)
    truth = gallery[torch.randint(0, len(gallery), (n,))] + torch.randn(n, 2) * 0.2
    truth[:, 0].clamp_(-89, 89)
    truth[:, 1] = (truth[:, 1] + 180) % 360 - 180
    vectors = unit(torch.cat([model.location_encoder(truth[i:i + 1000]) for i in range(0, n, 1000)]))
    level = torch.arange(n) % 3
    wanted = unit(vectors + unit(torch.randn(n, 512)) * torch.tensor([0.5, 1.5, 3.0])[level][:, None])
    features, far = [], 0.0
    for some in wanted.split(1000):
        own = torch.randn(len(some), 768, requires_grad=True)
        optimiser = torch.optim.Adam([own], lr=0.05)
        for _ in range(400):
            loss = (1 - (unit(model.image_encoder.mlp(own)) * some).sum(1)).sum()
            optimiser.zero_grad(), loss.backward(), optimiser.step()
        features.append(own.detach())
        far += loss.item()
    print(f"{n} rows of seed {seed}: 1 - cosine with what was wanted {far / n:.1e}, mean")
    np.save(f"{path}.npy", torch.cat(features).numpy().astype("float32"))
    with open(f"{path}.csv", "w") as out:
        out.write("lat,lon,level\n" + "".join(f"{la},{lo},{l}\n" for (la, lo), l in zip(truth.tolist(), level.tolist())))


def save_part(path, part, chosen):
    np.save(f"{part}.npy", np.load(f"{path}.npy")[chosen])
    with open(f"{path}.csv") as table:
        rows = list(csv.DictReader(table))[chosen]
    with open(f"{part}.csv", "w") as out:
        out.write("lat,lon,level\n" + "".join(f"{r['lat']},{r['lon']},{r['level']}\n" for r in rows))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--locdiff", default="target/release/locdiff")
    parser.add_argument("--work", required=True)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    work, home = args.work, f"{args.work}/home"
    models = f"{work}/models"
    os.makedirs(f"{models}/geoclip", exist_ok=True)
    os.makedirs(f"{work}/photos", exist_ok=True)
    shutil.copy(args.wheel, f"{models}/geoclip/")
    made_up_clip(f"{models}/{ENCODER}")
    environment = dict(os.environ, LOCDIFF_HOME=home)
    run = lambda *words: subprocess.run([args.locdiff, *words], check=True, capture_output=True, text=True, env=environment).stdout
    lines = lambda *words: [json.loads(line) for line in run("locate", "--model", "geoclip", "--device", "cpu", "--json", *words).splitlines()]
    run("get", "geoclip", "--from", models, "--yes")
    model = package(f"{models}/{ENCODER}")
    for parameter in model.parameters():
        parameter.requires_grad_(False)

    from PIL import Image
    rng = np.random.default_rng(0)
    for k in range(200):
        small = rng.uniform(0, 255, (rng.integers(3, 24), rng.integers(3, 24), 3)).astype("uint8")
        Image.fromarray(small).resize((int(rng.integers(230, 500)), int(rng.integers(230, 500))), Image.BICUBIC).save(f"{work}/photos/{k:03}.png")
    gallery = model.gps_gallery
    unit = lambda x: torch.nn.functional.normalize(x, dim=1)
    places = unit(torch.cat([model.location_encoder(gallery[i:i + 2000]) for i in range(0, len(gallery), 2000)]))
    photos = sorted(glob.glob(f"{work}/photos/*.png"))
    same, worst = 0, 0.0
    for photo, answer in zip(photos, lines(*photos)):
        scores = (unit(model.image_encoder(model.image_encoder.preprocess_image(Image.open(photo)))) @ places.T)[0]
        first = answer["gallery"]["match"]
        same += first["row"] == int(scores.argmax()) + 1
        worst = max(worst, abs(first["similarity"] - float(scores.max())))
    print(f"first place as the package's: {same} of {len(photos)}; largest difference of its cosine {worst:.1e}")

    for name, seed in [("known", args.seed), ("test", args.seed + 1)]:
        made_up_rows(model, gallery, f"{work}/{name}", seed, 3 * args.rows)
    part = lambda name, chosen: save_part(f"{work}/{name}", f"{work}/part-{name}", chosen)
    calibrate = lambda: run("calibrate", "--model", "geoclip", "--embeddings", f"{work}/part-known.npy", "--truth", f"{work}/part-known.csv", "--device", "cpu").strip()
    part("known", slice(0, args.rows))
    rows = part("test", slice(None))
    print(calibrate())
    answers = lines("--embeddings", f"{work}/part-test.npy")
    report("one calibration for all", answers, rows)
    for count in (1, 201):
        np.save(f"{work}/{count}.npy", np.load(f"{work}/test.npy")[:count])
    spent = {}
    for count in (1, 201):
        for _ in range(5):
            begin, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
            lines("--embeddings", f"{work}/{count}.npy")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            spent[count] = min(spent.get(count, (1e9, 1e9)), (time.time() - begin, processor))
    (one, one_processor), (many, many_processor) = spent[1], spent[201]
    print(f"one row {one:.2f} s, of which {one_processor:.2f} s of processor time; each of 200 more {5 * (many - one):.1f} ms, "
          f"{5 * (many_processor - one_processor):.1f} ms of processor time; load {os.getloadavg()[0]:.1f}")
    np.save(f"{work}/150.npy", np.load(f"{work}/test.npy")[:150])
    report("the first 150 of them", answers[:150], rows[:150])
    report("the same refined", lines("--embeddings", f"{work}/150.npy", "--refine"), rows[:150])
    for level in range(3):
        part("known", slice(level, None, 3))
        rows = part("test", slice(level, None, 3))
        calibrate()
        report("its own calibration", lines("--embeddings", f"{work}/part-test.npy"), rows)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Our GeoCLIP beside the Python package: vectors of 1,000 random places, top 5 over the 100k gallery, and the time of a query.

  pip download --no-deps geoclip; pip install --no-deps geoclip; pip install torch numpy pandas pillow
  lab/scripts/geoclip_parity.py --wheel geoclip-1.3.0-py3-none-any.whl --locdiff target/release/locdiff \\
      --lab target/release/locdiff-lab

CLIP's weights cannot be had offline: the package's CLIP is replaced by given random features, everything after it is the
package's own code and weights. Exits 1 if a figure is out of bounds.
"""
import argparse, csv, os, subprocess, sys, tempfile, time, types
import numpy as np, torch


def package():
    """The package's GeoCLIP class with its CLIP left out: image_encoder takes CLIP features."""
    stub = types.ModuleType("transformers")
    for name in ("AutoProcessor", "CLIPConfig", "CLIPImageProcessor", "CLIPModel"):
        setattr(stub, name, object)
    sys.modules["transformers"] = stub
    training = sys.modules["geoclip.train"] = types.ModuleType("geoclip.train")  # it wants torchvision and geopy
    training.train = training.eval_images = training.img_train_transform = training.img_val_transform = training.GeoDataLoader = None
    from geoclip import GeoCLIP
    from geoclip.model.location_encoder import LocationEncoder
    from geoclip.model.misc import file_dir, load_gps_data
    model = GeoCLIP.__new__(GeoCLIP)
    torch.nn.Module.__init__(model)
    model.logit_scale = torch.nn.Parameter(torch.ones([]))
    model.image_encoder = torch.nn.Module()
    model.image_encoder.mlp = torch.nn.Sequential(torch.nn.Linear(768, 768), torch.nn.ReLU(), torch.nn.Linear(768, 512))
    model.image_encoder.forward = model.image_encoder.mlp.forward
    model.location_encoder = LocationEncoder(from_pretrained=False)
    model.register_buffer("gps_gallery", load_gps_data(os.path.join(file_dir, "gps_gallery", "coordinates_100K.csv")))
    model.weights_folder = os.path.join(file_dir, "weights")
    model._load_weights()
    return model.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--locdiff", default="target/release/locdiff")
    parser.add_argument("--lab", default="target/release/locdiff-lab")
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--package-rounds", type=int, default=2, help="package queries to time; each re-encodes the gallery")
    args = parser.parse_args()
    run = lambda *a: subprocess.run(a, check=True, capture_output=True, text=True).stdout
    rng = np.random.default_rng(0)
    failed = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        print(run(args.locdiff, "import", "geoclip", args.wheel, "--out", f"{folder}/geoclip").strip())
        model = package()
        places = np.stack([np.degrees(np.arcsin(rng.uniform(-1, 1, 1000))), rng.uniform(-180, 180, 1000)], 1)
        np.save(f"{folder}/places.npy", places)
        run(args.lab, "embed-location", f"{folder}/places.npy", "--model", f"{folder}/geoclip", "--device", "cpu", "--out", f"{folder}/ours.npy")
        theirs = model.location_encoder(torch.tensor(places, dtype=torch.float32)).numpy()
        exact = model.location_encoder.double()(torch.tensor(places.astype(np.float32)).double())
        model.location_encoder.float()
        ours = np.load(f"{folder}/ours.npy")
        unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)
        raw, cosine = np.abs(ours - theirs).max(), np.abs(unit(ours) - unit(theirs)).max()
        print(f"1,000 random places (seed 0): largest |ours - package| {raw:.2e} of values up to {np.abs(theirs).max():.2f}; "
              f"vectors of length 1: {cosine:.2e}")
        spread = np.abs(exact.numpy() - theirs).max()
        print(f"  the package against itself in f64: {spread:.2e}; ours against that: {np.abs(exact.numpy() - ours).max():.2e}")
        if cosine > 1e-4:
            failed.append(f"vectors differ by {cosine}")
        features = rng.standard_normal((args.queries, 768)).astype(np.float32)
        np.save(f"{folder}/features.npy", features)
        search = [args.locdiff, "gallery", "search", f"{folder}/geoclip/gallery.csv", "--geoclip", f"{folder}/geoclip",
                  "--embeddings", f"{folder}/features.npy", "--device", "cpu", "--top", "5", "--out", f"{folder}/hits.csv"]
        begin = time.time()
        run(*search)
        print(f"first search, 100k vectors computed and kept: {time.time() - begin:.1f} s")
        hits = list(csv.DictReader(open(f"{folder}/hits.csv")))
        package_s = []
        for round in range(args.package_rounds):
            begin = time.time()
            logits = model(torch.tensor(features[round:round + 1]), model.gps_gallery)
            torch.topk(logits.softmax(-1), 5)
            package_s.append(time.time() - begin)
            seconds = []
            for rows in (1, 201):
                np.save(f"{folder}/timed.npy", np.resize(features, (rows, 768)))
                begin = time.time()
                run(*search[:7], f"{folder}/timed.npy", *search[8:-1], f"{folder}/timed.csv")
                seconds.append(time.time() - begin)
            print(f"round {round + 1}: package {1e3 * package_s[-1]:.0f} ms a query ({torch.get_num_threads()} threads); our command "
                  f"{1e3 * seconds[0]:.0f} ms for one query, {1e3 * (seconds[1] - seconds[0]) / 200:.2f} ms for each of 200 more")
        vectors = torch.nn.functional.normalize(model.location_encoder(model.gps_gallery), dim=1)
        images = torch.nn.functional.normalize(model.image_encoder(torch.tensor(features)), dim=1)
        scores = images @ vectors.T
        best = torch.topk(scores, 5)
        same, worst = 0, 0.0
        for k in range(args.queries):
            mine = [hit for hit in hits if int(float(hit["row"])) == k + 1]
            rows = [int(float(hit["gallery_row"])) - 1 for hit in mine]
            same += rows == best.indices[k].tolist()
            worst = max(worst, max(abs(float(scores[k, r]) - float(v)) for r, v in zip(rows, best.values[k])))
        print(f"top 5 over {len(vectors)} places for {args.queries} random features: same rows in the same order {same} of {args.queries}; "
              f"where not, the package's own scores differ by at most {worst:.1e}")
        if worst > 1e-4:
            failed.append(f"top-5 scores differ by {worst}")
    for line in failed:
        print("FAILED", line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

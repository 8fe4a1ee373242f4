#!/usr/bin/env python3
"""Writes fixtures/geoclip: a GeoCLIP of a few kB with random weights, saved by torch.save, and what PyTorch makes of it.

    scripts/fixtures geoclip

Projection and Fourier features are the geoclip package's own code (pip install --no-deps geoclip); the layers have its
structure and names at a tenth of its size.
"""
import importlib.util, os, struct, sys, types
import torch
from torch import nn

OUT = os.path.join(os.path.dirname(__file__), "..", "fixtures", "geoclip")


def package_modules():
    """geoclip.model.location_encoder and .rff without the package's imports of transformers and pandas."""
    found = importlib.util.find_spec("geoclip")
    if found is None:
        sys.exit("no geoclip: pip install --no-deps geoclip, and put its folder on PYTHONPATH")
    root = list(found.submodule_search_locations)[0]
    for name, folder in (("g", root), ("g.model", f"{root}/model")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [folder]
    misc = sys.modules["g.model.misc"] = types.ModuleType("g.model.misc")
    misc.file_dir = f"{root}/model"
    import g.model.location_encoder as location, g.model.rff.functional as functional
    return location, functional


def write_safetensors(path, tensors):
    import json
    header, data = {}, b""
    for name, t in tensors.items():
        raw = t.detach().float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main():
    location, functional = package_modules()
    torch.manual_seed(7)
    frequencies, hidden, outputs, image_hidden = 8, 12, 10, 9
    features = 24  # as the CLIP of fixtures/clip/whole gives

    class Fourier(nn.Module):
        def __init__(self, sigma):
            super().__init__()
            self.b = nn.Parameter(functional.sample_b(sigma, (frequencies, 2)), requires_grad=False)

        def forward(self, v):
            return functional.gaussian_encoding(v, self.b)

    class Capsule(nn.Module):
        def __init__(self, sigma):
            super().__init__()
            layers = [Fourier(sigma)]
            for inputs in (2 * frequencies, hidden, hidden):
                layers += [nn.Linear(inputs, hidden), nn.ReLU()]
            self.capsule = nn.Sequential(*layers)
            self.head = nn.Sequential(nn.Linear(hidden, outputs))

        def forward(self, x):
            return self.head(self.capsule(x))

    encoder = nn.Module()
    for k, sigma in enumerate((1, 16, 256)):
        encoder.add_module(f"LocEnc{k}", Capsule(sigma))
    mlp = nn.Sequential(nn.Linear(features, image_hidden), nn.ReLU(), nn.Linear(image_hidden, outputs))
    places = torch.cat([torch.rand(36, 2) * torch.tensor([180.0, 360.0]) - torch.tensor([90.0, 180.0]),
                        torch.tensor([[90.0, 0.0], [-90.0, 180.0], [0.0, -180.0], [48.8566, 2.3522]])])
    with torch.no_grad():
        projected = location.equal_earth_projection(places)
        vectors = sum(capsule(projected) for capsule in encoder.children())
        photos = torch.randn(5, features)
        os.makedirs(OUT, exist_ok=True)
        # A state_dict as nn.Module gives it (with its metadata), a plain dict in f16 transposed, a single number.
        torch.save(encoder.state_dict(), f"{OUT}/location_encoder_weights.pth")
        torch.save(dict(mlp.state_dict()), f"{OUT}/image_encoder_mlp_weights.pth")
        torch.save(nn.Parameter(torch.tensor(2.6593)), f"{OUT}/logit_scale_weights.pth")
        torch.save({"half": torch.arange(6.0).reshape(3, 2).half().t(), "tied": vectors[:2, 3:5],
                    "double": torch.tensor([1.5, -2.5], dtype=torch.float64), "bf16": torch.ones(2, dtype=torch.bfloat16)},
                   f"{OUT}/kinds.pth")
        torch.save({"a": torch.ones(2)}, f"{OUT}/old_format.pth", _use_new_zipfile_serialization=False)
        write_safetensors(f"{OUT}/expected.safetensors", {
            "places": places, "place_vectors": vectors, "features": photos, "feature_vectors": mlp(photos),
            "tied": vectors[:2, 3:5]})
    with open(f"{OUT}/coordinates_100K.csv", "w") as file:
        file.write("LAT,LON\n" + "".join(f"{lat:.6f},{lon:.6f}\n" for lat, lon in places[:20].tolist()))
    print("wrote", os.path.normpath(OUT))


if __name__ == "__main__":
    main()

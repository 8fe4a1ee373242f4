#!/usr/bin/env python3
"""What int8 products would do to embeddings: the cosine with the f32 ones, on photos.

    python bench/int8_cosine.py PHOTOS COUNT [CLIP_FOLDER COUNT]

Products in int8 as AVX-512 VNNI has them: weights rounded to 8 bits with a scale for each output, inputs to 8 bits with a
scale and a zero for each row (pixel or token), found as it comes; sums, biases, norms, activations and depthwise
convolutions stay f32. The bundled encoder (streetview-lite2), and a CLIP tower as `scripts/clip_fixtures.py` writes it.
Needs torch; transformers for the second.
"""
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.numpy import load_file

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from lite2_reference import LITE2, preprocess  # noqa: E402
from vision_fixtures import forward, same  # noqa: E402


def weights8(weight):
    """Rounded to 8 bits, a scale for each output."""
    flat = weight.reshape(len(weight), -1)
    scale = flat.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
    return (torch.round(flat / scale).clamp(-127, 127) * scale).reshape(weight.shape)


def inputs8(x, dim):
    """Rounded to 8 bits, a scale and a zero for each row along `dim`."""
    low, high = x.amin(dim, keepdim=True).clamp_max(0), x.amax(dim, keepdim=True).clamp_min(0)
    scale = ((high - low) / 255).clamp_min(1e-12)
    zero = torch.round(-low / scale)
    return (torch.round(x / scale + zero).clamp(0, 255) - zero) * scale


def lite2(pictures, keep):
    """Embeddings in f32, and with those 1×1 convolutions in int8 that `keep` does not name."""
    folder = ROOT / "crates/bundled-encoder/streetview-lite2/model.safetensors"
    tensors = {name: torch.tensor(value).float() for name, value in load_file(folder).items()}

    def weight(name):
        value = tensors[f"{name}.weight"]
        return value * tensors[f"{name}.scale"].reshape(-1, *[1] * (value.dim() - 1)) if f"{name}.scale" in tensors else value

    def embed(x, int8):
        def conv(name, x, stride, groups):
            w = weight(name)
            if int8 and w.shape[2:] == (1, 1) and groups == 1 and not any(part in name for part in keep):
                x, w = inputs8(x, 1), weights8(w)
            return same(x, w, tensors[f"{name}.bias"], stride, groups)

        return F.linear(forward(LITE2, conv, x), weight("embed"), tensors["embed.bias"])

    return [(embed(x, False)[0], embed(x, True)[0]) for x in pictures]


def clip(folder, pictures):
    from transformers import CLIPVisionModelWithProjection

    model = CLIPVisionModelWithProjection.from_pretrained(folder).eval()
    exact = [model(x).image_embeds[0] for x in pictures]
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.weight.copy_(weights8(module.weight))
            module.register_forward_pre_hook(lambda _, inputs: (inputs8(inputs[0], -1),))
    return [(a, model(x).image_embeds[0]) for a, x in zip(exact, pictures)]


def tell(what, pairs):
    cosines = np.sort([F.cosine_similarity(a, b, 0).item() for a, b in pairs])
    print(f"{what}: n = {len(cosines)}, cosine least {cosines[0]:.5f}, 5 % below {cosines[len(cosines) // 20]:.5f}, "
          f"median {np.median(cosines):.5f}; {np.mean(cosines >= 0.999):.1%} at 0.999 or above", flush=True)


def main():
    files = sorted(Path(sys.argv[1]).iterdir())
    with torch.no_grad():
        pictures = [preprocess(Image.open(file)).float() for file in files[: int(sys.argv[2])]]
        tell("streetview-lite2, all 1×1 convolutions", lite2(pictures, []))
        tell("streetview-lite2, all but the projections", lite2(pictures, ["_project_conv"]))
        tell("streetview-lite2, expansions alone", lite2(pictures, ["_project_conv", "_conv_head"]))
        if len(sys.argv) > 4:
            mean, std = (torch.tensor(v).reshape(3, 1, 1) for v in ([0.481, 0.458, 0.408], [0.269, 0.261, 0.276]))
            def pixels(file):
                image = Image.open(file).convert("RGB").resize((224, 224), Image.BICUBIC)
                return ((torch.tensor(np.array(image)).permute(2, 0, 1) / 255 - mean) / std)[None]
            tell(f"{sys.argv[3]}, all products with weights", clip(sys.argv[3], [pixels(file) for file in files[: int(sys.argv[4])]]))


if __name__ == "__main__":
    main()

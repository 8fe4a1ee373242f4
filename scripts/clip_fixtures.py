#!/usr/bin/env python3
"""Writes fixtures/clip: two small CLIPs of random weights as Hugging Face saves them, and what transformers makes of
two pictures with them.

    scripts/fixtures clip
    .venv/torch/bin/python scripts/clip_fixtures.py [FOLDER NAME]

`whole` is a whole CLIP (text tower and all, f16, quick_gelu, projected); `tower` a vision tower alone (bf16, gelu, in
shards, not projected). With FOLDER and NAME (ViT-B/32, ViT-L/14 or ViT-L/14@336) it writes instead a tower of that size,
projected, for the benches. Made with torch 2.15.0, transformers 5.22.2, Pillow 13.0.0.
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from safetensors.numpy import save_file
from transformers import CLIPConfig, CLIPModel, CLIPVisionConfig, CLIPVisionModel, CLIPVisionModelWithProjection

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "clip"
SIZES = {
    "ViT-B/32": dict(),
    "ViT-B/16": dict(patch_size=16),
    "ViT-L/14": dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16, patch_size=14, projection_dim=768),
}
SIZES["ViT-L/14@336"] = dict(SIZES["ViT-L/14"], image_size=336)


def picture(width, height):
    """The same formula stands in crates/vision/tests/clip.rs."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return ((x * 7 + y * 13 + c * 50 + (x * y) // 5) % 256).astype(np.uint8)


PICTURES = {"wide": picture(90, 61), "small": picture(23, 40)}


def spread(model, seed):
    """Random weights whose every part shows in the output."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "norm" in name or "layrnorm" in name:
                value.copy_(torch.randn_like(value) * 0.3 + ("weight" in name))
            else:
                value.copy_(torch.randn_like(value) * (0.1 if value.dim() < 2 else value[0].numel() ** -0.5))
    return model.eval()


def features(model, processor, image):
    pixels = processor(Image.fromarray(image), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        out = model.double()(pixels.double())
    out = out.image_embeds if hasattr(out, "image_embeds") else out.pooler_output
    return pixels[0].permute(1, 2, 0).contiguous().numpy(), out[0].float().numpy()


def whole(expected):
    from transformers import CLIPImageProcessorPil

    vision = dict(hidden_size=32, intermediate_size=72, num_hidden_layers=3, num_attention_heads=2, image_size=32, patch_size=8, projection_dim=24)
    text = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, vocab_size=16, max_position_embeddings=4)
    model = spread(CLIPModel(CLIPConfig(vision_config=vision, text_config=text, projection_dim=24)), 1).half()
    folder = OUT / "whole"
    model.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: mit\n---\n\nRandom weights.\n")
    processor = CLIPImageProcessorPil(size={"shortest_edge": 36}, crop_size={"height": 32, "width": 32})
    processor.save_pretrained(folder)
    # Only what concerns the vision tower is compared.
    vision = CLIPVisionModelWithProjection.from_pretrained(folder)
    for name, image in PICTURES.items():
        pixels, out = features(vision, processor, image)
        expected[f"whole/{name}/features"] = out
        if name == "wide":
            expected["whole/wide/pixels"] = pixels
    variants = {
        "short": dict(size={"shortest_edge": 36}),
        "exact": dict(size={"height": 32, "width": 32}, do_center_crop=False, resample=2),
        "padded": dict(do_resize=False),
        "narrow": dict(size={"height": 25, "width": 47}),
    }
    for variant, options in variants.items():
        processor = CLIPImageProcessorPil(**dict(dict(crop_size=32, do_rescale=False, do_normalize=False), **options))
        for name, image in PICTURES.items():
            pixels = np.asarray(processor(Image.fromarray(image))["pixel_values"][0]).transpose(1, 2, 0)
            expected[f"variant/{variant}/{name}"] = np.ascontiguousarray(pixels.astype(np.uint8))


def tower(expected):
    from transformers import CLIPImageProcessorPil

    config = CLIPVisionConfig(
        hidden_size=40, intermediate_size=56, num_hidden_layers=2, num_attention_heads=5, image_size=30, patch_size=7, hidden_act="gelu", layer_norm_eps=1e-6
    )
    folder = OUT / "tower"
    spread(CLIPVisionModel(config), 2).bfloat16().save_pretrained(folder, max_shard_size="30KB")
    processor = CLIPImageProcessorPil(size={"shortest_edge": 30}, crop_size={"height": 30, "width": 30})
    processor.save_pretrained(folder)
    # An older spelling.
    path = folder / "preprocessor_config.json"
    old = dict(json.loads(path.read_text()), size=30, crop_size=30, feature_extractor_type="CLIPFeatureExtractor")
    path.write_text(json.dumps(old, indent=2) + "\n")
    model = CLIPVisionModel.from_pretrained(folder)
    for name, image in PICTURES.items():
        expected[f"tower/{name}/features"] = features(model, processor, image)[1]


def of_size(folder, name):
    torch.manual_seed(3)
    options = SIZES[name]
    side = options.get("image_size", 224)
    model = CLIPVisionModelWithProjection(CLIPVisionConfig(**dict(dict(projection_dim=512), **options)))
    model.eval().save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({"size": side, "crop_size": side}) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        of_size(Path(sys.argv[1]), sys.argv[2])
    else:
        OUT.mkdir(parents=True, exist_ok=True)
        expected = {}
        whole(expected)
        tower(expected)
        save_file(expected, OUT / "expected.safetensors")

#!/usr/bin/env python3
"""Writes fixtures/towers: small DINOv2 and SigLIP encoders of random weights in their published layouts, and what
PyTorch makes of two pictures with them.

    scripts/fixtures towers

`dinov2` has positions for 7×7 patches and gets pictures of 4×4 (interpolated), `siglip` is a whole SigLIP (text tower and
all). Made with torch 2.15.0, torchvision 0.29.2, transformers 5.22.2, Pillow 13.0.0.
"""
import json

import torch
from clip_fixtures import OUT, PICTURES, spread
from PIL import Image
from safetensors.torch import save_file

OUT = OUT.parent / "towers"
SIZE = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, patch_size=5)


def exact(model, pixels):
    with torch.no_grad():
        return model.double()(pixels.double())


def dinov2(expected):
    from transformers import BitImageProcessorPil, Dinov2Config, Dinov2Model

    folder = OUT / "dinov2"
    spread(Dinov2Model(Dinov2Config(**SIZE, image_size=35, mlp_ratio=2)), 4).half().save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n\nRandom weights.\n")
    imagenet = dict(image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225])
    processor = BitImageProcessorPil(size={"shortest_edge": 23}, crop_size={"height": 20, "width": 20}, **imagenet)
    processor.save_pretrained(folder)
    model = Dinov2Model.from_pretrained(folder)
    for name, picture in PICTURES.items():
        pixels = processor(Image.fromarray(picture), return_tensors="pt")["pixel_values"]
        tokens = exact(model, pixels).last_hidden_state[0]
        expected[f"dinov2/{name}/class"] = tokens[0]
        expected[f"dinov2/{name}/mean"] = tokens[1:].mean(0)


def siglip(expected):
    from transformers import SiglipConfig, SiglipImageProcessorPil, SiglipModel, SiglipVisionModel

    folder = OUT / "siglip"
    text = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, vocab_size=16, max_position_embeddings=4)
    vision = dict(SIZE, intermediate_size=40, image_size=20)
    spread(SiglipModel(SiglipConfig(vision_config=vision, text_config=text)), 5).bfloat16().save_pretrained(folder)
    # As the hub has it: what is not said is SigLIP's default.
    settings = {"do_normalize": True, "do_rescale": True, "do_resize": True, "image_processor_type": "SiglipImageProcessor", "resample": 3, "size": {"height": 20, "width": 20}}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    processor = SiglipImageProcessorPil(size=settings["size"])
    model = SiglipVisionModel.from_pretrained(folder)
    for name, picture in PICTURES.items():
        pixels = processor(Image.fromarray(picture), return_tensors="pt")["pixel_values"]
        expected[f"siglip/{name}/features"] = exact(model, pixels).pooler_output[0]
        expected[f"siglip/{name}/pixels"] = pixels[0].permute(1, 2, 0)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    expected = {}
    for make in [dinov2, siglip]:
        make(expected)
    save_file({name: value.float().contiguous() for name, value in expected.items()}, OUT / "expected.safetensors")

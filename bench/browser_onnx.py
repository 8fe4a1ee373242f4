#!/usr/bin/env python3
"""Writes the bundled encoder as an ONNX file, for bench/browser.mjs: what onnxruntime-web runs next to our module. The graph is that of
lab/scripts/vision_bench.py.

    python bench/browser_onnx.py target/web/encoder.onnx     (numpy, onnx, onnxruntime, pillow, safetensors)
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab/scripts"))
from vision_bench import ENCODER, graph, load_file  # noqa: E402

Path(sys.argv[1]).write_bytes(graph(load_file(ENCODER / "model.safetensors")))

"""The peer of `locdiff serve`: FastAPI, Pillow and onnxruntime with the same encoder, and a linear head of 4,096 cells.

    PEER_THREADS=1 uvicorn --app-dir bench peer_fastapi:app --workers 2

The encoder's graph is lab/scripts/vision_bench.py's, whose embedding is that of models/streetview-lite2 (checked there). PEER_THREADS: of
onnxruntime in each process; PEER_POOL=1: requests run in the process's pool of threads instead of its event loop.
"""
import io, os, pathlib, sys

import numpy as np
import onnxruntime
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lab/scripts"))
from vision_bench import ENCODER, graph, load_file, preprocess  # noqa: E402

CELLS = 4096
options = onnxruntime.SessionOptions()
options.intra_op_num_threads, options.inter_op_num_threads = int(os.environ.get("PEER_THREADS", "1")), 1
session = onnxruntime.InferenceSession(graph(load_file(ENCODER / "model.safetensors")), options, providers=["CPUExecutionProvider"])
random = np.random.default_rng(0)
head = random.normal(0, 0.05, (512, CELLS)).astype(np.float32)
places = np.stack([np.degrees(np.arcsin(random.uniform(-1, 1, CELLS))), random.uniform(-180, 180, CELLS)], 1)
app = FastAPI()


def locate(body):
    with Image.open(io.BytesIO(body)) as image:
        pixels = preprocess(image.convert("RGB"))
    logits = session.run(None, {"pixels": pixels})[0][0] @ head
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    best = np.argsort(shares)[::-1][:5]
    return {"hypotheses": [{"lat": float(places[k, 0]), "lon": float(places[k, 1]), "probability": float(shares[k])} for k in best]}


@app.post("/v1/locate")
async def answer(request: Request):
    body = await request.body()
    return await run_in_threadpool(locate, body) if os.environ.get("PEER_POOL") == "1" else locate(body)


@app.get("/health/ready")
async def ready():
    return {}

"""The peer of `locdiff serve`: FastAPI, Pillow and onnxruntime with the same encoder, and an answer of bench/numpy_answer.py.

    PEER_THREADS=1 PEER_ANSWER=same PEER_DECODE=pillow uvicorn --app-dir bench peer_fastapi:app --workers 2

The encoder's graph is lab/scripts/vision_bench.py's, whose embedding is that of models/streetview-lite2 (checked there). PEER_THREADS: of
onnxruntime in each process; PEER_ANSWER: `same` or `head`; PEER_DECODE: `pillow` or `draft`, which asks Pillow for the reduced size that
JPEG allows; PEER_POOL=1: requests run in the process's pool of threads instead of its event loop.
"""
import io, os, pathlib, sys

import onnxruntime
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lab/scripts")]
from laptop import pixels_of  # noqa: E402
from numpy_answer import ANSWERS  # noqa: E402
from vision_bench import ENCODER, graph, load_file  # noqa: E402

options = onnxruntime.SessionOptions()
options.intra_op_num_threads, options.inter_op_num_threads = int(os.environ.get("PEER_THREADS", "1")), 1
session = onnxruntime.InferenceSession(graph(load_file(ENCODER / "model.safetensors")), options, providers=["CPUExecutionProvider"])
of_embedding, decode = ANSWERS[os.environ.get("PEER_ANSWER", "same")](), os.environ.get("PEER_DECODE", "pillow")
app = FastAPI()


def locate(body):
    return of_embedding(session.run(None, {"pixels": pixels_of(io.BytesIO(body), decode)})[0][0])


@app.post("/v1/locate")
async def answer(request: Request):
    body = await request.body()
    return await run_in_threadpool(locate, body) if os.environ.get("PEER_POOL") == "1" else locate(body)


@app.get("/health/ready")
async def ready():
    return {}

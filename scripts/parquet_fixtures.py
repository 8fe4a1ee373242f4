#!/usr/bin/env python3
"""Writes fixtures/parquet: the same eight rows of images as pyarrow writes them in several ways. Needs pyarrow and Pillow."""
import io
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

ROWS = 8


def jpeg(k):
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (k * 20 % 256, 100, 30)).save(file, "JPEG", quality=30)
    return file.getvalue()


images = [{"bytes": jpeg(k), "path": f"{k}.jpg"} for k in range(ROWS)]
images[5] = None
images[6] = {"bytes": None, "path": "six"}
latitudes = [1.5 * k for k in range(ROWS)]
latitudes[3] = None
table = pa.table({
    "image": pa.array(images, pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
    "latitude": pa.array(latitudes, pa.float64()),
    "longitude": pa.array([-2.0 * k for k in range(ROWS)], pa.float32()),
    "id": pa.array(range(ROWS), pa.int64()),
})
ways = {
    "snappy": {},
    "plain": {"compression": "none", "use_dictionary": False, "write_statistics": False},
    "gzip": {"compression": "gzip"},
    "v2": {"data_page_version": "2.0"},
    "groups": {"row_group_size": 3, "use_dictionary": False},
    "pages": {"data_page_size": 10, "write_batch_size": 2, "use_dictionary": False},
    "zstd": {"compression": "zstd"},
    "split": {"use_dictionary": False, "column_encoding": {"latitude": "BYTE_STREAM_SPLIT"}},
}
folder = pathlib.Path(__file__).resolve().parent.parent / "fixtures/parquet"
folder.mkdir(exist_ok=True)
for name, way in ways.items():
    pq.write_table(table, folder / f"{name}.parquet", store_schema=False, **way)

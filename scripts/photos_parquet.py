#!/usr/bin/env python3
"""Writes fixtures/parquet/photos.parquet: six photos of fixtures/vision with places, as Hugging Face writes images except for packing.

Thrift's compact protocol by hand, so that no package is needed: columns image {bytes, path}, latitude and longitude, all required, one row
group, no compression."""
import pathlib
import struct

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
NAMES = ["rgb.jpg", "grey.jpg", "progressive.jpg", "cmyk.jpg", "turned_3.jpg", "profile_adobe.jpg"]
BYTES, DOUBLE = 6, 5


def unsigned(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def text(value):
    return unsigned(len(value)) + value.encode()


def structure(fields):
    """Fields as (number, kind, contents), in order."""
    out, last = b"", 0
    for number, kind, contents in fields:
        out, last = out + bytes([number - last << 4 | kind]) + contents, number
    return out + b"\0"


def integer(number, value):
    return (number, 6, unsigned(value << 1))


def string(number, value):
    return (number, 8, text(value))


def items(number, kind, contents):
    return (number, 9, bytes([len(contents) << 4 | kind]) + b"".join(contents))


rows = [(name, (FIXTURES / "vision" / name).read_bytes(), 10.5 * k - 20, 25.25 * k - 60) for k, name in enumerate(NAMES)]
sized = lambda data: struct.pack("<I", len(data)) + data  # noqa: E731
columns = [
    (["image", "bytes"], BYTES, b"".join(sized(row[1]) for row in rows)),
    (["image", "path"], BYTES, b"".join(sized(row[0].encode()) for row in rows)),
    (["latitude"], DOUBLE, b"".join(struct.pack("<d", row[2]) for row in rows)),
    (["longitude"], DOUBLE, b"".join(struct.pack("<d", row[3]) for row in rows)),
]
file, places = b"PAR1", []
for _, _, values in columns:
    page = structure([integer(1, len(rows)), integer(2, 0), integer(3, 3), integer(4, 3)])
    head = structure([integer(1, 0), integer(2, len(values)), integer(3, len(values)), (5, 12, page)])
    places.append((len(file), len(head) + len(values)))
    file += head + values
inner = lambda name, children: structure([integer(3, 0), string(4, name), integer(5, children)])  # noqa: E731
leaf = lambda name, kind: structure([integer(1, kind), integer(3, 0), string(4, name)])  # noqa: E731
schema = [inner("schema", 3), inner("image", 2), leaf("bytes", BYTES), leaf("path", BYTES), leaf("latitude", DOUBLE), leaf("longitude", DOUBLE)]
chunks = []
for (path, kind, _), (begin, size) in zip(columns, places):
    meta = structure([
        integer(1, kind), items(2, 5, [unsigned(0)]), items(3, 8, [text(part) for part in path]), integer(4, 0),
        integer(5, len(rows)), integer(6, size), integer(7, size), integer(9, begin),
    ])
    chunks.append(structure([integer(2, begin), (3, 12, meta)]))
group = structure([items(1, 12, chunks), integer(2, 0), integer(3, len(rows))])
footer = structure([integer(1, 1), items(2, 12, schema), integer(3, len(rows)), items(4, 12, [group])])
(FIXTURES / "parquet/photos.parquet").write_bytes(file + footer + struct.pack("<I", len(footer)) + b"PAR1")

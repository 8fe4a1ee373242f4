#!/usr/bin/env python3
"""Regenerates crates/io/tests/data/fixtures with NumPy and safetensors, the reference writers.

    scripts/fixtures data

Every file holds the same 5 points or the same 4 x 3 matrix; tests/fixtures.rs knows the numbers.
"""

from pathlib import Path

import ml_dtypes
import numpy as np
from numpy.lib import format as npy_format
from safetensors.numpy import save_file

FOLDER = Path(__file__).resolve().parent.parent / "crates/io/tests/data/fixtures"
POINTS = np.array([[48.875, 2.375], [-12.0625, -77.0], [90.0, 0.0], [-90.0, 180.0], [0.5, -179.5]])
MATRIX = np.array([[0.0, 1.0, -2.5], [0.125, 1024.0, -0.0625], [3.0, 5.0, 7.0], [-1.0, -0.5, 2.0]])


def save_npy(name: str, array: np.ndarray, version: tuple[int, int] | None = None) -> None:
    with open(FOLDER / name, "wb") as file:
        npy_format.write_array(file, array, version=version)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for bits in (16, 32, 64):
        save_npy(f"points_f{bits}.npy", POINTS.astype(f"<f{bits // 8}"))
        save_npy(f"matrix_f{bits}.npy", MATRIX.astype(f"<f{bits // 8}"))
        save_file({"points": POINTS.astype(f"f{bits // 8}")}, FOLDER / f"points_f{bits}.safetensors")
        save_file({"codes": MATRIX.astype(f"f{bits // 8}")}, FOLDER / f"matrix_f{bits}.safetensors")
    save_file({"codes": MATRIX.astype(ml_dtypes.bfloat16)}, FOLDER / "matrix_bf16.safetensors")
    save_npy("matrix_big_endian.npy", MATRIX.astype(">f4"))
    save_npy("matrix_version_2.npy", MATRIX, version=(2, 0))
    save_npy("matrix_version_3.npy", MATRIX, version=(3, 0))
    save_npy("matrix_fortran.npy", np.asfortranarray(MATRIX))
    save_npy("row_1d.npy", MATRIX[1])
    save_npy("matrix_int.npy", MATRIX.astype("<i4"))
    save_npy("structured.npy", np.array([(1.0, 2.0)], dtype=[("lat", "<f8"), ("lon", "<f8")]))
    several = {"points": POINTS, "codes": MATRIX.astype("f4"), "ids": np.arange(5)}
    save_file(several, FOLDER / "several.safetensors", metadata={"made_by": "scripts/data_fixtures.py"})


if __name__ == "__main__":
    main()

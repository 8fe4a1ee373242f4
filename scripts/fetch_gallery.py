#!/usr/bin/env python3
"""Fetches GeoCLIP's gallery of 100,000 places (MIT) out of the PyPI wheel `geoclip`, for `locdiff-lab reproduce gallery-bias`.

    python3 scripts/fetch_gallery.py [FOLDER]      # default: gallery/ (40 MB are downloaded, 2 MB are kept)
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSION = "1.3.0"
MEMBER = "geoclip/model/gps_gallery/coordinates_100K.csv"


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"geoclip=={VERSION}", "-d", temporary]
        subprocess.run(pip, check=True)
        wheel = next(Path(temporary).glob("*.whl"))
        target = folder / Path(MEMBER).name
        target.write_bytes(zipfile.ZipFile(wheel).read(MEMBER))
        print(target)


if __name__ == "__main__":
    main()

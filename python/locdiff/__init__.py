"""Where on Earth was this photo taken? A photo in, places with calibrated probabilities out.

>>> import locdiff
>>> answer = locdiff.Locator().locate(photo)
>>> answer.photo == photo and 0 <= answer.locatability <= 1
True
>>> answer.best == (answer.hypotheses[0].lat, answer.hypotheses[0].lon)
True
>>> answer.radius_50_km < answer.radius_90_km
True

Everything that takes longer than a moment runs without the GIL; `set_threads(1)` is best where many Python threads call at once.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Iterable, NoReturn, Sequence

from ._locdiff import (
    Answer,
    Codec,
    DataError,
    Density,
    DeviceError,
    Gallery,
    JobError,
    LocDiffError,
    Locator,
    ModelError,
    PhotoError,
    SettingError,
    __version__,
    calibrate,
    evaluate,
    set_threads,
    threads,
    train,
)
from ._types import Hypothesis, Place
from .results import AlbumAnswer, Calibration, Evaluation, TrainingRun

if TYPE_CHECKING:
    import geopandas
    from typing_extensions import Unpack

    from ._types import LocateOptions, Photo

__all__ = [
    "AlbumAnswer",
    "Answer",
    "Calibration",
    "Codec",
    "DataError",
    "Density",
    "DeviceError",
    "Evaluation",
    "Gallery",
    "Hypothesis",
    "JobError",
    "LocDiffError",
    "Locator",
    "ModelError",
    "PhotoError",
    "Place",
    "SettingError",
    "TrainingRun",
    "__version__",
    "calibrate",
    "compare",
    "evaluate",
    "locate",
    "set_threads",
    "threads",
    "to_geodataframe",
    "train",
]


@functools.cache
def _bundled() -> Locator:
    return Locator()


def locate(photo: Photo, **options: Unpack[LocateOptions]) -> Answer:
    """The answer for a photo by the bundled model, which is opened on first use; options as `Locator.locate`.

    >>> locate(photo, within="Japan").country_code
    'JP'
    """
    return _bundled().locate(photo, **options)


def compare(*arguments: object, **settings: object) -> NoReturn:
    """Rivals on the same embeddings are in the laboratory, `locdiff-lab compare`: this raises an error that says so."""
    raise LocDiffError("compare is not in this package: build the laboratory and run `locdiff-lab compare` (lab/README.md)")


def to_geodataframe(answers: Iterable[Answer | LocDiffError], *, regions: bool = False) -> geopandas.GeoDataFrame:
    """Answers as a GeoDataFrame of points, or with `regions` of their 50 and 90 % regions. Errors have rows without a geometry.

    >>> frame = to_geodataframe([locate(photo)])
    >>> list(frame.columns)[:4]
    ['photo', 'lat', 'lon', 'radius_50_km']
    """
    import geopandas
    from shapely.geometry import Point, shape

    rows: list[dict[str, Any]] = []
    shapes: list[Any] = []
    for answer in answers:
        if not isinstance(answer, Answer):
            rows.append({"photo": None, "error": str(answer)})
            shapes.append(None)
            continue
        row: dict[str, Any] = {"photo": answer.photo, "lat": answer.best.lat, "lon": answer.best.lon}
        for name in ("radius_50_km", "radius_90_km", "locatability", "can_tell", "place", "country", "headline"):
            row[name] = getattr(answer, name)
        row["probability"] = answer.hypotheses[0].probability
        row["error"] = None
        if not regions:
            rows.append(row)
            shapes.append(Point(answer.best.lon, answer.best.lat))
            continue
        features: Sequence[dict[str, Any]] = answer.to_geojson()["features"]
        for feature in features:
            if feature["geometry"]["type"] != "Point":
                rows.append({**row, "probability": feature["properties"]["probability"]})
                shapes.append(shape(feature["geometry"]))
    return geopandas.GeoDataFrame(rows, geometry=shapes, crs="EPSG:4326")

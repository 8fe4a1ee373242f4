"""Find where on Earth a photo was taken: locations with calibrated probabilities, from the picture alone.

>>> import locdiff
>>> answer = locdiff.Locator().locate(photo)
>>> answer.photo == photo and 0 <= answer.locatability <= 1
True
>>> answer.best == (answer.hypotheses[0].lat, answer.hypotheses[0].lon)
True
>>> answer.radius_50_km < answer.radius_90_km
True

Long calls release the GIL and use all cores. If many Python threads call at once, `set_threads(1)` is best.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NoReturn, Sequence

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
    "locate_iter",
    "set_threads",
    "threads",
    "to_geodataframe",
    "train",
]


@functools.cache
def _bundled() -> Locator:
    return Locator()


def locate(photo: Photo, **options: Unpack[LocateOptions]) -> Answer:
    """Locate a photo with the bundled model, which is opened on first use. It takes the options of `Locator.locate`.

    >>> locate(photo, within="Japan").country_code
    'JP'
    """
    return _bundled().locate(photo, **options)


def locate_iter(
    photos: Iterable[Photo],
    *,
    locator: Locator | None = None,
    block: int = 64,
    progress: bool | Callable[[int, int | None], object] = False,
    **options: Unpack[LocateOptions],
) -> Iterator[Answer | PhotoError]:
    """Locate photos one after the other: an iterator over answers, in the order of the photos.

    A photo that cannot be read is a `PhotoError` in its position. At most `block` answers are in memory, and `photos` is read
    block by block, so it may be a generator. `progress=True` shows a bar and needs the package tqdm. A function
    gets the number of finished photos and their count, which is None for a generator. `Locator.locate_many` gives the same answers.

    >>> [answer.country_code for answer in locate_iter([photo, photo], within="Japan")]
    ['JP', 'JP']
    >>> steps = []
    >>> found = list(locate_iter([photo, "nowhere.jpg", photo], block=2, progress=lambda done, count: steps.append((done, count))))
    >>> [isinstance(answer, Answer) for answer in found], steps
    ([True, False, True], [(2, 3), (3, 3)])
    """
    if block < 1:
        raise SettingError(f"block = {block} cannot be used: give 1 or more")
    count = len(photos) if isinstance(photos, Sequence) else None
    tell = progress if callable(progress) else None
    if progress is True:
        from tqdm.auto import tqdm

        bar = tqdm(total=count, unit="photo")
    else:
        bar = None
    chosen = locator or _bundled()
    rest, done = iter(photos), 0
    try:
        while part := list(itertools.islice(rest, block)):
            answers = chosen.locate_many(part, **options)
            done += len(part)
            if bar is not None:
                bar.update(len(part))
            if tell is not None:
                tell(done, count)
            yield from answers
    finally:
        if bar is not None:
            bar.close()


def compare(*arguments: object, **settings: object) -> NoReturn:
    """Raise an error: the comparison with other methods is `locdiff-lab compare`."""
    raise LocDiffError("compare is not in this package: build the laboratory and run `locdiff-lab compare` (lab/README.md)")


def to_geodataframe(answers: Iterable[Answer | LocDiffError], *, regions: bool = False) -> geopandas.GeoDataFrame:
    """Convert answers to a GeoDataFrame of points, or with `regions` of their 50 and 90 % regions. Errors have no geometry.

    Plot it with geopandas and matplotlib; `examples/plot.py` is a whole program:

        frame = locdiff.to_geodataframe(locdiff.locate_iter(photos), regions=True)
        axes = frame.plot(column="probability", alpha=0.3, cmap="Blues", legend=True)
        axes.figure.savefig("answers.png")

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

"""Types of answers and arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypedDict, Union

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class Place(NamedTuple):
    """A location on Earth, in degrees.

    >>> Place(39.99, 116.27).lat
    39.99
    """

    lat: float
    lon: float


@dataclass(frozen=True)
class Hypothesis:
    """A possible location: `place` names the nearest town, `probability` is the probability of the window around it.

    >>> Hypothesis(39.99, 116.27, 0.5, "near Beijing").lat
    39.99
    """

    lat: float
    lon: float
    probability: float
    place: str


class ImageLike(Protocol):
    """Protocol of a PIL image."""

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height."""

    def convert(self, mode: str, /) -> Any:
        """Return the image in another mode."""

    def getexif(self) -> Any:
        """Return the EXIF data."""


StrPath: TypeAlias = "Union[str, os.PathLike[str]]"
Photo: TypeAlias = "Union[str, os.PathLike[str], bytes, bytearray, NDArray[numpy.uint8], ImageLike]"


class LocateOptions(TypedDict, total=False):
    """Options of `Locator.locate`, `locate_many` and `locate_embeddings`: the names and defaults of the command."""

    within: str | Sequence[str] | None
    prior: StrPath | None
    prior_km: float
    clue: str | Sequence[str] | None
    time: str | None
    text: bool
    ignore_text: str | Sequence[str] | None
    why: bool
    views: int
    hypotheses: int
    window_km: float | None
    refine: bool
    seed: int
    samples: int
    sampler: str
    steps: int
    guidance: float
    pool: str | None
    max_megapixels: int


class AlbumOptions(LocateOptions, total=False):
    """Options of `Locator.album`."""

    same_place: bool
    folder_is_place: bool
    one_trip: bool
    tracks: Sequence[StrPath]
    track_offset_s: float | None
    places: Sequence[Mapping[str, str | None]]
    known: Sequence[Mapping[str, Any]]
    trust_clocks: bool
    clock_offset_s: float | None

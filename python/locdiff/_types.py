"""Small types that answers and arguments are made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypedDict, Union

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class Place(NamedTuple):
    """A place on Earth, in degrees.

    >>> Place(39.99, 116.27).lat
    39.99
    """

    lat: float
    lon: float


class ImageLike(Protocol):
    """What is taken for an image of PIL's."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""

    def convert(self, mode: str, /) -> Any:
        """The image in another mode."""

    def getexif(self) -> Any:
        """Its EXIF data."""


StrPath: TypeAlias = "Union[str, os.PathLike[str]]"
Photo: TypeAlias = "Union[str, os.PathLike[str], bytes, bytearray, NDArray[numpy.uint8], ImageLike]"


class LocateOptions(TypedDict, total=False):
    """Options of `Locator.locate` and its like: those of the command."""

    within: str | Sequence[str] | None
    prior: StrPath | None
    prior_km: float
    views: int
    hypotheses: int
    window_km: float | None
    seed: int
    samples: int
    guidance: float
    max_megapixels: int

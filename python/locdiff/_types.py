"""Small types that answers are made of."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A place on Earth, in degrees.

    >>> Place(39.99, 116.27).lat
    39.99
    """

    lat: float
    lon: float

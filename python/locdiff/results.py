"""Results of calls, except answers of single photos: frozen dataclasses, made from the command's JSON."""

from __future__ import annotations

import dataclasses
import datetime
import json
import types
import typing
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

from ._types import Hypothesis, Place

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

__all__ = ["AlbumAnswer", "Calibration", "Evaluation", "TrainingRun"]


def _read(kind: Any, value: Any) -> Any:
    """Convert a JSON value to a type: null is None, or NaN for a number. Unknown names are left out."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _read(parts[0], value)
    if kind is float:
        return float("nan") if value is None else float(value)
    if origin is tuple:
        return tuple(_read(parts[0], one) for one in value)
    if kind is Place:
        return Place(value["lat"], value["lon"])
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind) if field.name in value]
        return typing.cast(Any, kind)(**{name: _read(hints[name], value[name]) for name in names})
    return value


class Record:
    """A result that is also JSON. `record["name"]` still works, as in earlier releases."""

    _json: ClassVar[str] = ""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a record that `to_json` wrote."""
        made: Self = _read(cls, json.loads(text))
        object.__setattr__(made, "_json", text)
        return made

    def to_json(self) -> str:
        """Return the JSON that the command prints."""
        return self._json or json.dumps(dataclasses.asdict(typing.cast(Any, self)))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a dictionary."""
        given: dict[str, Any] = json.loads(self.to_json())
        return given

    def __getitem__(self, name: str) -> Any:
        kind = type(self).__name__
        warnings.warn(f"{kind} has attributes: .{name} instead of ['{name}']", DeprecationWarning, stacklevel=2)
        return self.to_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())


@dataclass(frozen=True)
class PhotoTime:
    """Time of a photo: seconds since 1970 and their source (table, exif, clock, name; order: NaN seconds)."""

    seconds: float
    source: str

    @property
    def utc(self) -> datetime.datetime:
        """Return the moment; without an offset (`clock`, `name`) it is by the camera's clock.

        >>> PhotoTime(1715514310.0, "exif").utc.isoformat()
        '2024-05-12T11:45:10+00:00'
        """
        return datetime.datetime.fromtimestamp(self.seconds, datetime.timezone.utc)


@dataclass(frozen=True)
class Outlier:
    """Fault of a photo in an album, with its probability."""

    probability: float
    reason: str


@dataclass(frozen=True)
class RegionShare:
    """A country, state or continent, with the probability that the photo was taken there.

    >>> RegionShare("France", 0.4, code="FR").name
    'France'
    """

    name: str
    probability: float
    code: str | None = None
    country_code: str | None = None


@dataclass(frozen=True)
class AlbumAnswer(Record):
    """Answer for a photo of an album: what an `Answer` has, and the reason.

    `to_json` is the line of `locdiff album --json`.
    """

    photo: str
    time: PhotoTime
    gps: Place | None
    headline: str
    countries: tuple[RegionShare, ...]
    states: tuple[RegionShare, ...]
    continents: tuple[RegionShare, ...]
    best: Place
    place: str
    country: str | None
    country_code: str | None
    radius_50_km: float
    radius_90_km: float
    hypotheses: tuple[Hypothesis, ...]
    probability: float
    alternatives: tuple[Hypothesis, ...]
    locatability: float
    can_tell: bool
    alone: Place | None
    moved_km: float
    because: str
    elsewhere: float
    hint: Outlier | None
    outlier: Outlier | None
    trip: int | None


@dataclass(frozen=True)
class Accuracy:
    """Distances from the truth: `within` has the shares within 1, 25, 200, 750 and 2500 km."""

    n: int
    missing: int
    within: tuple[float, ...]
    geoscore: float
    median_km: float
    mean_km: float


@dataclass(frozen=True)
class Best:
    """The best validation."""

    score: float
    step: int


@dataclass(frozen=True)
class TrainingRun(Record):
    """Result of `train`: the model is in `out`, the best one in `out/best`."""

    out: str
    step: int
    interrupted: bool
    validation: Accuracy | None
    best: Best | None
    steps_per_second: float


@dataclass(frozen=True)
class Fit:
    """Data and fit of a calibration. Regions and radii have the levels 10, 20 … 90 %."""

    n: int
    out_of_domain: int
    samples: int
    seed: int
    nll_nats: float
    background_nll_nats: float
    regions: tuple[float, ...]
    radii: tuple[float, ...]


@dataclass(frozen=True)
class Calibration(Record):
    """A model's calibration.json; `to_dict` has all of it."""

    version: int
    evidence: float
    background_weight: float
    floor: float
    window_km: float
    can_tell_from: float
    radius_levels: tuple[float, ...]
    fit: Fit | None = None
    encoder: str | None = None


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class RadiusShare:
    """The share of photos within a distance of the truth."""

    radius_km: float
    share: Estimate


@dataclass(frozen=True)
class ErrorQuantile:
    """The distance that a share of photos is within, in km."""

    p: float
    km: Estimate


@dataclass(frozen=True)
class Scores:
    """Summary of distances from the truth."""

    n: int
    missing: int
    radii: tuple[RadiusShare, ...]
    geoscore: Estimate
    mean_km: Estimate
    quantiles: tuple[ErrorQuantile, ...]
    curve: tuple[RadiusShare, ...] = ()


@dataclass(frozen=True)
class Bootstrap:
    """Method of the confidence intervals."""

    replicates: int
    confidence: float
    seed: int


@dataclass(frozen=True)
class Rules:
    """Rules of distances and accuracy."""

    distance: str
    edge_counts: bool
    rounds_score: bool


@dataclass(frozen=True)
class Likelihood:
    """Log densities of the truths."""

    n: int
    nats: Estimate
    plonk: float


@dataclass(frozen=True)
class ReliabilityPoint:
    """A stated probability, and the share of truths within it."""

    promised: float
    observed: float
    standard_error: float
    n: int


@dataclass(frozen=True)
class ReliabilityCurve:
    """Calibration of regions or radii."""

    curve: tuple[ReliabilityPoint, ...]
    mean_absolute_error: float
    largest_error: float


@dataclass(frozen=True)
class Prdc:
    """Precision, recall, density and coverage of the answers as a set of points."""

    precision: float
    recall: float
    density: float
    coverage: float


@dataclass(frozen=True)
class PrdcReport:
    """PRDC of all photos, and the mean over chunks."""

    neighbours: int
    whole: Prdc | None
    chunks: int
    chunked: Prdc | None


@dataclass(frozen=True)
class Group:
    """The scores of a part of the photos."""

    name: str
    scores: Scores


@dataclass(frozen=True)
class Breakdown:
    """The photos divided by continent, country …"""

    by: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Evaluation(Record):
    """Comparison of answers with the truth: what `locdiff evaluate --json` prints."""

    name: str
    truth: str
    preset: str
    rules: Rules
    bootstrap: Bootstrap
    without_truth: int
    skipped: int
    scores: Scores
    prdc: PrdcReport | None
    likelihood: Likelihood | None
    regions: ReliabilityCurve | None
    radii: ReliabilityCurve | None
    breakdowns: tuple[Breakdown, ...]
    notes: tuple[str, ...]

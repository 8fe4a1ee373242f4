"""What calls give beside the answers for single photos: frozen dataclasses, made of the JSON that the command prints."""

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
    """A value of JSON as a type says: null is None, or NaN where a number is wanted; names that are not known are left out."""
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
    """A result that is also JSON. `record["name"]` is the way of the last release, and works in this one."""

    _json: ClassVar[str] = ""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The record that `to_json` wrote."""
        made: Self = _read(cls, json.loads(text))
        object.__setattr__(made, "_json", text)
        return made

    def to_json(self) -> str:
        """It as JSON, as the command prints it."""
        return self._json or json.dumps(dataclasses.asdict(typing.cast(Any, self)))

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary."""
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
    """When a photo was taken: seconds since 1970, and who says so (table, exif, clock, name; order: NaN seconds)."""

    seconds: float
    source: str

    @property
    def utc(self) -> datetime.datetime:
        """The moment; without an offset (`clock`, `name`) it is by the camera's clock.

        >>> PhotoTime(1715514310.0, "exif").utc.isoformat()
        '2024-05-12T11:45:10+00:00'
        """
        return datetime.datetime.fromtimestamp(self.seconds, datetime.timezone.utc)


@dataclass(frozen=True)
class Outlier:
    """What is wrong with a photo of an album, and how sure that is."""

    probability: float
    reason: str


@dataclass(frozen=True)
class RegionShare:
    """A country, a state or a continent, and the probability that the photo was taken there.

    >>> RegionShare("France", 0.4, code="FR").name
    'France'
    """

    name: str
    probability: float
    code: str | None = None
    country_code: str | None = None


@dataclass(frozen=True)
class AlbumAnswer(Record):
    """Where a photo of an album was taken, by all photos of its album: what an `Answer` says, and why.

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
    """What became of `train`: the model is in `out`, the best one in `out/best`."""

    out: str
    step: int
    interrupted: bool
    validation: Accuracy | None
    best: Best | None
    steps_per_second: float


@dataclass(frozen=True)
class Fit:
    """What a calibration was fitted on, and how well it fits there; regions and radii are those of 10, 20 … 90 %."""

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
    """A number with its interval."""

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
    """The distance that a share of photos is nearer than."""

    p: float
    km: Estimate


@dataclass(frozen=True)
class Scores:
    """What distances say."""

    n: int
    missing: int
    radii: tuple[RadiusShare, ...]
    geoscore: Estimate
    mean_km: Estimate
    quantiles: tuple[ErrorQuantile, ...]
    curve: tuple[RadiusShare, ...] = ()


@dataclass(frozen=True)
class Bootstrap:
    """How intervals were made."""

    replicates: int
    confidence: float
    seed: int


@dataclass(frozen=True)
class Rules:
    """How distances are measured and counted."""

    distance: str
    edge_counts: bool
    rounds_score: bool


@dataclass(frozen=True)
class Likelihood:
    """How probable the truths were held to be."""

    n: int
    nats: Estimate
    plonk: float


@dataclass(frozen=True)
class ReliabilityPoint:
    """A promise, and the share of truths that kept it."""

    promised: float
    observed: float
    standard_error: float
    n: int


@dataclass(frozen=True)
class ReliabilityCurve:
    """Whether regions or radii hold what they promise."""

    curve: tuple[ReliabilityPoint, ...]
    mean_absolute_error: float
    largest_error: float


@dataclass(frozen=True)
class Prdc:
    """Precision, recall, density and coverage of the answers as a cloud of points."""

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
class Lag:
    """Moran's I of the errors of pairs of photos so far apart."""

    from_km: float
    to_km: float
    pairs: int
    moran_i: float
    z: float


@dataclass(frozen=True)
class Correlogram:
    """Whether neighbours err alike."""

    n: int
    lags: tuple[Lag, ...]


@dataclass(frozen=True)
class Evaluation(Record):
    """Answers judged by the truth: what `locdiff evaluate --json` prints."""

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
    correlogram: Correlogram | None
    notes: tuple[str, ...]

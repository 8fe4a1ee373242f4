"""Plot where photos were taken: their 50 and 90 % regions and best locations, with geopandas and matplotlib."""

import sys
from pathlib import Path

import locdiff
import matplotlib

matplotlib.use("Agg")  # no window


def main(photos: list[Path], picture: Path) -> int:
    answers = list(locdiff.locate_iter(photos, progress=lambda done, count: print(f"{done} of {count}", file=sys.stderr)))
    regions = locdiff.to_geodataframe(answers, regions=True)
    points = locdiff.to_geodataframe(answers)
    located = points[points.error.isna()]
    axes = regions[regions.error.isna()].plot(column="probability", cmap="Blues_r", alpha=0.4, legend=True, figsize=(12, 6))
    located.plot(ax=axes, color="black", markersize=8)
    for row in located.itertuples():
        axes.annotate(f"{row.headline} ({row.radius_50_km:.0f} km)", (row.lon, row.lat), fontsize=7)
    axes.set(xlabel="longitude", ylabel="latitude", title="50 % regions (dark), 90 % regions (light) and 50 % radii")
    axes.figure.savefig(picture, dpi=150)
    return len(located)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[2:]], Path(sys.argv[1]))

"""The whole density of an answer, and codes by themselves, as numpy arrays."""

import sys

import locdiff
import numpy
from numpy.typing import NDArray


def most_probable_pixel(answer: locdiff.Answer) -> int:
    density: NDArray[numpy.float64] = answer.density
    return int(density.argmax())


def main(photo: str) -> float:
    answer = locdiff.Locator().locate(photo, within="Asia")
    share = answer.mass_within_km(answer.best.lat, answer.best.lon, 500.0)
    print(f"pixel {most_probable_pixel(answer)} of {len(answer.density)}; {share:.0%} within 500 km of {answer.place}")
    codec = locdiff.Codec(23)
    codes = codec.encode([48.86, 35.68], [2.35, 139.69])
    places = codec.decode(codes)
    print(f"codes of {codes.shape[1]} numbers, read back as {places.round(2).tolist()}")
    for place, probability in codec.density(codes.mean(axis=0)).modes(2):
        print(f"{place.lat:.1f}, {place.lon:.1f}: {probability:.0%}")
    return share


if __name__ == "__main__":
    main(sys.argv[1])

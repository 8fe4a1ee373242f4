#!/usr/bin/env python3
"""Writes crates/io/tests/tags/fixtures: small photos with the tags of cameras and editors.

    scripts/fixtures phototags

camera.*        EXIF with a maker note (and, in the JPEG, a thumbnail, a comment, XMP without a place, bytes after the end)
gps.jpg         EXIF with a place: 10.5 N, 20.25 E, and an altitude
gps_time.jpg    EXIF with the GPS time but no place
xmp_gps.jpg     a place in XMP alone
"""

import io
from pathlib import Path

import piexif
from PIL import Image

OUT = Path(__file__).resolve().parent.parent / "crates/io/tests/tags/fixtures"
XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
xmlns:exif="http://ns.adobe.com/exif/1.0/" xmp:Rating="4" {more}/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""


def picture() -> Image.Image:
    image = Image.new("RGB", (40, 30))
    image.putdata([(6 * x, 8 * y, (x * y) % 256) for y in range(30) for x in range(40)])
    return image


def exif(gps: dict, with_thumbnail: bool = False) -> bytes:
    small = io.BytesIO()
    picture().resize((16, 12)).save(small, "JPEG")
    tags = {
        "0th": {
            piexif.ImageIFD.Make: b"Example",
            piexif.ImageIFD.Model: b"Camera 5",
            piexif.ImageIFD.Orientation: 1,
            piexif.ImageIFD.DateTime: b"2024:05:06 07:08:09",
            piexif.ImageIFD.Artist: "Zoë".encode(),
            piexif.ImageIFD.ImageDescription: b"A palace by a lake",
        },
        "Exif": {
            piexif.ExifIFD.ExposureTime: (1, 250),
            piexif.ExifIFD.FNumber: (28, 10),
            piexif.ExifIFD.DateTimeOriginal: b"2024:05:06 07:08:09",
            piexif.ExifIFD.MakerNote: bytes(range(200)),
            piexif.ExifIFD.UserComment: b"ASCII\0\0\0hello",
        },
        "GPS": gps,
    }
    if with_thumbnail:
        tags["1st"] = {piexif.ImageIFD.Compression: 6}
        tags["thumbnail"] = small.getvalue()
    return piexif.dump(tags)


def main() -> None:
    OUT.mkdir(exist_ok=True)
    image = picture()
    plain_xmp = XMP.format(more="").encode()
    plain = exif({})
    image.save(OUT / "camera.jpg", quality=80, exif=exif({}, True), xmp=plain_xmp, comment=b"a comment")
    with open(OUT / "camera.jpg", "ab") as file:
        file.write(b"bytes after the end, as of a motion photo")
    image.save(OUT / "camera.png", exif=plain)
    image.save(OUT / "camera.webp", lossless=True, exif=plain, xmp=plain_xmp)
    image.save(OUT / "camera.tiff", exif=tiff_exif(plain))
    place = {
        piexif.GPSIFD.GPSLatitudeRef: b"N",
        piexif.GPSIFD.GPSLatitude: ((10, 1), (30, 1), (0, 1)),
        piexif.GPSIFD.GPSLongitudeRef: b"E",
        piexif.GPSIFD.GPSLongitude: ((20, 1), (15, 1), (0, 1)),
        piexif.GPSIFD.GPSAltitude: (500, 1),
    }
    image.save(OUT / "gps.jpg", quality=80, exif=exif(place))
    image.save(OUT / "gps_time.jpg", quality=80, exif=exif({piexif.GPSIFD.GPSDateStamp: b"2024:05:06"}))
    located = XMP.format(more='exif:GPSLatitude="10,30.0N" exif:GPSLongitude="20,15.0E"').encode()
    image.save(OUT / "xmp_gps.jpg", quality=80, xmp=located)


def tiff_exif(data: bytes) -> Image.Exif:
    tags = Image.Exif()
    tags.load(data)
    return tags


if __name__ == "__main__":
    main()

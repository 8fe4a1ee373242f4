//! What a photo says about itself.

use locdiff_shdd::sphere::LatLon;

/// When and by which camera a photo says it was taken; texts as they stand in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Taken {
    /// By the camera's clock, such as `2024:05:12 13:45:10` (EXIF) or `2024-05-12T13:45:10` (XMP).
    pub time: Option<String>,
    /// Its offset from UTC, such as `+02:00`: as it is said, else by the time of the GPS receiver.
    pub offset: Option<String>,
    /// Maker, model and number of the camera.
    pub camera: Option<String>,
}

/// What a photo says about itself. See [`PhotoFacts::read`] for whom it believes.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PhotoFacts {
    /// Where it was taken; 0° N 0° E is no place.
    pub gps: Option<LatLon>,
    /// When, and by which camera.
    pub taken: Taken,
    /// How it must be turned to stand upright, 1 to 8 as in EXIF.
    pub orientation: Option<u8>,
}

/// Cameras without a fix write 0, 0; some round it.
const NO_FIX_DEG: f64 = 1e-6;

pub(crate) fn real_place(lat_deg: f64, lon_deg: f64) -> Option<LatLon> {
    let is_none = lat_deg.abs() < NO_FIX_DEG && lon_deg.abs() < NO_FIX_DEG;
    LatLon::new(lat_deg, lon_deg).ok().filter(|_| !is_none)
}

/// No text of a camera is longer.
const LONGEST: usize = 64;

pub(crate) fn tidy(text: &str) -> Option<String> {
    let line: String = text.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

impl PhotoFacts {
    /// These facts as XMP corrects them. A time comes with its offset or, where it is the one that stood here, keeps the offset
    /// from here. Nobody corrects cameras, but some programs write only half of their names: what stood here stays.
    pub(crate) fn corrected_by(self, xmp: Self) -> Self {
        let digits = |time: &str| time.bytes().filter(u8::is_ascii_digit).take(14).collect::<Vec<u8>>();
        let is_same = match (&xmp.taken.time, &self.taken.time) {
            (Some(new), Some(old)) => digits(new) == digits(old),
            (new, _) => new.is_none(),
        };
        Self {
            gps: xmp.gps.or(self.gps),
            taken: Taken {
                offset: xmp.taken.offset.or(self.taken.offset.filter(|_| is_same)),
                time: xmp.taken.time.or(self.taken.time),
                camera: self.taken.camera.or(xmp.taken.camera),
            },
            orientation: self.orientation,
        }
    }
}

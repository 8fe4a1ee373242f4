//! What came of a photo, and how the journal holds it.

use crate::{EmbeddedPhoto, error::Result};
use locdiff_shdd::sphere::LatLon;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EmbedOutcome {
    /// The embeddings of the photo and of its other views, one after another, and the place in its EXIF data.
    Embedded {
        values: Vec<f32>,
        gps: Option<LatLon>,
    },
    Bad(String),
    /// It has no place and was to be left out without one.
    WithoutPlace,
}

impl From<Result<EmbeddedPhoto>> for EmbedOutcome {
    fn from(photo: Result<EmbeddedPhoto>) -> Self {
        match photo {
            Ok(photo) if photo.views.is_empty() => Self::WithoutPlace,
            Ok(photo) => {
                let values = photo.views.iter().flat_map(locdiff_io::data::Embedding::values).copied().collect();
                Self::Embedded { values, gps: photo.gps }
            }
            Err(error) if error.is_not_finite() => {
                Self::Bad("the encoder's answer is not finite: its weights are damaged".to_owned())
            }
            Err(error) => Self::Bad(error.to_string()),
        }
    }
}

const EMBEDDED: u8 = 0;
const EMBEDDED_WITH_GPS: u8 = 1;
const BAD: u8 = 2;
const WITHOUT_PLACE: u8 = 3;

impl EmbedOutcome {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Embedded { values, gps } => {
                bytes.push(if gps.is_some() { EMBEDDED_WITH_GPS } else { EMBEDDED });
                let at = gps.iter().flat_map(|place| [place.lat_deg(), place.lon_deg()]);
                bytes.extend(at.flat_map(f64::to_le_bytes));
                bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            Self::Bad(reason) => {
                bytes.push(BAD);
                bytes.extend(reason.as_bytes());
            }
            Self::WithoutPlace => bytes.push(WITHOUT_PLACE),
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, mut rest) = bytes.split_first()?;
        Some(match kind {
            EMBEDDED | EMBEDDED_WITH_GPS => {
                let mut gps = None;
                if kind == EMBEDDED_WITH_GPS {
                    let (at, after) = rest.split_at_checked(16)?;
                    let [lat, lon] = [at.first_chunk()?, at.last_chunk()?].map(|eight| f64::from_le_bytes(*eight));
                    (gps, rest) = (Some(LatLon::new(lat, lon).ok()?), after);
                }
                let values = rest.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
                Self::Embedded { values, gps }
            }
            BAD => Self::Bad(String::from_utf8_lossy(rest).into_owned()),
            WITHOUT_PLACE => Self::WithoutPlace,
            _ => return None,
        })
    }
}

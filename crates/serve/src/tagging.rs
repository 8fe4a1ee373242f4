//! A photo with its place written into a copy, where it is sure: the rule of `locdiff locate --write-exif`.

use crate::{problem::Kind, problem::Problem, uploads, uploads::BodyKind};
use bytes::Bytes;
use locdiff::LatLon;
use locdiff_io::tags::{GeoTag, LocationScrub, Overwrite, TagRule, tagged};
use serde::Deserialize;

/// What an answer says that a tag needs; the rest of it may be there.
#[derive(Deserialize)]
struct Said {
    best: Place,
    radius_90_km: f64,
    can_tell: bool,
    #[serde(default)]
    place: String,
    #[serde(default)]
    outlier: Option<Odd>,
    #[serde(default)]
    hint: Option<Odd>,
}

#[derive(Deserialize)]
struct Place {
    lat: f64,
    lon: f64,
}

#[derive(Deserialize)]
struct Odd {
    reason: String,
}

/// The copy of a form's photo, tagged by the form's answer.
pub(crate) fn copy(body: Bytes, kind: &BodyKind) -> Result<Vec<u8>, Problem> {
    let BodyKind::Form { boundary } = kind else { return Err(Problem::bad("send a form with an answer and a photo")) };
    let parts = uploads::form_parts(body, boundary, 2)?;
    let find = |field: &str| {
        let found = parts.iter().find(|part| part.field == field);
        found.ok_or_else(|| Problem::bad(format!("the form has no field '{field}': it has 'answer' and 'photo'")))
    };
    let (answer, photo) = (find("answer")?, find("photo")?);
    let said: Said = serde_json::from_slice(&answer.contents)
        .map_err(|error| Problem::bad(format!("the field 'answer' is not an answer: {error}")))?;
    let best = LatLon::new(said.best.lat, said.best.lon)
        .map_err(|error| Problem::bad(format!("the field 'answer' has no location: {error}")))?;
    let odd = said.outlier.or(said.hint).map(|odd| odd.reason);
    if let Some(doubt) = TagRule::default().doubt(said.can_tell, said.radius_90_km, odd.as_deref()) {
        return Err(Problem::new(Kind::Unusable, doubt));
    }
    let tag = GeoTag::new(best).radius_km(said.radius_90_km).area(&said.place);
    let name = photo.file_name.as_deref().unwrap_or("the photo");
    tagged(&photo.contents, name, &tag, Overwrite::NEVER).map_err(|error| {
        let has_tag = || format!("{name} has a GPS tag already");
        Problem::new(Kind::Unusable, if error.is_has_location() { has_tag() } else { error.to_string() })
    })
}

/// A copy of a photo without location metadata, its pixels as they are.
pub(crate) fn clean(photo: &[u8], name: Option<String>) -> Result<Vec<u8>, Problem> {
    let name = name.unwrap_or_else(|| "the photo".to_owned());
    LocationScrub::of(photo).cleaned(photo, &name).map_err(|error| Problem::new(Kind::Unusable, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(answer: &str, photo: &[u8]) -> Result<Vec<u8>, Problem> {
        let part = |field: &str, contents: &[u8]| {
            let head = format!("--B\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"a.jpg\"\r\n\r\n");
            [head.as_bytes(), contents, b"\r\n"].concat()
        };
        let body = [part("answer", answer.as_bytes()), part("photo", photo), b"--B--\r\n".to_vec()];
        copy(body.concat().into(), &BodyKind::Form { boundary: "B".to_owned() })
    }

    #[test]
    fn only_what_is_sure_is_tagged() {
        let photo = include_bytes!("../../../fixtures/vision/rgb.jpg");
        let sure = r#"{"best":{"lat":48.86,"lon":2.35},"radius_90_km":3.0,"can_tell":true,"place":"in Paris, France"}"#;
        let copy = ask(sure, photo).unwrap();
        assert!(locdiff_io::tags::has_location(&copy));
        let detail = |answer: &str, photo: &[u8]| ask(answer, photo).unwrap_err().detail;
        assert!(detail(&sure.replace("3.0", "300"), photo).contains("not sure to within 25 km"));
        assert!(detail(&sure.replace("true", "false"), photo).contains("can't tell"));
        let odd = sure.replace("\"place\"", "\"hint\":{\"reason\":\"far away\",\"probability\":0.4},\"place\"");
        assert!(detail(&odd, photo).contains("far away"));
        assert!(detail(sure, &copy).contains("a.jpg has a GPS tag already"));
        assert!(detail("{}", photo).contains("not an answer"));
        assert!(detail(&sure.replace("48.86", "99"), photo).contains("has no location"));
        // Without its tag it is as it was, to what a reader of tags can tell.
        let cleaned = clean(&copy, None).unwrap();
        assert!(LocationScrub::of(&cleaned).findings.is_empty() && !locdiff_io::tags::has_location(&cleaned));
        assert!(clean(b"text", Some("a.txt".to_owned())).unwrap_err().detail.contains("a.txt"));
    }
}

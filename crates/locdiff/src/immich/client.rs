//! The server's interface, as far as it is needed here. Requests that fail by the server's fault are tried again.

use crate::immich::{ImmichError, Result};
use locdiff_model::answer::ReadText;
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{fmt, path::Path, time::Duration};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

const PAGE: usize = 250;
/// Pages at the most: a server whose list never ends is not believed.
const MOST_PAGES: usize = 100_000;
const MOST_BYTES: u64 = 64 << 20;

/// Selection of a server's photos, see [`Immich::assets`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssetFilter {
    /// Taken after this, as ISO 8601.
    pub after: Option<String>,
    /// Taken before this.
    pub before: Option<String>,
    /// In the album of this id.
    pub album: Option<String>,
}

/// An immich server, see [`Immich::new`].
#[derive(Debug)]
#[must_use]
pub struct Immich {
    agent: ureq::Agent,
    server: String,
    key: ApiKey,
    pause: Duration,
}

fn roots(pem: &[u8]) -> Option<RootCerts> {
    let certificate = |item| if let PemItem::Certificate(found) = item { Some(found) } else { None };
    let found: Vec<Certificate<'static>> = parse_pem(pem).filter_map(|item| item.ok().and_then(certificate)).collect();
    (!found.is_empty()).then(|| RootCerts::new_with_certs(&found))
}

enum Ask<'a> {
    Get,
    Post(&'a Value),
    Put(&'a Value),
}

impl Immich {
    /// Prepares a client of a server such as `http://127.0.0.1:2283` or `https://photos.example`. Sends nothing yet. Certificates are checked by
    /// your own authorities (PEM), or by Mozilla's list. Fails if the address or the authorities cannot be read.
    ///
    /// ```
    /// use locdiff::immich::{ApiKey, Immich};
    /// let server = Immich::new("http://127.0.0.1:2283/api/", ApiKey::new("key")?, None)?;
    /// assert_eq!(server.server(), "http://127.0.0.1:2283");
    /// assert!(Immich::new("photos.example", ApiKey::new("key")?, None).is_err());
    /// # Ok::<(), locdiff::immich::ImmichError>(())
    /// ```
    pub fn new(address: &str, key: ApiKey, authorities: Option<&[u8]>) -> Result<Self> {
        let bad = |reason| ImmichError::Address { address: locdiff_base::excerpt(address), reason };
        let server = address.trim().trim_end_matches('/');
        let server = server.strip_suffix("/api").unwrap_or(server).trim_end_matches('/');
        let host = server.strip_prefix("http://").or_else(|| server.strip_prefix("https://")).unwrap_or_default();
        if host.is_empty() || host.contains(['@', '?', '#', ' ']) {
            return Err(bad("give one such as http://127.0.0.1:2283 or https://photos.example"));
        }
        let roots =
            authorities.map(|pem| roots(pem).ok_or_else(|| bad("the file of authorities holds no certificate")));
        let roots = roots.transpose()?.unwrap_or(RootCerts::WebPki);
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_global(Some(Duration::from_mins(1)))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build();
        let agent = ureq::Agent::new_with_config(config);
        Ok(Self { agent, server: server.to_owned(), key, pause: Duration::from_millis(500) })
    }

    /// Sets the pause before the second try.
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Returns the address, without a path.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Lists the selected photos. `seen` receives their number so far. Fails if the server does not answer, refuses, or is not immich.
    pub fn assets(&self, filter: &AssetFilter, mut seen: impl FnMut(usize)) -> Result<Vec<Asset>> {
        let mut found = Vec::new();
        let mut page = 1;
        for _ in 0..MOST_PAGES {
            let mut body = json!({"page": page, "size": PAGE, "type": "IMAGE", "withExif": true});
            let album = filter.album.as_ref().map(|album| json!([album]));
            let texts = [("takenAfter", &filter.after), ("takenBefore", &filter.before)];
            let texts = texts.map(|(name, text)| (name, text.as_ref().map(|text| json!(text))));
            for (name, value) in texts.into_iter().chain([("albumIds", album)]) {
                value.into_iter().for_each(|value| body[name] = value);
            }
            let what = format!("the search for photos, page {page}");
            let answer = self.json(&Ask::Post(&body), "/api/search/metadata", &what)?;
            let list = answer["assets"]["items"].as_array();
            let list = list.ok_or_else(|| self.strange(&what, "it has no assets.items"))?;
            found.extend(list.iter().filter_map(Asset::of));
            seen(found.len());
            let next = &answer["assets"]["nextPage"];
            match next.as_str().and_then(|text| text.parse::<usize>().ok()).or(next.as_u64().map(|n| n as usize)) {
                Some(next) if next > page => page = next,
                _ => return Ok(found),
            }
        }
        Err(self.strange("the search for photos", "its pages do not end"))
    }

    /// Returns a photo's metadata, or `None` if it is gone. Fails as [`Immich::assets`] does.
    pub fn asset(&self, id: &str) -> Result<Option<Asset>> {
        let what = format!("the photo {id}");
        // immich answers 400 both for what is gone and for what is another's.
        match self.json(&Ask::Get, &self.path(id, "")?, &what) {
            Ok(answer) => Ok(Asset::of(&answer)),
            Err(ImmichError::Refused { status: 400 | 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Downloads a photo's preview, a JPEG or WebP of about 1440 pixels, or its thumbnail if `small`. Fails as [`Immich::assets`] does.
    pub fn preview(&self, id: &str, small: bool) -> Result<Vec<u8>> {
        let size = if small { "thumbnail" } else { "preview" };
        let path = self.path(id, &format!("/thumbnail?size={size}"))?;
        self.bytes(&Ask::Get, &path, &format!("the preview of {id}"))
    }

    /// Returns the lines of text that the server read in a photo, with their corners in a preview of this width and height. There are none before
    /// version 2.2, or if it has not read the photo. Fails as [`Immich::assets`] does.
    pub fn text(&self, id: &str, size: [u32; 2]) -> Result<Vec<ReadText>> {
        let what = format!("the text of {id}");
        let answer = match self.json(&Ask::Get, &self.path(id, "/ocr")?, &what) {
            Err(ImmichError::Refused { status: 403 | 404, .. }) => return Ok(Vec::new()),
            answer => answer?,
        };
        let line = |one: &Value| {
            let number = |name: String| one[name].as_f64().filter(|number| (-1.0..=2.0).contains(number));
            let mut corners = [[0.0; 2]; 4];
            for (k, corner) in corners.iter_mut().enumerate() {
                let at = [number(format!("x{}", k + 1))?, number(format!("y{}", k + 1))?];
                *corner = [0, 1].map(|axis| (at[axis] * f64::from(size[axis])) as f32);
            }
            Some(ReadText::new(one["text"].as_str()?, number("textScore".to_owned())? as f32, corners))
        };
        let lines = answer.as_array().and_then(|list| list.iter().map(line).collect());
        lines.ok_or_else(|| self.strange(&what, "its lines lack a text, a score or corners"))
    }

    /// Writes a photo's location. Fails as [`Immich::assets`] does.
    pub fn set_place(&self, id: &str, place: LatLon) -> Result<()> {
        self.put(id, place.lat_deg(), place.lon_deg())
    }

    pub(crate) fn put(&self, id: &str, latitude: f64, longitude: f64) -> Result<()> {
        self.path(id, "")?;
        let body = json!({"ids": [id], "latitude": latitude, "longitude": longitude});
        self.bytes(&Ask::Put(&body), "/api/assets", &format!("the place of {id}")).map(|_| ())
    }

    fn path(&self, id: &str, rest: &str) -> Result<String> {
        if is_id(id) {
            Ok(format!("/api/assets/{id}{rest}"))
        } else {
            Err(self.strange("a photo", &format!("'{}' is not an id of a photo", locdiff_base::excerpt(id))))
        }
    }

    fn strange(&self, what: &str, reason: &str) -> ImmichError {
        ImmichError::Answer { server: self.server.clone(), what: what.to_owned(), reason: reason.to_owned() }
    }

    fn json(&self, ask: &Ask<'_>, path: &str, what: &str) -> Result<Value> {
        let bytes = self.bytes(ask, path, what)?;
        serde_json::from_slice(&bytes).map_err(|error| self.strange(what, &error.to_string()))
    }

    fn bytes(&self, ask: &Ask<'_>, path: &str, what: &str) -> Result<Vec<u8>> {
        let mut tries = 0;
        loop {
            let result = self.once(ask, path, what);
            let again = match &result {
                Err(ImmichError::Refused { status, .. }) => *status >= 500 || *status == 429,
                Err(ImmichError::Network { .. }) => true,
                _ => false,
            };
            tries += 1;
            if !again || tries == 3 {
                return result;
            }
            std::thread::sleep(self.pause * tries * tries);
        }
    }

    fn once(&self, ask: &Ask<'_>, path: &str, what: &str) -> Result<Vec<u8>> {
        let url = format!("{}{path}", self.server);
        let failed = |error: ureq::Error| {
            let reason = locdiff_base::one_line(&error.to_string());
            ImmichError::Network { server: self.server.clone(), reason }
        };
        let key = &self.key.0;
        let sent = match ask {
            Ask::Get => self.agent.get(&url).header("x-api-key", key).call(),
            Ask::Post(body) | Ask::Put(body) => {
                let request = if matches!(ask, Ask::Post(_)) { self.agent.post(&url) } else { self.agent.put(&url) };
                let request = request.header("x-api-key", key).header("content-type", "application/json");
                request.send(body.to_string().as_bytes())
            }
        };
        let mut answer = sent.map_err(failed)?;
        let status = answer.status().as_u16();
        if !(200..300).contains(&status) {
            let hint = match status {
                300..=399 => ": it sends elsewhere, give that address",
                401 => ": the API key is not known there",
                403 => ": the API key may not do that (it needs asset.read, asset.view and asset.update)",
                404 => ": is this immich, and of version 1.107 or later?",
                500.. => ", three times: check its log, then repeat the command",
                _ => "",
            };
            let (server, what) = (self.server.clone(), what.to_owned());
            return Err(ImmichError::Refused { server, status, what, hint });
        }
        answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec().map_err(failed)
    }
}

/// A photo's metadata on the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asset {
    /// Id.
    pub id: String,
    /// File name.
    pub name: String,
    /// Time it was taken, as immich writes it.
    pub time: Option<String>,
    /// The camera.
    pub camera: Option<String>,
    /// Location where it was taken; 0° N, 0° E counts as none.
    pub place: Option<LatLon>,
}

impl Asset {
    /// Reads immich's `AssetResponseDto`; `None` if it is not a photo, or if a number in it is invalid.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let id = value["id"].as_str().filter(|id| is_id(id))?.to_owned();
        if value["type"].as_str().is_some_and(|kind| kind != "IMAGE") {
            return None;
        }
        let exif = &value["exifInfo"];
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let place = exif["latitude"].as_f64().zip(exif["longitude"].as_f64());
        let place = place.filter(|(lat, lon)| lat.abs().max(lon.abs()) >= 1e-6); // as in photos
        let camera: Vec<String> = [text(&exif["make"]), text(&exif["model"])].into_iter().flatten().collect();
        Some(Self {
            name: text(&value["originalFileName"]).unwrap_or_else(|| id.clone()),
            // For a file that says no time immich gives that of its last change here, too.
            time: text(&exif["dateTimeOriginal"])
                .filter(|time| !camera.is_empty() || value["fileModifiedAt"] != **time),
            camera: (!camera.is_empty()).then(|| camera.join(" ")),
            place: place.and_then(|(lat, lon)| LatLon::new(lat, lon).ok()),
            id,
        })
    }
}

/// Whether a text may stand in a path: immich's numbers are UUIDs.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// A key; messages show dots in its place.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(pub(crate) String);

impl ApiKey {
    /// Environment variable of the key.
    pub const VARIABLE: &'static str = "IMMICH_API_KEY";

    /// Checks a key and trims white space. Fails if it is empty or has invalid characters.
    ///
    /// ```
    /// use locdiff::immich::ApiKey;
    /// assert_eq!(format!("{:?}", ApiKey::new(" secret\n")?), "ApiKey(…)");
    /// assert!(ApiKey::new("").is_err() && ApiKey::new("a b").is_err());
    /// # Ok::<(), locdiff::immich::ImmichError>(())
    /// ```
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > 1000 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let reason = "the API key is empty or has characters that no key has".to_owned();
            return Err(ImmichError::Key { reason });
        }
        Ok(Self(text.to_owned()))
    }

    /// Reads a key from a file, otherwise from [`ApiKey::VARIABLE`]. Fails if there is neither, the file cannot be read, or the text is not a
    /// key.
    pub fn find(file: Option<&Path>) -> Result<Self> {
        if let Some(file) = file {
            let text = locdiff_base::read_text_bounded(file, 10_000)
                .map_err(|error| ImmichError::File { file: file.to_owned(), reason: error.to_string() })?;
            return Self::new(&text);
        }
        let variable = Self::VARIABLE;
        let reason = format!(
            "no API key: put one into {variable}, or name a file that holds one (immich: Account Settings, API Keys; it needs asset.read, asset.view and asset.update)"
        );
        Self::new(&std::env::var(variable).map_err(|_| ImmichError::Key { reason })?)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_a_file_is_no_time() {
        let time = |modified: &str, make: Option<&str>| {
            let exif = json!({ "dateTimeOriginal": "2024-05-12T11:45:10.123Z", "make": make });
            let asset = json!({ "id": "a", "fileCreatedAt": modified, "fileModifiedAt": modified, "exifInfo": exif });
            Asset::of(&asset).unwrap().time
        };
        let taken = Some("2024-05-12T11:45:10.123Z".to_owned());
        assert_eq!(time("2024-05-12T11:45:10.123Z", None), None);
        assert_eq!(time("2024-05-12T11:45:10.123Z", Some("Acme")), taken);
        assert_eq!(time("2025-01-01T00:00:00Z", None), taken);
        assert_eq!(Asset::of(&json!({ "id": "a", "fileCreatedAt": "2024-05-12T11:45:10Z" })).unwrap().time, None);
    }
}

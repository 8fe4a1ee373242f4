//! The server's interface, as far as it is needed here. Requests that fail by the server's fault are tried again.

use crate::immich::asset::{Asset, is_id};
use crate::immich::{ApiKey, ImmichError, Result};
use locdiff_shdd::sphere::LatLon;
use serde_json::{Value, json};
use std::time::Duration;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Assets of a page.
const PAGE: usize = 250;
/// Pages at the most: a server whose list never ends is not believed.
const MOST_PAGES: usize = 100_000;
/// No list and no preview is larger.
const MOST_BYTES: u64 = 64 << 20;

/// Which photos.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Taken after this, as ISO 8601.
    pub after: Option<String>,
    /// Taken before this.
    pub before: Option<String>,
    /// In this album, by its number.
    pub album: Option<String>,
}

/// A server.
#[derive(Debug)]
pub struct Immich {
    agent: ureq::Agent,
    server: String,
    key: ApiKey,
    pause: Duration,
}

/// The certificates of a PEM file.
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
    /// The server at an address such as `http://127.0.0.1:2283` or `https://photos.example`. Nothing is sent yet. Over https its certificate is
    /// checked by Mozilla's list.
    ///
    /// ```
    /// use locdiff::immich::{ApiKey, Immich};
    /// let server = Immich::new("http://127.0.0.1:2283/api/", ApiKey::new("key")?)?;
    /// assert_eq!(server.server(), "http://127.0.0.1:2283");
    /// assert!(Immich::new("photos.example", ApiKey::new("key")?).is_err());
    /// # Ok::<(), locdiff::immich::ImmichError>(())
    /// ```
    ///
    /// # Errors
    /// An address that is none.
    pub fn new(address: &str, key: ApiKey) -> Result<Self> {
        Self::trusting(address, key, None)
    }

    /// The same, where its certificate is checked by authorities of one's own, as PEM.
    ///
    /// # Errors
    /// An address that is none, or authorities that are none.
    pub fn trusting(address: &str, key: ApiKey, authorities: Option<&[u8]>) -> Result<Self> {
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

    /// With another pause before the second try, which grows for the third.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The address, without a path.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// All photos that fit, page by page; `seen` gets their number so far.
    ///
    /// # Errors
    /// A server that does not answer, refuses, or is no immich.
    pub fn assets(&self, filter: &Filter, mut seen: impl FnMut(usize)) -> Result<Vec<Asset>> {
        let mut found = Vec::new();
        let mut page = 1;
        for _ in 0..MOST_PAGES {
            let mut body = json!({"page": page, "size": PAGE, "type": "IMAGE", "withExif": true});
            let texts = [("takenAfter", &filter.after), ("takenBefore", &filter.before)];
            for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
                body[name] = json!(text);
            }
            if let Some(album) = &filter.album {
                body["albumIds"] = json!([album]);
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

    /// A photo as it is now; `None` where it is gone.
    ///
    /// # Errors
    /// As [`Immich::assets`].
    pub fn asset(&self, id: &str) -> Result<Option<Asset>> {
        let what = format!("the photo {id}");
        // immich answers 400 both for what is gone and for what is another's.
        match self.json(&Ask::Get, &self.path(id, "")?, &what) {
            Ok(answer) => Ok(Asset::of(&answer)),
            Err(ImmichError::Refused { status: 400 | 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The bytes of its preview, a JPEG or WebP of some 1440 pixels; `small` for the thumbnail.
    ///
    /// # Errors
    /// As [`Immich::assets`].
    pub fn preview(&self, id: &str, small: bool) -> Result<Vec<u8>> {
        let size = if small { "thumbnail" } else { "preview" };
        let path = self.path(id, &format!("/thumbnail?size={size}"))?;
        self.bytes(&Ask::Get, &path, &format!("the preview of {id}"))
    }

    /// Gives a photo its place.
    ///
    /// # Errors
    /// As [`Immich::assets`].
    pub fn set_place(&self, id: &str, place: LatLon) -> Result<()> {
        self.put(id, place.lat_deg(), place.lon_deg())
    }

    /// Takes its place away: 0, 0, which immich takes for none.
    ///
    /// # Errors
    /// As [`Immich::assets`].
    pub fn clear_place(&self, id: &str) -> Result<()> {
        self.put(id, 0.0, 0.0)
    }

    fn put(&self, id: &str, latitude: f64, longitude: f64) -> Result<()> {
        self.path(id, "")?;
        let body = json!({"ids": [id], "latitude": latitude, "longitude": longitude});
        self.bytes(&Ask::Put(&body), "/api/assets", &format!("the place of {id}")).map(|_| ())
    }

    fn path(&self, id: &str, rest: &str) -> Result<String> {
        if is_id(id) {
            Ok(format!("/api/assets/{id}{rest}"))
        } else {
            Err(self.strange("a photo", &format!("'{}' is no number of a photo", locdiff_base::excerpt(id))))
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
        let key = self.key.secret();
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
                500.. => ", three times: look into its log, then go on with the same command",
                _ => "",
            };
            let (server, what) = (self.server.clone(), what.to_owned());
            return Err(ImmichError::Refused { server, status, what, hint });
        }
        answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec().map_err(failed)
    }
}

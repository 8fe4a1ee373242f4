//! The same routes without a network: a page asks them of a worker in its own browser.

use crate::question::WorkLimits;
use crate::routes::{Endpoint, ROUTES};
use crate::{engine::Answered, engine::Engine, engine::about, question::Asked, question::Question};
use crate::{labels, problem::Kind, problem::Problem, regions, render::Rendered, shores};
use locdiff::{Control, Locator, PhotoLimits};
use locdiff_vision::{PhotoFacts, Taken};
use serde_json::json;
use std::sync::Arc;

/// Photos of one form at the most.
const MOST_PHOTOS: usize = 500;

/// The routes of a server, answered where they are asked.
///
/// ```
/// use locdiff_serve::Offline;
/// let offline = Offline::new(locdiff::Locator::bundled()?, 100);
/// let photo = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg"));
/// let reply = offline.answer("/v1/locate", "name=china.jpg&within=China", None, photo.to_vec());
/// assert_eq!((reply.status, reply.content_type), (200, "application/json"));
/// assert_eq!(offline.answer("/v1/locate", "", None, b"no photo".to_vec()).status, 415);
/// # Ok::<(), locdiff::LocateError>(())
/// ```
pub struct Offline {
    engine: Engine,
    limits: PhotoLimits,
    columns: usize,
}

/// What goes back: as a server's response, without its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineReply {
    /// As HTTP numbers them.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// An answer, or a problem as JSON.
    pub body: Vec<u8>,
}

impl Offline {
    /// By a locator, for photos of up to so many megapixels.
    pub fn new(locator: Locator, max_megapixels: u32) -> Self {
        let columns = locator.model().config().embedding_dim;
        let limits = PhotoLimits::of_megapixels(max_megapixels);
        Self { engine: Engine::new(Arc::new(locator), max_megapixels), limits, columns }
    }

    /// The reply to a request, whatever it is; `query` is what stands behind the question mark.
    pub fn answer(&self, path: &str, query: &str, content_type: Option<&str>, body: Vec<u8>) -> OfflineReply {
        match self.rendered(path, query, content_type, body) {
            Ok((body, content_type)) => OfflineReply { status: 200, content_type, body },
            Err(problem) => OfflineReply {
                status: problem.kind.status(),
                content_type: "application/problem+json",
                body: problem.to_json("").to_string().into_bytes(),
            },
        }
    }

    fn rendered(&self, path: &str, query: &str, content_type: Option<&str>, body: Vec<u8>) -> Rendered {
        const JSON: &str = "application/json";
        match path {
            "/page/labels.json" => return Ok((labels::json().into(), JSON)),
            "/page/shores.json" => return Ok((shores::json(query).into(), JSON)),
            "/page/facts.json" => return Ok((facts(&body).into(), JSON)),
            _ => {}
        }
        let route = ROUTES.iter().find(|route| route.path == path);
        let endpoint = match route {
            Some(route) if route.endpoint == Endpoint::Regions => return Ok((regions::json().into(), JSON)),
            Some(route) if route.endpoint == Endpoint::Info => {
                return Ok((about(self.engine.locator()).to_string().into(), JSON));
            }
            Some(route) if route.is_post => route.endpoint,
            _ => return Err(Problem::new(Kind::NotFound, format!("{path} does not exist here"))),
        };
        let limits = WorkLimits { photos: MOST_PHOTOS, photo: &self.limits, columns: self.columns };
        match Question::new(endpoint, query, content_type)?.asked(body.into(), &limits)? {
            Asked::Done(body, content_type) => Ok((body, content_type)),
            Asked::Work(ask, work) => {
                let answered = self.engine.compute(&[(&ask, &work)], Control::new()).pop();
                answered.map_or_else(
                    || Err(Problem::new(Kind::Internal, "nothing was asked")),
                    |one: Answered| one.rendered,
                )
            }
        }
    }
}

/// What a file says of time, camera and place, as `/v1/embed` has it: for photos that a browser decodes itself.
fn facts(photo: &[u8]) -> String {
    let PhotoFacts { gps, taken: Taken { time, offset, camera, .. }, .. } = PhotoFacts::read(photo);
    let gps = gps.map(|gps| [gps.lat_deg(), gps.lon_deg()]);
    json!({ "time": time, "offset": offset, "camera": camera, "gps": gps }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page's model is the one it was opened with: a request that names another fails.
    #[test]
    fn another_model_is_refused() {
        let offline = Offline::new(Locator::bundled().unwrap(), 100);
        for name in ["model", "encoder", "device", "gallery"] {
            let reply = offline.answer("/v1/locate", &format!("{name}=geoclip"), None, b"x".to_vec());
            let body = String::from_utf8(reply.body).unwrap();
            assert!(reply.status == 400 && body.contains(&format!("'{name}' is not a parameter")), "{body}");
        }
    }

    #[test]
    fn facts_are_read_of_what_is_not_decoded() {
        let photo = include_bytes!("../../../fixtures/vision/turned_6.jpg");
        let said: serde_json::Value = serde_json::from_str(&facts(photo)).unwrap();
        assert!(said["gps"][0].is_number(), "{said}");
        assert_eq!(facts(b"nothing"), r#"{"camera":null,"gps":null,"offset":null,"time":null}"#);
    }
}

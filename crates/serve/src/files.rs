//! The files of the pages, and what is at a path.

use crate::routes::{Endpoint, ROUTES, Route, get};
use hyper::Method;
use locdiff_map::Detail;

/// A file of the page.
pub(crate) struct PageFile {
    pub(crate) route: Route,
    pub(crate) content_type: &'static str,
    pub(crate) contents: &'static [u8],
}

const fn page(k: usize, path: &'static str, content_type: &'static str, contents: &'static [u8]) -> PageFile {
    PageFile { route: get(path, Endpoint::Page(k), false), content_type, contents }
}

const BYTES: &str = "application/octet-stream";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The names on the page's globe, which are made when they are first asked for.
const LABELS: Route = get("/page/labels.json", Endpoint::Labels, false);

/// Outlines of states near a place, for who has zoomed in.
const SHORES: Route = get("/page/shores.json", Endpoint::Shores, false);

/// The page: all that it loads.
pub(crate) const PAGE: [PageFile; 23] = [
    page(0, "/", "text/html; charset=utf-8", include_bytes!("../page/index.html")),
    page(1, "/page/style.css", "text/css; charset=utf-8", include_bytes!("../page/style.css")),
    page(2, "/page/app.js", SCRIPT, include_bytes!("../page/app.js")),
    page(3, "/page/globe.js", SCRIPT, include_bytes!("../page/globe.js")),
    page(4, "/page/d3-geo.js", SCRIPT, include_bytes!("../page/d3-geo.js")),
    page(5, "/page/coast-coarse.bin", BYTES, Detail::Coarse.bytes()),
    page(6, "/page/coast-fine.bin", BYTES, Detail::Fine.bytes()),
    page(7, "/page/icon.svg", "image/svg+xml", include_bytes!("../page/icon.svg")),
    page(8, "/page/texture.js", SCRIPT, include_bytes!("../page/texture.js")),
    page(9, "/page/film.js", SCRIPT, include_bytes!("../page/film.js")),
    page(10, "/page/trip.js", SCRIPT, include_bytes!("../page/trip.js")),
    page(11, "/page/strip.js", SCRIPT, include_bytes!("../page/strip.js")),
    page(12, "/page/files.js", SCRIPT, include_bytes!("../page/files.js")),
    page(13, "/page/labels.js", SCRIPT, include_bytes!("../page/labels.js")),
    page(14, "/page/server.js", SCRIPT, include_bytes!("../page/server.js")),
    page(15, "/page/example.jpg", "image/jpeg", include_bytes!("../page/example.jpg")),
    page(16, "/page/parts.js", SCRIPT, include_bytes!("../page/parts.js")),
    page(17, "/page/shores.js", SCRIPT, include_bytes!("../page/shores.js")),
    page(18, "/page/backend.js", SCRIPT, include_bytes!("../page/backend.js")),
    page(19, "/page/reading.js", SCRIPT, include_bytes!("../page/reading.js")),
    page(20, "/page/clues.js", SCRIPT, include_bytes!("../page/clues.js")),
    page(21, "/page/why.js", SCRIPT, include_bytes!("../page/why.js")),
    page(22, "/page/expose.js", SCRIPT, include_bytes!("../page/expose.js")),
];

/// The page of a review: what it has besides the files above.
pub(crate) const REVIEW: [PageFile; 5] = [
    page(0, "/", "text/html; charset=utf-8", include_bytes!("../page/review.html")),
    page(1, "/page/review.js", SCRIPT, include_bytes!("../page/review.js")),
    page(2, "/page/review.css", "text/css; charset=utf-8", include_bytes!("../page/review.css")),
    page(3, "/page/grid.js", SCRIPT, include_bytes!("../page/grid.js")),
    page(4, "/page/tiles.js", SCRIPT, include_bytes!("../page/tiles.js")),
];

/// What a request found.
#[derive(Debug)]
pub(crate) enum RouteMatch {
    Route(Route),
    /// The path is there, with this other method.
    OtherMethod(Route),
    Nothing,
}

/// The route for a method and a path; paths are compared as they are, so there is nothing to walk out of.
pub(crate) fn find(method: &Method, path: &str) -> RouteMatch {
    let all = ROUTES.iter().copied().chain(PAGE.iter().map(|file| file.route)).chain([LABELS, SHORES]);
    let Some(route) = all.into_iter().find(|route| route.path == path) else { return RouteMatch::Nothing };
    let fits = if route.is_post { method == Method::POST } else { method == Method::GET || method == Method::HEAD };
    if fits { RouteMatch::Route(route) } else { RouteMatch::OtherMethod(route) }
}

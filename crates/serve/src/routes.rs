//! The routes, as the server takes them and as its document lists them.

use hyper::Method;
use locdiff_map::Detail;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Locate,
    LocateEmbeddings,
    Embed,
    Steps,
    Occlusion,
    Album,
    AlbumEmbeddings,
    Preview,
    Tag,
    Info,
    Regions,
    Live,
    Ready,
    Metrics,
    OpenApi,
    Docs,
    Labels,
    Shores,
    Page(usize),
}

/// A route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) endpoint: Endpoint,
    pub(crate) is_post: bool,
    /// Whether a key is needed, where the server has keys.
    pub(crate) needs_key: bool,
    pub(crate) summary: &'static str,
}

impl Route {
    /// The methods that it takes, as `Allow` lists them.
    pub(crate) fn methods(&self) -> &'static str {
        if self.is_post { "POST" } else { "GET, HEAD" }
    }
}

const fn get(path: &'static str, endpoint: Endpoint, needs_key: bool, summary: &'static str) -> Route {
    Route { path, endpoint, is_post: false, needs_key, summary }
}

const fn post(path: &'static str, endpoint: Endpoint, summary: &'static str) -> Route {
    Route { path, endpoint, is_post: true, needs_key: true, summary }
}

/// All routes but the page's files.
pub(crate) const ROUTES: [Route; 16] = [
    post("/v1/locate", Endpoint::Locate, "Where photos were taken: one as the body, or several as a form"),
    post("/v1/locate/embeddings", Endpoint::LocateEmbeddings, "Where photos were taken, from their embeddings"),
    post("/v1/embed", Endpoint::Embed, "The embeddings of photos: one as the body, or several as a form"),
    post(
        "/v1/steps",
        Endpoint::Steps,
        "The diffusion's samples on their way from noise to places; several photos are taken as of one place",
    ),
    post(
        "/v1/occlusion",
        Endpoint::Occlusion,
        "Which parts of a photo speak for its place: how much the log density there falls when each is painted over",
    ),
    post(
        "/v1/album",
        Endpoint::Album,
        "Where the photos of one trip were taken, together: by image evidence, times, the GPS tags of some and how people travel. A form of \
         fields 'photo'; after a photo, fields 'time', 'gps' (lat,lon) and 'camera' give what its own EXIF data lack; fields 'track' are logs of \
         positions as files, 'places' is a JSON list of what else is known",
    ),
    post(
        "/v1/album/embeddings",
        Endpoint::AlbumEmbeddings,
        "The same from embeddings and what /v1/embed says of each photo: albums that are sent in parts",
    ),
    post("/v1/preview", Endpoint::Preview, "A photo as a JPEG of 480 pixels, for pages that cannot show HEIC or RAW"),
    post(
        "/v1/tag",
        Endpoint::Tag,
        "A copy of a photo with its place as a GPS tag, where the answer is sure to within 25 km and it has none. A form of \
         'answer', the answer as it came, and 'photo'",
    ),
    get("/v1/info", Endpoint::Info, true, "The version, the model and the limits"),
    get("/v1/regions", Endpoint::Regions, true, "The countries that an answer can be restricted to"),
    get("/health/live", Endpoint::Live, false, "Whether the server lives; it never waits for the model"),
    get("/health/ready", Endpoint::Ready, false, "Whether it takes photos: 503 while it stops"),
    get("/metrics", Endpoint::Metrics, true, "Counters as Prometheus reads them"),
    get("/openapi.json", Endpoint::OpenApi, false, "This document"),
    get("/docs", Endpoint::Docs, false, "This document for people"),
];

/// A file of the page.
pub(crate) struct PageFile {
    pub(crate) route: Route,
    pub(crate) content_type: &'static str,
    pub(crate) contents: &'static [u8],
}

const fn page(k: usize, path: &'static str, content_type: &'static str, contents: &'static [u8]) -> PageFile {
    PageFile { route: get(path, Endpoint::Page(k), false, "A file of the page"), content_type, contents }
}

const BYTES: &str = "application/octet-stream";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The names on the page's globe, which are made when they are first asked for.
const LABELS: Route = get("/page/labels.json", Endpoint::Labels, false, "A file of the page");

/// Outlines of states near a place, for who has zoomed in.
const SHORES: Route = get("/page/shores.json", Endpoint::Shores, false, "A file of the page");

/// The page: all that it loads.
pub(crate) const PAGE: [PageFile; 18] = [
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
];

/// The page of a desk: what it has beside the files above.
pub(crate) const DESK: [PageFile; 3] = [
    page(0, "/", "text/html; charset=utf-8", include_bytes!("../page/desk.html")),
    page(1, "/page/desk.js", SCRIPT, include_bytes!("../page/desk.js")),
    page(2, "/page/desk.css", "text/css; charset=utf-8", include_bytes!("../page/desk.css")),
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

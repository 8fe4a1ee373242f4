//! The routes, as the server takes them and as its document lists them.

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

pub(crate) const fn get(path: &'static str, endpoint: Endpoint, needs_key: bool, summary: &'static str) -> Route {
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

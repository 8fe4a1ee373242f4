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
    Expose,
    Clean,
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
}

impl Route {
    /// The methods that it takes, as `Allow` lists them.
    pub(crate) fn methods(&self) -> &'static str {
        if self.is_post { "POST" } else { "GET, HEAD" }
    }
}

pub(crate) const fn get(path: &'static str, endpoint: Endpoint, needs_key: bool) -> Route {
    Route { path, endpoint, is_post: false, needs_key }
}

const fn post(path: &'static str, endpoint: Endpoint) -> Route {
    Route { path, endpoint, is_post: true, needs_key: true }
}

/// All routes but the page's files.
pub(crate) const ROUTES: [Route; 18] = [
    post("/v1/locate", Endpoint::Locate),
    post("/v1/locate/embeddings", Endpoint::LocateEmbeddings),
    post("/v1/embed", Endpoint::Embed),
    post("/v1/steps", Endpoint::Steps),
    post("/v1/occlusion", Endpoint::Occlusion),
    post("/v1/album", Endpoint::Album),
    post("/v1/album/embeddings", Endpoint::AlbumEmbeddings),
    post("/v1/preview", Endpoint::Preview),
    post("/v1/tag", Endpoint::Tag),
    post("/v1/expose", Endpoint::Expose),
    post("/v1/clean", Endpoint::Clean),
    get("/v1/info", Endpoint::Info, true),
    get("/v1/regions", Endpoint::Regions, true),
    get("/health/live", Endpoint::Live, false),
    get("/health/ready", Endpoint::Ready, false),
    get("/metrics", Endpoint::Metrics, true),
    get("/openapi.json", Endpoint::OpenApi, false),
    get("/docs", Endpoint::Docs, false),
];

//! A question by its route, query and body.

use crate::ask::{Ask, PARAMETERS, Parameter};
use crate::{problem::Problem, query, routes::Endpoint, tagging, uploads, uploads::BodyKind, work::Work};
use bytes::Bytes;
use locdiff::PhotoLimits;

const ONE_PHOTO: &str = "this is about one photo: send it as the body";

/// A question whose body is still to come.
pub(crate) struct Question {
    endpoint: Endpoint,
    ask: Ask,
    kind: BodyKind,
}

/// What a question has become.
pub(crate) enum Asked {
    /// For the model.
    Work(Box<Ask>, Work),
    /// Answered already: the bytes and their type.
    Done(Vec<u8>, &'static str),
}

/// How much one question may bring.
pub(crate) struct WorkLimits<'a> {
    /// Photos or embeddings.
    pub(crate) photos: usize,
    pub(crate) photo: &'a PhotoLimits,
    /// The numbers of an embedding.
    pub(crate) columns: usize,
}

impl Question {
    /// At a route that computes.
    pub(crate) fn new(endpoint: Endpoint, text: &str, content_type: Option<&str>) -> Result<Self, Problem> {
        check_parameters(text, endpoint)?;
        let ask = Ask::parse(text)?;
        let kind = match endpoint {
            Endpoint::LocateEmbeddings | Endpoint::AlbumEmbeddings => BodyKind::of_embeddings(content_type)?,
            Endpoint::Album | Endpoint::Tag => BodyKind::of_album(content_type)?,
            _ => BodyKind::of_photos(content_type)?,
        };
        Ok(Self { endpoint, ask, kind })
    }

    /// With its body.
    pub(crate) fn asked(self, contents: Bytes, limits: &WorkLimits<'_>) -> Result<Asked, Problem> {
        let Self { endpoint, ask, kind } = self;
        let most = limits.photos;
        let photos = |contents| uploads::photos(contents, &kind, ask.name.clone(), most, limits.photo);
        let work = match endpoint {
            // A copy takes no model.
            Endpoint::Tag => return Ok(Asked::Done(tagging::copy(contents, &kind)?, "application/octet-stream")),
            Endpoint::Clean | Endpoint::Expose if kind != BodyKind::Photo => return Err(Problem::bad(ONE_PHOTO)),
            Endpoint::Clean => {
                return Ok(Asked::Done(tagging::clean(&contents, ask.name)?, "application/octet-stream"));
            }
            // A picture that cannot be seen has tags all the same.
            Endpoint::Expose => Work::Expose(vec![uploads::upload(ask.name.clone(), contents, false, limits.photo)?]),
            Endpoint::AlbumEmbeddings => uploads::album_embeddings(&contents, limits.columns)?,
            Endpoint::Preview | Endpoint::Occlusion => match (&kind, endpoint) {
                (BodyKind::Photo, Endpoint::Preview) => Work::Preview(photos(contents)?),
                (BodyKind::Photo, _) => Work::Occlusion(photos(contents)?),
                _ => return Err(Problem::bad(ONE_PHOTO)),
            },
            Endpoint::LocateEmbeddings => uploads::embeddings(&contents, limits.columns, most)?,
            Endpoint::Embed => Work::Embed(photos(contents)?),
            Endpoint::Steps => Work::Steps(photos(contents)?),
            Endpoint::Album => uploads::album(contents, &kind, most, limits.photo)?,
            _ => Work::Locate(photos(contents)?),
        };
        Ok(Asked::Work(Box::new(ask), work))
    }
}

/// Fails for parameters that mean something elsewhere only.
fn check_parameters(text: &str, endpoint: Endpoint) -> Result<(), Problem> {
    for (name, _) in query::pairs(text).map_err(Problem::bad)? {
        let known = PARAMETERS.iter().find(|parameter| parameter.name == name);
        if known.is_some_and(|parameter| !is_for(parameter, endpoint)) {
            return Err(Problem::bad(format!("'{name}' means nothing here")));
        }
    }
    Ok(())
}

/// Parameters of albums alone.
pub(crate) const ALBUMS: [&str; 2] = ["one_trip", "trust_clocks"];

/// Whether a parameter means something at an endpoint.
pub(crate) fn is_for(parameter: &Parameter, endpoint: Endpoint) -> bool {
    let name = &*parameter.name;
    match endpoint {
        Endpoint::Locate => !ALBUMS.contains(&name),
        Endpoint::LocateEmbeddings => !ALBUMS.contains(&name) && !["name", "views"].contains(&name),
        Endpoint::Embed | Endpoint::Preview | Endpoint::Occlusion | Endpoint::Expose | Endpoint::Clean => {
            name == "name"
        }
        Endpoint::Steps => ["name", "views", "seed"].contains(&name),
        Endpoint::Album => ["views", "seed"].contains(&name) || ALBUMS.contains(&name),
        Endpoint::AlbumEmbeddings => name == "seed" || ALBUMS.contains(&name),
        _ => false,
    }
}

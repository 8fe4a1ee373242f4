//! From a request to its response.

use crate::body::{self, BodyLimits};
use crate::files::{self, PAGE, RouteMatch};
use crate::log::{self, Line, RequestIds};
use crate::problem::{Kind, Problem, Result};
use crate::question::{Asked, Question, WorkLimits};
use crate::queue::Job;
use crate::routes::{Endpoint, Route};
use crate::{ServeOptions, access::Access, body::Budget, connections::UnclearLength, hosts::Hosts, labels};
use crate::{metrics::Metrics, openapi, queue::Queue, regions, reply::Reply, shores};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request, Response, body::Incoming, header::CONTENT_TYPE, http::request::Parts};
use locdiff::PhotoLimits;
use locdiff_base::ensure;
use serde_json::Value;
use std::{sync::Arc, sync::atomic::AtomicBool, sync::atomic::Ordering, time::Instant};
use tokio::{sync::oneshot, time::timeout_at};

/// What all requests share.
pub(crate) struct Service {
    pub(crate) options: ServeOptions,
    pub(crate) access: Access,
    pub(crate) hosts: Hosts,
    pub(crate) limits: PhotoLimits,
    pub(crate) queue: Arc<Queue>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) budget: Budget,
    pub(crate) ids: RequestIds,
    pub(crate) is_stopping: AtomicBool,
    /// The numbers of an embedding.
    pub(crate) columns: usize,
    /// The answer of `/v1/info`.
    pub(crate) info: Value,
}

const JSON: &str = "application/json";

impl Service {
    /// The response to a request, whatever it is.
    pub(crate) async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let begin = Instant::now();
        let (head, mut body) = request.into_parts();
        let id = self.ids.id(head.headers.get("x-request-id").and_then(|value| value.to_str().ok()));
        let found = files::find(&head.method, head.uri.path());
        let route = match &found {
            RouteMatch::Route(route) | RouteMatch::OtherMethod(route) => route.path,
            RouteMatch::Nothing => "other",
        };
        let allow = if let RouteMatch::OtherMethod(route) = &found { route.methods() } else { "" };
        let mut bytes_in = 0;
        let result = self.answer(&head, &mut body, found, &mut bytes_in).await;
        let problem = result.as_ref().err().map(|problem| problem.kind.name());
        let mut reply = match result {
            Ok(reply) => reply,
            Err(problem) => {
                self.metrics.refused(problem.kind.name());
                let most = (problem.kind == Kind::Busy).then_some(self.options.max_body_bytes);
                let is_read = body::read_away(&mut body, most).await;
                let mut reply = Reply::problem(&problem, &id);
                if problem.kind == Kind::MethodNotAllowed {
                    reply = reply.with("allow", allow);
                }
                if is_read { reply } else { reply.with("connection", "close") }
            }
        };
        reply = reply.with("x-request-id", &id);
        if let Some(origin) = self.access.allowed_origin(&head.headers) {
            reply = reply
                .with("access-control-allow-origin", origin)
                .with("access-control-expose-headers", "x-request-id, retry-after")
                .with("vary", "origin");
        }
        self.metrics.request(route, reply.status(), begin.elapsed());
        if self.options.is_logging {
            log::write(&Line {
                request_id: &id,
                method: head.method.as_str(),
                route,
                status: reply.status(),
                took: begin.elapsed(),
                bytes_in,
                bytes_out: reply.len(),
                problem,
            });
        }
        reply.into_response()
    }

    async fn answer(&self, head: &Parts, body: &mut Incoming, found: RouteMatch, bytes_in: &mut u64) -> Result<Reply> {
        if head.extensions.get::<UnclearLength>().is_some() {
            return Err(Problem::bad(
                "the body's length is not clear: send Content-Length or Transfer-Encoding, not both",
            ));
        }
        self.hosts.check(head, &self.access.origins)?;
        let route = match found {
            RouteMatch::Route(route) => route,
            RouteMatch::OtherMethod(route) => {
                let is_asking_first = head.method == Method::OPTIONS;
                if is_asking_first && self.access.allowed_origin(&head.headers).is_some() {
                    return Ok(Reply::empty()
                        .with("access-control-allow-methods", "GET, POST")
                        .with("access-control-allow-headers", "authorization, content-type, x-api-key, x-request-id"));
                }
                return Err(Problem::new(Kind::MethodNotAllowed, format!("{} takes {}", route.path, route.methods())));
            }
            RouteMatch::Nothing => {
                return Err(Problem::new(Kind::NotFound, "the routes are listed at /docs and in /openapi.json"));
            }
        };
        // The page may be reached by a link from anywhere; it is what it asks for that is guarded.
        if route.needs_key {
            self.access.check_site(&head.headers)?;
            self.access.check_key(&head.headers)?;
        }
        match route.endpoint {
            Endpoint::Locate
            | Endpoint::LocateEmbeddings
            | Endpoint::Embed
            | Endpoint::Steps
            | Endpoint::Occlusion
            | Endpoint::Album
            | Endpoint::AlbumEmbeddings
            | Endpoint::Tag
            | Endpoint::Expose
            | Endpoint::Clean
            | Endpoint::Preview => self.compute(head, body, route, bytes_in).await,
            Endpoint::Info => Ok(Reply::ok(JSON, self.info.to_string())),
            Endpoint::Regions => Ok(Reply::ok(JSON, regions::json())),
            Endpoint::Live => Ok(Reply::ok(JSON, "{\"status\":\"live\"}")),
            Endpoint::Ready if self.is_stopping.load(Ordering::SeqCst) => {
                Err(Problem::new(Kind::Stopping, "requests that are under way are finished"))
            }
            Endpoint::Ready => Ok(Reply::ok(JSON, "{\"status\":\"ready\"}")),
            Endpoint::Metrics => Ok(Reply::ok("text/plain; version=0.0.4; charset=utf-8", self.metrics_text())),
            Endpoint::OpenApi => Ok(Reply::ok(JSON, openapi::document().to_string())),
            Endpoint::Docs => Ok(Reply::ok("text/html; charset=utf-8", openapi::page())),
            Endpoint::Labels => Ok(Reply::ok(JSON, labels::json()).with("cache-control", "no-cache")),
            Endpoint::Shores => Ok(Reply::ok(JSON, shores::json(head.uri.query().unwrap_or_default()))),
            Endpoint::Page(k) => {
                Ok(Reply::ok(PAGE[k].content_type, PAGE[k].contents).with("cache-control", "no-cache"))
            }
        }
    }

    /// Photos or embeddings through the queue.
    async fn compute(&self, head: &Parts, body: &mut Incoming, route: Route, bytes_in: &mut u64) -> Result<Reply> {
        let arrived = Instant::now();
        let deadline = arrived + self.options.request_timeout;
        let text = head.uri.query().unwrap_or_default();
        let content_type = match head.headers.get(CONTENT_TYPE).map(|value| value.to_str()) {
            None => None,
            Some(Ok(text)) => Some(text),
            Some(Err(_)) => return Err(Problem::bad("the Content-Type is not text")),
        };
        let question = Question::new(route.endpoint, text, content_type)?;
        ensure!(!self.queue.is_full(), self.busy());
        let mut reserved = self.budget.begin();
        let limits = BodyLimits { bytes: self.options.max_body_bytes, time: self.options.body_timeout };
        let contents = body::read(body, limits, &mut reserved, || self.queue.wait_s()).await?;
        *bytes_in = contents.len() as u64;
        let limits = WorkLimits { photos: self.options.max_photos, photo: &self.limits, columns: self.columns };
        let (ask, work) = match question.asked(contents, &limits)? {
            Asked::Work(ask, work) => (*ask, work),
            Asked::Done(body, content_type) => return Ok(Reply::ok(content_type, body)),
        };
        let (reply, answer) = oneshot::channel();
        let job = Job { work, ask, arrived, deadline, reply, reserved };
        ensure!(self.queue.push(job), self.busy());
        match timeout_at(deadline.into(), answer).await {
            Ok(Ok(done)) => {
                let done = done?;
                Ok(Reply::ok(done.content_type, done.body).with_times(done.times))
            }
            // The backend drops a job whose deadline has passed, perhaps before this timer fires.
            Ok(Err(_)) if Instant::now() < deadline => {
                Err(Problem::new(Kind::Internal, "the model failed on this batch; the server keeps running"))
            }
            _ => {
                let seconds = self.options.request_timeout.as_secs();
                let late = Problem::new(Kind::Late, format!("there was no answer within {seconds} s"));
                Err(late.retry_after(self.queue.wait_s()))
            }
        }
    }

    fn busy(&self) -> Problem {
        if self.is_stopping.load(Ordering::SeqCst) {
            return Problem::new(Kind::Stopping, "no more photos are taken").retry_after(1);
        }
        let detail = format!("{} photos wait already, {} at the most", self.queue.len(), self.options.queue);
        Problem::new(Kind::Busy, detail).retry_after(self.queue.wait_s())
    }

    fn metrics_text(&self) -> String {
        self.metrics.text(&[
            ("queue_photos", "Photos that wait.", self.queue.len() as f64),
            ("queue_most_photos", "Photos that may wait.", self.options.queue as f64),
            ("queue_wait_seconds", "Until what waits is done.", self.queue.wait_s() as f64),
            ("body_bytes", "Memory that bodies take.", self.budget.used() as f64),
        ])
    }
}

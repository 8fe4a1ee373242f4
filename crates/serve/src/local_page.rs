//! A page on this machine, for its user alone.

use crate::body::{BodyLimits, Budget};
use crate::{ServeError, ServeOptions, body, connections::TICK, connections::listen, reply::protect, reply::text};
use bytes::Bytes;
use constant_time_eq::constant_time_eq;
use http_body_util::Full;
use hyper::header::{CONNECTION, COOKIE, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN, SET_COOKIE};
use hyper::{Method, Request, Response, body::Incoming, http::request::Parts};
use std::{net::Ipv4Addr, net::SocketAddr, net::TcpListener, sync::atomic::AtomicBool, sync::atomic::Ordering};
use std::{ops::ControlFlow, sync::Arc, sync::mpsc, sync::mpsc::RecvTimeoutError, time::Duration};
use tokio::sync::oneshot;

/// The most bytes of a request's body, and of all that wait.
const BODY_BYTES: u64 = 16 << 20;
const BODIES_BYTES: u64 = 4 * BODY_BYTES;
/// A server on 127.0.0.1 for the user who started it. Its address holds a token that a visit trades for a cookie. The token is good until
/// somebody comes with the cookie, so that a visit that broke off can be repeated. Who has neither is refused, and so are requests by another host name (DNS rebinding) and from pages of another origin.
///
/// ```no_run
/// use hyper::Response;
/// use locdiff_serve::{LocalPage, ServeError};
/// use std::ops::ControlFlow;
/// let page = LocalPage::bind(0)?;
/// println!("open {}", page.url());
/// page.run(|| false, |request| {
///     let reply = Response::new(b"<!doctype html>Hello".to_vec());
///     let is_last = request.uri().path() == "/done";
///     Ok::<_, ServeError>(if is_last { ControlFlow::Break(reply) } else { ControlFlow::Continue(reply) })
/// })?;
/// # Ok::<(), ServeError>(())
/// ```
#[derive(Debug)]
pub struct LocalPage {
    listener: TcpListener,
    gate: Gate,
}

/// A request for the handler, and where its response goes.
type Asked = (Request<Vec<u8>>, oneshot::Sender<Response<Vec<u8>>>);
/// A handler's response; it breaks with the last one.
type Flow = ControlFlow<Response<Vec<u8>>, Response<Vec<u8>>>;

impl LocalPage {
    /// Listens on 127.0.0.1; port 0 is any free one. Fails if the port is taken or the system has no random numbers.
    pub fn bind(port: u16) -> Result<Self, ServeError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).map_err(|source| ServeError::Bind { address, source })?;
        let address = listener.local_addr()?;
        let gate = Gate { address, token: secret()?, is_loaded: AtomicBool::new(false), session: secret()? };
        Ok(Self { listener, gate })
    }

    /// Where the page is, with the token that the first visit needs.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.gate.address, self.gate.token)
    }

    /// Gives admitted requests to `handler`, one at a time on this thread, until `stop` is true or the handler breaks; that response is
    /// still sent. Headers that restrict what a page may do are added where the handler sets none. Fails if the handler does, or if the
    /// system gives no thread or socket.
    pub fn run<E: From<ServeError>>(
        self,
        stop: impl Fn() -> bool,
        handler: impl FnMut(&Request<Vec<u8>>) -> Result<ControlFlow<Response<Vec<u8>>, Response<Vec<u8>>>, E>,
    ) -> Result<(), E> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::from)?;
        let options =
            ServeOptions { connections: 64, shutdown_timeout: Duration::from_secs(2), ..ServeOptions::default() };
        let limits = BodyLimits { bytes: BODY_BYTES, time: options.body_timeout };
        let (ask, asked) = mpsc::channel();
        let page = Arc::new(Page { gate: self.gate, ask, budget: Budget::new(BODIES_BYTES), limits });
        let answer = move |request| {
            let page = page.clone();
            async move { page.answer(request).await }
        };
        // Dropped when the handler ends, whether it returns or panics.
        let alive = Arc::new(());
        let watched = Arc::downgrade(&alive);
        std::thread::scope(|scope| {
            let ended = move || watched.strong_count() == 0;
            let listening =
                scope.spawn(move || runtime.block_on(listen(self.listener, &options, Arc::default(), answer, ended)));
            let handled = handle(&asked, stop, handler);
            drop((alive, asked));
            match listening.join() {
                Ok(listened) => listened.map_err(ServeError::from)?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
            handled
        })
    }
}

fn handle<E>(
    asked: &mpsc::Receiver<Asked>,
    stop: impl Fn() -> bool,
    mut handler: impl FnMut(&Request<Vec<u8>>) -> Result<Flow, E>,
) -> Result<(), E> {
    while !stop() {
        let (request, reply) = match asked.recv_timeout(TICK) {
            Ok(asked) => asked,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let flow = handler(&request)?;
        let is_last = flow.is_break();
        let (ControlFlow::Continue(response) | ControlFlow::Break(response)) = flow;
        drop(reply.send(response)); // a client that has gone away is no error
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Decides which requests the handler sees.
#[derive(Debug)]
struct Gate {
    address: SocketAddr,
    token: String,
    /// Whether somebody came with the cookie.
    is_loaded: AtomicBool,
    /// The cookie's value.
    session: String,
}

impl Gate {
    /// The answer to a request that the handler does not see: refused, or redirected with its cookie.
    fn own_answer(&self, head: &Parts) -> Option<Response<Vec<u8>>> {
        let values = |name: HeaderName| head.headers.get_all(name).iter().map(HeaderValue::as_bytes);
        let hosts = [self.address.to_string(), format!("localhost:{}", self.address.port())];
        let mut given = values(HOST);
        let is_host = given.next().is_some_and(|host| hosts.iter().any(|own| own.as_bytes() == host));
        let origin = values(ORIGIN).next();
        let is_own = origin.is_some_and(|given| hosts.iter().any(|host| format!("http://{host}").as_bytes() == given));
        // A browser names the origin of everything that changes something.
        let is_origin = is_own || (origin.is_none() && head.method == Method::GET);
        if !is_host || given.next().is_some() || !is_origin {
            return Some(text(403, "this page is for this machine alone"));
        }
        // Cookies do not know ports: the name does.
        let name = format!("locdiff-{}", self.address.port());
        let cookie = format!("{name}={}", self.session);
        let mut cookies = values(COOKIE).flat_map(|line| line.split(|byte| *byte == b';'));
        let has_cookie = cookies.any(|given| constant_time_eq(given.trim_ascii(), cookie.as_bytes()));
        self.is_loaded.fetch_or(has_cookie, Ordering::SeqCst);
        let token = head.uri.query().and_then(|query| query.strip_prefix("token="));
        let Some(token) = token.filter(|_| head.method == Method::GET) else {
            return (!has_cookie).then(|| text(403, "open the page by the address that the command printed"));
        };
        let is_token = constant_time_eq(token.as_bytes(), self.token.as_bytes());
        let mut onward = text(303, "");
        if is_token && !self.is_loaded.load(Ordering::SeqCst) {
            let cookie = format!("{cookie}; Path=/; HttpOnly; SameSite=Lax");
            onward.headers_mut().extend(HeaderValue::from_str(&cookie).ok().map(|value| (SET_COOKIE, value)));
        } else if !has_cookie {
            return Some(text(403, "this address was used already, or is of another run: start the command again"));
        }
        onward.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
        Some(onward)
    }
}

/// What all requests share.
struct Page {
    gate: Gate,
    ask: mpsc::Sender<Asked>,
    budget: Budget,
    limits: BodyLimits,
}

impl Page {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, mut body) = request.into_parts();
        let mut response = match self.gate.own_answer(&head) {
            None => self.handled(head, &mut body).await,
            Some(response) => response,
        };
        if response.status() == 403 {
            // A connection is for those who are admitted.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if !body::read_away(&mut body, None).await {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        protect(response.headers_mut());
        response.map(|bytes| Full::new(bytes.into()))
    }

    async fn handled(&self, head: Parts, body: &mut Incoming) -> Response<Vec<u8>> {
        let mut reserved = self.budget.begin();
        let contents = match body::read(body, self.limits, &mut reserved, || 1).await {
            Ok(contents) => contents,
            Err(problem) => return text(problem.kind.status(), &problem.detail),
        };
        let (reply, response) = oneshot::channel();
        // Both fail when the handler has ended.
        let _ = self.ask.send((Request::from_parts(head, contents.into()), reply));
        response.await.unwrap_or_else(|_| text(503, "the page has ended"))
    }
}

/// 128 random bits.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

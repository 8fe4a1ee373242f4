//! A page for one user: who is admitted, and how it ends.

use crate::common;

use common::Response;
use hyper::Response as Reply;
use locdiff_serve::{LocalPage, ServeError};
use std::sync::mpsc::TryRecvError;
use std::{net::TcpStream, ops::ControlFlow, sync::atomic::AtomicBool, sync::atomic::Ordering};

/// The page's address without its token, and the token.
fn parts(page: &LocalPage) -> (String, String) {
    let url = page.url();
    let (host, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
    (host.to_owned(), token.to_owned())
}

fn ask(host: &str, request: &str, headers: &str, body: &str) -> Response {
    announce(host, request, headers, body.len(), body)
}

/// A request whose body has the length that is given, or not.
fn announce(host: &str, request: &str, headers: &str, length: usize, body: &str) -> Response {
    let headers = headers.replace("HOST", host);
    let text = format!("{request} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    Response::to(host, text.as_bytes())
}

/// Runs a page that repeats bodies until `/done`, beside a client.
fn with_page(client: impl FnOnce(&str, &str)) {
    let page = LocalPage::bind(0).unwrap();
    let (host, token) = parts(&page);
    std::thread::scope(|scope| {
        // A client that panics ends the page, too.
        let (alive, gone) = std::sync::mpsc::channel::<()>();
        let running = scope.spawn(move || {
            page.run(
                || gone.try_recv() == Err(TryRecvError::Disconnected),
                |request| {
                    let reply = Reply::new(request.body().clone());
                    Ok::<_, ServeError>(match request.uri().path() {
                        "/done" => ControlFlow::Break(reply),
                        _ => ControlFlow::Continue(reply),
                    })
                },
            )
        });
        client(&host, &token);
        let ended = running.join();
        drop(alive);
        ended.unwrap().unwrap();
    });
}

#[test]
fn only_the_page_of_who_has_the_address_is_admitted() {
    with_page(|host, token| {
        let status = |request: &str, headers: &str| ask(host, request, headers, "x").status;
        assert_eq!(status("GET /", "Host: HOST\r\n"), 403, "no cookie");
        assert_eq!(status("GET /?token=0", "Host: HOST\r\n"), 403, "another token");
        assert_eq!(status(&format!("POST /?token={token}"), "Host: HOST\r\nOrigin: http://HOST\r\n"), 403);
        let first = ask(host, &format!("GET /?token={token}"), "Host: HOST\r\n", "");
        assert_eq!((first.status, first.header("location")), (303, Some("/")));
        let cookie = first.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
        let cookie = format!("Cookie: other=1; {}\r\n", cookie.split(';').next().unwrap());
        let own = format!("Host: HOST\r\nOrigin: http://HOST\r\n{cookie}");
        // Until the page has loaded, the address works again; then only who has the cookie gets on.
        assert!(ask(host, &format!("GET /?token={token}"), "Host: HOST\r\n", "").header("set-cookie").is_some());
        assert_eq!(ask(host, "GET /", &format!("Host: HOST\r\n{cookie}"), "").status, 200);
        assert_eq!(status(&format!("GET /?token={token}"), "Host: HOST\r\n"), 403);
        assert_eq!(status(&format!("GET /?token={token}"), &format!("Host: HOST\r\n{cookie}")), 303);
        let page = ask(host, "GET /", &format!("Host: HOST\r\n{cookie}"), "");
        assert_eq!(page.status, 200);
        for (name, value) in [
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(page.header(name), Some(value));
        }
        // Another site's page, another name that leads here, a form without an origin, and two hosts.
        for headers in [
            "Host: HOST\r\nOrigin: http://evil.example\r\n",
            "Host: evil.example\r\nOrigin: http://evil.example\r\n",
            "Host: HOST\r\n",
            "Host: HOST\r\nHost: HOST\r\nOrigin: http://HOST\r\n",
            "Origin: http://HOST\r\n",
        ] {
            assert_eq!(status("POST /choice", &format!("{headers}{cookie}")), 403, "{headers}");
        }
        assert_eq!(status("GET /", &format!("Host: evil.example\r\n{cookie}")), 403);
        assert_eq!(ask(host, "POST /choice", &own, "hello").text(), "hello");
        let large = announce(host, "POST /choice", &own, (16 << 20) + 1, "x");
        assert_eq!(large.status, 413);
        assert_eq!(status("POST /done", &own), 200, "the last response is sent");
    });
}

/// Connections that ask nothing give way, and no visit is lost.
#[test]
fn idle_connections_do_not_hold_a_visitor_up() {
    with_page(|host, token| {
        let idle: Vec<TcpStream> = (0..140).map(|_| TcpStream::connect(host).unwrap()).collect();
        let first = ask(host, &format!("GET /?token={token}"), "Host: HOST\r\n", "");
        let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap();
        let done = format!("Host: HOST\r\nOrigin: http://HOST\r\nCookie: {cookie}\r\n");
        assert_eq!(ask(host, "POST /done", &done, "").status, 200);
        drop(idle);
    });
}

#[test]
fn the_stop_flag_and_the_handlers_error_end_it() {
    let page = LocalPage::bind(0).unwrap();
    assert!(matches!(
        LocalPage::bind(parts(&page).0.rsplit(':').next().unwrap().parse().unwrap()),
        Err(ServeError::Bind { .. })
    ));
    let stop = AtomicBool::new(false);
    let (host, _) = parts(&page);
    std::thread::scope(|scope| {
        let running =
            scope.spawn(|| page.run(|| stop.load(Ordering::SeqCst), |_| -> Result<_, ServeError> { unreachable!() }));
        // An open connection that asks nothing does not hold it up.
        let _idle = TcpStream::connect(&host).unwrap();
        stop.store(true, Ordering::SeqCst);
        running.join().unwrap().unwrap();
    });
    let page = LocalPage::bind(0).unwrap();
    let (host, token) = parts(&page);
    std::thread::scope(|scope| {
        let failing = |_: &_| Err(ServeError::NoEncoder);
        let running = scope.spawn(move || page.run(|| false, failing));
        let first = ask(&host, &format!("GET /?token={token}"), "Host: HOST\r\n", "");
        let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap();
        assert_eq!(ask(&host, "GET /", &format!("Host: HOST\r\nCookie: {cookie}\r\n"), "").status, 503);
        assert!(matches!(running.join().unwrap(), Err(ServeError::NoEncoder)));
    });
}

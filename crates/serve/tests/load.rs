//! A full queue, slow, late and vanished clients, and an end that loses nothing.

use crate::common;

use common::{Refused, Response, Running, photo, post};
use locdiff_testing::{try_until, wait_until};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{io::ErrorKind, io::Read, io::Write, net::TcpStream, thread, time::Duration};

/// Takes the model a while: sixteen views of a photo.
fn long(seed: usize) -> Vec<u8> {
    post(&format!("/v1/locate?views=16&seed={seed}"), "image/jpeg", &photo("china.jpg"))
}

/// Several clients repeat a request until `is_done` says so of a response. All that came back.
pub(crate) fn crowd(server: &Running, request: &[u8], is_done: impl Fn(&Response) -> bool + Sync) -> Vec<Response> {
    let (done, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let client = || {
        let mut responses = Vec::new();
        while !done.load(Ordering::SeqCst) {
            assert!(count.fetch_add(1, Ordering::SeqCst) < 10_000, "it never comes");
            let response = server.ask(request);
            done.fetch_or(is_done(&response), Ordering::SeqCst);
            responses.push(response);
        }
        responses
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(client)).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    })
}

#[test]
fn a_full_queue_refuses_with_the_time_to_wait() {
    let server = Running::new(|options| {
        options.queue = 2;
        options.max_photos = 2;
    });
    let responses = crowd(&server, &long(0), |response| response.status == 429);
    let refused: Vec<&Response> = responses.iter().filter(|response| response.status == 429).collect();
    let answered = responses.iter().filter(|response| response.status == 200).count();
    assert!(answered > 0 && answered + refused.len() == responses.len(), "{answered} answered");
    for response in &refused {
        assert_eq!(response.problem(), "busy");
        let seconds: u64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!(seconds >= 1, "{seconds}");
    }
    assert_eq!(server.metric("locdiff_refused_total{problem=\"busy\"}"), Some(refused.len() as f64));
    assert_eq!(server.get("/health/live").status, 200);
    assert_eq!(server.metric("locdiff_queue_photos"), Some(0.0));
}

/// A busy machine may be done with the first request before the others are there, or are gone: then it is tried again.
#[test]
fn clients_that_are_gone_are_not_computed() {
    try_until("three wait and go while one is computed", || {
        let server = Running::new(|_| {});
        let batches = || server.metric("locdiff_batch_photos_count").unwrap_or(0.0);
        let first = server.send(&long(0));
        wait_until("the first is computed", || batches() > 0.0);
        let gone: Vec<TcpStream> = (1..4).map(|seed| server.send(&long(seed))).collect();
        wait_until("three wait", || batches() > 1.0 || server.metric("locdiff_queue_photos") == Some(3.0));
        drop(gone);
        assert_eq!(Response::read(first).unwrap().status, 200);
        wait_until("no photo waits", || server.metric("locdiff_queue_photos") == Some(0.0));
        wait_until("no body is held", || server.metric("locdiff_body_bytes") == Some(0.0));
        let gone = server.metric("locdiff_photos_dropped_total{reason=\"gone\"}");
        gone == Some(3.0) && server.metric("locdiff_photos_answered_total") == Some(1.0)
    });
}

#[test]
fn late_answers_are_refused_and_never_computed() {
    let server = Running::new(|options| options.request_timeout = Duration::from_millis(1));
    let dropped = || server.metric("locdiff_photos_dropped_total{reason=\"late\"}").unwrap_or(0.0);
    for response in crowd(&server, &long(0), |_| dropped() > 0.0) {
        // Clients ask again at once, and what is late waits until the model has room: the queue may be full.
        assert!(matches!((response.status, &*response.problem()), (503, "late") | (429, "busy")));
        assert!(response.header("retry-after").is_some());
    }
}

#[test]
fn slow_clients_are_closed_and_others_are_served() {
    let server = Running::new(|options| {
        options.header_timeout = Duration::from_secs(1);
        options.body_timeout = Duration::from_secs(2);
    });
    let half_head = b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nConte";
    let half_body =
        b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\nContent-Length: 50000\r\n\r\nabc";
    let heads: Vec<TcpStream> = (0..100).map(|_| server.send(half_head)).collect();
    let bodies: Vec<TcpStream> = (0..100).map(|_| server.send(half_body)).collect();
    let request = post("/v1/locate", "image/jpeg", &photo("china.jpg"));
    wait_until("others are served meanwhile", || {
        Response::if_any(server.address, &request).is_some_and(|response| response.status == 200)
    });
    // A byte now and then does not help.
    let has_response = |mut stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        let is_waiting = stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        stream.set_nonblocking(false).unwrap();
        if is_waiting {
            let _ = stream.write_all(b"x");
        }
        !is_waiting
    };
    let mut slow: Vec<&TcpStream> = bodies.iter().collect();
    wait_until("slow bodies are refused", || {
        slow.retain(|stream| !has_response(stream));
        slow.is_empty()
    });
    for stream in &bodies {
        let response = Response::read(stream).expect("a refusal");
        assert_eq!((response.status, &*response.problem()), (408, "body-timeout"));
    }
    for mut stream in heads {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!rest.starts_with(b"HTTP/1.1 2"));
    }
    drop(bodies);
    wait_until("all connections are closed", || server.metric("locdiff_connections") == Some(1.0));
}

#[test]
fn stopping_finishes_what_was_accepted() {
    let mut server = Running::new(|_| {});
    let clients: Vec<TcpStream> = (0..8).map(|seed| server.send(&long(seed))).collect();
    let idle = server.send(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(Response::read(&idle).unwrap().status, 200);
    wait_until("eight are there", || {
        server.metric("locdiff_queue_photos").unwrap() + server.metric("locdiff_batch_photos_sum").unwrap() >= 8.0
    });
    server.ask_to_stop();
    for client in clients {
        let response = Response::read(client).expect("an accepted request is answered");
        assert_eq!(response.status, 200);
    }
    // The idle connection does not hold it up.
    server.wait();
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn stopping_does_not_wait_for_ever() {
    let mut server = Running::new(|options| options.shutdown_timeout = Duration::from_millis(1));
    let _slow = server.send(b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\nabc");
    wait_until("it is there", || server.metric("locdiff_connections") == Some(2.0));
    server.ask_to_stop();
    server.wait();
}

//! A full queue, slow, late and vanished clients, and an end that loses nothing.

use crate::common;

use common::{Response, Running, photo, post, until};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use std::{net::TcpStream, thread};

/// Takes the model a while: sixteen views of a photo.
fn long(seed: usize) -> Vec<u8> {
    post(&format!("/v1/locate?views=16&seed={seed}"), "image/jpeg", &photo("china.jpg"))
}

#[test]
fn a_full_queue_refuses_with_the_time_to_wait() {
    let server = Running::new(|options| {
        options.queue = 2;
        options.max_photos = 2;
    });
    let responses: Vec<Response> = thread::scope(|scope| {
        let all: Vec<_> = (0..16)
            .map(|seed| {
                scope.spawn({
                    let server = &server;
                    move || server.ask(&long(seed))
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let refused: Vec<&Response> = responses.iter().filter(|response| response.status == 429).collect();
    let answered = responses.iter().filter(|response| response.status == 200).count();
    assert_eq!(answered + refused.len(), 16);
    assert!(answered >= 2 && refused.len() >= 8, "{answered} answered");
    for response in &refused {
        assert_eq!(response.problem(), "busy");
        let seconds: u64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!((1..60).contains(&seconds), "{seconds}");
    }
    assert_eq!(server.metric("locdiff_refused_total{problem=\"busy\"}"), Some(refused.len() as f64));
    assert_eq!(server.get("/health/live").status, 200);
    assert_eq!(server.metric("locdiff_queue_photos"), Some(0.0));
}

#[test]
fn clients_that_are_gone_are_not_computed() {
    let server = Running::new(|_| {});
    let mut first = server.connect();
    first.write_all(&long(0)).unwrap();
    until("the first is computed", || server.metric("locdiff_batch_photos_count") == Some(1.0));
    let gone: Vec<TcpStream> = (1..4)
        .map(|seed| {
            let mut stream = server.connect();
            stream.write_all(&long(seed)).unwrap();
            stream
        })
        .collect();
    until("three wait", || server.metric("locdiff_queue_photos") == Some(3.0));
    drop(gone);
    assert_eq!(Response::read(&mut first).unwrap().status, 200);
    until("three are dropped", || server.metric("locdiff_photos_dropped_total{reason=\"gone\"}") == Some(3.0));
    assert_eq!(server.metric("locdiff_photos_answered_total"), Some(1.0));
    assert_eq!(server.metric("locdiff_body_bytes"), Some(0.0));
}

#[test]
fn late_answers_are_refused_and_never_computed() {
    let server = Running::new(|options| options.request_timeout = Duration::from_millis(100));
    let mut first = server.connect();
    first.write_all(&long(0)).unwrap();
    until("the first is computed", || server.metric("locdiff_batch_photos_count") == Some(1.0));
    let begin = Instant::now();
    let second = server.ask(&long(1));
    assert_eq!((second.status, &*second.problem()), (503, "late"));
    assert!(begin.elapsed() < Duration::from_secs(5) && second.header("retry-after").is_some());
    assert_eq!(Response::read(&mut first).unwrap().status, 503);
    until("the second is dropped", || server.metric("locdiff_photos_dropped_total{reason=\"late\"}") == Some(1.0));
}

#[test]
fn slow_clients_are_closed_and_others_are_served() {
    let server = Running::new(|options| {
        options.header_timeout = Duration::from_secs(1);
        options.body_timeout = Duration::from_secs(2);
    });
    let begin = Instant::now();
    let half_head = b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nConte";
    let half_body =
        b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\nContent-Length: 50000\r\n\r\nabc";
    let open = |bytes: &[u8]| {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        stream
    };
    let mut heads: Vec<TcpStream> = (0..100).map(|_| open(half_head)).collect();
    let mut bodies: Vec<TcpStream> = (0..100).map(|_| open(half_body)).collect();
    let response = server.post("/v1/locate", "image/jpeg", &photo("china.jpg"));
    assert_eq!(response.status, 200, "others are served meanwhile");
    // A byte now and then does not help.
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(200));
        for stream in &mut bodies {
            drop(stream.write_all(b"x"));
        }
    }
    for stream in &mut heads {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!rest.starts_with(b"HTTP/1.1 2"));
    }
    for stream in &mut bodies {
        let response = Response::read(stream).expect("a refusal");
        assert_eq!((response.status, &*response.problem()), (408, "body-timeout"));
    }
    assert!(begin.elapsed() < Duration::from_secs(30));
    until("all connections are closed", || server.metric("locdiff_connections") == Some(1.0));
}

#[test]
fn stopping_finishes_what_was_accepted() {
    let mut server = Running::new(|_| {});
    let mut clients: Vec<TcpStream> = (0..8)
        .map(|seed| {
            let mut stream = server.connect();
            stream.write_all(&long(seed)).unwrap();
            stream
        })
        .collect();
    let mut idle = server.connect();
    idle.write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(Response::read(&mut idle).unwrap().status, 200);
    until("eight are there", || {
        server.metric("locdiff_queue_photos").unwrap() + server.metric("locdiff_batch_photos_sum").unwrap() >= 8.0
    });
    server.ask_to_stop();
    for client in &mut clients {
        let response = Response::read(client).expect("an accepted request is answered");
        assert_eq!(response.status, 200);
    }
    let begin = Instant::now();
    server.wait();
    assert!(begin.elapsed() < Duration::from_secs(5), "an idle connection holds nothing up");
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn stopping_does_not_wait_for_ever() {
    let mut server = Running::new(|options| options.shutdown_timeout = Duration::from_millis(500));
    let mut slow = server.connect();
    slow.write_all(b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\nabc").unwrap();
    until("it is there", || server.metric("locdiff_connections") == Some(2.0));
    let begin = Instant::now();
    server.ask_to_stop();
    server.wait();
    assert!(begin.elapsed() < Duration::from_secs(5));
}

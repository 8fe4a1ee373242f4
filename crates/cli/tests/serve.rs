//! `locdiff serve` as a process: the bytes of `locate --json`, logs that tell nothing of photos, and an end that loses nothing.
#![cfg(all(unix, feature = "bundled"))]

use crate::{common, server};

use common::{fixture, ok, refused};
use server::{Server, received};
use std::{net::TcpStream, thread, time::Duration};

#[test]
fn a_photo_has_the_bytes_of_locate_alone_and_among_a_hundred() {
    let folder = fixture("vision");
    let names = ["china.jpg", "rgb.png", "profile_adobe.jpg"].map(str::to_owned).to_vec();
    let wanted: Vec<String> =
        names.iter().map(|name| ok(&folder, &["locate", "--device", "cpu", "--json", name])).collect();
    let bodies: Vec<Vec<u8>> = names.iter().map(|name| std::fs::read(folder.join(name)).unwrap()).collect();
    let server = Server::start(&folder, "--address 127.0.0.1:0", &[("LOCDIFF_QUEUE", "150")]);
    let ask = |k: usize| received(server.send(&format!("/v1/locate?name={}", names[k]), &bodies[k], ""));
    for k in 0..names.len() {
        assert_eq!(ask(k), (200, wanted[k].clone()), "{} alone", names[k]);
    }
    thread::scope(|scope| {
        for k in 0..100 {
            let (ask, wanted, k) = (&ask, &wanted, k % names.len());
            scope.spawn(move || assert_eq!(ask(k), (200, wanted[k].clone()), "among others"));
        }
    });
    let log = server.end();
    let lines: Vec<serde_json::Value> =
        log.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 100 + names.len());
    assert!(lines.iter().all(|line| line["status"] == 200 && line["route"] == "/v1/locate"));
    assert!(names.iter().all(|name| !log.contains(name.as_str())), "names of photos are nobody's business");
}

#[test]
fn a_signal_under_load_loses_no_accepted_request() {
    let folder = fixture("vision");
    let body = std::fs::read(folder.join("china.jpg")).unwrap();
    let server = Server::start(&folder, "--address 127.0.0.1:0 --no-log", &[("LOCDIFF_KEY", "open-sesame")]);
    assert_eq!(received(server.send("/v1/locate", &body, "")).0, 401);
    let clients: Vec<TcpStream> =
        (0..20).map(|_| server.send("/v1/locate?views=4", &body, "x-api-key: open-sesame\r\n")).collect();
    thread::sleep(Duration::from_millis(500));
    let answers: Vec<_> = clients.into_iter().map(|client| thread::spawn(move || received(client).0)).collect();
    let log = server.end();
    for answer in answers {
        assert_eq!(answer.join().unwrap(), 200);
    }
    assert!(!log.contains('{') && log.contains("stopped"), "{log}");
}

#[test]
fn addresses_that_others_reach_need_a_key() {
    let folder = fixture("vision");
    let message = refused(&folder, "serve --address 0.0.0.0:0");
    assert!(message.contains("no key is set") && message.contains("--key-file, --insecure"), "{message}");
    let message = refused(&folder, "serve --key-file nowhere.txt");
    assert!(message.contains("cannot read the keys in nowhere.txt"), "{message}");
    let message = refused(&folder, "serve --queue 3");
    assert!(message.contains("queue = 3 cannot be used: at least the photos of a request, 32"), "{message}");
    let server = Server::start(&folder, "--address 0.0.0.0:0 --insecure", &[]);
    server.end();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let message = refused(&folder, &format!("serve --address {}", taken.local_addr().unwrap()));
    assert!(message.contains("cannot listen on 127.0.0.1"), "{message}");
}

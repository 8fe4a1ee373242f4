//! `locdiff serve` as a process: logs that tell nothing of photos, and an end that loses nothing.
#![cfg(all(unix, feature = "bundled"))]

use crate::{common, server};

use common::{fixture, refused_with};
use locdiff_testing::wait_until;
use server::{Server, received};
use std::{io::Write, net::TcpStream, thread};

#[test]
fn logs_tell_nothing_of_photos() {
    let (folder, names) = (fixture("vision"), ["china.jpg", "rgb.png", "profile_adobe.jpg"]);
    let server = Server::start(&folder, "--address 127.0.0.1:0", &[]);
    for name in names {
        let body = std::fs::read(folder.join(name)).unwrap();
        assert_eq!(received(server.send(&format!("/v1/locate?name={name}"), &body, "")).0, 200);
    }
    let log = server.end();
    let lines = common::lines_of(log.lines().filter(|line| line.starts_with('{')).collect::<Vec<_>>().join("\n"));
    assert_eq!(lines.len(), names.len());
    assert!(lines.iter().all(|line| line["status"] == 200 && line["route"] == "/v1/locate"));
    assert!(names.iter().all(|name| !log.contains(name)), "names of photos are nobody's business");
}

#[test]
fn a_signal_under_load_loses_no_accepted_request() {
    let folder = fixture("vision");
    let body = std::fs::read(folder.join("china.jpg")).unwrap();
    let server = Server::start(&folder, "--address 127.0.0.1:0 --no-log", &[("LOCDIFF_KEY", "open-sesame")]);
    assert_eq!(received(server.send("/v1/locate", &body, "")).0, 401);
    let key = "x-api-key: open-sesame\r\n";
    let clients: Vec<TcpStream> = (0..20).map(|_| server.send("/v1/locate?views=4", &body, key)).collect();
    wait_until("all are accepted", || {
        server.metric("locdiff_queue_photos", key) + server.metric("locdiff_batch_photos_sum", key) >= 20.0
    });
    let answers: Vec<_> = clients.into_iter().map(|client| thread::spawn(move || received(client).0)).collect();
    let log = server.end();
    for answer in answers {
        assert_eq!(answer.join().unwrap(), 200);
    }
    assert!(!log.contains('{') && log.contains("stopped"), "{log}");
}

/// A service manager that waits for the address may send a signal as soon as it is printed.
#[test]
fn a_signal_directly_after_the_address_ends_well() {
    let folder = common::scratch();
    std::fs::copy(fixture("vision/rgb.jpg"), folder.join("a.jpg")).unwrap();
    let rounds = |words: &str, count: usize| {
        for _ in 0..count {
            Server::run(&folder, words, &[]).end();
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| rounds("serve --device cpu --address 127.0.0.1:0", 6));
        }
        scope.spawn(|| rounds("review . --device cpu", 3));
    });
}

#[test]
fn addresses_that_others_reach_need_a_key() {
    let folder = fixture("vision");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("serve --address {}", listener.local_addr().unwrap());
    for (arguments, words) in [
        ("serve --address 0.0.0.0:0", "no key is set"),
        ("serve --address 0.0.0.0:0", "--key-file, --insecure"),
        ("serve --key-file nowhere.txt", "cannot read the keys in nowhere.txt"),
        ("serve --queue 3", "queue = 3 cannot be used: at least the photos of a request, 32"),
        (&taken, "cannot listen on 127.0.0.1"),
    ] {
        refused_with(&folder, arguments, words);
    }
    Server::start(&folder, "--address 0.0.0.0:0 --insecure", &[]).end();
    let server = Server::start(&folder, "--address localhost:8080 --port 0", &[]);
    assert!(server.address().starts_with("127.0.0.1:") || server.address().starts_with("[::1]:"));
    server.end();
}

/// A PNG file of 24 × 17 pixels whose colour profile is a gigabyte of zeros, compressed.
fn with_large_profile() -> Vec<u8> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let (zeros, count) = (vec![0; 1 << 20], 1 << 10);
    (0..count).for_each(|_| packed.write_all(&zeros).unwrap());
    // After the zeros the first sum of Adler-32 is 1, the second their number.
    let adler = ((zeros.len() * count % 65_521) as u32) << 16 | 1;
    let stream = [&[0x78, 0xDA], &packed.finish().unwrap()[..], &adler.to_be_bytes()].concat();
    let body = [b"iCCP", &b"big\0\0"[..], &stream].concat();
    let chunk = [&(body.len() as u32 - 4).to_be_bytes()[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat();
    let whole = std::fs::read(fixture("vision/rgb.png")).unwrap();
    [&whole[..33], &chunk, &whole[33..]].concat()
}

/// Sixteen of them at once take no more memory than photos do, and are answered without their profiles.
#[cfg(target_os = "linux")]
#[test]
fn compressed_profiles_have_a_budget() {
    let folder = fixture("vision");
    let server = Server::start(&folder, "--address 127.0.0.1:0 --no-log", &[]);
    let body = with_large_profile();
    assert!(body.len() < 2_000_000, "{} bytes", body.len());
    let plain = received(server.send("/v1/locate?name=a", &std::fs::read(folder.join("rgb.png")).unwrap(), ""));
    let clients: Vec<TcpStream> = (0..16).map(|_| server.send("/v1/locate?name=a", &body, "")).collect();
    for client in clients {
        assert_eq!(received(client), plain);
    }
    let peak = server.peak_kib();
    server.end();
    assert!(peak < 1_000_000, "{peak} KiB");
}

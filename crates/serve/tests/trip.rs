//! A trip over HTTP: the same answers as from the library, and forms that are none.

use crate::common;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use common::{FORM, Refused, Running, form_of as form, part, photo, post};
use locdiff::{AlbumOptions, LatLon, Locator, PhotoTime, Source};
use locdiff_testing::wait_until;
use serde_json::{Value, json};

/// A photo with its fields.
fn described(name: &str, contents: &[u8], fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = fields.iter().map(|(field, words)| part(field, None, words.as_bytes()));
    [part("photo", Some(name), contents)].into_iter().chain(fields).collect::<Vec<_>>().concat()
}

#[test]
fn photos_of_a_trip_speak_for_each_other() {
    let server = Running::new(|_| {});
    let (china, flower) = (photo("china.jpg"), photo("rgb.png"));
    let body = form(&[
        // Sent last first: the order of time is not that of the form.
        described("b.png", &flower, &[("time", "2024-05-12T13:50:10+08:00")]),
        described("cut.jpg", &china[..2000], &[]),
        described("a.jpg", &china, &[("time", "2024-05-12T13:45:10+08:00"), ("gps", "39.99, 116.27")]),
    ]);
    let response = server.post("/v1/album", FORM, &body);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    let answer = response.json();
    let photos = answer["photos"].as_array().unwrap();
    let names: Vec<&str> = photos.iter().map(|photo| photo["photo"].as_str().unwrap()).collect();
    assert_eq!(names, ["b.png", "cut.jpg", "a.jpg"]);
    assert!(photos[1]["error"].as_str().unwrap().contains("cut.jpg is cut off"), "{}", photos[1]);
    let untagged = &photos[0];
    assert!((untagged["best"]["lat"].as_f64().unwrap() - 39.99).abs() < 0.05, "{untagged}");
    assert!(untagged["because"].as_str().unwrap().starts_with("5 minutes after a.jpg"), "{untagged}");
    assert_eq!(untagged["time"]["utc"], "2024-05-12T05:50:10Z");
    assert_eq!(untagged["time"]["source"], "table");
    assert!(photos[2]["gps"]["lat"].as_f64().unwrap() > 39.9);
    let line = &answer["track"]["features"][0];
    assert_eq!(line["properties"]["track"], true);
    assert_eq!(line["geometry"]["coordinates"][0].as_array().unwrap().len(), 2, "{line}");
    // As the library says it.
    let own = [
        Source::bytes(Some("b.png"), flower).with_time(Some(PhotoTime::at(1_715_493_010.0))),
        Source::bytes(Some("a.jpg"), china.clone())
            .with_time(Some(PhotoTime::at(1_715_492_710.0)))
            .with_gps(Some(LatLon::new(39.99, 116.27).unwrap())),
    ];
    let mut options = AlbumOptions::default();
    options.trust_clocks = true;
    let wanted = Locator::bundled().unwrap().locate_album(own, &options).unwrap();
    let wanted: Vec<_> = wanted.answers().collect();
    for (k, wanted) in [(0, wanted[0]), (2, wanted[1])] {
        let mut given = photos[k].clone();
        given["time"].as_object_mut().unwrap().remove("utc");
        assert_eq!(given, wanted.to_json());
    }
    assert_eq!(server.metric("locdiff_photos_answered_total"), Some(3.0));
}

#[test]
fn an_album_in_parts_is_the_album_at_once() {
    let server = Running::new(|_| {});
    let photos =
        [("IMG_20240512_134510.jpg", "turned_6.jpg"), ("IMG_20240512_135010.jpg", "china.jpg"), ("x.png", "rgb.png")];
    let parts = photos.map(|(name, file)| described(name, &photo(file), &[]));
    let whole = server.post("/v1/album", FORM, &form(&parts)).json();
    let row = |(name, file): (&str, &str)| {
        let said = server.post(&format!("/v1/embed?name={name}"), "image/jpeg", &photo(file)).json();
        let values: Vec<f32> = serde_json::from_value(said["embedding"].clone()).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        json!({
            "name": name, "embedding": BASE64.encode(bytes), "time": said["time"], "offset": said["offset"],
            "camera": said["camera"], "gps": said["gps"],
        })
    };
    let rows = photos.map(row);
    let ask = |body: Value| server.post("/v1/album/embeddings", "application/json", body.to_string().as_bytes());
    assert_eq!(ask(json!({ "photos": rows })).json(), whole);
    assert!(whole["photos"][0]["gps"].is_object());
    let bad = |field: &str, value: Value| {
        let mut row = rows[0].clone();
        row[field] = value;
        ask(json!({ "photos": [row] }))
    };
    for (field, value) in [
        ("embedding", json!("AAAA")),
        ("embedding", json!("?")),
        ("gps", json!([91, 0])),
        ("time", json!("x".repeat(101))),
        ("else", json!(1)),
    ] {
        assert_eq!(bad(field, value).status, 400, "{field}");
    }
    assert_eq!(ask(json!({ "photos": [] })).status, 400);
}

#[test]
fn a_preview_is_a_small_jpeg() {
    let server = Running::new(|_| {});
    let response = server.post("/v1/preview?name=x", "image/png", &photo("china.jpg"));
    assert_eq!((response.status, response.header("content-type")), (200, Some("image/jpeg")));
    let broken = server.post("/v1/preview?name=x.heic", "image/heic", b"nothing");
    assert_eq!((broken.status, &*broken.problem()), (415, "unknown-format"));
}

#[test]
fn times_come_from_names_where_nothing_else_says_them() {
    let server = Running::new(|_| {});
    let china = photo("china.jpg");
    let body = form(&[
        described("IMG_20240512_134510.jpg", &china, &[]),
        described("x.jpg", &china, &[]),
        described("y.jpg", &china, &[("time", "1715521510")]),
    ]);
    let answer = server.post("/v1/album?trust_clocks=true", FORM, &body).json();
    let times: Vec<&Value> = answer["photos"].as_array().unwrap().iter().map(|photo| &photo["time"]).collect();
    assert_eq!(
        times.iter().map(|time| time["source"].as_str().unwrap()).collect::<Vec<_>>(),
        ["name", "unknown", "table"]
    );
    let texts: Vec<Option<&str>> = times.iter().map(|time| time["text"].as_str()).collect();
    assert_eq!(texts, [Some("2024-05-12T13:45:10"), None, Some("2024-05-12T13:45:10Z")]);
    assert!(times[0]["utc"].is_null() && times[1]["seconds"].is_null() && times[2]["utc"] == times[2]["text"]);
    // A photo alone is an album, too.
    let one = server.post("/v1/album", FORM, &form(&[described("x.jpg", &china, &[])])).json();
    assert_eq!(one["photos"].as_array().unwrap().len(), 1);
    assert!(one["photos"][0]["moved_km"].as_f64().unwrap() < 100.0, "{one}");
}

#[test]
fn what_is_no_album_is_refused() {
    let server = Running::new(|options| {
        options.max_photos = 3;
        options.max_body_bytes = 300_000;
    });
    let (china, one) = (photo("rgb.jpg"), || described("a.jpg", &photo("rgb.jpg"), &[]));
    let with = |fields: &[(&str, &str)]| form(&[described("a.jpg", &china, fields)]);
    let long = "x".repeat(101);
    let check = |what: &str, body: &[u8], status: u16, words: &str| {
        let response = server.post("/v1/album", FORM, body);
        assert_eq!(response.status, status, "{what}: {}", response.text());
        response.problem();
        assert!(response.text().contains(words), "{what}: {}", response.text());
    };
    for (what, body, status, words) in [
        ("no photo", b"--BOUND--".to_vec(), 400, "no photo"),
        ("nothing", Vec::new(), 400, "cannot be read"),
        ("no end", form(&[one()])[..200].to_vec(), 400, "cannot be read"),
        ("too many", form(&[one(), one(), one(), one()]), 400, "more than 3 photos"),
        ("too many fields", with(&[("camera", "a"); 30]), 400, "more than 29 parts"),
        ("too many tracks", with(&[("track", "<gpx/>"); 17]), 400, "17 tracks: send 16 at the most"),
        ("no picture", form(&[described("no.jpg", b"text", &[])]), 415, "no.jpg is not a JPEG"),
        ("two that are none", form(&[described("a", b"x", &[]), described("b", b"y", &[])]), 415, "a is not a JPEG"),
        ("time first", form(&[part("time", None, b"0"), one()]), 400, "photos come first"),
        ("long time", with(&[("time", &long)]), 400, "no text of up to 100 bytes"),
        ("no text", form(&[one(), part("camera", None, b"\xff\xfe")]), 400, "no text"),
        ("large", form(&[described("a.jpg", &vec![7; 400_000], &[])]), 413, "larger than the limit"),
    ] {
        check(what, &body, status, words);
    }
    for line in include_str!("album.txt").lines().filter(|line| !line.starts_with('#')) {
        let (request, words) = line.split_once(" → ").unwrap();
        let (status, fields) = request.split_once(' ').unwrap();
        let fields: Vec<_> = fields.split("; ").map(|field| field.split_once('=').unwrap()).collect();
        check(line, &with(&fields), status.parse().unwrap(), words);
    }
    for (target, content_type, status) in [
        ("/v1/album", "image/jpeg", 415),
        ("/v1/album", "multipart/form-data", 400),
        ("/v1/album?name=x", FORM, 400),
        ("/v1/album?format=png", FORM, 400),
        ("/v1/album?trust_clocks=maybe", FORM, 400),
        ("/v1/locate?trust_clocks=true", FORM, 400),
    ] {
        let response = server.post(target, content_type, &form(&[one()]));
        assert_eq!(response.status, status, "{target} {content_type}: {}", response.text());
    }
    // Times that make no trip still have answers: all at once, a thousand years apart, backwards.
    for times in [["0", "0"], ["0001-01-01", "9999-12-31"], ["1715521510", "1715521509"]] {
        let body = form(&times.map(|time| described("a.jpg", &china, &[("time", time)])));
        let response = server.post("/v1/album", FORM, &body);
        assert_eq!(response.status, 200, "{times:?}: {}", response.text());
        for photo in response.json()["photos"].as_array().unwrap() {
            assert!(photo["radius_90_km"].as_f64().unwrap() > 0.0, "{times:?}: {photo}");
        }
    }
    wait_until("all memory is given back", || server.metric("locdiff_body_bytes") == Some(0.0));
}

#[test]
fn albums_wait_in_the_same_queue() {
    let server = Running::new(|options| {
        options.max_photos = 4;
        options.queue = 4;
    });
    let body = form(&vec![described("a.jpg", &photo("rgb.jpg"), &[]); 4]);
    let responses = crate::load::crowd(&server, &post("/v1/album", FORM, &body), |response| response.status == 429);
    let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
}

#[test]
fn every_field_of_an_album_is_described() {
    let server = Running::new(|_| {});
    let schema = &server.get("/openapi.json").json()["paths"]["/v1/album"]["post"]["responses"]["200"]["content"]["application/json"]
        ["schema"]["properties"];
    let body = form(&[described("a.jpg", &photo("rgb.jpg"), &[("gps", "0,0")]), described("b.jpg", b"no", &[])]);
    let answer = server.post("/v1/album", FORM, &body).json();
    for name in answer.as_object().unwrap().keys() {
        assert!(schema[name].is_object(), "{name}");
    }
    for photo in answer["photos"].as_array().unwrap() {
        for name in photo.as_object().unwrap().keys() {
            assert!(schema["photos"]["items"]["properties"][name].is_object(), "{name}");
        }
    }
}

/// A log of positions and a stated place, in a form and as JSON; what cannot be read is told.
#[test]
fn logs_and_stated_places_count() {
    let server = Running::new(|_| {});
    let china = photo("china.jpg");
    let log = "<gpx><wpt lat=\"48.2\" lon=\"16.4\"><time>2024-05-12T13:40:00Z</time></wpt>\
               <wpt lat=\"48.2\" lon=\"16.4\"><time>2024-05-12T13:50:00Z</time></wpt></gpx>";
    let shot = described("a.jpg", &china, &[("time", "2024-05-12T13:45:00Z")]);
    let by_log =
        server.post("/v1/album", FORM, &form(&[part("track", Some("walk.gpx"), log.as_bytes()), shot.clone()]));
    let best = by_log.json()["photos"][0]["best"].clone();
    assert!((best["lat"].as_f64().unwrap() - 48.2).abs() < 0.01, "{best}");
    let places = r#"[{"name": "Kyoto", "from": "2024-05-12", "to": "2024-05-12"}]"#;
    let stated = server.post("/v1/album", FORM, &form(&[shot.clone(), part("places", None, places.as_bytes())])).json();
    let best = &stated["photos"][0]["best"];
    assert!((best["lat"].as_f64().unwrap() - 35.0).abs() < 0.3, "{stated}");
    let said = server.post("/v1/embed?name=a.jpg", "image/jpeg", &china).json();
    let values: Vec<f32> = serde_json::from_value(said["embedding"].clone()).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let row = json!({ "name": "a.jpg", "embedding": BASE64.encode(bytes), "time": "2024-05-12T13:45:00", "offset": "+00:00" });
    let ask = |body: Value| server.post("/v1/album/embeddings", "application/json", body.to_string().as_bytes());
    let parts = ask(json!({ "photos": [row], "tracks": [log] })).json();
    assert!((parts["photos"][0]["best"]["lat"].as_f64().unwrap() - 48.2).abs() < 0.01, "{parts}");
    for (field, contents, reason) in [
        ("track", "hello", "neither GPX nor JSON"),
        ("places", "Kyoto", "no list of places"),
        ("places", r#"[{"name": "Nowhereville of the Moon"}]"#, "Nowhereville"),
        ("places", r#"[{"name": "Kyoto", "from": "noon"}]"#, "'noon' is no time"),
    ] {
        let response =
            server.post("/v1/album", FORM, &form(&[shot.clone(), part(field, Some("x"), contents.as_bytes())]));
        let detail = response.json()["detail"].as_str().unwrap_or_default().to_owned();
        assert!(response.status == 400 && detail.contains(reason), "{field} {contents}: {} {detail}", response.status);
    }
}

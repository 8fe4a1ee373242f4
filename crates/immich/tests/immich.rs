//! Against a server that speaks immich's routes.

mod common;

use common::{Fake, FakeAsset, KEY, id};
use http::Request;
use locdiff_immich::{
    ApiKey, Applied, Filter, Immich, ImmichError, Journal, Review, Suggestion, Suggestions, Undone, apply, undo,
};
use locdiff_sphere::LatLon;
use std::{ops::ControlFlow, path::Path, sync::atomic::AtomicBool, time::Duration};

static NEVER: AtomicBool = AtomicBool::new(false);

fn open(fake: &Fake) -> Immich {
    Immich::new(&fake.url, ApiKey::new(KEY).unwrap()).unwrap().with_pause(Duration::from_millis(1))
}

fn suggestion(k: usize, take: bool) -> Suggestion {
    Suggestion {
        asset: id(k),
        name: format!("{k}.jpg"),
        time: String::new(),
        at: LatLon::new(40.0 + k as f64, 10.0).unwrap(),
        place: "somewhere".into(),
        radius_50_km: 1.0,
        radius_90_km: 3.0,
        because: "5 minutes after".into(),
        warning: None,
        take,
    }
}

fn suggestions(fake: &Fake, takes: &[bool]) -> Suggestions {
    let all = takes.iter().enumerate().map(|(k, take)| suggestion(k, *take));
    Suggestions { server: fake.url.clone(), suggestions: all.collect() }
}

fn journal(folder: &Path) -> Journal {
    Journal::at(&folder.join("journal.jsonl"))
}

#[test]
fn pages_are_followed_and_places_read() {
    let fake = Fake::new(&[Some((48.0, 2.0)), None, Some((0.0, 0.0)), None, None]);
    fake.set(|state| {
        state.assets[3].kind = "VIDEO";
        let time = String::new();
        state.assets.push(FakeAsset { id: "../../users".into(), kind: "IMAGE", time, place: None });
    });
    let found = open(&fake).assets(&Filter::default(), |_| ()).unwrap();
    assert_eq!(fake.asked("POST /api/search/metadata"), 3);
    // A video is no photo, and what is no number is never put into a path.
    let ids: Vec<&str> = found.iter().map(|asset| asset.id.as_str()).collect();
    assert_eq!(ids, [id(0), id(1), id(2), id(4)]);
    assert!(found[0].place.is_some() && found[1].place.is_none() && found[2].place.is_none());
    assert_eq!(found[0].camera.as_deref(), Some("Acme One"));
    assert_eq!(found[0].time.as_deref(), Some("2024-05-12T08:00:00.000Z"));
}

#[test]
fn a_wrong_key_is_said_and_not_shown() {
    let fake = Fake::new(&[None]);
    let server = Immich::new(&fake.url, ApiKey::new("wrong-secret").unwrap()).unwrap();
    let error = server.assets(&Filter::default(), |_| ()).unwrap_err();
    assert!(error.to_string().contains("401") && error.to_string().contains("API key is not known"), "{error}");
    assert!(!format!("{error:?} {error} {server:?}").contains("secret"));
    assert_eq!(fake.asked("POST"), 1, "it is no use to try that again");
}

#[test]
fn errors_of_a_moment_are_tried_again() {
    let fake = Fake::new(&[None, None, None]);
    fake.set(|state| state.failing = Some(("search".into(), 502, 2)));
    assert_eq!(open(&fake).assets(&Filter::default(), |_| ()).unwrap().len(), 3);
    fake.set(|state| state.failing = Some(("search".into(), 302, 1)));
    let error = open(&fake).assets(&Filter::default(), |_| ()).unwrap_err().to_string();
    assert!(error.contains("it sends elsewhere"), "{error}");
}

#[test]
fn what_is_no_immich_is_said() {
    let fake = Fake::new(&[None]);
    fake.set(|state| state.failing = Some(("search".into(), 200, 1))); // an empty page
    let error = open(&fake).assets(&Filter::default(), |_| ()).unwrap_err();
    assert!(matches!(error, ImmichError::Answer { .. }), "{error}");
    let nobody = Immich::new("http://127.0.0.1:1", ApiKey::new(KEY).unwrap()).unwrap();
    let error = nobody.with_pause(Duration::ZERO).assets(&Filter::default(), |_| ()).unwrap_err();
    assert!(matches!(error, ImmichError::Network { .. }), "{error}");
    assert!(Immich::new("https://photos.example", ApiKey::new(KEY).unwrap()).is_err());
    assert!(Immich::new("http://user:word@host", ApiKey::new(KEY).unwrap()).is_err());
}

#[test]
fn ticked_places_are_written_and_taken_back() {
    let fake = Fake::new(&[None, None, None, None, None]);
    let folder = tempfile::tempdir().unwrap();
    let server = open(&fake);
    let chosen = suggestions(&fake, &[true, true, false, true, true, true]);
    // Somebody gave the second photo a place meanwhile; the last one is gone.
    fake.set(|state| state.assets[1].place = Some((1.0, 2.0)));
    let applied = apply(&server, &chosen, &mut journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!(applied, Applied { written: 3, had_place: 1, gone: 1, stopped: false });
    let at = |k: usize| Some((40.0 + k as f64, 10.0));
    assert_eq!(fake.places(), [at(0), Some((1.0, 2.0)), None, at(3), at(4)]);
    // A second run finds everything done.
    let again = apply(&server, &chosen, &mut journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((again.written, again.had_place), (0, 4));
    // Somebody moved the fourth photo: that stays.
    fake.set(|state| state.assets[3].place = Some((50.0, 5.0)));
    let undone = undo(&server, &mut journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!(undone, Undone { cleared: 2, changed: 1, nothing: 0, stopped: false });
    let none = Some((0.0, 0.0)); // immich's way to say it
    assert_eq!(fake.places(), [none, Some((1.0, 2.0)), None, Some((50.0, 5.0)), none]);
    assert!(!folder.path().join("journal.jsonl").exists());
}

#[test]
fn a_server_that_fails_in_the_middle_leaves_a_journal_to_go_on_from() {
    let fake = Fake::new(&[None, None, None]);
    let folder = tempfile::tempdir().unwrap();
    let server = open(&fake);
    let chosen = suggestions(&fake, &[true; 3]);
    fake.set(|state| state.failing = Some((format!("GET /api/assets/{}", id(1)), 500, 3)));
    let error = apply(&server, &chosen, &mut journal(folder.path()), &NEVER, || ()).unwrap_err();
    assert!(error.to_string().contains("500") && error.to_string().contains("three times"), "{error}");
    assert!(fake.places()[0].is_some() && fake.places()[1].is_none());
    let rest = apply(&server, &chosen, &mut journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((rest.written, rest.had_place), (2, 1));
    // A line that an interrupt cut does not count; the rest is taken back, in two goes.
    let path = folder.path().join("journal.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(r#"{"server":"http://127"#);
    std::fs::write(&path, text).unwrap();
    fake.set(|state| state.failing = Some((format!("GET /api/assets/{}", id(1)), 500, 3)));
    assert!(undo(&server, &mut journal(folder.path()), &NEVER, || ()).is_err());
    assert_eq!(undo(&server, &mut journal(folder.path()), &NEVER, || ()).unwrap().cleared, 2);
    assert!(fake.places().iter().all(|place| *place == Some((0.0, 0.0))));
}

#[test]
fn an_interrupt_stops_between_photos() {
    let fake = Fake::new(&[None, None]);
    let folder = tempfile::tempdir().unwrap();
    let server = open(&fake);
    let chosen = suggestions(&fake, &[true; 2]);
    let stop = AtomicBool::new(false);
    let after_one = || stop.store(true, std::sync::atomic::Ordering::SeqCst);
    let applied = apply(&server, &chosen, &mut journal(folder.path()), &stop, after_one).unwrap();
    assert_eq!((applied.written, applied.stopped), (1, true));
    let rest = apply(&server, &chosen, &mut journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((rest.written, rest.had_place, rest.stopped), (1, 1, false));
}

#[test]
fn files_of_another_server_are_refused() {
    let (fake, other) = (Fake::new(&[None]), Fake::new(&[None]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.json");
    suggestions(&other, &[true]).write(&file).unwrap();
    let error = Suggestions::read(&file, &fake.url).unwrap_err().to_string();
    assert!(error.contains(&other.url) && error.contains(&fake.url), "{error}");
    let mut written = journal(folder.path());
    apply(&open(&other), &suggestions(&other, &[true]), &mut written, &NEVER, || ()).unwrap();
    assert!(matches!(undo(&open(&fake), &mut written, &NEVER, || ()), Err(ImmichError::OtherServer { .. })));
    std::fs::write(&file, "[]").unwrap();
    assert!(Suggestions::read(&file, &fake.url).unwrap_err().to_string().contains("no suggestions"));
}

/// A journal or a file of suggestions that somebody else made: nothing is asked of the server that is not about a photo.
#[test]
fn files_that_name_no_photos_are_refused_whole() {
    let fake = Fake::new(&[None]);
    let folder = tempfile::tempdir().unwrap();
    let sound = format!(r#"{{"server":"{}","asset":"{}","lat":1.0,"lon":2.0}}"#, fake.url, id(0));
    for asset in ["../users/me", "", "x?y", "a/../../admin", "00 11"] {
        let line = format!(r#"{{"server":"{}","asset":"{asset}","lat":1.0,"lon":2.0}}"#, fake.url);
        std::fs::write(folder.path().join("journal.jsonl"), format!("{sound}\n{line}\n")).unwrap();
        let error = undo(&open(&fake), &mut journal(folder.path()), &NEVER, || ()).unwrap_err().to_string();
        assert!(error.contains("line 2: ") && error.contains("no number of a photo"), "{error}");
        let mut odd = suggestions(&fake, &[true, true]);
        odd.suggestions[1].asset = asset.to_owned();
        let file = folder.path().join("s.json");
        odd.write(&file).unwrap();
        let error = Suggestions::read(&file, &fake.url).unwrap_err().to_string();
        assert!(error.contains("no number of a photo"), "{error}");
    }
    assert_eq!(fake.asked("/api/"), 0, "nothing was asked");
    let _lock = locdiff_base::OutputLock::file(&folder.path().join("journal.jsonl")).unwrap();
    let error = apply(&open(&fake), &suggestions(&fake, &[true]), &mut journal(folder.path()), &NEVER, || ());
    assert!(matches!(error, Err(ImmichError::Lock(_))), "two runs at once");
}

#[test]
fn the_page_saves_what_is_ticked() {
    let fake = Fake::new(&[None, None]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.json");
    suggestions(&fake, &[false, true]).write(&file).unwrap();
    let server = open(&fake);
    let mut review = Review::open(&server, &file).unwrap();
    let mut ask = |method: &str, path: &str, body: &str| {
        let request = Request::builder().method(method).uri(path).body(body.as_bytes().to_vec()).unwrap();
        let (reply, is_last) = match review.answer(&request).unwrap() {
            ControlFlow::Continue(reply) => (reply, false),
            ControlFlow::Break(reply) => (reply, true),
        };
        let head = format!("{:?}", reply.headers());
        (reply.status().as_u16(), head, String::from_utf8_lossy(reply.body()).into_owned(), is_last)
    };
    let (status, head, page, _) = ask("GET", "/", "");
    assert!(status == 200 && head.contains("default-src 'none'") && page.contains("Places for immich"));
    assert!(ask("GET", "/suggestions", "").2.contains("5 minutes after"));
    assert!(ask("GET", &format!("/photo/{}", id(0)), "").1.contains("image/jpeg"));
    for (method, path) in
        [("GET", &*format!("/photo/{}", id(7))), ("GET", "/photo/..%2f"), ("GET", "/choice"), ("POST", "/")]
    {
        assert_eq!(ask(method, path, "").0, 404, "{path}");
    }
    let choice = format!(r#"{{"take":{{"{}":true,"{}":false,"other":true}}}}"#, id(0), id(1));
    for bad in ["", "none", "[]", r#"{"take":1}"#] {
        assert_eq!(ask("POST", "/choice", bad).0, 400, "{bad}");
    }
    assert!(!Suggestions::read(&file, &fake.url).unwrap().suggestions[0].take);
    assert_eq!(ask("POST", "/choice", &choice).0, 200);
    let saved = Suggestions::read(&file, &fake.url).unwrap();
    assert_eq!((saved.suggestions[0].take, saved.suggestions[1].take), (true, false));
    let (status, _, _, is_last) = ask("POST", "/done", "");
    assert_eq!((status, is_last, review.suggestions().taken()), (200, true, 1));
    assert_eq!(fake.asked("PUT"), 0, "reviewing writes nothing");
}

//! Against a server that speaks immich's routes.

use super::common;

use common::{Fake, FakeAsset, KEY, id};
use locdiff::immich::{ApiKey, AssetFilter, Immich, ImmichError, Review, Suggestions};
use locdiff::review::{ReviewAction, ReviewSession};
use locdiff_model::answer::ReadText;
use locdiff_shdd::sphere::LatLon;
use locdiff_testing::wait_until;
use serde_json::{Value, json};
use std::{path::Path, path::PathBuf, sync::Arc, sync::atomic::AtomicBool, time::Duration};

static NEVER: AtomicBool = AtomicBool::new(false);

fn open(fake: &Fake) -> Immich {
    Immich::new(&fake.url, ApiKey::new(KEY).unwrap(), None).unwrap().with_pause(Duration::from_millis(1))
}

fn suggestions(fake: &Fake, takes: &[bool]) -> Suggestions {
    let one = |(k, take): (usize, &bool)| {
        json!({
            "asset": id(k), "name": format!("{k}.jpg"), "time": "", "lat": 40.0 + k as f64, "lon": 10.0, "place": "somewhere",
            "radius_50_km": 1.0, "radius_90_km": 3.0, "because": "5 minutes after", "warning": null, "take": take,
        })
    };
    let all: Vec<Value> = takes.iter().enumerate().map(one).collect();
    serde_json::from_value(json!({ "server": fake.url, "suggestions": all })).unwrap()
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("journal.jsonl")
}

#[test]
fn pages_are_followed_and_places_read() {
    let fake = Fake::new(&[Some((48.0, 2.0)), None, Some((0.0, 0.0)), None, None]);
    fake.set(|state| {
        state.assets[3].kind = "VIDEO";
        let time = String::new();
        state.assets.push(FakeAsset { id: "../../users".into(), kind: "IMAGE", time, place: None });
    });
    let found = open(&fake).assets(&AssetFilter::default(), |_| ()).unwrap();
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
    let server = Immich::new(&fake.url, ApiKey::new("wrong-secret").unwrap(), None).unwrap();
    let error = server.assets(&AssetFilter::default(), |_| ()).unwrap_err();
    assert!(error.to_string().contains("401") && error.to_string().contains("API key is not known"), "{error}");
    assert!(!format!("{error:?} {error} {server:?}").contains("secret"));
    assert_eq!(fake.asked("POST"), 1, "it is no use to try that again");
}

#[test]
fn errors_of_a_moment_are_tried_again() {
    let fake = Fake::new(&[None, None, None]);
    fake.set(|state| state.failing = Some(("search".into(), 502, 2)));
    assert_eq!(open(&fake).assets(&AssetFilter::default(), |_| ()).unwrap().len(), 3);
    fake.set(|state| state.failing = Some(("search".into(), 302, 1)));
    let error = open(&fake).assets(&AssetFilter::default(), |_| ()).unwrap_err().to_string();
    assert!(error.contains("it sends elsewhere"), "{error}");
}

#[test]
fn what_is_no_immich_is_said() {
    let fake = Fake::new(&[None]);
    fake.set(|state| state.failing = Some(("search".into(), 200, 1))); // an empty page
    let error = open(&fake).assets(&AssetFilter::default(), |_| ()).unwrap_err();
    assert!(matches!(error, ImmichError::Answer { .. }), "{error}");
    let nobody = Immich::new("http://127.0.0.1:1", ApiKey::new(KEY).unwrap(), None).unwrap();
    let error = nobody.with_pause(Duration::ZERO).assets(&AssetFilter::default(), |_| ()).unwrap_err();
    assert!(matches!(error, ImmichError::Network { .. }), "{error}");
    assert!(Immich::new("ftp://photos.example", ApiKey::new(KEY).unwrap(), None).is_err());
    assert!(Immich::new("https://photos.example", ApiKey::new(KEY).unwrap(), Some(b"no PEM")).is_err());
    assert!(Immich::new("http://user:word@host", ApiKey::new(KEY).unwrap(), None).is_err());
}

#[test]
fn ticked_places_are_written_and_taken_back() {
    let fake = Fake::new(&[None, None, None, None, None]);
    let folder = tempfile::tempdir().unwrap();
    let server = open(&fake);
    let chosen = suggestions(&fake, &[true, true, false, true, true, true]);
    // Somebody gave the second photo a place meanwhile; the last one is gone.
    fake.set(|state| state.assets[1].place = Some((1.0, 2.0)));
    let applied = server.apply(&chosen, &journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((applied.done, applied.kept, applied.nothing, applied.stopped), (3, 1, 1, false));
    let at = |k: usize| Some((40.0 + k as f64, 10.0));
    assert_eq!(fake.places(), [at(0), Some((1.0, 2.0)), None, at(3), at(4)]);
    // A second run finds everything done.
    let again = server.apply(&chosen, &journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((again.done, again.kept), (0, 4));
    // Somebody moved the fourth photo: that stays.
    fake.set(|state| state.assets[3].place = Some((50.0, 5.0)));
    let undone = server.undo(&journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((undone.done, undone.kept, undone.nothing, undone.stopped), (2, 1, 0, false));
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
    let error = server.apply(&chosen, &journal(folder.path()), &NEVER, || ()).unwrap_err();
    assert!(error.to_string().contains("500") && error.to_string().contains("three times"), "{error}");
    assert!(fake.places()[0].is_some() && fake.places()[1].is_none());
    let rest = server.apply(&chosen, &journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((rest.done, rest.kept), (2, 1));
    // A line that an interrupt cut does not count; the rest is taken back, in two goes.
    let path = folder.path().join("journal.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(r#"{"server":"http://127"#);
    std::fs::write(&path, text).unwrap();
    fake.set(|state| state.failing = Some((format!("GET /api/assets/{}", id(1)), 500, 3)));
    assert!(server.undo(&journal(folder.path()), &NEVER, || ()).is_err());
    assert_eq!(server.undo(&journal(folder.path()), &NEVER, || ()).unwrap().done, 2);
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
    let applied = server.apply(&chosen, &journal(folder.path()), &stop, after_one).unwrap();
    assert_eq!((applied.done, applied.stopped), (1, true));
    let rest = server.apply(&chosen, &journal(folder.path()), &NEVER, || ()).unwrap();
    assert_eq!((rest.done, rest.kept, rest.stopped), (1, 1, false));
}

#[test]
fn files_of_another_server_are_refused() {
    let (fake, other) = (Fake::new(&[None]), Fake::new(&[None]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.json");
    suggestions(&other, &[true]).write(&file).unwrap();
    let error = Suggestions::read(&file, &fake.url).unwrap_err().to_string();
    assert!(error.contains(&other.url) && error.contains(&fake.url), "{error}");
    let written = journal(folder.path());
    open(&other).apply(&suggestions(&other, &[true]), &written, &NEVER, || ()).unwrap();
    assert!(matches!(open(&fake).undo(&written, &NEVER, || ()), Err(ImmichError::OtherServer { .. })));
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
        let error = open(&fake).undo(&journal(folder.path()), &NEVER, || ()).unwrap_err().to_string();
        assert!(error.contains("line 2: ") && error.contains("is not an id of a photo"), "{error}");
        let mut odd = suggestions(&fake, &[true, true]);
        odd.suggestions[1].asset = asset.to_owned();
        let file = folder.path().join("s.json");
        odd.write(&file).unwrap();
        let error = Suggestions::read(&file, &fake.url).unwrap_err().to_string();
        assert!(error.contains("is not an id of a photo"), "{error}");
    }
    assert_eq!(fake.asked("/api/"), 0, "nothing was asked");
    let _lock = locdiff_base::OutputLock::file(&folder.path().join("journal.jsonl")).unwrap();
    let error = open(&fake).apply(&suggestions(&fake, &[true]), &journal(folder.path()), &NEVER, || ());
    assert!(matches!(error, Err(ImmichError::Lock(_))), "two runs at once");
}

/// Fields that the client reads or sends: renamed in immich's document, the first four kinds of request fail, each for its reason.
#[test]
fn a_field_that_immich_renames_is_noticed() {
    let renamed = [
        ("MetadataSearchDto", "page size type withExif takenAfter takenBefore albumIds"),
        ("SearchResponseDto", "assets"),
        ("SearchAssetResponseDto", "items nextPage"),
        ("AssetResponseDto", "id type originalFileName fileModifiedAt exifInfo"),
        ("ExifResponseDto", "latitude longitude make model dateTimeOriginal"),
        ("AssetBulkUpdateDto", "ids latitude longitude"),
        ("AssetOcrResponseDto", "text textScore x1 y1 x2 y2 x3 y3 x4 y4"),
    ];
    let all = |fake: &Fake| -> Result<(), ImmichError> {
        let server = open(fake);
        let mut filter = AssetFilter::default();
        (filter.after, filter.before) = (Some("2024-01-01T00:00:00Z".into()), Some("2025-01-01T00:00:00Z".into()));
        filter.album = Some(id(7));
        assert_eq!(server.assets(&filter, |_| ())?.len(), 3);
        assert!(server.asset(&id(0))?.is_some());
        server.preview(&id(0), true)?;
        server.preview(&id(0), false)?;
        fake.set(|state| state.texts.insert(id(1), "Metropolis"));
        let lines = server.text(&id(1), [200, 100])?;
        let corners = [[40.0, 40.0], [160.0, 40.0], [160.0, 60.0], [40.0, 60.0]];
        assert_eq!(lines, [ReadText::new("Metropolis", 0.95, corners)]);
        assert!(server.text(&id(0), [200, 100])?.is_empty());
        server.set_place(&id(1), LatLon::new(1.0, 2.0).unwrap())
    };
    all(&Fake::new(&[None, Some((1.0, 2.0)), None])).unwrap();
    let renamed = renamed.iter().flat_map(|(schema, fields)| fields.split(' ').map(move |field| (*schema, field)));
    for (schema, field) in renamed {
        let fake = Fake::new(&[None, Some((1.0, 2.0)), None]);
        fake.set(|state| {
            let properties = state.document.0["schemas"][schema]["properties"].as_object_mut().unwrap();
            let old = properties.remove(field).unwrap_or_else(|| panic!("the document has no {schema}.{field}"));
            properties.insert(format!("{field}Renamed"), old);
        });
        assert!(all(&fake).is_err(), "{schema}.{field}");
    }
    for (path, method) in [("/search/metadata", "post"), ("/assets/{id}/thumbnail", "get"), ("/assets", "put")] {
        let fake = Fake::new(&[None, None, None]);
        fake.set(|state| state.document.0["paths"][path].as_object_mut().unwrap().remove(method).unwrap());
        assert!(all(&fake).is_err(), "{method} {path}");
    }
}

/// A certificate that an authority of one's own signed; `tests/immich/fixtures/README.md` says how it was made.
#[test]
fn a_server_over_https_needs_a_certificate_that_is_trusted() {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/immich/fixtures").join(name);
    let chain = vec![CertificateDer::from_pem_file(fixture("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let fake = Fake::over(&[None, Some((1.0, 2.0))], "https", move |stream| {
        rustls::StreamOwned::new(rustls::ServerConnection::new(config.clone()).unwrap(), stream)
    });
    let authority = std::fs::read(fixture("authority.pem")).unwrap();
    let trusting = |pem: Option<&[u8]>| {
        let server = Immich::new(&fake.url, ApiKey::new(KEY).unwrap(), pem).unwrap();
        server.with_pause(Duration::from_millis(1))
    };
    assert_eq!(trusting(Some(&authority)).assets(&AssetFilter::default(), |_| ()).unwrap().len(), 2);
    trusting(Some(&authority)).set_place(&id(0), LatLon::new(3.0, 4.0).unwrap()).unwrap();
    assert_eq!(fake.places()[0], Some((3.0, 4.0)));
    let error = trusting(None).assets(&AssetFilter::default(), |_| ()).unwrap_err();
    assert!(matches!(error, ImmichError::Network { .. }), "an unknown authority: {error}");
}

#[test]
fn what_is_ticked_and_corrected_in_a_session_is_saved_written_and_taken_back() {
    let fake = Fake::new(&[None, None, None]);
    let folder = tempfile::tempdir().unwrap();
    let (file, list) = (folder.path().join("s.json"), folder.path().join("journal.jsonl"));
    suggestions(&fake, &[false, true, true]).write(&file).unwrap();
    let session = || {
        let review = Review::open(Arc::new(open(&fake)), &file, &list).unwrap();
        let acts = review.acts();
        ReviewSession::open(review, &acts).unwrap()
    };
    let works = |session: &ReviewSession<Review>, act: &dyn Fn(&ReviewSession<Review>)| {
        std::thread::scope(|scope| {
            scope.spawn(|| session.work());
            let wait = || wait_until("nothing is left to do", || session.state(0)["is_busy"] != true);
            wait();
            act(session);
            wait();
            session.close();
        });
    };
    let act = |text: &str| -> ReviewAction {
        serde_json::from_str(&text.replace("ID", "00000000-0000-4000-8000-00000000000")).unwrap()
    };
    let first = session();
    works(&first, &|session| {
        let moved = r#"{"act":"move","photos":["ID2"],"lat":-5.0,"lon":6.0,"radius_km":1.0,"how":"the pin"}"#;
        let takes =
            [r#"{"act":"take","photos":["ID0"],"take":true}"#, r#"{"act":"take","photos":["ID1"],"take":false}"#];
        takes.iter().chain([&moved]).for_each(|text| session.act(act(text)).unwrap());
        assert!(session.act(act(r#"{"act":"take","photos":["ID9"],"take":true}"#)).is_err(), "no such photo");
        assert!(session.picture(0, false).unwrap().starts_with(&[0xff, 0xd8]) && session.picture(7, false).is_err());
        assert!(session.picture(0, false).is_ok() && fake.asked("thumbnail") == 1, "it is kept");
    });
    drop(first);
    let saved = Suggestions::read(&file, &fake.url).unwrap();
    let takes: Vec<bool> = saved.suggestions.iter().map(|one| one.take).collect();
    assert_eq!(takes, [true, false, true]);
    let corrected = LatLon::new(-5.0, 6.0).unwrap();
    assert_eq!(saved.suggestions[2].place_to_write(), corrected);
    assert_eq!(fake.asked("PUT"), 0, "reviewing writes nothing");
    // Another session: everything is there, and an undo leads to what was suggested.
    let second = session();
    assert_eq!(second.state(0)["undo"], "set the location of 1 photo by the pin");
    works(&second, &|session| session.act(ReviewAction::Undo).unwrap());
    let released = Suggestions::read(&file, &fake.url).unwrap().suggestions[2].place_to_write();
    assert_eq!(released, LatLon::new(42.0, 10.0).unwrap());
    drop(second);
    works(&session(), &|session| session.act(ReviewAction::Redo).unwrap());
    let fourth = session();
    works(&fourth, &|session| session.write("immich").unwrap());
    assert_eq!(fake.places(), [Some((40.0, 10.0)), None, Some((-5.0, 6.0))]);
    assert_eq!(fourth.counts(), [2, 2, 3]);
    drop(fourth);
    let last = session();
    works(&last, &|session| session.take_back().unwrap());
    assert_eq!((fake.places(), last.counts()[1]), (vec![Some((0.0, 0.0)), None, Some((0.0, 0.0))], 0));
}

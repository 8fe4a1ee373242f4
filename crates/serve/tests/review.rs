//! A folder under review: what is decided, kept, written and taken back.

use crate::common::photo_path;
use locdiff::review::{FolderReview, ReviewAction, ReviewSession};
use locdiff::{AlbumOptions, Locator};
use locdiff_io::tags::{GeoTag, JOURNAL_NAME, Overwrite, TagRule, undo, write_copy};
use locdiff_testing::wait_until;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A photo with a tag, two of the same hour without, and one that is none.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let rome = GeoTag::new(locdiff::LatLon::new(41.9, 12.5).unwrap());
    write_copy(&photo_path("rgb.jpg"), &path("IMG_20240512_100000.jpg"), &rome, Overwrite::NEVER).unwrap();
    fs::create_dir(path("sub")).unwrap();
    fs::copy(photo_path("rgb.jpg"), path("sub/IMG_20240512_100500.jpg")).unwrap();
    fs::copy(photo_path("rgb.png"), path("IMG_20240612_100000.png")).unwrap();
    fs::copy(photo_path("rgb.jpg"), path("IMG_20240612_101000.jpg")).unwrap();
    fs::write(path("bad.jpg"), "no photo").unwrap();
    folder
}

const NEAR: &str = "sub/IMG_20240512_100500.jpg";
const LATER: &str = "IMG_20240612_100000.png";
const LAST: &str = "IMG_20240612_101000.jpg";
const TAGGED: &str = "IMG_20240512_100000.jpg";

fn backend(folder: &Path, names: &[&str]) -> FolderReview {
    let photos = names.iter().map(|name| folder.join(name)).collect();
    let (copies, rule, options) = (folder.join("copies"), TagRule::default(), AlbumOptions::default());
    FolderReview::new(Locator::bundled().unwrap(), folder.to_owned(), photos, copies, rule, options).unwrap()
}

fn session(folder: &Path) -> ReviewSession<FolderReview> {
    let backend = backend(folder, &[TAGGED, LATER, LAST, "bad.jpg", NEAR]);
    ReviewSession::open(backend, &FolderReview::acts(folder).unwrap()).unwrap()
}

/// Works until nothing is left to do, before and after each of the acts.
fn at_work(session: &ReviewSession<FolderReview>, acts: &[&dyn Fn()]) {
    std::thread::scope(|scope| {
        scope.spawn(|| session.work());
        let wait = || wait_until("nothing is left to do", || session.state(0)["is_busy"] != true);
        wait();
        for act in acts {
            act();
            wait();
        }
        session.close();
    });
}

fn photo(session: &ReviewSession<FolderReview>, key: &str) -> Value {
    let state = session.state(0);
    assert_eq!(state["problem"], Value::Null);
    state["photos"].as_array().unwrap().iter().find(|one| one["key"] == key).unwrap().clone()
}

fn act(value: Value) -> ReviewAction {
    serde_json::from_value(value).unwrap()
}

/// The photos and what is written about them, without the session's own files.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = locdiff_testing::files(folder);
    found.retain(|path, _| !path.starts_with(folder.join(".locdiff-review")));
    found
}

fn lat(photo: &Value) -> f64 {
    photo["said"]["best"]["lat"].as_f64().unwrap()
}

#[test]
fn a_place_by_hand_moves_the_others_and_survives_a_crash() {
    let folder = folder();
    let first = session(folder.path());
    let place = json!({"act":"move","photos":[LATER],"lat":35.0,"lon":135.75,"radius_km":0.2,"how":"the pin"});
    let refused = |value: Value| assert!(first.act(act(value.clone())).is_err(), "{value}");
    let try_all = || {
        assert_eq!((&photo(&first, NEAR)["take"], &photo(&first, LATER)["take"]), (&json!(true), &json!(false)));
        assert!(photo(&first, "bad.jpg")["error"].is_string());
        refused(json!({"act":"take","photos":[TAGGED],"take":true}));
        refused(json!({"act":"take","photos":["bad.jpg"],"take":true}));
        refused(json!({"act":"take","photos":["../x"],"take":true}));
        refused(json!({"act":"move","photos":[TAGGED],"lat":1,"lon":2,"radius_km":1,"how":"x"}));
        refused(json!({"act":"move","photos":[LATER],"lat":95,"lon":2,"radius_km":1,"how":"x"}));
        refused(json!({"act":"clock","camera":"no such","ahead_s":60}));
        refused(json!({"act":"undo"}));
        first.act(act(place.clone())).unwrap();
    };
    let refuse = || first.act(act(json!({"act":"take","photos":[NEAR],"take":false}))).unwrap();
    at_work(&first, &[&try_all, &refuse]);
    let (moved, beside) = (photo(&first, LATER), photo(&first, LAST));
    assert!(moved["moved"] == true && moved["take"] == true && (lat(&moved) - 35.0).abs() < 1e-9, "{moved}");
    let because = beside["said"]["because"].as_str().unwrap();
    assert!((lat(&beside) - 35.0).abs() < 0.5 && because.contains("which you placed"), "{beside}");
    let before = first.state(0)["photos"].clone();
    drop(first);
    // An act that the crash cut in two never happened.
    let acts = FolderReview::acts(folder.path()).unwrap();
    let mut text = fs::read_to_string(&acts).unwrap();
    assert_eq!(text.lines().count(), 2);
    text += r#"{"act":"take","photos":["#;
    fs::write(&acts, text).unwrap();
    let second = session(folder.path());
    at_work(&second, &[]);
    assert_eq!(second.state(0)["photos"], before);
    assert_eq!(second.picture(1, false).unwrap()[..2], [0xff, 0xd8]);
    drop(second);
    let third = session(folder.path());
    let undo = || third.act(ReviewAction::Undo).unwrap();
    at_work(&third, &[&undo, &undo]);
    assert_eq!((&photo(&third, LATER)["moved"], &photo(&third, NEAR)["take"]), (&json!(false), &json!(true)));
    assert!((lat(&photo(&third, LAST)) - 35.0).abs() > 0.5, "the place by hand no longer counts");
}

#[test]
fn what_is_ticked_is_written_and_taken_back_to_the_byte() {
    let folder = folder();
    let before = files(folder.path());
    let photo_file = folder.path().join(NEAR);
    let copies = folder.path().join("copies");
    for way in ["sidecars", "in_place", "copies"] {
        let session = session(folder.path());
        at_work(&session, &[&|| session.write(way).unwrap()]);
        let after = files(folder.path());
        let told = session.state(0)["told"].as_str().unwrap().to_owned();
        assert!(told.starts_with("1 photo: 1 tagged"), "{told}");
        assert_eq!(session.counts(), [1, 1, 5]);
        match way {
            "sidecars" => assert!(after.contains_key(&folder.path().join(format!("{NEAR}.xmp")))),
            "in_place" => assert!(
                after[&photo_file] != before[&photo_file]
                    && after[&folder.path().join(format!("{NEAR}_original"))] == before[&photo_file]
            ),
            _ => assert!(after.contains_key(&copies.join(NEAR)) && after[&photo_file] == before[&photo_file]),
        }
        drop(session);
        // Another session knows what was written, and the photo's own words are still those from before.
        let again = self::session(folder.path());
        at_work(&again, &[]);
        let written = photo(&again, NEAR);
        assert!(written["written"] == true && written["gps"] == Value::Null, "{written}");
        if way == "copies" {
            undo(&copies.join(JOURNAL_NAME), false).unwrap();
            let _ = fs::remove_dir(&copies);
        } else {
            drop(again);
            let again = self::session(folder.path());
            at_work(&again, &[&|| again.take_back().unwrap()]);
            assert_eq!(again.counts()[1], 0);
        }
        assert_eq!(files(folder.path()), before, "{way}");
    }
}

#[cfg(unix)]
#[test]
fn files_of_the_session_that_are_links_or_no_acts_are_refused() {
    let folder = folder();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(".locdiff-review")).unwrap();
    assert!(FolderReview::acts(folder.path()).unwrap_err().to_string().contains("link"));
    fs::remove_file(folder.path().join(".locdiff-review")).unwrap();
    let acts = FolderReview::acts(folder.path()).unwrap();
    let open = || ReviewSession::open(backend(folder.path(), &[]), &acts);
    for bad in
        ["{\"act\":\"burn\"}\n", "{\"act\":\"move\",\"photos\":[],\"lat\":99,\"lon\":0,\"radius_km\":1,\"how\":\"\"}\n"]
    {
        fs::write(&acts, bad).unwrap();
        assert!(open().err().unwrap().to_string().contains("line 1"), "{bad}");
    }
    fs::remove_file(&acts).unwrap();
    let held = open().unwrap();
    assert!(open().err().unwrap().to_string().contains("in use by another run"));
    drop(held);
    open().unwrap();
}

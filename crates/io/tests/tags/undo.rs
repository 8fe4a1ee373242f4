//! What was written is taken back to the byte, and what others changed since stays.

use crate::tags::common::fixture_path;
use locdiff_io::tags::{
    Change, GeoTag, JOURNAL_NAME, Overwrite, TagJournal, Undo, prepare_copy, prepare_sidecar, undo,
};
use locdiff_shdd::sphere::LatLon;
use std::time::{Duration, SystemTime};
use std::{fs, path::Path};

const RATED: &str = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating=\"4\"/></rdf:RDF></x:xmpmeta>";

fn tag() -> GeoTag {
    GeoTag::new(LatLon::new(39.999, 116.275).unwrap()).radius_km(210.0)
}

fn photo(folder: &Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::copy(fixture_path("camera.jpg"), &path).unwrap();
    path
}

#[test]
fn a_copy_has_the_photos_times_and_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let original = photo(folder.path(), "a.jpg");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&original).unwrap().set_modified(then).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&original, fs::Permissions::from_mode(0o640)).unwrap();
    }
    let copy = folder.path().join("b.jpg");
    prepare_copy(&original, &copy, &tag(), Overwrite::NEVER).unwrap().write(None).unwrap();
    let (old, new) = (fs::metadata(&original).unwrap(), fs::metadata(&copy).unwrap());
    assert_eq!((new.modified().unwrap(), new.permissions()), (then, old.permissions()));
}

#[test]
fn all_is_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (a, b) = (photo(folder.path(), "a.jpg"), photo(folder.path(), "b.jpg"));
    fs::write(path("b.jpg.xmp"), RATED).unwrap();
    let mut journal = TagJournal::at(&path(JOURNAL_NAME));
    let copy = prepare_copy(&a, &path("copy.jpg"), &tag(), Overwrite::NEVER).unwrap();
    assert_eq!(copy.change, Change::Create);
    assert!(!path("copy.jpg").exists() && !journal.path().exists(), "nothing happens before `write`");
    copy.write(Some(&mut journal)).unwrap();
    prepare_sidecar(&a, &tag(), Overwrite::NEVER).unwrap().write(Some(&mut journal)).unwrap();
    let merged = prepare_sidecar(&b, &tag(), Overwrite::NEVER).unwrap();
    assert_eq!(merged.change, Change::Merge);
    merged.write(Some(&mut journal)).unwrap();
    // Again, by another run: the same journal goes on.
    let mut journal = TagJournal::at(journal.path());
    let elsewhere = GeoTag::new(LatLon::new(1.0, 2.0).unwrap());
    prepare_sidecar(&b, &elsewhere, Overwrite::FORCE).unwrap().write(Some(&mut journal)).unwrap();
    assert!(fs::read_to_string(path("b.jpg.xmp")).unwrap().contains("Rating=\"4\""));

    let planned = undo(folder.path(), true).unwrap();
    assert!(path("copy.jpg").exists(), "a dry run changes nothing");
    let done = undo(folder.path(), false).unwrap();
    assert_eq!(planned, done);
    let words: Vec<Undo> = done.iter().map(|(_, what)| *what).collect();
    assert_eq!(words, [Undo::Restored, Undo::Restored, Undo::Removed, Undo::Removed]);
    assert_eq!(fs::read_to_string(path("b.jpg.xmp")).unwrap(), RATED);
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.jpg", "b.jpg", "b.jpg.xmp"], "no journal, nothing kept");
}

#[test]
fn what_changed_since_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (a, b) = (photo(folder.path(), "a.jpg"), photo(folder.path(), "b.jpg"));
    let list = path("list.jsonl");
    let mut journal = TagJournal::at(&list);
    for original in [&a, &b] {
        prepare_sidecar(original, &tag(), Overwrite::NEVER).unwrap().write(Some(&mut journal)).unwrap();
    }
    fs::write(path("a.jpg.xmp"), "edited").unwrap();
    fs::remove_file(path("b.jpg.xmp")).unwrap();
    let words = || undo(&list, false).unwrap().iter().map(|(_, what)| *what).collect::<Vec<_>>();
    assert_eq!(words(), [Undo::Nothing, Undo::Changed]);
    assert_eq!(fs::read_to_string(path("a.jpg.xmp")).unwrap(), "edited");
    assert_eq!(words(), [Undo::Changed], "it remains in the journal");
}

#[test]
fn cut_and_foreign_journals() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.jsonl");
    let a = photo(folder.path(), "a.jpg");
    prepare_sidecar(&a, &tag(), Overwrite::NEVER).unwrap().write(Some(&mut TagJournal::at(&list))).unwrap();
    let whole = fs::read_to_string(&list).unwrap();
    // An interrupt in the middle of the next line, then another run.
    fs::write(&list, format!("{whole}{{\"file\":\"b.j")).unwrap();
    let copy = folder.path().join("c.jpg");
    prepare_copy(&a, &copy, &tag(), Overwrite::NEVER).unwrap().write(Some(&mut TagJournal::at(&list))).unwrap();
    assert_eq!(undo(&list, false).unwrap().len(), 2);
    for text in ["a,b\n1,2\n", "{\"file\": 3}\n", "\u{0}\n"] {
        fs::write(&list, text).unwrap();
        let message = undo(&list, false).unwrap_err().to_string();
        assert!(message.contains("list.jsonl") && message.contains("line 1"), "{message}");
    }
    assert_eq!(undo(folder.path(), false).unwrap(), [], "a folder without a journal has nothing to take back");
}

/// The journals of the review, and their kin: refused whole, with the line's number, and nothing is touched.
#[test]
fn a_journal_cannot_leave_its_folder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("d");
    fs::create_dir(&folder).unwrap();
    let victim = outer.path().join("victim.txt");
    fs::write(&victim, "mine").unwrap();
    let a = photo(&folder, "a.jpg");
    let mut journal = TagJournal::at(&folder.join(JOURNAL_NAME));
    prepare_sidecar(&a, &tag(), Overwrite::NEVER).unwrap().write(Some(&mut journal)).unwrap();
    let sound = fs::read_to_string(folder.join(JOURNAL_NAME)).unwrap();
    let hash = "0".repeat(32);
    let path = victim.display();
    for line in [
        format!(r#"{{"file":"no-such.jpg","hash":"00","kept":"{path}"}}"#),
        format!(r#"{{"file":"no-such.jpg","hash":"{hash}","kept":"{path}"}}"#),
        format!(r#"{{"file":"../victim.txt","hash":"{hash}","kept":null}}"#),
        format!(r#"{{"file":"{path}","hash":"{hash}","kept":null}}"#),
        format!(r#"{{"file":"a.jpg","hash":"{hash}","kept":"../../victim.txt"}}"#),
        format!(r#"{{"file":"a.jpg","hash":"{hash}","kept":null,"original":"../x"}}"#),
        format!(r#"{{"file":"a.jpg","hash":"{hash}","kept":null,"restored":"{path}"}}"#),
        format!(r#"{{"file":"{JOURNAL_NAME}","hash":"{hash}","kept":null}}"#),
    ] {
        fs::write(folder.join(JOURNAL_NAME), format!("{sound}{line}\n")).unwrap();
        let message = undo(&folder, false).unwrap_err().to_string();
        assert!(message.contains("line 2"), "{line}: {message}");
        assert!(folder.join("a.jpg.xmp").exists(), "the sound line before it is not acted on: {line}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{line}");
    }
    fs::write(folder.join(JOURNAL_NAME), sound).unwrap();
    assert_eq!(undo(&folder, false).unwrap()[0].1, Undo::Removed);
}

/// What cannot be undone is not written: files outside the journal's folder, and links.
#[cfg(unix)]
#[test]
fn links_are_not_written_through() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("d");
    fs::create_dir(&folder).unwrap();
    let a = photo(&folder, "a.jpg");
    fs::write(outer.path().join("other.xmp"), RATED).unwrap();
    std::os::unix::fs::symlink("../other.xmp", folder.join("a.jpg.xmp")).unwrap();
    let mut journal = TagJournal::at(&folder.join(JOURNAL_NAME));
    let sidecar = prepare_sidecar(&a, &tag(), Overwrite::NEVER).unwrap();
    let copy = prepare_copy(&a, &outer.path().join("copy.jpg"), &tag(), Overwrite::NEVER).unwrap();
    for (prepared, part) in [(sidecar, "leads over a link"), (copy, "outside")] {
        let message = prepared.write(Some(&mut journal)).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(fs::read_to_string(outer.path().join("other.xmp")).unwrap(), RATED);
    assert!(!outer.path().join("copy.jpg").exists() && !journal.path().exists());
}

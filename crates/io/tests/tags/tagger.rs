//! Tags of a run: only where sure, in copies that are albums, in the photos themselves, and taken back to the byte.

use crate::tags::common::{fixture_path, skipped};
use locdiff_io::tags::{JOURNAL_NAME, Overwrite, PlaceNames, Skip, TagPlace, TagPlan, TagRule, Tagged, Tagger, undo};
use locdiff_shdd::sphere::LatLon;
use std::{collections::BTreeMap, fs, path::Path, path::PathBuf, process::Command};

const TAGGABLE: [&str; 4] = ["a.jpg", "gps.jpg", "day 2/a.jpg", "day 2/b.png"];

/// An album: photos in two folders, one with a tag, a sidecar, and a picture that cannot hold a tag.
fn album(folder: &Path) -> PathBuf {
    let album = folder.join("trip");
    fs::create_dir_all(album.join("day 2")).unwrap();
    for (from, to) in ["camera.jpg", "gps.jpg", "camera.jpg", "camera.png"].into_iter().zip(TAGGABLE) {
        fs::copy(fixture_path(from), album.join(to)).unwrap();
    }
    fs::write(album.join("c.bmp"), "BM no room for tags").unwrap();
    fs::write(album.join("a.jpg.xmp"), "someone's").unwrap();
    album
}

fn place(photo: &Path, radius_90_km: f64) -> TagPlace {
    TagPlace {
        photo: photo.display().to_string(),
        best: LatLon::new(48.86, 2.35).unwrap(),
        radius_90_km,
        can_tell: true,
        odd: None,
        place: "in Paris, France".to_owned(),
        names: None,
        gps: None,
        by_hand: false,
    }
}

/// Names and bytes of all files below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |path: PathBuf| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    let all = if folder.exists() { locdiff_testing::files(folder) } else { BTreeMap::new() };
    all.into_iter().map(|(path, bytes)| (name(path), bytes)).collect()
}

const PHOTOS: [&str; 5] = ["a.jpg", "gps.jpg", "c.bmp", "day 2/a.jpg", "day 2/b.png"];

#[test]
fn guesses_are_no_tags() {
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    let run = |rule: TagRule| {
        let (given, copies) = (vec![album.clone()], Some(folder.path().join("t")));
        let mut tagger = Tagger::new(TagPlan { given, copies, rule, dry_run: true, ..TagPlan::default() }).unwrap();
        let mut lines = Vec::new();
        for (name, radius, can_tell, odd) in [
            ("a.jpg", 12.0, true, None),
            ("day 2/a.jpg", 5229.0, true, None),
            ("day 2/b.png", 9.0, false, None),
            ("a.jpg", 1.0, true, Some("it is far off")),
        ] {
            let mut place = place(&album.join(name), radius);
            (place.can_tell, place.odd) = (can_tell, odd.map(str::to_owned));
            for step in tagger.tag(&place, Some(&album.join(name))).unwrap() {
                lines.push((step.skipped, step.to_string()));
            }
        }
        (lines, tagger.finish().unwrap().to_string())
    };
    let (lines, summary) = run(TagRule::default());
    assert_eq!(summary, "4 photos: 1 would be tagged, 3 unsure, 0 already tagged, 0 cannot hold a tag");
    let (skipped, line) = &lines[0];
    assert!(skipped.is_none() && line.contains("create"), "{lines:?}");
    assert!(line.ends_with("in Paris, France, 90 % within 12 km"), "{lines:?}");
    for (line, end) in lines[1..].iter().zip([
        "90 % within 5229 km; no tag: not sure to within 25 km",
        "no tag: I can't tell where it was taken",
        "no tag: it may be wrong: it is far off",
    ]) {
        assert!(line.0 == Some(Skip::Unsure) && line.1.starts_with("skip") && line.1.ends_with(end), "{line:?}");
    }
    assert!(run(TagRule::GUESSES).1.contains("4 would be tagged, 0 unsure"));
    assert!(run(TagRule { sure_within_km: Some(10.0) }).1.contains("0 would be tagged"));
    assert_eq!(files(&folder.path().join("t")).len(), 0);
}

/// Tags the photos of the album; reasons why some got none.
fn tag_all(plan: &TagPlan, names: &[&str]) -> (Tagged, Vec<String>) {
    let mut tagger = Tagger::new(plan.clone()).unwrap();
    let mut reasons = Vec::new();
    for name in names {
        let photo = plan.given[0].join(name);
        let steps = tagger.tag(&place(&photo, 3.0), Some(&photo)).unwrap();
        reasons.extend(steps.into_iter().filter_map(|step| step.reason));
    }
    (tagger.finish().unwrap(), reasons)
}

fn in_place(album: &Path) -> TagPlan {
    TagPlan { given: vec![album.to_owned()], in_place: true, ..TagPlan::default() }
}

/// After every step of an interrupted write: undo leaves what was there, and so does undo after another run.
#[cfg(unix)]
#[test]
fn an_interrupted_write_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    let before = files(&album);
    let plan = in_place(&album);
    tag_all(&plan, &["a.jpg"]);
    let journal = fs::read(album.join(JOURNAL_NAME)).unwrap();
    undo(&album, false).unwrap();
    let (photo, original) = (album.join("a.jpg"), album.join("a.jpg_original"));
    for step in 0..5 {
        for goes_on in [false, true] {
            let cut = if step == 0 { journal.len() / 2 } else { journal.len() };
            fs::write(album.join(JOURNAL_NAME), &journal[..cut]).unwrap();
            fs::write(album.join(".locdiff.lock"), "locdiff 1").unwrap();
            if step > 1 {
                fs::write(album.join(".a.jpg.1-0.tmp"), "half").unwrap();
            }
            match step {
                3 => fs::hard_link(&photo, &original).unwrap(),
                4 => drop(fs::copy(&photo, &original).unwrap()), // a file system without second names
                _ => {}
            }
            if goes_on {
                let (planned, reasons) = tag_all(&TagPlan { dry_run: true, ..plan.clone() }, &["a.jpg"]);
                assert_eq!(planned.tagged, 1, "step {step}: {reasons:?}");
                let (tagged, reasons) = tag_all(&plan, &["a.jpg"]);
                assert_eq!(tagged.tagged, 1, "step {step}: {reasons:?}");
                assert_eq!(files(&album).len(), before.len() + 2, "the original and the journal");
            }
            let done = undo(&album, false).unwrap();
            assert!(done.iter().all(|(_, what)| !what.is_refusal()), "step {step}: {done:?}");
            assert_eq!(files(&album), before, "step {step}");
            assert_eq!(undo(&album, false).unwrap(), [], "again");
        }
    }
    // What somebody called so himself stays.
    fs::copy(&photo, &original).unwrap();
    assert!(tag_all(&plan, &["a.jpg"]).1[0].contains("a.jpg_original is there"));
    assert_eq!(fs::read(&original).unwrap(), before["a.jpg"]);
}

#[test]
fn an_undo_that_was_killed_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    fs::remove_file(album.join("a.jpg.xmp")).unwrap();
    let before = files(&album);
    tag_all(&in_place(&album), &PHOTOS);
    // A sidecar that is made, added to and added to once more.
    for _ in 0..3 {
        let sidecars = TagPlan { sidecars: true, in_place: false, overwrite: Overwrite::FORCE, ..in_place(&album) };
        tag_all(&sidecars, &["a.jpg"]);
    }
    let (written, journal) = (files(&album), fs::read(album.join(JOURNAL_NAME)).unwrap());
    undo(&album, false).unwrap();
    assert_eq!(files(&album), before);
    // Nothing but the journal had not been removed yet; then only half of the files had been restored.
    for half in [false, true] {
        for (name, bytes) in written.iter().filter(|(name, _)| half && !name.starts_with("day 2")) {
            fs::create_dir_all(album.join(name).parent().unwrap()).unwrap();
            fs::write(album.join(name), bytes).unwrap();
        }
        fs::write(album.join(JOURNAL_NAME), &journal).unwrap();
        let done = undo(&album, false).unwrap();
        assert!(done.iter().all(|(_, what)| !what.is_refusal()), "{done:?}");
        assert_eq!(files(&album), before);
    }
}

#[cfg(unix)]
#[test]
fn a_dry_undo_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::open(folder.path()).unwrap().set_modified(long_ago).unwrap();
    assert!(undo(folder.path(), true).unwrap().is_empty());
    assert_eq!(fs::metadata(folder.path()).unwrap().modified().unwrap(), long_ago, "no lock came and went");
}

/// What is made of photos that others may not read, they may not read either.
#[cfg(unix)]
#[test]
fn private_photos_stay_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    fs::remove_file(album.join("a.jpg.xmp")).unwrap();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    set(&album.join("a.jpg"), 0o600);
    set(&album.join("day 2"), 0o750);
    let plan = TagPlan { sidecars: true, copies: Some(folder.path().join("t")), ..in_place(&album) };
    for _ in 0..2 {
        tag_all(&TagPlan { overwrite: Overwrite::FORCE, ..plan.clone() }, &["a.jpg", "day 2/b.png"]);
        undo(&folder.path().join("t"), false).unwrap();
    }
    tag_all(&TagPlan { in_place: false, overwrite: Overwrite::FORCE, ..plan }, &["a.jpg", "day 2/b.png"]);
    for name in ["a.jpg", "a.jpg.xmp", "a.jpg_original", JOURNAL_NAME] {
        assert_eq!(mode(&format!("trip/{name}")), 0o600, "{name}");
    }
    let modes = ["t/a.jpg", "t/locdiff-journal.jsonl", "trip/locdiff-journal.kept"].map(mode);
    assert_eq!(modes, [0o600, 0o600, 0o700]);
    assert_eq!(mode("t/day 2") & 0o007, 0);
    assert!(mode("trip/day 2/b.png.xmp") & 0o044 != 0, "a photo that others may read has a sidecar that they may read");
}

/// City, state and country go into sidecars and JPEGs; what a sidecar says already stays.
#[test]
fn names_of_places_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    let copies = folder.path().join("t");
    let named = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\" photoshop:City=\"Lutetia\"/></rdf:RDF></x:xmpmeta>";
    fs::write(album.join("a.jpg.xmp"), named).unwrap();
    let (given, rule) = (vec![album.clone()], TagRule::GUESSES);
    let plan = TagPlan { given, copies: Some(copies.clone()), sidecars: true, rule, ..TagPlan::default() };
    let mut tagger = Tagger::new(plan).unwrap();
    for (name, radius) in [("a.jpg", 3.0), ("day 2/a.jpg", 3.0), ("day 2/b.png", 4000.0)] {
        let photo = album.join(name);
        let names = ["Paris", "Île-de-France & <co>", "France", "FR"].map(|name| Some(name.to_owned()));
        let [city, state, country, country_code] = names;
        let names = PlaceNames { city, state, country, country_code };
        tagger.tag(&TagPlace { names: Some(names), ..place(&photo, radius) }, Some(&photo)).unwrap();
    }
    let tagged = tagger.finish().unwrap();
    assert_eq!((tagged.tagged, tagged.journals.len()), (3, 2), "the copies' and the album's");
    let read = |file: &str| String::from_utf8_lossy(&fs::read(folder.path().join(file)).unwrap()).into_owned();
    let (kept, new, guess) = (read("trip/a.jpg.xmp"), read("trip/day 2/a.jpg.xmp"), read("trip/day 2/b.png.xmp"));
    assert!(kept.contains("Lutetia") && kept.contains("GPSLatitude") && !kept.contains("Paris</"), "{kept}");
    assert!(new.contains(">Paris</photoshop:City>"), "{new}");
    assert!(new.contains("<Iptc4xmpExt:ProvinceState>Île-de-France &amp; &lt;co&gt;</"), "{new}");
    assert!(guess.contains("GPSLatitude") && !guess.contains("photoshop:City"), "no town for a guess: {guess}");
    assert!(read("t/day 2/a.jpg").contains(">FR</Iptc4xmpCore:CountryCode>"));
    let fields = "-s3 -XMP-photoshop:City -XMP-photoshop:State -XMP-photoshop:Country -XMP-iptcCore:CountryCode \
                  -XMP-iptcExt:LocationCreatedCity -XMP-iptcExt:LocationCreatedCountryName -EXIF:GPSLatitude#";
    if Command::new("exiftool").arg("-ver").output().is_err() {
        return skipped("exiftool reads names of places: exiftool is not installed (libimage-exiftool-perl)");
    }
    for (file, lines) in [("t/day 2/a.jpg", 7), ("trip/day 2/a.jpg.xmp", 6)] {
        let output = Command::new("exiftool").args(fields.split(' ')).arg(folder.path().join(file)).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("Paris\nÎle-de-France & <co>\nFrance\nFR\nParis\nFrance\n"), "{file}: {said}");
        assert_eq!(said.lines().count(), lines, "{file}: {said}");
    }
    for journal in tagged.journals {
        undo(&journal, false).unwrap();
    }
    assert_eq!((read("trip/a.jpg.xmp"), files(&copies).len()), (named.to_owned(), 0));
    assert!(!album.join("day 2/a.jpg.xmp").exists());
}

//! Tags of a run: only where sure, in copies that are albums, in the photos themselves, and taken back to the byte.

use crate::tags::common::{fixture_path, skipped};
use locdiff_io::tags::{PlaceNames, Skip, TagError, TagPlace, TagPlan, TagRule, Tagger, has_location, undo};
use locdiff_shdd::sphere::LatLon;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs, process::Command};

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
        "no tag: it may not fit the others: it is far off",
    ]) {
        assert!(line.0 == Some(Skip::Unsure) && line.1.starts_with("skip") && line.1.ends_with(end), "{line:?}");
    }
    assert!(run(TagRule::GUESSES).1.contains("4 would be tagged, 0 unsure"));
    assert!(run(TagRule { sure_within_km: Some(10.0) }).1.contains("0 would be tagged"));
    assert_eq!(files(&folder.path().join("t")).len(), 0);
}

#[test]
fn copies_are_albums() {
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    let copies = folder.path().join("tagged");
    let run = |copy_all: bool| {
        let plan = TagPlan { given: vec![album.clone()], copies: Some(copies.clone()), copy_all, ..TagPlan::default() };
        let mut tagger = Tagger::new(plan).unwrap();
        for name in PHOTOS {
            let photo = album.join(name);
            let radius = if name.ends_with("png") { 300.0 } else { 3.0 };
            tagger.tag(&place(&photo, radius), Some(&photo)).unwrap();
        }
        tagger.pass(Some(&album.join("broken.jpg"))).unwrap();
        tagger.finish().unwrap()
    };
    fs::write(album.join("broken.jpg"), "no picture").unwrap();
    let before = files(&album);
    let tagged = run(false);
    assert_eq!(tagged.to_string(), "5 photos: 2 tagged, 1 unsure, 1 already tagged, 1 cannot hold a tag");
    assert_eq!(files(&copies).into_keys().collect::<Vec<_>>(), ["a.jpg", "day 2/a.jpg", "locdiff-journal.jsonl"]);
    undo(&copies, false).unwrap();
    assert_eq!(fs::read_dir(&copies).unwrap().count(), 0, "folders that were made go, too");

    run(true);
    let mut copied = files(&copies);
    assert!(copied.remove("locdiff-journal.jsonl").is_some());
    assert!(copied.keys().eq(before.keys()), "every file of the album is there: {:?}", copied.keys());
    for (name, bytes) in &copied {
        let is_tagged = ["a.jpg", "day 2/a.jpg"].contains(&name.as_str());
        assert_eq!(*bytes == before[name], !is_tagged, "{name}");
    }
    undo(&copies, false).unwrap();
    assert_eq!((files(&copies).len(), files(&album)), (0, before));
}

#[test]
fn photos_are_written_into_and_stay_beside_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    let before = files(&album);
    let run = || {
        let plan = TagPlan { given: vec![album.clone()], in_place: true, ..TagPlan::default() };
        let mut tagger = Tagger::new(plan).unwrap();
        let mut reasons = Vec::new();
        for name in PHOTOS {
            let photo = album.join(name);
            let steps = tagger.tag(&place(&photo, 3.0), Some(&photo)).unwrap();
            reasons.extend(steps.into_iter().filter_map(|step| step.reason));
        }
        (tagger.finish().unwrap(), reasons)
    };
    let (tagged, _) = run();
    assert_eq!((tagged.tagged, tagged.already_tagged, tagged.cannot_hold), (3, 1, 1));
    let after = files(&album);
    for name in ["a.jpg", "day 2/a.jpg", "day 2/b.png"] {
        assert!(has_location(&after[name]) && after[&format!("{name}_original")] == before[name], "{name}");
    }
    assert!(album.join("locdiff-journal.jsonl").exists() && !album.join("c.bmp_original").exists());
    // The original of an earlier writing is never replaced.
    fs::copy(album.join("a.jpg_original"), album.join("a.jpg")).unwrap();
    let (again, reasons) = run();
    assert_eq!((again.tagged, again.already_tagged), (0, 3));
    assert!(reasons.iter().any(|reason| reason.contains("a.jpg_original is there")), "{reasons:?}");
    fs::write(album.join("a.jpg"), &after["a.jpg"]).unwrap();
    undo(&album, false).unwrap();
    assert_eq!(files(&album), before);
    // A link is not written into: what it means may lie anywhere.
    #[cfg(unix)]
    {
        fs::rename(album.join("a.jpg"), folder.path().join("real.jpg")).unwrap();
        std::os::unix::fs::symlink("../real.jpg", album.join("a.jpg")).unwrap();
        let (_, reasons) = run();
        assert!(reasons.iter().any(|reason| reason.contains("it is a link")), "{reasons:?}");
        assert_eq!(fs::read(folder.path().join("real.jpg")).unwrap(), before["a.jpg"]);
    }
}

#[test]
fn one_run_at_a_time_writes_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let album = album(folder.path());
    let plan = TagPlan { given: vec![album.clone()], copies: Some(folder.path().join("t")), ..TagPlan::default() };
    let (mut first, mut second) = (Tagger::new(plan.clone()).unwrap(), Tagger::new(plan).unwrap());
    let photo = album.join("a.jpg");
    first.tag(&place(&photo, 3.0), Some(&photo)).unwrap();
    let other = album.join("day 2/a.jpg");
    let error = second.tag(&place(&other, 3.0), Some(&other)).unwrap_err();
    assert!(matches!(error, TagError::Lock(_)) && error.to_string().contains("in use by another run"), "{error}");
    first.finish().unwrap();
    second.tag(&place(&other, 3.0), Some(&other)).unwrap();
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

//! What is known beside tags: logs of positions, places of other times, towns, countries and time zones.

use flate2::{Compression, write::GzEncoder};
use locdiff_album::{Album, AlbumAnswer, AlbumPhoto, AlbumSettings, KnownPlace, PhotoTime, SoftPlace, TimeSource};
use locdiff_album::{Track, set_clocks};
use locdiff_map::places::Region;
use locdiff_model::answer::{Calibration, Globe};
use locdiff_shdd::{Coefficients, sphere::LatLon, sphere::haversine_km};
use std::io::Write;

const HOUR: f64 = 3600.0;
/// 2024-05-12T10:00:00Z
const TEN: f64 = 1_715_508_000.0;

fn at(lat: f64, lon: f64) -> LatLon {
    LatLon::new(lat, lon).unwrap()
}

fn flat() -> Coefficients {
    Coefficients::new(vec![0.0; 256]).unwrap()
}

fn album() -> Album {
    Album::new(Calibration::none(flat()), AlbumSettings::default()).unwrap()
}

fn photo(name: &str, seconds: f64, look: LatLon, sureness: f64) -> AlbumPhoto {
    let code = Globe::new(15).unwrap().codec().encode(look);
    AlbumPhoto::new(name, PhotoTime::at(seconds), code.combine(sureness, &flat(), 0.0).unwrap())
}

/// The same two points in every form: 48° N 2° E at ten, 48° N 2.1° E ten minutes later.
const LOGS: [(&str, &str); 8] = [
    ("gpx", include_str!("logs/gpx.gpx")),
    ("nmea", include_str!("logs/nmea.nmea")),
    ("line", include_str!("logs/line.json")),
    ("points", include_str!("logs/points.json")),
    ("android", include_str!("logs/android.json")),
    ("android activity", include_str!("logs/android_activity.json")),
    ("iphone", include_str!("logs/iphone.json")),
    ("records", include_str!("logs/records.json")),
];

#[test]
fn every_form_of_log_gives_a_place_for_a_time() {
    for (name, text) in LOGS {
        let track = Track::parse(text.as_bytes(), name).unwrap();
        assert_eq!(track.len(), 2, "{name}");
        for (minutes, lon) in [(0.0, 2.0), (5.0, 2.05), (10.0, 2.1)] {
            let (place, km) = track.at(TEN + 60.0 * minutes).unwrap();
            assert!(haversine_km(place, at(48.0, lon)) < 0.01, "{name} {minutes}: {place}");
            assert!(if minutes == 5.0 { km > 0.5 && km < 2.5 } else { km <= 0.1 }, "{name} {minutes}: {km}");
        }
        assert!(track.at(TEN + 2.0 * HOUR).is_none(), "{name}");
        // Cut anywhere, or with any byte changed, it is a log or an error.
        for end in 0..text.len() {
            let _ = Track::parse(&text.as_bytes()[..end], name);
            let mut damaged = text.as_bytes().to_vec();
            damaged[end] = damaged[end].wrapping_mul(31).wrapping_add(7);
            let _ = Track::parse(&damaged, name);
        }
    }
    let visit = r#"[{"startTime":"2024-05-12T10:00:00Z","endTime":"2024-05-12T20:00:00Z","visit":{"topCandidate":{"placeLocation":"geo:35.0,135.7"}}}]"#;
    let (place, km) = Track::parse(visit.as_bytes(), "visit").unwrap().at(TEN + 5.0 * HOUR).unwrap();
    assert!(haversine_km(place, at(35.0, 135.7)) < 0.01 && km < 0.2, "a visit lasts");
}

#[test]
fn bad_logs_are_named_with_the_line_or_the_element() {
    for line in include_str!("logs/bad.txt").lines() {
        let (text, message) = line.split_once(" => ").unwrap();
        let text = text.replace("\\n", "\n");
        let error = Track::parse(text.as_bytes(), "a.log").unwrap_err().to_string();
        assert!(error.starts_with("a.log: ") && error.contains(message), "{text}: {error}");
    }
    let folder = Track::open(std::path::Path::new("/")).unwrap_err().to_string();
    assert!(folder.contains("it is a folder"), "{folder}");
}

/// A bad point, a cut file and a damaged one give the points that are whole, and say what is missing.
#[test]
fn good_points_of_bad_logs_are_used() {
    let point = |lat: &str, minute: u32| {
        format!("<trkpt lat=\"{lat}\" lon=\"2\"><name>&bad;</name><time>2024-05-12T10:{minute:02}:00Z</time></trkpt>\n")
    };
    let head = "<gpx xmlns:x=\"y\">\n<!-- <trkpt lat=\"1\" lon=\"1\"><time>2024</time></trkpt> --><trk><trkseg>\n";
    let good: String = (0..3).map(|k| point("48", k)).collect();
    let end = "</trkseg></trk></gpx>";
    let whole = format!("{head}{good}{}{good}{end}", point("x", 5));
    let cut = format!("{head}{good}<trkpt lat=\"48\" lon=\"2\"><time>2024-05-1");
    let damaged = format!("{head}{good}<trkpt lat=\"48\" lon=<time>\u{fffd}{good}{end}");
    let nmea = format!("{}$GPRMC,100100,A,4800.0,N,00200.0,E,,,120524,,*00\n$GPRMC,1001", LOGS[1].1);
    for (text, count, faults) in [
        (&whole, 6, &["log: 1 point left out (line 6: 'x' is not a valid lat)"][..]),
        (&cut, 3, &["log: the file is cut off, 1 point left out (line 6: a point that does not end)"]),
        (&format!("{head}{good}{end}"), 3, &[]),
        (&nmea, 2, &["log: 2 points left out (line 5: its checksum 00 is wrong)"]),
    ] {
        let track = Track::parse(text.as_bytes(), "log").unwrap();
        assert!(track.len() == count && track.faults() == faults, "{:?}", track.faults());
    }
    let track = Track::parse(damaged.as_bytes(), "log").unwrap();
    assert!(track.len() == 6 && track.faults().len() == 1, "{track:?}");
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(whole.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(Track::parse(&packed, "log").unwrap(), Track::parse(whole.as_bytes(), "log").unwrap());
    let half = Track::parse(&packed[..packed.len() / 2], "log").unwrap();
    assert!(half.len() >= 2 && half.faults()[0].contains("cut off"), "{half:?}");
    let records = r#"{"locations":[{"timestamp":"x"},{"latitudeE7":480000000,"longitudeE7":20000000,"timestampMs":"1715508600000"}]}"#;
    let track = Track::parse(records.as_bytes(), "log").unwrap();
    assert_eq!((track.len(), &track.faults()[0][..]), (1, "log: 1 point left out (location 1: 'x' is not a time)"));
    let both = Track::joined([track, Track::parse(cut.as_bytes(), "other").unwrap()]);
    assert_eq!((both.len(), both.faults().len()), (4, 2));
}

#[test]
fn a_log_places_photos_and_its_points_help_those_beyond() {
    let album = album();
    let lima = at(-12.0, -77.0);
    let track = Track::parse(LOGS[0].1.as_bytes(), "log").unwrap();
    let photos = [5.0, 40.0, 300.0].map(|minutes| {
        let mut photo = photo("x", TEN + 60.0 * minutes, lima, 0.05);
        photo.track = track.at(photo.time.seconds);
        photo
    });
    let known = track.known(&(TEN..=TEN + 5.0 * HOUR), "the log");
    let answers = album.answers_knowing(&photos, &known, &[], |_| ()).unwrap();
    assert!(haversine_km(answers[0].best, at(48.0, 2.05)) < 1.0 && answers[0].radius_90_km < 5.0, "{:?}", answers[0]);
    assert!(answers[0].because.starts_with("the track has it") && answers[0].gps.is_none(), "{}", answers[0].because);
    for answer in &answers[1..] {
        assert!(haversine_km(answer.best, at(48.0, 2.1)) < 20.0, "{answer:?}");
    }
    // Its own tag goes before the log.
    let mut tagged = photos[0].clone().with_gps(Some(lima));
    tagged.track = Some((at(48.0, 2.0), 0.1));
    let answers = album.answers(&[tagged], &[], |_| ()).unwrap();
    assert!(haversine_km(answers[0].best, lima) < 0.2);
}

#[test]
fn a_camera_without_an_offset_is_set_by_the_log() {
    let album = album();
    let minute = |k: usize| {
        format!("<wpt lat=\"{}\" lon=\"5\"><time>{}</time></wpt>", 40.0 + 0.01 * k as f64, TEN + 60.0 * k as f64)
    };
    let text = format!("<gpx>{}</gpx>", (0..400).map(minute).collect::<String>());
    let track = Track::parse(text.as_bytes(), "drive").unwrap();
    let clock = |k: usize| {
        let seconds = TEN + 2.0 * HOUR + 60.0 * k as f64;
        let time = PhotoTime { source: TimeSource::Clock, is_utc: false, ..PhotoTime::at(seconds) };
        let place = at(40.0 + 0.01 * k as f64, 5.0);
        let mut photo = photo("x", 0.0, place, 0.1).with_gps(Some(place));
        photo.time = time;
        photo
    };
    let mut photos: Vec<AlbumPhoto> = [10, 60, 150, 290].map(clock).into();
    let wrong = album.clocks_by_track(&photos, &track).unwrap();
    assert_eq!((wrong.len(), wrong[0].ahead_s, wrong[0].by_track), (1, 7200.0, true), "{wrong:?}");
    set_clocks(&mut photos, &wrong);
    assert!(photos[0].time.is_utc && photos[0].time.seconds == TEN + 600.0);
    assert!(album.clocks_by_track(&photos, &track).unwrap().is_empty());
    // Without tags, and with looks that say nothing, nothing is clear.
    let dumb: Vec<AlbumPhoto> = photos.iter().map(|one| AlbumPhoto::new("x", one.time, flat())).collect();
    assert!(album.clocks_by_track(&dumb, &track).unwrap().is_empty());
}

#[test]
fn a_place_of_another_time_is_a_tag_of_none_of_the_photos() {
    let album = album();
    let rome = at(41.9, 12.5);
    let photos = [photo("x", 600.0, at(40.0, 20.0), 0.1)];
    let film = KnownPlace { name: "a.mov".into(), time_s: 0.0, at: rome, deviation_km: 0.05, embedding: Vec::new() };
    let answers = album.answers_knowing(&photos, &[film], &[], |_| ()).unwrap();
    assert!(haversine_km(answers[0].best, rome) < 1.0, "{:?}", answers[0]);
    assert!(answers[0].because.starts_with("10 minutes after a.mov"), "{}", answers[0].because);
}

/// Towns, countries and zones move what is not known otherwise, and a wrong one does not win against tags.
#[test]
fn what_is_softly_known_is_soft() {
    let album = album();
    let (kyoto, rome) = (at(35.0, 135.77), at(41.9, 12.5));
    let pair = |soft: Vec<SoftPlace>, offset_h: Option<f64>, gps: Option<LatLon>| {
        let mut photos = [photo("a", 0.0, rome, 0.05), photo("b", 600.0, rome, 0.05).with_gps(gps)];
        (photos[0].soft, photos[0].offset_h) = (soft, offset_h);
        album.answers(&photos, &[rome; 2], |_| ()).unwrap()[0].clone()
    };
    let usual = pair(Vec::new(), None, None);
    assert!(haversine_km(usual.best, rome) < 1500.0);
    let town = pair(vec![SoftPlace::Around(kyoto, 15.0)], None, None);
    assert!(haversine_km(town.best, kyoto) < 20.0 && town.radius_50_km < 40.0, "{town:?}");
    assert!(town.because.contains("stated") && !usual.because.contains("stated"), "{town:?}");
    assert!(town.alternatives().iter().all(|other| haversine_km(other.at, town.best) > 20.0), "{town:?}");
    let japan = pair(vec![album.within(Region::in_words("Japan").unwrap())], None, None);
    assert_eq!(japan.country_code.as_deref(), Some("JP"), "{japan:?}");
    // In New Zealand, says the clock: less sure of Rome, but not elsewhere.
    let density = |answer: AlbumAnswer| answer.verdict.unwrap().log_density;
    let zone = |offset_h: f64| density(pair(Vec::new(), Some(offset_h), None));
    let usual = density(usual);
    assert!(zone(1.0) > usual + 0.2 && zone(12.0) < usual && zone(12.0) > usual - 1.3, "{usual}");
    let wrong = pair(vec![SoftPlace::Around(kyoto, 15.0)], Some(9.0), Some(rome));
    assert!(haversine_km(wrong.best, rome) < 2.0, "{wrong:?}");
}

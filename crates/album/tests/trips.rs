//! Albums of a made-up world: a network that is as sure as a clean code of degree 15, tempered.

use locdiff_album::{Album, AlbumPhoto, AlbumSettings, PhotoTime, TimeSource, set_clocks};
use locdiff_map::evidence::{Evidence, evidence_of_text};
use locdiff_model::answer::{Calibration, Globe};
use locdiff_shdd::{Coefficients, sphere::LatLon, sphere::haversine_km};

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;

fn at(lat: f64, lon: f64) -> LatLon {
    LatLon::new(lat, lon).unwrap()
}

/// A world without a background, and what a network that sees `place` says.
struct World {
    globe: Globe,
    album: Album,
}

impl World {
    fn new() -> Self {
        let flat = Coefficients::new(vec![0.0; 256]).unwrap();
        let album = Album::new(Calibration::none(flat), AlbumSettings::default()).unwrap();
        Self { globe: Globe::new(15).unwrap(), album }
    }

    /// A photo that looks like a place: sure to some 800 km, where `sureness` is 0.3.
    fn photo(&self, name: &str, seconds: f64, looks_like: LatLon, sureness: f64) -> AlbumPhoto {
        let code = self.globe.codec().encode(looks_like);
        let nothing = Coefficients::new(vec![0.0; 256]).unwrap();
        AlbumPhoto::new(name, PhotoTime::at(seconds), code.combine(sureness, &nothing, 0.0).unwrap())
    }
}

#[test]
fn a_sign_in_one_photo_places_the_next_one() {
    let world = World::new();
    let (leukerbad, lima) = (at(46.38, 7.63), at(-12.0, -77.0));
    let signs: Vec<Evidence> =
        evidence_of_text(&[("LEUKERBAD", 0.95)]).into_iter().map(|found| found.evidence).collect();
    let photos = |signs: Vec<Evidence>| {
        let first = world.photo("a", 0.0, leukerbad, 0.02).with_evidence(signs);
        [first, world.photo("b", 20.0 * MINUTE, lima, 0.02)]
    };
    let without = world.album.answers(&photos(Vec::new()), &[], |_| ()).unwrap();
    let with = world.album.answers(&photos(signs), &[], |_| ()).unwrap();
    let away = |answers: &[locdiff_album::AlbumAnswer]| haversine_km(answers[1].best, leukerbad);
    assert!(away(&with) < 60.0 && away(&without) > 500.0, "{} {}", away(&with), away(&without));
}

#[test]
fn minutes_after_a_tag_means_within_a_kilometre() {
    let world = World::new();
    let (paris, lima) = (at(48.86, 2.35), at(-12.0, -77.0));
    // It looks like Peru, a little; the clock knows better.
    let photos = [world.photo("a", 0.0, paris, 0.2).with_gps(Some(paris)), world.photo("b", 5.0 * MINUTE, lima, 0.05)];
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    assert!(haversine_km(answers[1].best, paris) < 1.0, "{:?}", answers[1]);
    assert!(answers[1].radius_50_km < 5.0 && answers[1].radius_90_km < 200.0, "{:?}", answers[1]);
    assert!(answers[1].because.contains("5 minutes after a"), "{}", answers[1].because);
    assert!(haversine_km(answers[0].best, paris) < 0.1);
}

#[test]
fn photos_without_tags_help_each_other() {
    let world = World::new();
    let truth = at(50.0, 70.0);
    // Each is off by some 600 km in another direction.
    let looks = [at(55.4, 70.0), at(44.6, 70.0), at(50.0, 78.4), at(50.0, 61.6)];
    let photos: Vec<AlbumPhoto> =
        looks.iter().enumerate().map(|(k, look)| world.photo("x", k as f64 * HOUR, *look, 0.1)).collect();
    let answers = world.album.answers(&photos, &[truth; 4], |_| ()).unwrap();
    for answer in &answers {
        let alone = haversine_km(answer.alone.unwrap(), truth);
        let together = haversine_km(answer.best, truth);
        assert!(together < 300.0 && alone > 450.0, "{alone} {together}");
        assert!(answer.outlier.is_none());
        let verdict = answer.verdict.as_ref().unwrap();
        assert!((0.0..=1.0).contains(&verdict.radius_share) && verdict.log_density > -2.0); // even: −2.53
    }
}

/// Likeness to tagged photos decides between two towns, also of other trips. With one town likeness changes nothing.
#[test]
fn the_town_is_told_by_likeness() {
    let flat = Coefficients::new(vec![0.0; 256]).unwrap();
    let world = World::new();
    let (madrid, oslo) = (at(40.4, -3.7), at(59.9, 10.7));
    let photo = |hours: f64, place: Option<LatLon>, look: [f32; 2]| {
        AlbumPhoto::new("x", PhotoTime::at(hours * HOUR), flat.clone()).with_gps(place).with_embedding(look.into(), 0.0)
    };
    let place_of = |photos: &[AlbumPhoto]| world.album.answers_in_trips(photos, &[]).unwrap()[1].0.best;
    // The second album falls into three trips.
    for hours in [12.0, 60.0] {
        let (first, last) = (photo(0.0, Some(madrid), [1.0, 0.0]), photo(2.0 * hours + 1.0, Some(oslo), [0.0, 1.0]));
        let album = |look| [first.clone(), photo(hours, None, look), last.clone()];
        assert!(haversine_km(place_of(&album([1.0, 0.1])), madrid) < 50.0);
        assert!(haversine_km(place_of(&album([0.1, 1.0])), oslo) < 50.0);
    }
    let one = |look| {
        [photo(0.0, Some(madrid), [0.7, 0.7]), photo(40.0, None, look), photo(90.0, Some(at(40.5, -3.6)), [0.7, 0.7])]
    };
    assert!(haversine_km(place_of(&one([1.0, 0.0])), place_of(&one([0.0, 1.0]))) < 0.1);
}

#[test]
fn the_side_of_a_jump_is_told_by_the_look() {
    let world = World::new();
    let (madrid, oslo) = (at(40.4, -3.7), at(59.9, 10.7));
    // Nearer in time to Madrid, but it looks like Norway: the flight was before it.
    let photos = [
        world.photo("m", 0.0, madrid, 0.3).with_gps(Some(madrid)),
        world.photo("x", 10.0 * HOUR, oslo, 0.3),
        world.photo("o", 24.0 * HOUR, oslo, 0.3).with_gps(Some(oslo)),
    ];
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    assert!(haversine_km(answers[1].best, oslo) < 50.0, "{:?}", answers[1]);
    assert!(answers[1].because.contains("before o"), "{}", answers[1].because);
}

#[test]
fn likeness_finds_the_way_back() {
    let world = World::new();
    let (hotel, beach) = (at(36.7, -4.4), at(36.5, -4.9));
    let look = at(37.0, -4.0);
    let seen = |photo: AlbumPhoto, vector: [f32; 3]| photo.with_embedding(vector.to_vec(), 0.0);
    let photos = [
        seen(world.photo("hotel", 0.0, look, 0.3).with_gps(Some(hotel)), [1.0, 0.0, 0.0]),
        seen(world.photo("beach", 5.0 * HOUR, look, 0.3).with_gps(Some(beach)), [0.0, 1.0, 0.0]),
        seen(world.photo("x", 20.0 * HOUR, look, 0.3), [0.99, 0.1, 0.0]),
    ];
    let at_hotel = |photos: &[AlbumPhoto]| {
        let answers = world.album.answers(photos, &[hotel; 3], |_| ()).unwrap();
        answers[2].verdict.as_ref().unwrap().log_density
    };
    let mut unlike = photos.to_vec();
    unlike[2] = unlike[2].clone().with_embedding(vec![0.1, 0.99, 0.0], 0.0);
    let (back, other) = (at_hotel(&photos), at_hotel(&unlike));
    assert!(back > other + 2.0, "{back} {other}");
}

#[test]
fn a_wrong_tag_and_a_photo_of_another_trip_are_named() {
    let world = World::new();
    let (rome, sydney) = (at(41.9, 12.5), at(-33.9, 151.2));
    let mut photos: Vec<AlbumPhoto> = (0..8)
        .map(|k| {
            let photo = world.photo(&format!("{k}"), f64::from(k) * 20.0 * MINUTE, rome, 0.4);
            if k % 3 == 0 { photo.with_gps(Some(rome)) } else { photo }
        })
        .collect();
    photos[3] = photos[3].clone().with_gps(Some(sydney));
    photos[5] = world.photo("5", 100.0 * MINUTE, sydney, 0.6);
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    for (k, answer) in answers.iter().enumerate() {
        let is_odd = k == 3 || k == 5;
        assert_eq!(answer.outlier.is_some(), is_odd, "{k}: {answer:?}");
        if !is_odd {
            assert!(haversine_km(answer.best, rome) < 2.0, "{k} is harmed: {answer:?}");
        }
    }
    assert!(answers[3].outlier.as_ref().unwrap().reason.contains("16,300 km from"), "{:?}", answers[3].outlier);
    assert!(haversine_km(answers[5].alone.unwrap(), sydney) < 800.0);
    assert!(answers[5].outlier.as_ref().unwrap().reason.contains("Australia"), "{:?}", answers[5].outlier);
}

/// Without any tag: what two cameras saw at one time looks alike.
#[test]
fn a_clock_is_told_by_what_both_cameras_saw() {
    let world = World::new();
    let shot = |camera: &str, stop: usize, ahead_h: f64| {
        let mut look = vec![0.0; 12];
        look[stop] = 1.0;
        let photo = world.photo("x", (6.0 * stop as f64 + ahead_h) * HOUR, at(45.0, 10.0), 0.0);
        photo.with_camera(Some(camera.to_owned())).with_embedding(look, 0.0)
    };
    let album = |ahead_h: f64| -> Vec<AlbumPhoto> {
        (0..12).flat_map(|stop| [shot("a", stop, 0.0), shot("a", stop, 0.1), shot("b", stop, ahead_h)]).collect()
    };
    let wrong = world.album.wrong_clocks(&album(8.0), &[]).unwrap();
    assert_eq!(wrong.iter().map(|clock| (&*clock.camera, clock.ahead_h)).collect::<Vec<_>>(), [("b", 8)]);
    assert!(world.album.wrong_clocks(&album(0.0), &[]).unwrap().is_empty());
}

#[test]
fn a_clock_that_is_eight_hours_ahead_is_found_and_set() {
    let world = World::new();
    // A drive north; two cameras, of which one was never told the time zone.
    let road = |hours: f64| at(38.0 + 0.5 * hours, -5.0 + 0.1 * hours);
    let mut photos = Vec::new();
    for k in 0..16 {
        let hours = f64::from(k);
        let own = world.photo(&format!("p{k}"), hours * HOUR, road(hours), 0.4).with_camera(Some("phone".into()));
        photos.push(own.with_gps(Some(road(hours))));
        let other = world.photo(&format!("c{k}"), (hours + 8.5) * HOUR, road(hours + 0.5), 0.4);
        photos.push(other.with_camera(Some("camera".into())).with_gps((k % 3 == 0).then(|| road(hours + 0.5))));
    }
    let wrong = world.album.wrong_clocks(&photos, &[]).unwrap();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!((wrong[0].camera.as_str(), wrong[0].ahead_h, wrong[0].photos), ("camera", 8, 16));
    set_clocks(&mut photos, &wrong);
    assert!(world.album.wrong_clocks(&photos, &[]).unwrap().is_empty());
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    let worst = answers.iter().enumerate().map(|(k, answer)| {
        let hours = (k / 2) as f64 + if k % 2 == 0 { 0.0 } else { 0.5 };
        haversine_km(answer.best, road(hours))
    });
    assert!(worst.fold(0.0, f64::max) < 60.0);
}

#[test]
fn views_of_one_place_are_worth_more_than_one() {
    let world = World::new();
    let truth = at(10.0, 20.0);
    let looks = [at(14.0, 20.0), at(6.0, 20.0), at(10.0, 24.0), at(10.0, 16.0)];
    let photos: Vec<AlbumPhoto> = looks.iter().map(|look| world.photo("x", 0.0, *look, 0.2)).collect();
    let answers = world.album.same_place(&photos, Some(truth)).unwrap();
    assert!(haversine_km(answers[0].best, truth) < 150.0);
    assert!(answers.iter().all(|answer| answer.best == answers[0].best));
    let one = world.album.same_place(&photos[..1], Some(truth)).unwrap();
    assert!(one[0].verdict.as_ref().unwrap().log_density < answers[0].verdict.as_ref().unwrap().log_density);
}

#[test]
fn order_and_company_of_the_list_do_not_matter() {
    let world = World::new();
    let photos: Vec<AlbumPhoto> =
        (0..7).map(|k| world.photo(&format!("{k}"), f64::from(k) * HOUR, at(10.0 + f64::from(k), 5.0), 0.2)).collect();
    let mut turned = photos.clone();
    turned.reverse();
    let answers = |photos: &[AlbumPhoto]| world.album.answers(photos, &[], |_| ()).unwrap();
    let (a, mut b) = (answers(&photos), answers(&turned));
    b.reverse();
    assert!(a.iter().zip(&b).all(|(a, b)| a.best == b.best && a.name() == b.name()));
    // An album of one photo is the photo alone.
    let one = &world.album.answers(&photos[..1], &[], |_| ()).unwrap()[0];
    assert!(one.moved_km < 1.0);
    assert!(world.album.answers(&[], &[], |_| ()).unwrap().is_empty());
}

/// A tag knows where one was then; hours before one may have been elsewhere.
#[test]
fn hours_before_a_tag_one_may_have_been_a_drive_away() {
    let world = World::new();
    let (kuopio, look) = (at(62.93, 27.65), at(63.5, 28.0));
    let seen = |photo: AlbumPhoto| photo.with_embedding(vec![1.0, 0.0], 0.0);
    let photos = [
        seen(world.photo("before", 0.0, look, 0.1)),
        seen(world.photo("arrived", 4.5 * HOUR, look, 0.1)),
        seen(world.photo("tagged", 5.2 * HOUR, look, 0.1).with_gps(Some(kuopio))),
    ];
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    assert!(answers[0].radius_90_km > 100.0, "{:?}", answers[0]);
    assert!(answers[1].radius_50_km < 20.0, "{:?}", answers[1]);
}

/// Photos of one stay look alike: that all of them resemble a place is one resemblance, not ten.
#[test]
fn a_chance_resemblance_is_one_of_all() {
    let world = World::new();
    let (tagged, far) = (at(56.5, 26.3), at(60.2, 29.4));
    let mut photos =
        vec![world.photo("tag", 0.0, tagged, 0.1).with_gps(Some(tagged)).with_embedding(vec![1.0, 0.3], 0.0)];
    for k in 0..10 {
        let time = 22.0 * HOUR + f64::from(k) * 20.0 * MINUTE;
        photos.push(world.photo(&format!("{k}"), time, far, 0.1).with_embedding(vec![1.0, 0.0], 0.0));
    }
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    photos.truncate(2);
    let one = world.album.answers(&photos, &[], |_| ()).unwrap()[1].radius_50_km;
    for answer in &answers[1..] {
        assert!(answer.radius_50_km > 0.5 * one, "{one} {answer:?}");
    }
}

#[test]
fn what_may_be_from_elsewhere_is_hinted_at_before_it_is_named() {
    let world = World::new();
    let (rome, sydney) = (at(41.9, 12.5), at(-33.9, 151.2));
    let said = |sureness: f64| {
        let photo = |k: i32| {
            let look = if k == 3 { (sydney, sureness) } else { (rome, 0.3) };
            let photo = world.photo(&format!("{k}"), f64::from(k) * 20.0 * MINUTE, look.0, look.1);
            photo.with_gps((k == 0 || k == 5).then_some(rome))
        };
        let photos: Vec<AlbumPhoto> = (0..6).map(photo).collect();
        let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
        assert!(answers.iter().enumerate().all(|(k, answer)| k == 3 || answer.hint.is_none()));
        answers[3].clone()
    };
    // The surer it is of Sydney, the surer it is that it does not belong; between the two lies a hint.
    let (mut belongs, mut does_not) = (0.1, 0.7);
    let (little, much) = (said(belongs), said(does_not));
    assert!(little.hint.is_none() && little.outlier.is_none(), "{little:?}");
    assert!(much.hint.is_none() && much.outlier.is_some(), "{much:?}");
    for _ in 0..16 {
        let middle = said(0.5 * (belongs + does_not));
        if (0.35..0.45).contains(&middle.elsewhere) {
            assert!(middle.outlier.is_none(), "{middle:?}");
            assert!(middle.hint.as_ref().unwrap().reason.contains("may be from elsewhere"), "{middle:?}");
            return;
        }
        let half = 0.5 * (belongs + does_not);
        if middle.elsewhere < 0.4 { belongs = half } else { does_not = half }
    }
    panic!("nothing between {belongs} and {does_not}");
}

/// Likeness to the others clears a photo whose look alone speaks against it.
#[test]
fn who_looks_like_the_others_belongs_to_them() {
    let world = World::new();
    let (rome, lima) = (at(41.9, 12.5), at(-12.0, -77.0));
    let elsewhere = |vector: [f32; 2]| {
        let photo = |k: i32| {
            let (look, embedding) = if k == 3 { (lima, vector) } else { (rome, [1.0, 0.0]) };
            let photo = world.photo("x", f64::from(k) * 20.0 * MINUTE, look, 0.1);
            photo.with_embedding(embedding.to_vec(), 0.0).with_gps((k == 0 || k == 5).then_some(rome))
        };
        let photos: Vec<AlbumPhoto> = (0..6).map(photo).collect();
        world.album.answers(&photos, &[], |_| ()).unwrap()[3].elsewhere
    };
    assert!(elsewhere([1.0, 0.1]) < 0.5 * elsewhere([0.1, 1.0]));
}

/// A second view of the same thing tells nothing new; another thing seen nearby does.
#[test]
fn what_looks_different_is_a_word_of_its_own() {
    let world = World::new();
    let rome = at(41.9, 12.5);
    let radius_km = |second: [f32; 2], hours: f64| {
        let photo = |time: f64, own: [f32; 2]| world.photo("x", time, rome, 0.3).with_embedding(own.to_vec(), 0.0);
        let photos = [photo(0.0, [1.0, 0.0]), photo(hours * HOUR, second)];
        world.album.answers(&photos, &[], |_| ()).unwrap()[0].radius_90_km
    };
    let (alike, unlike) = (radius_km([1.0, 0.1], 1.0), radius_km([0.1, 1.0], 1.0));
    assert!(unlike < 0.9 * alike, "{unlike} {alike}");
    // Of another day, it is a word of its own though it looks alike.
    let (days_alike, days_unlike) = (radius_km([1.0, 0.1], 300.0), radius_km([0.1, 1.0], 300.0));
    assert!((days_alike - days_unlike).abs() < 0.01 * days_unlike, "{days_alike} {days_unlike}");
}

/// Who was seen to come back to one place again and again is held to have come back once more.
#[test]
fn a_base_is_come_back_to() {
    let world = World::new();
    let base = at(41.9, 12.5);
    let evening = |days: std::ops::Range<i32>| {
        let photo = |hour: i32, gps| world.photo("x", f64::from(hour) * HOUR, base, 0.05).with_gps(gps);
        let day = |day: i32| [(8, Some(base)), (13, None), (20, None)].map(|(h, gps)| photo(24 * day + h, gps));
        let photos: Vec<AlbumPhoto> = days.flat_map(day).collect();
        world.album.answers(&photos, &[], |_| ()).unwrap().pop().unwrap()
    };
    let (once, often) = (evening(3..4), evening(0..4));
    assert!(haversine_km(often.best, base) < 1.0, "{often:?}");
    assert!(often.radius_50_km < 0.7 * once.radius_50_km, "{} {}", often.radius_50_km, once.radius_50_km);
}

/// A photo without a tag and without a word changes nothing, wherever it stands.
#[test]
fn a_photo_that_says_nothing_changes_nothing() {
    let world = World::new();
    let (rome, siena) = (at(41.9, 12.5), at(43.32, 11.33));
    let look = at(43.0, 12.0);
    let mut photos = vec![
        world.photo("a", 0.0, rome, 0.2).with_gps(Some(rome)),
        world.photo("b", 5.0 * HOUR, look, 0.2),
        world.photo("c", 26.0 * HOUR, siena, 0.2).with_gps(Some(siena)),
        world.photo("d", 40.0 * HOUR, look, 0.2),
    ];
    // None of them looks like another.
    let unlike = |photos: Vec<AlbumPhoto>| -> Vec<AlbumPhoto> {
        let own = |k: usize| (0..16).map(|j| f32::from(u8::from(j == k))).collect();
        photos.into_iter().enumerate().map(|(k, photo)| photo.with_embedding(own(k), 0.0)).collect()
    };
    let before = world.album.answers(&unlike(photos.clone()), &[], |_| ()).unwrap();
    photos.extend((0..9).map(|k| world.photo("x", f64::from(k) * 4.5 * HOUR, look, 0.0)));
    let after = world.album.answers(&unlike(photos.clone()), &[], |_| ()).unwrap();
    for (a, b) in before.iter().zip(&after) {
        assert!(haversine_km(a.best, b.best) < 1.0, "{a:?}\n{b:?}");
        assert!((a.radius_90_km / b.radius_90_km - 1.0).abs() < 0.02, "{} {}", a.radius_90_km, b.radius_90_km);
    }
}

/// What PhotoPrism's users complain about: after a train ride across a country a photo is not held to be at the place of the morning.
#[test]
fn a_train_ride_after_a_tagged_morning_is_not_the_morning() {
    let world = World::new();
    let (hamburg, munich) = (at(53.55, 10.0), at(48.14, 11.58));
    let mut photos = vec![world.photo("morning", 0.0, hamburg, 0.3).with_gps(Some(hamburg))];
    photos.extend((0..4).map(|k| world.photo("evening", 10.0 * HOUR + f64::from(k) * HOUR, munich, 0.5)));
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    for answer in &answers[1..] {
        assert!(answer.radius_50_km > 10.0 && answer.radius_90_km > 150.0, "{answer:?}");
    }
}

/// And a partner's camera at home is not where the other one travels.
#[test]
fn a_camera_at_home_does_not_travel_with_the_other() {
    let world = World::new();
    let (home, away) = (at(52.5, 13.4), at(40.4, -3.7));
    let mut photos = Vec::new();
    for k in 0..12 {
        let time = f64::from(k) * 6.0 * HOUR;
        photos.push(world.photo("a", time, away, 0.3).with_camera(Some("phone".into())).with_gps(Some(away)));
        let partner = world.photo("p", time + HOUR, home, 0.3).with_camera(Some("partner".into()));
        photos.push(partner.with_gps((k % 4 == 0).then_some(home)));
    }
    let answers = world.album.answers(&photos, &[], |_| ()).unwrap();
    for answer in answers.iter().filter(|answer| answer.name() == "p") {
        assert!(haversine_km(answer.best, home) < 50.0, "{answer:?}");
        assert!(answer.outlier.is_none(), "{answer:?}");
    }
    assert!(answers.iter().filter(|answer| answer.name() == "a").all(|answer| answer.outlier.is_none()));
}

/// A photo without a time is between no others, says nothing of them, and is sure only where its image alone is.
#[test]
fn a_photo_without_a_time_is_not_sure_by_the_album() {
    let world = World::new();
    let (prague, lima) = (at(50.08, 14.43), at(-12.0, -77.0));
    let look = |x: f32| vec![x, (1.0 - x * x).sqrt()];
    let timed = |k: u32| {
        let photo = world.photo("t", f64::from(k) * 10.0 * MINUTE, prague, 0.1).with_embedding(look(1.0), 0.0);
        photo.with_gps(k.is_multiple_of(2).then_some(prague))
    };
    let timed: Vec<AlbumPhoto> = (0..8).map(timed).collect();
    let untimed = |looks_like, sureness, alike, source| {
        let mut photo = world.photo("u", 25.0 * MINUTE, looks_like, sureness).with_embedding(look(alike), 0.0);
        photo.time.source = source;
        photo
    };
    let answers = |photos: &[AlbumPhoto]| -> Vec<_> {
        world.album.answers_in_trips(photos, &[]).unwrap().into_iter().map(|(answer, _)| answer).collect()
    };
    let before = answers(&timed);
    assert!(before[1].radius_90_km < 25.0 && before[1].because.contains("minutes"), "{:?}", before[1]);
    for source in [TimeSource::Unknown, TimeSource::Day] {
        let foreign = untimed(lima, 0.3, 0.0, source);
        let own = untimed(prague, 0.05, 1.0, source);
        let after = answers(&[&timed[..], &[foreign, own]].concat());
        for (a, b) in before.iter().zip(&after) {
            assert_eq!((a.best, a.radius_90_km, &a.because), (b.best, b.radius_90_km, &b.because));
        }
        // It looks like Peru; the other like all photos here, which makes it likely, and not sure.
        assert!(haversine_km(after[8].best, lima) < 1000.0, "{:?}", after[8]);
        assert!(haversine_km(after[9].best, prague) < 1.0, "{:?}", after[9]);
        for answer in &after[8..] {
            assert!(answer.radius_90_km > 500.0 && answer.because.starts_with("no time"), "{answer:?}");
        }
    }
    // Its own tag stays, and counts as a place of the album.
    let tagged = untimed(lima, 0.3, 1.0, TimeSource::Unknown).with_gps(Some(lima));
    let answers = answers(&[tagged, untimed(lima, 0.3, 1.0, TimeSource::Unknown)]);
    assert!(answers[0].radius_90_km < 1.0 && answers[0].because.starts_with("its own GPS tag"), "{:?}", answers[0]);
    assert!(haversine_km(answers[1].best, lima) < 1.0 && answers[1].radius_90_km > 500.0, "{:?}", answers[1]);
}

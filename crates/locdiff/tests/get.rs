//! What is fetched from a server that cuts off, lies, leads elsewhere or knows no ranges: whole, or not there.
#![cfg(feature = "get")]

use locdiff::get::{GetError, GetPlan, GetSettings, Installed};
use locdiff_testing::http::{Request, respond};
use std::sync::{Arc, Mutex, atomic::AtomicBool, atomic::AtomicU64, atomic::Ordering};
use std::{collections::BTreeMap, fs, io::Write, net::TcpListener, net::TcpStream, path::Path, time::Duration};

const ENCODER: &str = "clip-vit-base-patch32";

/// How the server behaves.
#[derive(Default)]
struct Behaviour {
    /// Answers that carry no bytes of a file are let through; after so many bytes of files in all, it hangs up.
    bytes_left: AtomicU64,
    cuts_off: AtomicBool,
    knows_no_ranges: AtomicBool,
    /// Files are behind a redirect, which alone knows their hash.
    redirects: AtomicBool,
    wrong_hash: AtomicBool,
    served: AtomicU64,
    ranges: Mutex<Vec<String>>,
}

struct Server {
    address: String,
    behaviour: Arc<Behaviour>,
}

fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// A server of files on a port of its own; its thread ends with the test's process.
fn serve(files: BTreeMap<String, Vec<u8>>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let behaviour = Arc::new(Behaviour::default());
    let (own, files) = (behaviour.clone(), Arc::new(files));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (own, files) = (own.clone(), files.clone());
            std::thread::spawn(move || answer(stream, &own, &files));
        }
    });
    Server { address, behaviour }
}

fn answer(mut stream: TcpStream, behaviour: &Behaviour, files: &BTreeMap<String, Vec<u8>>) -> Option<()> {
    let request = Request::read(&stream).ok()?;
    let (method, path) = request.line().split_once(' ')?;
    let range = request.header("range").and_then(|value| value.strip_prefix("bytes="));
    let is_behind = path.starts_with("/behind/");
    let name = path.trim_start_matches("/behind").trim_start_matches('/');
    let Some(file) = files.get(name) else { return respond(&mut stream, 404, "", b"").ok() };
    let hash = if behaviour.wrong_hash.load(Ordering::SeqCst) { "0".repeat(64) } else { sha256(file) };
    if behaviour.redirects.load(Ordering::SeqCst) && !is_behind {
        let headers = format!("location: /behind/{name}\r\nx-linked-etag: \"{hash}\"\r\n");
        return respond(&mut stream, 302, &headers, b"").ok();
    }
    let etag = if is_behind { "w/\"of the server behind\"".to_owned() } else { format!("\"{hash}\"") };
    let ranges = range.filter(|_| !behaviour.knows_no_ranges.load(Ordering::SeqCst));
    let (status, bytes, extra) = match ranges {
        Some(range) => {
            behaviour.ranges.lock().unwrap().push(format!("{name} {range}"));
            let (from, to) = range.split_once('-')?;
            let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
            ("206 Partial Content", &file[from..=to], format!("content-range: bytes {range}/{}\r\n", file.len()))
        }
        None => ("200 OK", &file[..], String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\netag: {etag}\r\n{extra}connection: close\r\n\r\n",
        bytes.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    if method == "HEAD" {
        return Some(());
    }
    for chunk in bytes.chunks(1000) {
        if behaviour.cuts_off.load(Ordering::SeqCst) {
            let left = behaviour.bytes_left.load(Ordering::SeqCst);
            behaviour.bytes_left.store(left.saturating_sub(chunk.len() as u64), Ordering::SeqCst);
            if left < chunk.len() as u64 {
                return None;
            }
        }
        stream.write_all(chunk).ok()?;
        behaviour.served.fetch_add(chunk.len() as u64, Ordering::SeqCst);
    }
    Some(())
}

/// A file of the encoder that the fixtures hold.
fn fixture(name: &str) -> Vec<u8> {
    fs::read(locdiff_testing::fixture("clip/whole").join(name)).unwrap()
}

/// The vision tower's tensors, by name.
fn tower() -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let bytes = fixture("model.safetensors");
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let is_seen = |(name, _): &(String, _)| name.starts_with("vision_model.") || name == "visual_projection.weight";
    let mut tensors: Vec<_> = file.tensors().into_iter().filter(is_seen).collect();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let halves = |data: &[u8]| data.as_chunks().0.iter().map(|&two| half::f16::from_le_bytes(two).to_f32()).collect();
    tensors.into_iter().map(|(name, tensor)| (name, tensor.shape().to_vec(), halves(tensor.data()))).collect()
}

/// The bytes that come: the tower's as f32, and two small files.
fn wanted_bytes() -> u64 {
    let tower: usize = tower().iter().map(|(.., values)| 4 * values.len()).sum();
    (tower + fixture("config.json").len() + fixture("preprocessor_config.json").len()) as u64
}

/// A safetensors file with a text tower before the vision tower, and something behind it.
fn weights() -> Vec<u8> {
    let mut tensors = vec![("text_model.big".to_owned(), vec![40_000], vec![0.5; 40_000])];
    tensors.extend(tower());
    tensors.last_mut().unwrap().2[7] = 1e6;
    tensors.push(("zzz_behind".to_owned(), vec![9_000], vec![0.5; 9_000]));
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape, values) in tensors {
        let begin = data.len();
        data.extend(values.iter().flat_map(|value: &f32| value.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()]});
        header.insert(name, entry);
    }
    let header = serde_json::to_string(&header).unwrap();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data[..]].concat()
}

fn encoder_files() -> BTreeMap<String, Vec<u8>> {
    let file = |name: &str| format!("{ENCODER}/{name}");
    BTreeMap::from([
        (file("config.json"), fixture("config.json")),
        (file("preprocessor_config.json"), fixture("preprocessor_config.json")),
        (file("model.safetensors"), weights()),
    ])
}

fn settings(home: &Path, from: &str) -> GetSettings {
    let mut settings = GetSettings::new(home);
    settings.from = Some(from.to_owned());
    settings.pause = Duration::ZERO;
    settings
}

/// An empty data folder, a server of the encoder, and settings that lead from one to the other.
fn start() -> (tempfile::TempDir, Server, GetSettings) {
    let (home, server) = (tempfile::tempdir().unwrap(), serve(encoder_files()));
    let settings = settings(home.path(), &server.address);
    (home, server, settings)
}

fn get(settings: &GetSettings) -> Result<(), GetError> {
    GetPlan::new(ENCODER, settings.clone())?.run(&mut |_, _| true)
}

/// What the folder must hold: the vision tower as f16, but for the tensor with a value that f16 cannot hold.
fn check_encoder(home: &Path) {
    let here = Installed::all(home).unwrap();
    assert_eq!(here.len(), 1, "{here:?}");
    assert_eq!(here[0].name, ENCODER);
    let bytes = fs::read(here[0].folder.join("model.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), tower().len());
    for (name, shape, values) in tower().iter().filter(|(name, ..)| name != "visual_projection.weight") {
        let tensor = file.tensor(name).unwrap();
        assert_eq!((tensor.dtype(), tensor.shape()), (safetensors::Dtype::F16, &shape[..]));
        let halves: Vec<u8> = values.iter().flat_map(|value| half::f16::from_f32(*value).to_le_bytes()).collect();
        assert_eq!(tensor.data(), halves);
    }
    assert_eq!(file.tensor("visual_projection.weight").unwrap().dtype(), safetensors::Dtype::F32);
    let text = fs::read_to_string(here[0].folder.join("origin.json")).unwrap();
    let origin: serde_json::Value = serde_json::from_str(&text).unwrap();
    let stated = origin["files"].as_array().unwrap().iter().find(|file| file["name"] == "model.safetensors").unwrap();
    assert_eq!(stated["sha256"], sha256(&bytes), "{text}");
    assert_eq!(names_in(&Installed::models_folder(home)), [ENCODER], "nothing half-written");
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn only_the_vision_tower_comes_and_is_kept_as_f16() {
    let (home, server, settings) = start();
    let plan = GetPlan::new(ENCODER, settings.clone()).unwrap();
    assert_eq!(plan.bytes(), wanted_bytes());
    let mut came = 0;
    plan.run(&mut |_, bytes| {
        came += bytes;
        true
    })
    .unwrap();
    assert_eq!(came, wanted_bytes());
    check_encoder(home.path());
    assert!(server.behaviour.served.load(Ordering::SeqCst) < wanted_bytes() + 20_000, "the text tower stayed there");
    assert!(GetPlan::new(ENCODER, settings).unwrap().is_empty(), "it is here already");
    assert!(Installed::remove(home.path(), ENCODER).unwrap() > 20_000);
    assert!(names_in(&Installed::models_folder(home.path())).is_empty());
    // What was not fetched stays: a model of one's own, and whatever is outside.
    let own = Installed::models_folder(home.path()).join("own");
    fs::create_dir(&own).unwrap();
    for name in ["own", "../models", ".", ""] {
        let error = Installed::remove(home.path(), name).unwrap_err().to_string();
        assert!(error.contains("was not downloaded"), "{error}");
    }
    assert!(own.is_dir());
}

#[test]
fn a_run_that_is_cut_off_anywhere_goes_on_where_it_ended() {
    let server = serve(encoder_files());
    for cut in [0, 10, 3_000, 9_000, 20_000, 39_000] {
        let home = tempfile::tempdir().unwrap();
        let settings = settings(home.path(), &server.address);
        let plan = GetPlan::new(ENCODER, settings.clone()).unwrap();
        server.behaviour.cuts_off.store(true, Ordering::SeqCst);
        server.behaviour.bytes_left.store(cut, Ordering::SeqCst);
        let error = plan.run(&mut |_, _| true).unwrap_err();
        server.behaviour.cuts_off.store(false, Ordering::SeqCst);
        assert!(matches!(error, GetError::BrokeOff { .. }), "{cut}: {error}");
        assert!(Installed::all(home.path()).unwrap().is_empty(), "{cut}: not whole, so not there");
        server.behaviour.ranges.lock().unwrap().clear();
        let left = GetPlan::new(ENCODER, settings.clone()).unwrap().bytes();
        assert!(left <= wanted_bytes() - cut.saturating_sub(2_000), "{cut}: {left} left");
        get(&settings).unwrap();
        check_encoder(home.path());
        let asked = server.behaviour.ranges.lock().unwrap().join("\n");
        let begin = 8 + u64::from_le_bytes(weights()[..8].try_into().unwrap()) + 4 * 40_000;
        let is_resumed = !asked.contains(&format!("model.safetensors {begin}-"));
        assert_eq!(is_resumed, cut >= 3_000, "{cut}: {asked}");
    }
}

#[test]
fn a_connection_that_breaks_now_and_then_is_tried_again() {
    let (home, server, settings) = start();
    let plan = GetPlan::new(ENCODER, settings).unwrap();
    let behaviour = &server.behaviour;
    behaviour.cuts_off.store(true, Ordering::SeqCst);
    behaviour.bytes_left.store(15_000, Ordering::SeqCst);
    let mut came = 0;
    plan.run(&mut |_, bytes| {
        came += bytes;
        if came > 12_000 {
            behaviour.bytes_left.store(15_000, Ordering::SeqCst); // it recovers
        }
        true
    })
    .unwrap();
    check_encoder(home.path());
}

#[test]
fn other_bytes_than_were_published_are_not_kept() {
    let (home, server, mut settings) = start();
    settings.whole = true;
    server.behaviour.wrong_hash.store(true, Ordering::SeqCst);
    let error = get(&settings).unwrap_err();
    assert!(matches!(error, GetError::Hash { .. }), "{error}");
    assert!(Installed::all(home.path()).unwrap().is_empty());
    let part = Installed::models_folder(home.path()).join(format!(".{ENCODER}.part/config.json.part"));
    assert!(!part.exists(), "what is wrong is not gone on with");
    server.behaviour.wrong_hash.store(false, Ordering::SeqCst);
    get(&settings).unwrap();
    check_encoder(home.path());
}

#[test]
fn a_server_behind_a_redirect_and_one_without_ranges() {
    for (redirects, no_ranges) in [(true, false), (false, true), (true, true)] {
        let (home, server, settings) = start();
        server.behaviour.redirects.store(redirects, Ordering::SeqCst);
        server.behaviour.knows_no_ranges.store(no_ranges, Ordering::SeqCst);
        get(&settings).unwrap();
        check_encoder(home.path());
        if no_ranges {
            // All bytes came, so the hub's hash is compared with all of them.
            let home = tempfile::tempdir().unwrap();
            server.behaviour.wrong_hash.store(true, Ordering::SeqCst);
            let error = get(&self::settings(home.path(), &server.address)).unwrap_err();
            assert!(matches!(error, GetError::Hash { .. }), "{error}");
            assert!(Installed::all(home.path()).unwrap().is_empty());
        }
    }
}

#[test]
fn stopping_keeps_what_came() {
    let (home, _server, settings) = start();
    let plan = GetPlan::new(ENCODER, settings.clone()).unwrap();
    let mut came = 0;
    let error = plan.run(&mut |_, bytes| {
        came += bytes;
        came < 100
    });
    assert!(matches!(error, Err(GetError::Stopped)));
    assert!(plan.bytes() < wanted_bytes() && Installed::all(home.path()).unwrap().is_empty());
    get(&settings).unwrap();
    check_encoder(home.path());
}

#[test]
fn names_and_servers_that_are_not_there() {
    let home = tempfile::tempdir().unwrap();
    let plan = |name: &str, from: &str| GetPlan::new(name, settings(home.path(), from)).err().unwrap().to_string();
    let server = serve(BTreeMap::new());
    let error = plan(ENCODER, &server.address);
    assert!(error.contains("the file does not exist"), "{error}");
    assert!(!Installed::models_folder(home.path()).exists());
    let mut bytes = weights();
    bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut files = encoder_files();
    files.insert(format!("{ENCODER}/model.safetensors"), bytes);
    let error = plan(ENCODER, &serve(files).address);
    assert!(error.contains("no safetensors file"), "{error}");
}

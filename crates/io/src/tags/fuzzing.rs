//! Any bytes in the place of a journal: `undo` changes nothing outside its folder, and nothing at all where it refuses.

use crate::tags::{TagError, journal::JOURNAL_NAME, journal::hash, journal::kept_folder, undo};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::{collections::BTreeMap, env, fs, path::Path, path::PathBuf, process};

/// A folder with a journal in it, and things around it that are not to be touched.
struct Sandbox {
    outer: PathBuf,
    around: BTreeMap<PathBuf, Vec<u8>>,
}

const OLD: &[u8] = b"what it was before";

impl Sandbox {
    fn new() -> Self {
        let outer = env::temp_dir().join(format!("locdiff-fuzz-{}-undo", process::id()));
        let _ = fs::remove_dir_all(&outer);
        let (other, kept) = (outer.join("other"), kept_folder(&outer.join(JOURNAL_NAME)));
        for folder in [&other, &kept] {
            fs::create_dir_all(folder).expect("a folder for temporary files");
        }
        for file in ["outside.txt", "other/x.jpg", "other/a.jpg_original", ".locdiff.lock.txt", "d_original"] {
            fs::write(outer.join(file), file).expect("a temporary file");
        }
        fs::write(kept.join(kept_name()), OLD).expect("a temporary file");
        let around = files(&outer, None);
        Self { outer, around }
    }

    fn fill(&self, journal: &[u8]) -> PathBuf {
        let folder = self.outer.join("d");
        let _ = fs::remove_dir_all(&folder);
        let kept = kept_folder(&folder.join(JOURNAL_NAME));
        fs::create_dir_all(folder.join("sub")).and_then(|()| fs::create_dir(&kept)).expect("folders");
        for file in ["a.jpg", "a.jpg_original", "sub/b.jpg"] {
            fs::write(folder.join(file), file).expect("a temporary file");
        }
        fs::write(kept.join(kept_name()), OLD).expect("a temporary file");
        #[cfg(unix)]
        for (target, link) in [("../outside.txt", "link"), ("..", "up"), ("../other", "sub/linked")] {
            std::os::unix::fs::symlink(target, folder.join(link)).expect("a link");
        }
        fs::write(folder.join(JOURNAL_NAME), journal).expect("a temporary file");
        folder
    }
}

fn kept_name() -> String {
    format!("{}-{}", hash(b"x"), hash(OLD))
}

/// Names and bytes of all files below a folder, but for one of them; links by what they say.
fn files(folder: &Path, without: Option<&Path>) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        if without == Some(path.as_path()) {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).expect("a file that is there");
        let contents = if metadata.is_symlink() {
            fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
        } else if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            Vec::new()
        } else {
            fs::read(&path).expect("a file")
        };
        found.insert(path, contents);
    }
    found
}

/// Undoes a journal of any bytes in a folder of its own; how many files it dealt with. Panics if something outside the
/// folder changed, or something inside though the journal was refused.
pub fn undo_journal(bytes: &[u8]) -> Option<usize> {
    static PLACE: LazyLock<Mutex<Sandbox>> = LazyLock::new(|| Mutex::new(Sandbox::new()));
    let sandbox = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = sandbox.fill(bytes);
    let before = files(&folder, None);
    let planned = undo(&folder, true);
    assert_eq!(files(&folder, None), before, "a dry run changes nothing");
    let done = undo(&folder, false);
    assert_eq!(files(&sandbox.outer, Some(&folder)), sandbox.around, "something outside changed");
    match (planned, done) {
        (Ok(planned), Ok(done)) => {
            assert_eq!(planned, done);
            Some(done.len())
        }
        (planned, Err(error)) => {
            assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}");
            if matches!(error, TagError::Journal { .. }) {
                assert!(planned.is_err() && files(&folder, None) == before, "a journal is refused whole: {error}");
            }
            None
        }
        (Err(error), Ok(_)) => panic!("the dry run alone fails: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Two thousand journals of one to four lines, of names, hashes and old contents of which most are hostile.
    #[test]
    fn hostile_journals_touch_nothing_outside() {
        let outer = env::temp_dir().join(format!("locdiff-fuzz-{}-undo", process::id()));
        let outside = outer.join("outside.txt").display().to_string();
        let sound = ["a.jpg", "sub/b.jpg", "new.jpg", "a.jpg_original", "deep/er/new.jpg"];
        let hostile = format!(
            "../outside.txt|{outside}|/etc/hostname|up/outside.txt|link|up|sub/linked/x.jpg|sub/../a.jpg|\
             sub/../../outside.txt|./a.jpg|a.jpg/|sub//b.jpg||.|..|sub|C:\\outside.txt|C:outside.txt|\
             \\\\host\\outside.txt|..\\outside.txt|a.jpg\0|~/outside.txt/..|locdiff-journal.jsonl|\
             locdiff-journal.kept/../../outside.txt|../locdiff-journal.kept|../d|../other/x.jpg|../other/a.jpg"
        );
        let hostile: Vec<&str> = hostile.split('|').collect();
        let names = "a.jpg a.jpg_original sub/b.jpg outside.txt other/x.jpg other/a.jpg_original".split(' ');
        let others = [hash(OLD), "00".to_owned(), "../x".to_owned()];
        let hashes: Vec<String> = names.map(|text| hash(text.as_bytes())).chain(others).collect();
        let kept = [
            kept_name(),
            outside.clone(),
            "../../outside.txt".to_owned(),
            format!("../../locdiff-journal.kept/{}", kept_name()),
            format!("{}-../../../outside.txt", hash(b"x")),
            "up".to_owned(),
            String::new(),
        ];
        let mut state = 7_u64;
        let mut pick = |count: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % count as u64) as usize
        };
        let (mut refused, mut done) = (0, 0);
        for _ in 0..2000 {
            let mut lines = String::new();
            for _ in 0..=pick(3) {
                let is_sound = pick(3) > 0;
                let file = if is_sound { sound[pick(sound.len())] } else { hostile[pick(hostile.len())] };
                let hash = &hashes[pick(if is_sound { 6 } else { hashes.len() })];
                let mut line = json!({"file": file, "hash": hash, "kept": null});
                match pick(6) {
                    0 => line["kept"] = json!(kept[if is_sound { 0 } else { pick(kept.len()) }]),
                    1 => line["original"] = json!(hashes[pick(hashes.len())]),
                    2 if !is_sound => line["more"] = json!(outside),
                    _ => {}
                }
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
            match undo_journal(lines.as_bytes()) {
                None => refused += 1,
                Some(files) => done += files,
            }
        }
        println!("2000 journals: {refused} refused, {done} files dealt with, nothing outside touched");
        assert!(refused > 500 && done > 500, "{refused} refused, {done} files");
        fs::remove_dir_all(outer).unwrap();
    }
}

//! `locdiff get`: asks first, fetches from a folder, lists and removes.

use crate::common;

use common::{command, stderr};
use std::fs;

#[test]
fn a_name_is_listed_fetched_from_a_folder_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        |words: &str| command(folder.path(), words).env("LOCDIFF_HOME", folder.path().join("home")).output().unwrap();
    let list = String::from_utf8(run("get --list").stdout).unwrap();
    assert!(list.lines().count() >= 4 && list.contains("geoclip") && !list.contains("here"), "{list}");
    fs::create_dir(folder.path().join("copies")).unwrap();
    fs::write(folder.path().join("copies/im2gps3k_places365.csv"), "IMG_ID,LAT,LON\na.jpg,1,2\n").unwrap();
    let asked = run("get im2gps3k --from copies");
    assert_eq!(asked.status.code(), Some(2), "{}", stderr(&asked));
    assert!(stderr(&asked).contains("there is no terminal: add --yes"), "{}", stderr(&asked));
    let fetched = run("get im2gps3k --from copies --yes --json");
    assert!(fetched.status.success(), "{}", stderr(&fetched));
    assert!(stderr(&fetched).contains("licence") && stderr(&fetched).contains("im2gps3ktest.zip is not fetched"));
    let said: serde_json::Value = serde_json::from_slice(&fetched.stdout).unwrap();
    assert_eq!((said["name"].as_str(), said["bytes"].as_u64()), (Some("im2gps3k"), Some(25)), "{said}");
    assert!(folder.path().join("home/models/im2gps3k/im2gps3k_places365.csv").is_file());
    let list = String::from_utf8(run("get --list").stdout).unwrap();
    assert_eq!(list.matches("here, ").count(), 1, "{list}");
    assert!(run("get --remove im2gps3k").status.success());
    let gone = run("get --remove im2gps3k");
    assert_eq!(gone.status.code(), Some(1));
    assert!(stderr(&gone).contains("'im2gps3k' was not fetched"), "{}", stderr(&gone));
    let unknown = run("get geoclap --yes");
    assert!(stderr(&unknown).contains("nothing is published as 'geoclap'"), "{}", stderr(&unknown));
    let missing = run("get geoclip --yes --from copies");
    assert!(stderr(&missing).contains("copies has no config.json") && stderr(&missing).contains("--from"));
}

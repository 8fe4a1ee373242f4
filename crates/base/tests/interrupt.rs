//! What a Ctrl-C handler does, in a process of its own: it would take the other tests' files with it.

use locdiff_base::AtomicFile;
use std::io::Write;

#[test]
fn pending_files_are_removed_and_committed_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    let done = folder.path().join("done.csv");
    AtomicFile::create(&done).unwrap().commit().unwrap();
    let mut open: Vec<AtomicFile> =
        (0..3).map(|i| AtomicFile::create(&folder.path().join(format!("{i}.csv"))).unwrap()).collect();
    open[0].write_all(b"half a fi").unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    assert_eq!(AtomicFile::remove_all_pending(), 3);
    assert_eq!(AtomicFile::remove_all_pending(), 0);
    // A commit that comes too late fails cleanly; a drop that comes too late does nothing.
    assert!(open.pop().unwrap().commit().is_err());
    drop(open);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["done.csv"]);
}

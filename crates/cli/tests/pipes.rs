//! Standard output that is closed or full.
#![cfg(unix)]

use crate::common;

use common::{fixture, model_of_towns, ok, run};
use std::fs;

/// Every command that writes files, with nobody to read what it says: by `| head`, `2>&1 | head`, `>/dev/full` and `2>/dev/full`. The files
/// are those of a run that is read to its end; the exit code is 1 where what it prints got lost, notes apart.
#[test]
fn closed_and_full_outputs_stop_no_files() {
    let prepared = common::scratch();
    model_of_towns(&prepared);
    ok(&prepared, "encode --at 1,2 --at 3,4 -L 7 -o codes.npy");
    let rows = "--embeddings photos.npy --device cpu";
    let mut commands = vec![
        "encode --at 1,2 -L 3 -o c.npy".to_owned(),
        "decode codes.npy -o d.csv".to_owned(),
        "density codes.npy --geotiff d.tif".to_owned(),
        format!("sample --model run {rows} --samples 2 -o s.csv"),
        format!("locate --model run {rows} --samples 2 --csv l.csv"),
        format!("locate --model run {rows} --samples 2 --csv - --geojson l.geojson"),
        "evaluate --truth photos.csv --predictions photos.csv --prdc none --by none --replicates 40 --csv e.csv"
            .to_owned(),
        "gallery build --embeddings photos.npy --locations photos.csv -o g".to_owned(),
        format!("{} --embeddings photos.npy --locations photos.csv", common::TRAIN.replace("run", "again")),
        "man --out pages".to_owned(),
    ];
    #[cfg(feature = "bundled")]
    {
        crate::tagging::photos(&prepared);
        ok(&prepared, "batch plan in --out job --shard-photos 3");
        fs::create_dir(prepared.join("done")).unwrap();
        fs::copy(fixture("vision/rgb.jpg"), prepared.join("done/a.jpg")).unwrap();
        let tag = "in --device cpu --tag-guesses --yes --allow-bad";
        ok(&prepared, "locate done --device cpu --tag-guesses --yes --in-place");
        commands.extend([
            format!("locate {tag} --xmp --csv -"),
            format!("album {tag} --xmp --write-place-names"),
            format!("album {tag} --write-exif t --copy-all"),
            "undo done".to_owned(),
            "embed in --device cpu -o e.npy --allow-bad".to_owned(),
            "batch plan in --out other".to_owned(),
            "batch run job --device cpu".to_owned(),
        ]);
    }
    let names = |folder: &std::path::Path| {
        let files = locdiff_testing::files(folder).into_iter();
        files.map(|(path, bytes)| (path.strip_prefix(folder).unwrap().to_owned(), bytes.is_empty())).collect::<Vec<_>>()
    };
    let full = || fs::File::create("/dev/full").unwrap();
    for words in commands {
        let copy = || {
            let copy = common::scratch();
            let copied = std::process::Command::new("cp").arg("-a").arg(prepared.join(".")).arg(copy.path()).status();
            assert!(copied.unwrap().success());
            copy
        };
        let whole = copy();
        let said = run(&whole, &words);
        let code = said.status.code().unwrap();
        assert!(code < 2, "{words}: {}", common::stderr(&said));
        let is_said = !said.stdout.is_empty();
        for way in ["| head", "2>&1 | head", ">/dev/full", "2>/dev/full"] {
            let folder = copy();
            let mut command = common::command(&folder, &words);
            let (reader, closed) = std::io::pipe().unwrap();
            drop(reader);
            match way {
                "| head" => command.stdout(closed),
                "2>&1 | head" => command.stdout(closed.try_clone().unwrap()).stderr(closed),
                ">/dev/full" => command.stdout(full()),
                _ => command.stderr(full()),
            };
            let output = command.output().unwrap();
            let expected = if is_said && way != "2>/dev/full" { 1 } else { code };
            assert_eq!(output.status.code(), Some(expected), "{words} {way}: {}", common::stderr(&output));
            assert_eq!(names(&folder), names(&whole), "{words} {way}");
        }
    }
    // Without files there is nothing left to do; a full disk has a name.
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    assert!(common::command(&prepared, "decode codes.npy").stdout(closed).status().unwrap().success());
    let output = common::command(&prepared, "decode codes.npy").stdout(full()).output().unwrap();
    let said = common::stderr(&output);
    assert!(output.status.code() == Some(1) && said.contains("cannot write standard output: No space left"), "{said}");
}

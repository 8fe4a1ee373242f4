//! Examples at the end of every command's help.

use clap::Command;
use std::fmt::Write;

/// A command line, and what it is for where it does not say itself.
type Example = (&'static str, &'static str);

/// By the command's path below `locdiff`.
#[rustfmt::skip]
const EXAMPLES: &[(&str, &[Example])] = &[
    ("", &[
        ("locdiff locate photo.jpg", "where was it taken?"),
        ("locdiff locate holiday/ --map holiday.html", "a folder, on one map to look at"),
        ("locdiff locate holiday/ --write-exif tagged --dry-run", "what tagging would write"),
        ("locdiff completions bash > ~/.local/share/bash-completion/completions/locdiff", ""),
    ]),
    ("locate", &[
        ("locdiff locate photo.jpg", ""),
        ("locdiff locate holiday/ --csv places.csv --map map.html", ""),
        ("locdiff locate holiday/ --within Europe", ""),
        ("locdiff locate photo.jpg --within Bavaria --within Austria", "one of several regions"),
        ("locdiff locate photo.jpg --within \"50 km around 48.85,2.35\"", ""),
        ("locdiff locate holiday/ --write-exif tagged --dry-run", "see first what tagging would write"),
        ("locdiff locate holiday/ --write-exif tagged --yes", "copies with GPS tags; `locdiff undo tagged` takes them back"),
        ("locdiff locate holiday/ --exiftool-csv gps.csv && exiftool -csv=gps.csv holiday/", ""),
        ("locdiff locate photo.jpg --json | jq .best", ""),
    ]),
    ("album", &[
        ("locdiff album trip/", "photos with GPS tags say where the others are"),
        ("locdiff album trip/ --map trip.html --gpx trip.gpx", "a map with a slider through time, and the track"),
        ("locdiff album trip/ --write-exif tagged --dry-run", "see first what tagging would write"),
        ("locdiff album views/ --same-place", "several photos of one place"),
        ("locdiff album --embeddings photos.safetensors --times photos.csv --json", ""),
    ]),
    ("immich", &[
        ("export IMMICH_API_KEY=… && locdiff immich http://127.0.0.1:2283 suggest --after 2024-05-01T00:00:00Z", "changes nothing there"),
        ("locdiff immich http://127.0.0.1:2283 review", "look and tick"),
        ("locdiff immich http://127.0.0.1:2283 apply", ""),
        ("locdiff immich http://127.0.0.1:2283 undo", ""),
    ]),
    ("immich suggest", &[("locdiff immich http://127.0.0.1:2283 suggest --after 2024-05-01T00:00:00Z", "")]),
    ("immich review", &[("locdiff immich http://127.0.0.1:2283 review", "")]),
    ("immich apply", &[("locdiff immich http://127.0.0.1:2283 apply", "")]),
    ("immich undo", &[("locdiff immich http://127.0.0.1:2283 undo", "")]),
    ("batch", &[
        ("locdiff batch plan archive/ --out job", "a folder of shards"),
        ("locdiff batch run job", "on one machine, or on several that share the folder"),
        ("locdiff batch merge job --out answers.csv", ""),
    ]),
    ("batch plan", &[
        ("locdiff batch plan archive/ --out job", ""),
        ("locdiff batch plan shard-*.tar --out job --task embed --shard-photos 5000", ""),
        ("locdiff batch plan osv5m/train.csv --images osv5m/images/train --task embed --out job", "a published list, pictures in .zip shards"),
    ]),
    ("batch run", &[
        ("locdiff batch run job", "all shards that are not made yet"),
        ("sbatch --array=0-99 --wrap 'locdiff batch run job --shard $SLURM_ARRAY_TASK_ID'", "SLURM"),
        ("locdiff batch run job --shard 2/10", "machine 2 of 10, numbered from 0"),
    ]),
    ("batch merge", &[
        ("locdiff batch merge job --out answers.csv", ""),
        ("locdiff batch merge job --out embeddings.safetensors", "of a job that embeds"),
    ]),
    ("serve", &[
        ("locdiff serve", "then open http://127.0.0.1:8080 in a browser"),
        ("curl -X POST -H 'content-type: image/jpeg' -T photo.jpg 'http://127.0.0.1:8080/v1/locate?name=photo.jpg'", ""),
        ("locdiff serve --address 0.0.0.0:8080 --key-file key.txt", "for others: put a proxy with TLS in front"),
    ]),
    ("encode", &[
        ("locdiff encode --at 48.86,2.35 -L 23", ""),
        ("locdiff encode places.csv -L 47 --out codes.npy", ""),
    ]),
    ("decode", &[
        ("locdiff decode codes.npy", ""),
        ("locdiff decode codes.npy --decoder anchors --anchors fibonacci:21000 --out places.csv", ""),
    ]),
    ("density", &[
        ("locdiff density --at 48.86,2.35 -L 23 --png paris.png", ""),
        ("locdiff density codes.npy --row 3 --geojson regions.geojson --geotiff density.tif", ""),
    ]),
    ("train", &[
        ("locdiff embed photos/ --out photos.safetensors", ""),
        ("locdiff train --embeddings photos.safetensors --locations photos.csv --out run", ""),
        ("locdiff train --embeddings photos.safetensors --locations photos.csv --out run --resume", ""),
    ]),
    ("sample", &[
        ("locdiff sample --model run --embeddings photos.safetensors --out places.csv", ""),
    ]),
    ("embed-location", &[
        ("locdiff embed-location --model geoclip --at 48.86,2.35", ""),
    ]),
    ("gallery", &[
        ("locdiff gallery build photos/ --out gallery", ""),
        ("locdiff gallery search gallery --embeddings photos.safetensors", ""),
    ]),
    ("gallery build", &[
        ("locdiff gallery build photos/ --out gallery", ""),
        ("locdiff gallery build --embeddings photos.safetensors --locations photos.csv --out gallery", ""),
    ]),
    ("gallery search", &[
        ("locdiff gallery search gallery --embeddings photos.safetensors", ""),
    ]),
    ("import", &[
        ("locdiff import geoclip geoclip-1.2.0-py3-none-any.whl --out geoclip", ""),
    ]),
    ("import geoclip", &[
        ("pip download --no-deps geoclip", "its wheel holds the weights"),
        ("locdiff import geoclip geoclip-1.2.0-py3-none-any.whl --out geoclip", ""),
    ]),
    ("embed", &[
        ("locdiff embed photos/ --out photos.safetensors", ""),
        ("locdiff embed shard-000.tar shard-001.tar --out shards.safetensors --encoder clip-vit-large-patch14", ""),
    ]),
    ("encoder", &[
        ("locdiff encoder inspect", "the one inside the program"),
        ("locdiff encoder inspect clip-vit-large-patch14", ""),
    ]),
    ("encoder inspect", &[
        ("locdiff encoder inspect", "the one inside the program"),
        ("locdiff encoder inspect clip-vit-large-patch14 --device cuda", ""),
    ]),
    ("recipe", &[
        ("locdiff recipe paper --data data --dry-run", "what is missing, and what the rest takes"),
    ]),
    ("recipe paper", &[
        ("locdiff recipe paper --data data --dry-run", "what is missing and where it is published, commands, hours, disk"),
        ("locdiff recipe paper --data data --out paper", "all of it; the same command goes on after a stop"),
        ("locdiff recipe paper --data data --train-on mp16 --benchmarks im2gps3k,yfcc4k --skip-missing --out paper", ""),
        ("locdiff recipe paper --data data --encoder bundled --set degree=23 --set steps=20000 --out small", "a smaller one"),
    ]),
    ("evaluate", &[
        ("locdiff evaluate --truth truth.csv --predictions places.csv", ""),
        ("locdiff evaluate --truth truth.csv --predictions places.csv --html report.html", ""),
        ("locdiff evaluate --truth im2gps3k_places365.csv --predictions places.csv --benchmark im2gps3k", "a published list, by its rules"),
    ]),
    ("plot", &[
        ("locdiff plot density codes.npy --out density.png", ""),
        ("locdiff plot resolution --out resolution.svg", ""),
    ]),
    ("plot density", &[
        ("locdiff plot density codes.npy --out density.png", ""),
    ]),
    ("plot coefficients", &[
        ("locdiff plot coefficients --out coefficients.svg", ""),
    ]),
    ("plot resolution", &[
        ("locdiff plot resolution --out resolution.svg", ""),
    ]),
    ("plot accuracy", &[
        ("locdiff plot accuracy degrees.json --out degrees.svg", "what `reproduce degrees --json` printed"),
    ]),
    ("plot noise", &[
        ("locdiff plot noise --out noise.png", ""),
    ]),
    ("reproduce diffusion", &[
        ("locdiff reproduce diffusion --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
    ("compare", &[
        ("locdiff compare --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
    ("calibrate", &[
        ("locdiff calibrate --model run --embeddings validation.safetensors --truth validation.csv", ""),
    ]),
    ("reproduce", &[
        ("locdiff reproduce drift", ""),
        ("locdiff reproduce losses --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
    ("reproduce drift", &[
        ("locdiff reproduce drift --json", ""),
    ]),
    ("reproduce gallery-bias", &[
        ("locdiff reproduce gallery-bias --gallery gallery.csv --truth truth.csv", ""),
    ]),
    ("reproduce timing", &[
        ("locdiff reproduce timing", ""),
    ]),
    ("version", &[
        ("locdiff version", ""),
        ("locdiff version --json | jq .commit", ""),
    ]),
    ("man", &[
        ("locdiff man | man -l -", ""),
        ("locdiff man --out ~/.local/share/man/man1", "a page for every command"),
    ]),
    ("completions", &[
        ("locdiff completions bash > ~/.local/share/bash-completion/completions/locdiff", ""),
        ("locdiff completions zsh > ~/.zfunc/_locdiff", ""),
        ("locdiff completions fish > ~/.config/fish/completions/locdiff.fish", ""),
    ]),
    ("undo", &[
        ("locdiff undo tagged --dry-run", "say what would be removed and restored"),
        ("locdiff undo tagged", "take back what `locate --write-exif tagged` wrote"),
        ("locdiff undo locdiff-journal.jsonl", ""),
    ]),
    ("reproduce losses", &[
        ("locdiff reproduce losses --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
    ("reproduce encoders", &[
        ("locdiff reproduce encoders --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
    ("reproduce widths", &[
        ("locdiff reproduce widths --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
    ("reproduce degrees", &[
        ("locdiff reproduce degrees --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
    ("reproduce anchors", &[
        ("locdiff reproduce anchors --embeddings e.npy --locations train.csv --validation-locations val.csv --test-locations test.csv", ""),
    ]),
];

/// The command with examples in its help and in that of all below it.
pub(crate) fn add(command: Command) -> Command {
    below(command, "")
}

fn below(mut command: Command, path: &str) -> Command {
    if let Some((_, examples)) = EXAMPLES.iter().find(|(other, _)| *other == path) {
        let rest = command.get_after_help().map(|text| format!("\n{text}\n")).unwrap_or_default();
        command = command.after_help(text(examples) + &rest);
    }
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |one| below(one, path.trim()));
    }
    command
}

fn text(examples: &[Example]) -> String {
    let mut text = "Examples:\n".to_owned();
    for (line, what) in examples {
        let what = if what.is_empty() { String::new() } else { format!("   # {what}") };
        writeln!(text, "  {line}{what}").expect("writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn check(command: &Command, path: &str) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with("Examples:\n"), "'{path}' has no example");
        for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
            check(one, format!("{path} {}", one.get_name()).trim());
        }
    }

    #[test]
    fn every_command_has_one() {
        check(&add(crate::Cli::command()), "");
    }

    /// Lines that need no value of a file are parsed; all name flags that exist.
    #[test]
    fn examples_parse() {
        let command = add(crate::Cli::command());
        for (line, _) in EXAMPLES.iter().flat_map(|(_, examples)| examples.iter()) {
            for part in line.split(['|', '>']).flat_map(|part| part.split("&&")) {
                let Some(words) = part.trim().strip_prefix("locdiff ") else { continue };
                let mut list: Vec<String> = vec!["locdiff".to_owned()];
                for (k, piece) in words.split('"').enumerate() {
                    if k % 2 == 1 {
                        list.push(piece.to_owned());
                    } else {
                        list.extend(piece.split_whitespace().map(str::to_owned));
                    }
                }
                let parsed = command.clone().try_get_matches_from(list);
                assert!(parsed.is_ok(), "{words}: {}", parsed.unwrap_err());
            }
        }
    }
}

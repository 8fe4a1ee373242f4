//! Transcripts: commands and what is expected of them, as text in `tests/transcripts`. Blank lines and lines with `#` are for readers.
//!
//! | line | meaning |
//! |---|---|
//! | `write FILE TEXT`, `copy FIXTURE FILE`, `folder NAME`, `remove NAME` | prepare the folder; `\n` and `\e` are a new line and ESC |
//! | `replace FILE TEXT → TEXT`, `restore FILE` | changes the first such text; the file is as it was when all were kept |
//! | `let NAME TEXT`, `env NAME VALUE` | `{NAME}` is the text, a variable has the value, from here on |
//! | `stdin FILE` | the next command reads the file |
//! | `$ COMMAND` | runs the program, words in '…' may hold blanks; it must end well unless the next line is one of the next three |
//! | `exit CODE`, `misused TEXT` | it ends with this code; with 2, for a reason that holds the text |
//! | `refused TEXT` | it ends with 1 and one line, which holds the text; notes may stand before it |
//! | `again`, `save FILE` | the same command prints the same; standard output becomes a file |
//! | `read FILE` | the file's text stands for standard output from here on |
//! | `out TEXT`, `err TEXT`, `not TEXT` | standard output or error holds the text; neither does |
//! | `begins TEXT`, `ends TEXT`, `lines COUNT` | standard output begins or ends with the text, or has so many lines |
//! | `line TEXT … TEXT` | a line of standard output holds all these texts |
//! | `count COUNT TEXT`, `silent` | the text is there so often in all that was printed; nothing is on standard error |
//! | `/0/KEY = VALUE` | also `!=`, `<`, `>`, `holds`: a value in the JSON of standard output, the first of which is 0 |
//! | `exists NAME`, `absent NAME`, `same FILE FILE`, `differ FILE FILE` | there or not; of the same bytes or not |
//! | `list FOLDER NAMES` | all files below the folder |
//! | `keep`, `kept` | all files are what they were |

use crate::common::{self, command, fixture, model_of_towns, read, root, scratch, stderr, write_npy};
use crate::{batch, belonging, embed, evaluate, geoclip, hybrid, inputs, tagging};
use locdiff_shdd::sphere::EARTH_RADIUS_KM;
use locdiff_testing::{files, output_in_time};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs};

/// Tests that are a transcript each; what stands behind `after` prepares the folder.
macro_rules! transcripts {
    ($($(#[$attribute:meta])* $name:ident $(after $prepare:expr)?;)*) => {$(
        $(#[$attribute])*
        #[test]
        fn $name() {
            let folder = scratch();
            $(($prepare)(&folder as &Path);)?
            play(&folder, stringify!($name));
        }
    )*};
}

transcripts! {
    an_existing_file_survives_a_failed_run;
    answers_are_matched_and_counted after evaluate::toy;
    answers_do_not_depend_on_shards after batch::photos;
    a_name_is_listed_fetched_from_a_folder_and_removed;
    a_track_and_stated_places_count;
    a_trained_model_finds_the_towns after text_embeddings;
    bad_input_gets_one_clear_line_and_leaves_nothing_behind after cut_matrix;
    bad_tables_of_albums_are_named;
    codes_go_through_pipes_in_every_format;
    densities_are_judged after flat_codes;
    embeddings_do_not_depend_on_shards after batch::photos;
    evaluate_refuses_wrong_files_in_one_line after evaluate::toy;
    every_decoder_answers;
    existing_files_need_force after towns_and_few;
    exit_codes_are_those_of_the_documents;
    geoclip_is_imported_and_retrieves after geoclip_features;
    idle_flags_and_wrong_pictures_are_refused after model_of_towns;
    local_times_stay_local;
    models_that_are_not_fetched_name_the_command after common::photos_of_towns;
    outputs_are_checked_before_any_work;
    rows_are_matched_by_name after four_rows;
    one_output_alone_goes_to_standard_output after towns_and_few;
    hybrid_rules_and_refusals after hybrid::train_and_test;
    places_of_many_photos_are_one_file;
    settings_out_of_bounds_are_named_with_their_file after model_of_towns;
    the_golden_table after golden_errors;
    train_names_bad_input_in_one_line after short_table;
    what_geoclip_has_not_is_said after geoclip::prepare;
}

#[cfg(all(unix, feature = "bundled"))]
transcripts! {
    an_encoder_is_described_checked_and_timed after embed::dead_encoder;
    another_encoder_is_refused_with_both_names after two_encoders;
    an_output_belongs_to_one_flag after tagging::photos;
    a_copy_is_an_album after tagging::photos;
    a_dry_run_says_all_and_writes_nothing after tagging::photos;
    a_photo_comes_through_standard_input;
    a_tag_is_replaced_only_when_asked_by_name after tagging::photos;
    a_tagged_photo_is_placed_at_its_tag after two_photos;
    a_folder_of_photos_with_places_trains_a_model after embed::with_places;
    bad_photos_have_one_exit_code;
    copies_of_photos_are_trained_with after |path| belonging::embed(path, "mine", "--augment 2");
    densities_are_rasters;
    devices_pipes_and_missing_files_fail_alone after inputs::make_pipe;
    embed_refuses_at_once_what_cannot_work after one_photo_and_a_cut_tar;
    existing_files_of_photos_need_force;
    exit_codes_of_tagging_are_the_same_in_both_commands after tagging::photos;
    files_tables_lists_and_shards_give_the_same_rows after embed::in_every_kind_of_input;
    guesses_are_no_tags_unless_asked_for after tagging::photos;
    large_photos_and_odd_tables_name_flags_that_there_are after |path| write(path, "large.png", embed::large_png());
    names_from_outside_stay_text;
    photos_without_a_time_have_none;
    quiet_verbose_colour_and_environment;
    regions_by_name_circle_and_several;
    shells_and_man_are_served;
    sidecars_keep_their_rating_and_undo_restores_them after tagging::photos;
    tagged_photos_are_left_and_the_rest_goes_on after tagging::photos;
    the_hybrid_says_which_photo_matched after |path| belonging::embed(path, "mine", "");
    the_summer_palace_gets_an_answer_and_maps;
    the_version_says_what_is_inside;
}

fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) {
    fs::write(folder.join(name), contents).unwrap();
}

fn text_embeddings(folder: &Path) {
    common::photos_of_towns(folder);
    write(folder, "e.jsonl", "[1.0, 0.0]\n".repeat(120));
}

fn cut_matrix(folder: &Path) {
    write(folder, "truncated.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortr");
}

fn flat_codes(folder: &Path) {
    write(folder, "flat.csv", vec![vec!["0"; 144].join(","); 4].join("\n"));
}

fn two_photos(folder: &Path) {
    fs::create_dir(folder.join("in")).unwrap();
    fs::copy(fixture("vision/china.jpg"), folder.join("in/a.jpg")).unwrap();
    let tagged = root().join("crates/io/tests/tags/fixtures/xmp_gps.jpg");
    fs::copy(tagged, folder.join("in/gps.jpg")).unwrap();
}

fn four_rows(folder: &Path) {
    let row = |k: usize| (0..5).map(|c| ((k * 5 + c) as f32 * 0.7).sin()).collect();
    write_npy(folder.join("photos.npy"), &(0..4).map(row).collect::<Vec<_>>());
}

/// A model of the towns, and three photos.
fn towns_and_few(folder: &Path) {
    model_of_towns(folder);
    let photo = |k: usize| ((0..5).map(|c| f32::from(u8::from(c == k))).collect(), common::TOWNS[k]);
    common::write_photos(folder, "few", (0..3).map(photo));
}

fn geoclip_features(folder: &Path) {
    let feature = |k: u16| (0..24).map(|c| (f32::from(k * 24 + c) * 0.7).sin()).collect();
    write_npy(folder.join("f.npy"), &(0..6).map(feature).collect::<Vec<_>>());
    write_npy(folder.join("e.npy"), &vec![vec![0.5; 10]; 20]); // as many numbers as places have, not photos
    write(folder, "evil.pth", b"\x80\x02cos\nsystem\n");
}

/// Photos, and a table that lacks the last of them.
fn short_table(folder: &Path) {
    common::write_toy(folder, 400);
    write(folder, "short.csv", read(folder.join("photos.csv")).trim_end().rsplit_once('\n').unwrap().0);
}

fn one_photo_and_a_cut_tar(folder: &Path) {
    embed::many(&folder.join("photos"), 1);
    write(folder, "c.tar", [7; 700]);
}

/// Embeddings by the bundled encoder, and by the same with another crop.
fn two_encoders(folder: &Path) {
    let (bundled, other) = (root().join("models/streetview-lite2"), folder.join("other-crop"));
    common::copy_files(&bundled, &other);
    locdiff_testing::replace(&other, "encoder.json", "\"centre_crop\": 256", "\"centre_crop\": 250");
    belonging::embed(folder, "mine", "");
    belonging::embed(folder, "other", &format!("--encoder {}", other.display()));
}

/// Predictions for Im2GPS3k by the authors of the "base M, f*" model, as their errors (lab/scripts/golden_errors.py), laid along the
/// equator: a published table.
fn golden_errors(folder: &Path) {
    let (mut truth, mut answers) = ("id,lat,lon\n".to_owned(), "id,lat,lon\n".to_owned());
    for line in read(fixture("eval/golden_errors.csv")).lines().skip(1) {
        let (id, metres) = line.split_once(',').unwrap();
        let degrees = (metres.parse::<f64>().unwrap() / 1000.0 / EARTH_RADIUS_KM).to_degrees();
        truth += &format!("{id},0,0\n");
        answers += &format!("{id},0,{degrees}\n");
    }
    write(folder, "truth.csv", truth);
    write(folder, "answers.csv", answers);
}

/// Plays a transcript in a folder.
#[track_caller]
pub(crate) fn play(folder: &Path, name: &str) {
    let text = read(root().join("crates/cli/tests/transcripts").join(format!("{name}.txt")));
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let absolute = |path: &Path| path.canonicalize().unwrap().display().to_string();
    let mut names = BTreeMap::from([("FIXTURES".to_owned(), absolute(&fixture("")))]);
    names.insert("FOLDER".to_owned(), absolute(folder));
    names.insert("VERSION".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let mut player = Player { folder: folder.to_owned(), ..Player::default() };
    for (k, &written) in lines.iter().enumerate() {
        let known = |line: String, (name, text): (&String, &String)| line.replace(&format!("{{{name}}}"), text);
        let line = names.iter().fold(written.to_owned(), known).replace("\\n", "\n").replace("\\e", "\u{1b}");
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let expects = |next: &&str| ["exit ", "refused ", "misused "].iter().any(|verb| next.starts_with(verb));
        let holds = match verb {
            "let" => names.insert(first.to_owned(), more.to_owned()).is_none(),
            "$" => player.run(rest) || lines.get(k + 1).is_some_and(expects),
            verb => player.prepare(verb, first, more).unwrap_or_else(|| player.holds(verb, rest)),
        };
        let Player { asked, code, out, err, .. } = &player;
        assert!(holds, "{name}: {asked}: {written}: code {code}\n{out}\n{err}");
    }
}

/// What a transcript is at.
#[derive(Default)]
struct Player {
    folder: PathBuf,
    environment: BTreeMap<String, String>,
    stdin: Option<fs::File>,
    /// The last command, what it printed, and with which code it ended.
    asked: String,
    code: i32,
    printed: Vec<u8>,
    out: String,
    err: String,
    kept: BTreeMap<PathBuf, Vec<u8>>,
}

impl Player {
    /// Runs a command; whether it ended well.
    fn run(&mut self, asked: &str) -> bool {
        let mut words = Vec::new();
        for (k, part) in asked.split('\'').enumerate() {
            if k % 2 == 1 { words.push(part) } else { words.extend(part.split_whitespace()) }
        }
        let mut command = command(&self.folder, &words);
        if let Some(stdin) = self.stdin.take() {
            command.stdin(stdin);
        }
        let output = output_in_time(command.envs(&self.environment));
        (self.asked, self.code, self.err) = (asked.to_owned(), output.status.code().unwrap_or(-1), stderr(&output));
        (self.out, self.printed) = (String::from_utf8_lossy(&output.stdout).into_owned(), output.stdout);
        assert!(!self.err.contains("panicked"), "{asked}: {}", self.err);
        self.code == 0
    }

    /// Lines that do something; none for others.
    fn prepare(&mut self, verb: &str, first: &str, more: &str) -> Option<bool> {
        let (path, other) = (self.folder.join(first), self.folder.join(more));
        match verb {
            "write" => fs::write(path, more).unwrap(),
            "copy" => drop(fs::copy(fixture(first), other).unwrap()),
            "folder" => fs::create_dir_all(path).unwrap(),
            "remove" if path.is_dir() => fs::remove_dir_all(path).unwrap(),
            "remove" => fs::remove_file(path).unwrap(),
            "env" => drop(self.environment.insert(first.to_owned(), more.to_owned())),
            "stdin" => self.stdin = Some(fs::File::open(path).unwrap()),
            "save" => fs::write(path, &self.printed).unwrap(),
            "keep" => self.kept = files(&self.folder),
            "restore" => fs::write(&path, &self.kept[&path]).unwrap(),
            "replace" => {
                let ((from, to), text) = (more.split_once(" → ").unwrap(), read(&path));
                fs::write(path, text.replacen(from, to, 1)).unwrap();
                return Some(text.contains(from));
            }
            "read" => {
                (self.out, self.err) = (String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(), String::new());
            }
            "again" => {
                let (asked, before) = (self.asked.clone(), self.printed.clone());
                return Some(self.run(&asked) && self.printed == before);
            }
            _ => return None,
        }
        Some(true)
    }

    /// Lines that expect something.
    fn holds(&self, verb: &str, rest: &str) -> bool {
        let Self { folder, code, out, err, .. } = self;
        let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let path = folder.join(first);
        let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
        match verb {
            "exit" => code.to_string() == rest,
            "misused" => *code == 2 && err.lines().any(|line| line.starts_with("error: ")) && err.contains(rest),
            "refused" => {
                let mut said = err.lines().filter(|line| !line.starts_with("note: "));
                let is_first = said.next().is_some_and(|line| line.starts_with("error: ") && line.contains(rest));
                *code == 1 && is_first && said.next().is_none()
            }
            "out" => out.contains(rest),
            "err" => err.contains(rest),
            "not" => !out.contains(rest) && !err.contains(rest),
            "begins" => out.starts_with(rest),
            "ends" => out.ends_with(rest),
            "lines" => out.lines().count().to_string() == rest,
            "line" => out.lines().any(|line| rest.split(" … ").all(|part| line.contains(part))),
            "count" => (out.matches(more).count() + err.matches(more).count()).to_string() == first,
            "silent" => err.is_empty(),
            "exists" => path.exists(),
            "absent" => !path.exists(),
            "same" => bytes(first) == bytes(more),
            "differ" => bytes(first) != bytes(more),
            "list" => {
                let found = files(&path);
                found.keys().map(|file| file.strip_prefix(&path).unwrap()).eq(more.split_whitespace().map(Path::new))
            }
            "kept" => self.kept == files(folder),
            pointer => {
                let (comparison, expected) = (first, serde_json::from_str(more).unwrap_or_else(|_| more.into()));
                let answers: Value =
                    serde_json::Deserializer::from_str(out).into_iter::<Value>().map(Result::unwrap).collect();
                let found = answers.pointer(pointer).unwrap_or(&Value::Null);
                let less = |a: &Value, b: &Value| a.as_f64().unwrap() < b.as_f64().unwrap();
                match comparison {
                    "=" => *found == expected,
                    "!=" => *found != expected,
                    "<" => less(found, &expected),
                    ">" => less(&expected, found),
                    "holds" => found.as_str().unwrap().contains(more),
                    other => panic!("{pointer} {rest}: what is {other}?"),
                }
            }
        }
    }
}

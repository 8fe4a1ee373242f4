//! Transcripts: commands and what is expected of them, as text in `tests/transcripts`. Blank lines and lines with `#` are for readers.
//!
//! | line | meaning |
//! |---|---|
//! | `write FILE TEXT`, `copy FIXTURE FILE` (or a folder of files), `folder NAME`, `link TARGET NAME`, `second FILE NAME` (a hard link), `remove NAME` | prepare the folder; `\n` and `\e` are a new line and ESC |
//! | `replace FILE TEXT → TEXT`, `restore FILE` | changes the first such text; the file is as it was when all were kept |
//! | `cut FILE COUNT`, `flip FILE COUNT` | the file loses so many bytes; a byte so many before its end changes |
//! | `let NAME TEXT`, `env NAME VALUE` | `{NAME}` is the text, a variable has the value, from here on |
//! | `stdin FILE` | the next command reads the file |
//! | `$ COMMAND` | runs the program, words in '…' may hold blanks; it must end well unless the next line is one of the next three |
//! | `exit CODE`, `misused TEXT` | it ends with this code; with 2, for a reason that holds the text |
//! | `refused TEXT` | it ends with 1 and one line, which holds the text; notes may stand before it |
//! | `again`, `save FILE` | the same command prints the same; standard output, or a body, becomes a file |
//! | `read FILE` | the file's text stands for standard output from here on |
//! | `out TEXT`, `err TEXT`, `not TEXT` | standard output or error holds the text; neither does |
//! | `begins TEXT`, `ends TEXT`, `lines COUNT` | standard output begins or ends with the text, or has so many lines |
//! | `line TEXT … TEXT`, `warned TEXT … TEXT` | a line of standard output, or a warning, holds all these texts |
//! | `count COUNT TEXT`, `silent` | the text is there so often in all that was printed; nothing is on standard error |
//! | `/0/KEY = VALUE` | also `!=`, `<`, `>`, `holds`: a value in the JSON of standard output, the first of which is 0, or of all: `/*` |
//! | `/0/KEY ~ VALUE DISTANCE`, `/0/KEY size COUNT` | a number near the value; a list of so many |
//! | `take NAME /0/KEY` | `{NAME}` is this value from here on, or the list of all: `/*`. A value may also be a pointer, or `/0/A + /0/B` |
//! | `serve FLAGS`, `header NAME: VALUE` | a server, to whom the following requests go; the next request has the header |
//! | `review FLAGS`, `until POINTER …`, `stop` | a review session is such a server; its state is asked for until this holds; the server ends |
//! | `get TARGET`, `options TARGET`, `post TARGET TYPE BODY` | its answer stands for standard output, its head for standard error, its status for the exit code. It must be 200 unless the next line is `exit` or `problem`. A body is a fixture, a file or the text itself |
//! | `form TARGET FIELD:NAME:BODY ; …` | the same with a form |
//! | `problem NAME TEXT` | it is refused for this reason, in words that hold the text |
//! | `documented` | docs/cli.md has every key of the first value |
//! | `examples COMMAND` | runs the examples of its help, except those that need a network or published files; `--force` is added |
//! | `exists NAME`, `absent NAME`, `same FILE FILE`, `differ FILE FILE`, `smaller FILE FILE` | there or not; of the same bytes or not; of fewer |
//! | `list FOLDER NAMES` | all files below the folder |
//! | `keep`, `kept` | all files are what they were |

use crate::common::{self, command, fixture, model_of_towns, read, root, scratch, stderr};
use crate::{batch, embed, prepared, server::Server, tagging};
use locdiff_testing::{files, http, http::Response, output_in_time, wait_until};
use serde_json::Value;
use std::{collections::BTreeMap, fs, mem, path::Path, path::PathBuf};

// A test for each line of `transcripts.txt`.
include!(concat!(env!("OUT_DIR"), "/transcripts.rs"));

/// Plays a transcript in a folder that was prepared.
#[track_caller]
fn play_after(prepare: impl Fn(&Path), name: &str) {
    let folder = scratch();
    prepare(&folder);
    play(&folder, name);
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
        let expects =
            |next: &&str| ["exit ", "refused ", "misused ", "problem "].iter().any(|verb| next.starts_with(verb));
        let holds = match verb {
            "let" => names.insert(first.to_owned(), more.to_owned()).is_none(),
            "take" => {
                let values = player.values(more);
                let taken = if more.starts_with("/*") { values.into() } else { values[0].clone() };
                names.insert(first.to_owned(), taken.to_string());
                taken != Value::Null
            }
            "examples" => examples(rest).iter().all(|line| player.run(line)),
            "$" => player.run(rest) || lines.get(k + 1).is_some_and(expects),
            "get" | "options" | "post" | "form" => {
                player.request(verb, first, more) || lines.get(k + 1).is_some_and(expects)
            }
            verb => player.prepare(verb, first, more).unwrap_or_else(|| player.holds(verb, rest)),
        };
        let Player { asked, code, out, err, .. } = &player;
        assert!(holds, "{name}: {asked}: {written}: code {code}\n{out}\n{err}");
    }
    player.server.map(Server::end);
}

/// The examples of a command's help that run here, each up to a pipe.
fn examples(command: &str) -> Vec<String> {
    const PUBLISHED: [&str; 5] = ["geoclip", "clip-vit", "im2gps3k", "osv5m", "shard-"];
    let head = format!("[{command}]");
    let lines = include_str!("../src/examples.txt").lines().skip_while(|line| *line != head).skip(1);
    let ours = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("locdiff "));
    let ours = ours.filter(|line| !PUBLISHED.iter().any(|name| line.contains(name)));
    let run = |line: &str| format!("{} --force", line.split(['|', '>', '#', '&']).next().unwrap().replace('"', "'"));
    let found: Vec<String> = ours.map(run).collect();
    assert!(!found.is_empty(), "no example of '{command}' runs");
    found
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
    server: Option<Server>,
    /// Of all requests, and of the next one.
    session: String,
    headers: String,
}

impl Player {
    /// Runs a command; whether it ended well.
    fn run(&mut self, asked: &str) -> bool {
        let mut command = command(&self.folder, asked);
        if let Some(stdin) = self.stdin.take() {
            command.stdin(stdin);
        }
        let output = output_in_time(command.envs(&self.environment));
        (self.asked, self.code, self.err) = (asked.to_owned(), output.status.code().unwrap_or(-1), stderr(&output));
        (self.out, self.printed) = (String::from_utf8_lossy(&output.stdout).into_owned(), output.stdout);
        assert!(!self.err.contains("panicked"), "{asked}: {}", self.err);
        self.code == 0
    }

    /// Sends a request; whether it is answered well.
    fn request(&mut self, verb: &str, target: &str, more: &str) -> bool {
        let contents = |name: &str| {
            let file = [fixture(name), self.folder.join(name)].into_iter().find(|path| path.is_file());
            file.map_or_else(|| name.as_bytes().to_vec(), |file| fs::read(file).unwrap())
        };
        let part = |part: &str| {
            let (field, rest) = part.split_once(':').unwrap();
            let (name, source) = rest.split_once(':').unwrap();
            http::part(field, Some(name).filter(|name| !name.is_empty()), &contents(source))
        };
        let (kind, body) = match (verb, more.split_once(' ').unwrap_or((more, ""))) {
            ("form", _) => (http::FORM, http::form(&more.split(" ; ").map(part).collect::<Vec<_>>())),
            (_, (kind, source)) => (kind, contents(source)),
        };
        let method = if verb == "form" { "POST".to_owned() } else { verb.to_uppercase() };
        let headers = format!("{}Content-Type: {kind}\r\n{}", self.session, mem::take(&mut self.headers));
        let request = http::request(&format!("{method} {target}"), &headers, &body);
        let response = Response::to(self.server.as_ref().expect("a server").address(), &request);
        (self.asked, self.code) = (format!("{verb} {target} {more}"), response.status.into());
        (self.out, self.err) = (String::from_utf8_lossy(&response.body).into_owned(), response.head);
        self.printed = response.body;
        self.code == 200
    }

    /// Lines that do something; none for others.
    fn prepare(&mut self, verb: &str, first: &str, more: &str) -> Option<bool> {
        let (path, other) = (self.folder.join(first), self.folder.join(more));
        match verb {
            "write" => fs::write(path, more).unwrap(),
            "copy" if fixture(first).is_dir() => common::copy_files(&fixture(first), &other),
            "copy" => drop(fs::copy(fixture(first), other).unwrap()),
            "folder" => fs::create_dir_all(path).unwrap(),
            "remove" if path.is_dir() => fs::remove_dir_all(path).unwrap(),
            "remove" => fs::remove_file(path).unwrap(),
            "env" => drop(self.environment.insert(first.to_owned(), more.to_owned())),
            "stdin" => self.stdin = Some(fs::File::open(path).unwrap()),
            "save" => fs::write(path, &self.printed).unwrap(),
            "serve" => {
                let environment: Vec<_> = self.environment.iter().map(|(name, value)| (&**name, &**value)).collect();
                self.server = Some(Server::start(&self.folder, &format!("{first} {more}"), &environment));
                "Host: localhost\r\n".clone_into(&mut self.session);
            }
            "review" => {
                let server = Server::run(&self.folder, &format!("review {first} {more}"), &[]);
                let (host, page) = server.announced.trim().split_once("http://").unwrap().1.split_once('/').unwrap();
                self.session = format!("Host: {host}\r\nOrigin: http://{host}\r\n");
                let request = http::request(&format!("GET /{page}"), &self.session, b"");
                let first = Response::to(host, &request);
                self.session += &format!(
                    "Cookie: {}\r\n",
                    first.header("set-cookie").and_then(|cookie| cookie.split(';').next()).unwrap()
                );
                self.server = Some(server);
            }
            "until" => wait_until(first, || self.request("get", "/review/state", "") && self.holds(first, more)),
            "stop" => drop(self.server.take().unwrap().end()),
            "second" => fs::hard_link(path, other).unwrap(),
            "link" => std::os::unix::fs::symlink(first, other).unwrap(),
            "header" => self.headers += &format!("{first} {more}\r\n"),
            "cut" | "flip" => {
                let mut bytes = fs::read(&path).unwrap();
                let at = bytes.len() - more.parse::<usize>().unwrap();
                match verb {
                    "cut" => bytes.truncate(at),
                    _ => bytes[at] ^= 1,
                }
                fs::write(path, bytes).unwrap();
            }
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
            "warned" => err
                .lines()
                .any(|line| line.starts_with("warning: ") && rest.split(" … ").all(|part| line.contains(part))),
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
            "smaller" => bytes(first).len() < bytes(more).len(),
            "differ" => bytes(first) != bytes(more),
            "list" => {
                let found = files(&path);
                found.keys().map(|file| file.strip_prefix(&path).unwrap()).eq(more.split_whitespace().map(Path::new))
            }
            "kept" => self.kept == files(folder),
            "problem" => {
                let told = &self.values("/0")[0];
                let is_told = told["status"] == *code && told["type"] == format!("urn:locdiff:problem:{first}");
                is_told && err.contains("application/problem+json") && out.contains(more)
            }
            "documented" => {
                common::is_documented(&self.values("/0")[0]);
                true
            }
            pointer => {
                let (wanted, distance) = if first == "~" { more.rsplit_once(' ').unwrap() } else { (more, "0") };
                let distance: f64 = distance.parse().unwrap();
                let found = self.values(pointer);
                let number = |value: &Value| value.as_f64().unwrap();
                let expected = match serde_json::from_str(wanted) {
                    Ok(Value::Array(all)) if pointer.starts_with("/*") => all,
                    Ok(one) => vec![one; found.len()],
                    Err(_) if wanted.contains(" + /") => {
                        vec![wanted.split(" + ").map(|part| number(&self.values(part)[0])).sum::<f64>().into()]
                    }
                    Err(_) if wanted.starts_with('/') => self.values(wanted),
                    Err(_) => vec![wanted.into(); found.len()],
                };
                let compare = |(found, expected): (&Value, &Value)| match first {
                    "=" => found == expected,
                    "!=" => found != expected,
                    "<" => number(found) < number(expected),
                    ">" => number(found) > number(expected),
                    "~" => (number(found) - number(expected)).abs() < distance,
                    "size" => found.as_array().unwrap().len() as u64 == *expected,
                    "holds" => found.as_str().unwrap().contains(more),
                    other => panic!("{pointer} {rest}: what is {other}?"),
                };
                found.len() == expected.len() && found.iter().zip(&expected).all(compare)
            }
        }
    }

    /// The values of a pointer into the JSON of standard output: of each for `/*`.
    fn values(&self, pointer: &str) -> Vec<Value> {
        let answers: Vec<Value> =
            serde_json::Deserializer::from_str(&self.out).into_iter().map(Result::unwrap).collect();
        let count = if pointer.starts_with("/*") { answers.len() } else { 1 };
        let answers = Value::Array(answers);
        let value = |k: usize| answers.pointer(&pointer.replacen('*', &k.to_string(), 1)).cloned().unwrap_or_default();
        (0..count).map(value).collect()
    }
}

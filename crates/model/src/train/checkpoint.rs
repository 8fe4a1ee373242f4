//! Checkpoints: whole or not at all, checked when read, the last few kept.

use crate::{chance, train::Result, train::error::folder};
use locdiff_base::ensure;
use locdiff_nn::{NnError, TrainingState};
use std::{fs, path::Path, path::PathBuf};

/// What a run knows besides its weights.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Standing {
    /// The best validation's score and step.
    pub(crate) best: Option<(f64, u32)>,
    /// Validations since.
    pub(crate) stale: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Checkpoints {
    folder: PathBuf,
    keep: usize,
}

/// A sum over everything that matters, to find damage that leaves the file's length as it was.
fn checksum(state: &TrainingState) -> String {
    let parts = [&state.weights, &state.m, &state.v, &state.ema];
    let hash = parts.iter().fold(u64::from(state.step), |hash, values| {
        let words = values.iter().fold(hash, |hash, value| {
            (hash.rotate_left(5) ^ u64::from(value.to_bits())).wrapping_mul(0x517C_C1B7_2722_0A95)
        });
        chance::hash(&[words, values.len() as u64])
    });
    format!("{hash:016x}")
}

impl Checkpoints {
    pub(crate) fn new(run: &Path, keep: usize) -> Result<Self> {
        let path = run.join("checkpoints");
        fs::create_dir_all(&path).map_err(|error| folder(&path, format!("cannot create this folder: {error}")))?;
        Ok(Self { folder: path, keep })
    }

    fn path(&self, step: u32) -> PathBuf {
        self.folder.join(format!("step-{step:08}.safetensors"))
    }

    /// The steps of the files there are, newest first.
    pub(crate) fn steps(&self) -> Vec<u32> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let step = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_prefix("step-")?.strip_suffix(".safetensors")?.parse().ok()
        };
        let mut steps: Vec<u32> = names.filter_map(step).collect();
        steps.sort_unstable_by(|a, b| b.cmp(a));
        steps
    }

    pub(crate) fn clear(&self) -> Result<()> {
        for step in self.steps() {
            let path = self.path(step);
            fs::remove_file(&path).map_err(|error| folder(&path, format!("cannot remove it: {error}")))?;
        }
        Ok(())
    }

    /// Writes one, then removes those beyond the number kept.
    pub(crate) fn save(&self, state: &TrainingState, standing: Standing) -> Result<()> {
        let path = self.path(state.step);
        let mut metadata = vec![("checksum", checksum(state)), ("stale", standing.stale.to_string())];
        if let Some((score, step)) = standing.best {
            metadata.push(("best_score", format!("{:016x}", score.to_bits())));
            metadata.push(("best_step", step.to_string()));
        }
        let metadata = metadata.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        state.save(&path, metadata).map_err(|error| {
            let reason = match error {
                NnError::Write(error) => error.reason.to_string(), // the path is named already
                other => other.to_string(),
            };
            folder(&path, format!("{reason}; free some space and resume the run: older checkpoints are whole"))
        })?;
        for step in self.steps().into_iter().skip(self.keep) {
            let _ = fs::remove_file(self.path(step)); // one too many does no harm
        }
        Ok(())
    }

    /// The newest that is whole, with messages about those that are not.
    pub(crate) fn load_newest(&self, mut say: impl FnMut(String)) -> Option<(TrainingState, Standing)> {
        for step in self.steps() {
            let path = self.path(step);
            match load(&path) {
                Ok(found) => return Some(found),
                Err(why) => {
                    say(format!("{}: damaged ({why}); continuing from the checkpoint before it", path.display()));
                }
            }
        }
        None
    }
}

fn load(path: &Path) -> Result<(TrainingState, Standing), String> {
    let (state, metadata) = TrainingState::load(path).map_err(|error| error.to_string())?;
    ensure!(metadata.get("checksum") == Some(&checksum(&state)), "its checksum does not match".to_owned());
    let number = |name: &str| metadata.get(name).and_then(|text| text.parse::<u32>().ok());
    let score = metadata.get("best_score").and_then(|text| u64::from_str_radix(text, 16).ok());
    let best = score.map(f64::from_bits).zip(number("best_step"));
    Ok((state, Standing { best, stale: number("stale").unwrap_or(0) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(step: u32) -> TrainingState {
        let values = |k: f32| vec![k, step as f32, -1.0];
        TrainingState { weights: values(1.0), m: values(2.0), v: values(3.0), ema: values(4.0), step }
    }

    #[test]
    fn the_last_ones_are_kept_and_damage_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path(), 2).unwrap();
        assert!(checkpoints.load_newest(|_| ()).is_none());
        let standing = Standing { best: Some((0.1, 20)), stale: 3 };
        for step in [10, 20, 30] {
            checkpoints.save(&state(step), standing).unwrap();
        }
        assert_eq!(checkpoints.steps(), [30, 20]);
        assert_eq!(checkpoints.load_newest(|_| ()), Some((state(30), standing)));
        // Cut off.
        let path = checkpoints.path(30);
        let whole = fs::read(&path).unwrap();
        for length in [0, 7, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            let mut messages = Vec::new();
            let found = checkpoints.load_newest(|message| messages.push(message));
            assert_eq!(found, Some((state(20), standing)), "{length}");
            assert!(messages.len() == 1 && messages[0].contains("step-00000030") && messages[0].contains("damaged"));
        }
        // One bit flipped.
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        fs::write(&path, flipped).unwrap();
        assert_eq!(checkpoints.load_newest(|_| ()), Some((state(20), standing)));
        fs::write(&path, whole).unwrap();
        assert_eq!(checkpoints.load_newest(|_| ()), Some((state(30), standing)));
    }

    #[test]
    fn a_disk_that_refuses_is_named_and_the_old_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path(), 2).unwrap();
        checkpoints.save(&state(10), Standing::default()).unwrap();
        // A folder in the way of the file fails like a full disk, for root too.
        fs::create_dir(folder.path().join("checkpoints/step-00000020.safetensors")).unwrap();
        let message = checkpoints.save(&state(20), Standing::default()).unwrap_err().to_string();
        assert!(message.contains("step-00000020") && message.contains("resume the run"), "{message}");
        assert_eq!(checkpoints.load_newest(|_| ()), Some((state(10), Standing::default())));
    }
}

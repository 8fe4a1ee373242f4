//! Which shards: one, a range, or every n-th.

use crate::batch::BatchError;
use std::str::FromStr;

/// Choice of shards: `7`, `0-9`, or `2/10` for every tenth from 2 on.
///
/// ```
/// use locdiff::batch::ShardChoice;
/// let of = |text: &str| text.parse::<ShardChoice>().and_then(|choice| choice.of(25)).map_err(|e| e.to_string());
/// assert_eq!(of("7"), Ok(vec![7]));
/// assert_eq!(of("3-5"), Ok(vec![3, 4, 5]));
/// assert_eq!(of("2/10"), Ok(vec![2, 12, 22]));
/// assert_eq!(of("25").unwrap_err(), "shard 25 does not exist: this job has 25, numbered from 0");
/// assert!(of("x").unwrap_err().starts_with("'x' names no shards"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardChoice {
    /// First and last shard, inclusive.
    Range(u32, u32),
    /// The first shard and the step.
    Every(u32, u32),
}

impl FromStr for ShardChoice {
    type Err = BatchError;

    fn from_str(text: &str) -> Result<Self, BatchError> {
        let number = |part: &str| part.trim().parse::<u32>().ok();
        let two = |(first, second): (&str, &str)| number(first).zip(number(second));
        let read = if let Some(parts) = text.split_once('/') {
            two(parts).filter(|(first, step)| first < step).map(|(first, step)| Self::Every(first, step))
        } else if let Some(parts) = text.split_once('-') {
            two(parts).filter(|(first, last)| first <= last).map(|(first, last)| Self::Range(first, last))
        } else {
            number(text).map(|one| Self::Range(one, one))
        };
        read.ok_or_else(|| BatchError::Choice { text: locdiff_base::excerpt(text) })
    }
}

impl ShardChoice {
    /// Returns the chosen ones of a job's shards, possibly none. Fails if the job does not have a shard.
    pub fn of(self, shards: u32) -> Result<Vec<u32>, BatchError> {
        match self {
            Self::Range(_, last) if last >= shards => Err(BatchError::NoShard { shard: last.into(), shards }),
            Self::Range(first, last) => Ok((first..=last).collect()),
            Self::Every(first, step) => Ok((first..shards).step_by(step as usize).collect()),
        }
    }
}

//! Sums by key, over numbers whose keys never change.

use std::cmp::Reverse;

/// Keys that are summed together, so that no addition waits for the one before.
const LANES: usize = 8;

/// Which numbers are added up for each key, in their order.
#[derive(Debug)]
pub(crate) struct KeyedSums {
    keys: usize,
    /// A few keys with about as many numbers each, and row by row the position of the next number of each.
    groups: Vec<(Vec<u16>, Vec<[u32; LANES]>)>,
}

impl KeyedSums {
    /// For keys below `keys`, each with the position of a number.
    pub(crate) fn new(keys: usize, positions: impl Iterator<Item = (u16, u32)>) -> Self {
        let mut lists = vec![Vec::new(); keys];
        positions.for_each(|(key, position)| lists[usize::from(key)].push(position));
        let mut order: Vec<u16> = (0..keys as u16).collect();
        order.sort_by_key(|key| Reverse(lists[usize::from(*key)].len()));
        let group = |own: &[u16]| {
            // Past the last number of a key, a position that there is not.
            let position = |key: Option<&u16>, row: usize| {
                key.and_then(|key| lists[usize::from(*key)].get(row)).copied().unwrap_or(u32::MAX)
            };
            let rows = 0..lists[usize::from(own[0])].len();
            (own.to_vec(), rows.map(|row| std::array::from_fn(|lane| position(own.get(lane), row))).collect())
        };
        Self { keys, groups: order.chunks(LANES).map(group).collect() }
    }

    /// The sum for each key of the numbers above `least`, the same bits as one after the other.
    pub(crate) fn sums(&self, numbers: &[f64], least: f64) -> Vec<f64> {
        let mut all = vec![0.0; self.keys];
        for (keys, rows) in &self.groups {
            let mut sums = [0.0; LANES];
            for row in rows {
                for (sum, position) in sums.iter_mut().zip(row) {
                    let number = *numbers.get(*position as usize).unwrap_or(&0.0);
                    *sum += if number > least { number } else { 0.0 };
                }
            }
            keys.iter().zip(sums).for_each(|(key, sum)| all[usize::from(*key)] = sum);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_bits_of_one_addition_after_the_other() {
        let key = |k: usize| ((k * k) % 61 / 3) as u16;
        let numbers: Vec<f64> = (0..10_000).map(|k| (k as f64).sin().powi(3)).collect();
        let mut expected = vec![0.0; 30];
        (0..numbers.len()).filter(|k| numbers[*k] > 0.01).for_each(|k| expected[usize::from(key(k))] += numbers[k]);
        let sums = KeyedSums::new(30, (0..numbers.len()).map(|k| (key(k), k as u32)));
        assert_eq!(sums.sums(&numbers, 0.01), expected);
    }
}

//! From logits over characters to text: connectionist temporal classification, the likeliest output at each place.

use super::kernels::likeliest;

/// One character of a [`TextLine`](crate::TextLine).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadCharacter {
    /// The likeliest character.
    pub character: char,
    /// Its probability.
    pub confidence: f32,
    /// The second likeliest character, if that is one.
    pub other: Option<char>,
    /// The probability of the second likeliest.
    pub other_confidence: f32,
}

/// The characters of rows of logits, `stride` values apart. `characters[0]` stands for no character.
pub(super) fn decode(logits: &[f32], stride: usize, characters: &[char]) -> Vec<ReadCharacter> {
    let mut line: Vec<ReadCharacter> = Vec::new();
    let mut before = 0;
    for row in logits.chunks_exact(stride) {
        let [(first, confidence), (second, other_confidence)] = likeliest(&row[..characters.len()]);
        let other = (second != 0).then(|| characters[second]);
        let read = ReadCharacter { character: characters[first], confidence, other, other_confidence };
        if first != 0 && first != before {
            line.push(read);
        } else if first != 0
            && let Some(last) = line.last_mut().filter(|last| last.confidence < confidence)
        {
            *last = read;
        }
        before = first;
    }
    line
}

/// The mean probability of the characters, 0 if there is none.
pub(super) fn confidence(characters: &[ReadCharacter]) -> f32 {
    let sum: f32 = characters.iter().map(|read| read.confidence).sum();
    sum / characters.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_one_character_unless_a_blank_is_between() {
        let characters = ['\0', 'a', 'b', ' '];
        // Logits of 9 and 8 among zeros: which is likeliest, and which second.
        let text = |rows: &[(usize, usize)]| {
            let logit = |(first, second): (usize, usize), k: usize| match k {
                k if k == first => 9.0,
                k if k == second => 8.0,
                _ => 0.0,
            };
            let logits: Vec<f32> = rows.iter().flat_map(|&row| (0..16).map(move |k| logit(row, k))).collect();
            decode(&logits, 16, &characters)
        };
        let read = text(&[(0, 1), (1, 2), (1, 2), (0, 1), (1, 0), (3, 1), (2, 1), (2, 1), (0, 2)]);
        assert_eq!(read.iter().map(|read| read.character).collect::<String>(), "aa b");
        assert_eq!(read.iter().map(|read| read.other).collect::<Vec<_>>(), [Some('b'), None, Some('a'), Some('a')]);
        assert!((confidence(&read) - 0.73).abs() < 0.01, "{}", confidence(&read));
        assert_eq!((text(&[(0, 1)]), confidence(&[])), (vec![], 0.0));
    }
}

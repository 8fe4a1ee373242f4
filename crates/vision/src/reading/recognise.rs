//! From logits over characters to text: connectionist temporal classification, the likeliest output at each place.

use super::kernels::likeliest;

/// The text of rows of logits, `stride` values apart, and the mean probability of its characters, 0 if there is none.
/// `characters[0]` stands for no character.
pub(super) fn decode(logits: &[f32], stride: usize, characters: &[char]) -> (String, f32) {
    let (mut text, mut sum, mut count, mut before) = (String::new(), 0.0, 0, 0);
    for row in logits.chunks_exact(stride) {
        let (best, probability) = likeliest(&row[..characters.len()]);
        if best != 0 && best != before {
            text.push(characters[best]);
            (sum, count) = (sum + probability, count + 1);
        }
        before = best;
    }
    (text.trim().to_owned(), sum / count.max(1) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_one_character_unless_a_blank_is_between() {
        let characters = ['\0', 'a', 'b', ' '];
        // A logit of 2 among zeros at each place.
        let read = |places: &[usize]| {
            let row = |&best: &usize| (0..16).map(move |k| if k == best { 2.0 } else { 0.0 });
            decode(&places.iter().flat_map(row).collect::<Vec<f32>>(), 16, &characters)
        };
        let (text, confidence) = read(&[3, 0, 1, 1, 0, 1, 3, 2, 2, 0]);
        assert_eq!(text, "aa b");
        let expected = 2_f32.exp() / (2_f32.exp() + 3.0);
        assert!((confidence - expected).abs() < 1e-6, "{confidence} {expected}");
        assert_eq!(read(&[0]), (String::new(), 0.0));
    }
}

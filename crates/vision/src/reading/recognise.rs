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

/// The likeliest script of a line, and its probability: the mean over the line's places of what each says. Logits of scripts follow
/// those of `characters`; the line ends after `places`.
pub(super) fn script(logits: &[f32], stride: usize, characters: usize, scripts: usize, places: usize) -> (usize, f32) {
    let mut sums = vec![0.0; scripts];
    let rows = logits.chunks_exact(stride).take(places.max(1));
    let count = rows.len() as f32;
    for row in rows {
        let own = &row[characters..characters + scripts];
        let top = own.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let likelihoods: Vec<f32> = own.iter().map(|logit| locdiff_nn::math::exp(logit - top)).collect();
        let total: f32 = likelihoods.iter().sum();
        sums.iter_mut().zip(likelihoods).for_each(|(sum, likelihood)| *sum += likelihood / total / count);
    }
    let best = (0..scripts).max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap_or_default();
    (best, sums.get(best).copied().unwrap_or_default())
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
        // Two scripts after one character: what lies behind the line's end does not count.
        let (best, probability) = script(&[9.0, 0.0, 2.0, 9.0, 0.0, 2.0, 9.0, 8.0, 0.0], 3, 1, 2, 2);
        assert!(best == 1 && (probability - 2_f32.exp() / (2_f32.exp() + 1.0)).abs() < 1e-6, "{probability}");
    }
}

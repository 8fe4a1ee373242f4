//! The appendix's dimension reduction: a model that works on some of a code's coefficients, the others being zero.

use crate::{CodeWriter, ModelConfig, Result};
use locdiff_base::setting;
use locdiff_shdd::sphere::UnitVec;

impl ModelConfig {
    /// A model on the `count` coefficients that are largest in mean square over places; the others stay zero. Fails if
    /// there are no places, no coefficients or more than there are.
    pub fn keep_dimensions(self, count: usize, places: &[UnitVec]) -> Result<Self> {
        let whole = Self { kept: None, ..self };
        let dimension = whole.code_dim();
        if !(1..=dimension).contains(&count) || places.is_empty() {
            return Err(setting("kept dimensions", count, format!("1 to {dimension}, of one or more locations")));
        }
        let writer = CodeWriter::new(&whole)?;
        let mut squares = vec![0.0_f64; dimension];
        for block in places.chunks(1024) {
            let mut codes = vec![0.0; block.len() * dimension];
            writer.write(block, &mut codes)?;
            for code in codes.chunks_exact(dimension) {
                squares.iter_mut().zip(code).for_each(|(sum, value)| *sum += f64::from(*value).powi(2));
            }
        }
        let mut order: Vec<u32> = (0..dimension as u32).collect();
        // Of equals the coarser one.
        order.sort_by(|a, b| squares[*b as usize].total_cmp(&squares[*a as usize]).then(a.cmp(b)));
        order.truncate(count);
        order.sort_unstable();
        Ok(Self { kept: (count < dimension).then_some(order), ..whole })
    }

    /// Rows of kept coefficients as whole codes, the others zero.
    pub fn expanded(&self, rows: Vec<f32>) -> Vec<f32> {
        let Some(kept) = &self.kept else { return rows };
        let dimension = self.whole_dim();
        let mut whole = vec![0.0; rows.len() / kept.len() * dimension];
        for (row, whole) in rows.chunks_exact(kept.len()).zip(whole.chunks_exact_mut(dimension)) {
            row.iter().zip(kept).for_each(|(value, place)| whole[*place as usize] = *value);
        }
        whole
    }

    /// What is kept of a whole code.
    pub(crate) fn reduced(&self, code: &[f64]) -> Vec<f32> {
        let Some(kept) = &self.kept else { return code.iter().map(|value| *value as f32).collect() };
        kept.iter().map(|place| code[*place as usize] as f32).collect()
    }

    /// Where each degree's coefficients lie among those that the network works on.
    pub(crate) fn degree_blocks(&self) -> Vec<std::ops::Range<usize>> {
        let kept = self.kept.as_ref();
        let before = |end: usize| kept.map_or(end, |kept| kept.partition_point(|place| (*place as usize) < end));
        (0..=self.degree).map(|l| before(l * l)..before((l + 1) * (l + 1))).collect()
    }

    pub(crate) fn check_kept(&self) -> Result<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let rises = kept.windows(2).all(|pair| pair[0] < pair[1]);
        match kept.last() {
            Some(last) if rises && (*last as usize) < self.whole_dim() => Ok(()),
            _ => Err(setting("kept", format!("{} numbers", kept.len()), "rising indices of a code's coefficients")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossKind, Model, Predictor, Reading, SampleOptions, chance};
    use locdiff_io::data::Embedding;
    use locdiff_nn::Device;

    fn places() -> Vec<UnitVec> {
        (0..50).map(|k| chance::point([5, 6, k])).collect()
    }

    #[test]
    fn a_reduced_model_keeps_its_shape_through_its_folder() {
        for loss in [LossKind::Nll, LossKind::Kl, LossKind::KlPaper, LossKind::Cosine, LossKind::L2] {
            let config = ModelConfig { width: 8, loss, ..ModelConfig::new(7, 5) };
            let config = config.keep_dimensions(20, &places()).unwrap();
            assert_eq!((config.code_dim(), config.whole_dim()), (20, 64));
            let model = Model::new(&Device::cpu(), config.clone()).unwrap();
            let folder = tempfile::tempdir().unwrap();
            model.save(folder.path()).unwrap();
            let model = Model::load(&Device::cpu(), folder.path()).unwrap();
            assert_eq!(model.config(), &config);
            let predictor = Predictor::new(&model).unwrap();
            let options = SampleOptions { samples: 2, steps: 3, ..SampleOptions::default() };
            let photo = Embedding::new(vec![0.5; 5], None).unwrap();
            let query = crate::Query { views: std::slice::from_ref(&photo), key: 0, tilts: &[] };
            let found = predictor.predict(&[query], &options, Reading::default()).unwrap();
            let kept = config.kept.as_ref().unwrap();
            let is_zero = |code: &[f64], k: usize| kept.contains(&(k as u32)) || code[k] == 0.0;
            let zero_elsewhere = |code: &[f64]| {
                code.len() == 64 && (0..64).all(|k| is_zero(code, k)) && code.iter().any(|value| *value != 0.0)
            };
            assert!(zero_elsewhere(found[0].code.as_slice()), "{loss:?}");
            if let Some(evidence) = &found[0].evidence {
                assert!(zero_elsewhere(evidence.as_slice()), "{loss:?}");
                assert_eq!(predictor.coefficients(&[query], &options).unwrap()[0], *evidence);
            }
            let steps = predictor.trace((&photo).into(), &options).unwrap();
            assert!(steps.iter().flat_map(|step| &step.samples).all(|code| zero_elsewhere(code.as_slice())));
        }
    }

    #[test]
    fn the_largest_are_kept_and_nonsense_is_named() {
        let config = ModelConfig::new(7, 5);
        assert_eq!(config.clone().keep_dimensions(64, &places()).unwrap(), config);
        for (count, some) in [(0, places()), (65, places()), (3, Vec::new())] {
            let error = config.clone().keep_dimensions(count, &some).unwrap_err().to_string();
            assert!(error.contains("kept dimensions"), "{error}");
        }
        for kept in [vec![], vec![3, 3], vec![5, 2], vec![64]] {
            let bad = ModelConfig { kept: Some(kept), ..config.clone() };
            assert!(bad.check().unwrap_err().to_string().contains("kept"));
        }
        // At the pole all orders but m = 0 vanish.
        let pole = ModelConfig::new(3, 8).keep_dimensions(4, &[UnitVec::NORTH]).unwrap();
        assert_eq!((pole.kept.as_deref(), pole.code_dim()), (Some(&[0, 2, 6, 12][..]), 4));
        assert_eq!(pole.expanded(vec![1.0, 2.0, 3.0, 4.0])[..7], [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0]);
        // With a strong blur the coarse degrees are the large ones.
        let blurred = ModelConfig { low_pass_km: Some(4000.0), ..config };
        let kept = blurred.keep_dimensions(9, &places()).unwrap().kept.unwrap();
        assert_eq!(kept, (0..9).collect::<Vec<u32>>());
    }
}

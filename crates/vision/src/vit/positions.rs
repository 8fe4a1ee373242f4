//! Positions learned on pictures of one size, for pictures of another: PyTorch's bicubic interpolation between the centres of
//! the patches.

/// Keys' cubic with PyTorch's a.
const A: f64 = -0.75;

/// `[to × to, width]` from `[from × from, width]`.
pub(super) fn interpolated(positions: &[f32], from: usize, to: usize, width: usize) -> Vec<f32> {
    if from == to {
        return positions.to_vec();
    }
    let taps = taps(from, to);
    let mut out = Vec::with_capacity(to * to * width);
    for down in &taps {
        for across in &taps {
            let mut sums = vec![0.0_f64; width];
            for &(y, weight_y) in down {
                for &(x, weight_x) in across {
                    let row = &positions[(y * from + x) * width..][..width];
                    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight_y * weight_x * f64::from(*value));
                }
            }
            out.extend(sums.into_iter().map(|sum| sum as f32));
        }
    }
    out
}

/// The four places that each new one is made of, with their weights; what lies outside is the place at the edge.
fn taps(from: usize, to: usize) -> Vec<[(usize, f64); 4]> {
    let scale = from as f64 / to as f64;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    let one = |place: usize| {
        let centre = (place as f64 + 0.5) * scale - 0.5;
        let first = centre.floor();
        let t = centre - first;
        let at = |offset: f64| (first + offset).clamp(0.0, from as f64 - 1.0) as usize;
        [(at(-1.0), far(t + 1.0)), (at(0.0), near(t)), (at(1.0), near(1.0 - t)), (at(2.0), far(2.0 - t))]
    };
    (0..to).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::interpolated;

    /// Weights sum to 1, and a slope stays one away from the edges, as cubics keep it.
    #[test]
    fn constants_stay_and_planes_nearly() {
        let (from, to) = (9, 5);
        let plane: Vec<f32> = (0..from * from).flat_map(|k| [3.0, (k % from) as f32, (k / from) as f32]).collect();
        let out = interpolated(&plane, from, to, 3);
        for (k, values) in out.chunks_exact(3).enumerate() {
            let [x, y] = [k % to, k / to].map(|place| (place as f32 + 0.5) * 9.0 / 5.0 - 0.5);
            assert!((values[0] - 3.0).abs() < 1e-5);
            if (1.0..7.0).contains(&x) && (1.0..7.0).contains(&y) {
                // PyTorch's cubic keeps constants exactly, planes to a twentieth of a step.
                assert!((values[1] - x).abs() < 0.05 && (values[2] - y).abs() < 0.05, "{values:?} {x} {y}");
            }
        }
        assert_eq!(interpolated(&plane, 9, 9, 3), plane);
    }
}

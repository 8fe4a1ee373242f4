//! Pictures of single lines, cut out of a photo upright.

use super::network::Map;
use crate::Photo;

/// Height of the picture of a line.
pub(super) const HEIGHT: usize = 48;
/// A line that is longer for its height is squeezed.
const LONGEST: usize = 1600;
const SHORTEST: usize = 16;
/// Points along each side of a pixel that are averaged when a line is made smaller, at most.
const MOST_POINTS: usize = 8;

/// Width of the picture of a line that is so long and so high.
pub(super) fn width_of(length: f32, height: f32) -> usize {
    ((HEIGHT as f32 * length / height.max(1.0)).ceil() as usize).clamp(SHORTEST, LONGEST)
}

/// A value of 0 to 255 as the networks want it.
pub(super) fn normalised(value: f32) -> f32 {
    value / 127.5 - 1.0
}

/// What lies inside a rectangle of a photo, its first corner at the upper left, `width` pixels long.
pub(super) fn cut(photo: &Photo, corners: &[[f32; 2]; 4], width: usize) -> Map {
    let mut map = Map::picture([HEIGHT, width]);
    let [a, b, _, d] = *corners;
    let right = [0, 1].map(|k| (b[k] - a[k]) / width as f32);
    let below = [0, 1].map(|k| (d[k] - a[k]) / HEIGHT as f32);
    let points =
        |step: [f32; 2]| ((step[0] * step[0] + step[1] * step[1]).sqrt().ceil() as usize).clamp(1, MOST_POINTS);
    let (across, down) = (points(right), points(below));
    let share = 1.0 / (across * down) as f32;
    for (at, pixel) in map.values_mut().as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let mut sums = [0.0; 3];
        for point in 0..across * down {
            let u = (at % width) as f32 + (0.5 + (point % across) as f32) / across as f32;
            let v = (at / width) as f32 + (0.5 + (point / across) as f32) / down as f32;
            let [x, y] = [0, 1].map(|k| a[k] + u * right[k] + v * below[k] - 0.5);
            let colours = interpolate(photo, x, y);
            (0..3).for_each(|c| sums[c] += colours[c]);
        }
        *pixel = sums.map(|sum| normalised(sum * share));
    }
    map
}

/// Bilinear between pixels; beyond the photo its edge goes on.
fn interpolate(photo: &Photo, x: f32, y: f32) -> [f32; 3] {
    let (width, height) = (photo.width() as usize, photo.height() as usize);
    let place = |at: f32, size: usize| {
        let at = at.clamp(0.0, (size - 1) as f32);
        let first = at as usize;
        (first, (first + 1).min(size - 1), at - first as f32)
    };
    let ((x0, x1, u), (y0, y1, v)) = (place(x, width), place(y, height));
    let pixels = photo.rgb().as_chunks::<3>().0;
    let [a, b, c, d] = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|(x, y)| pixels[y * width + x]);
    std::array::from_fn(|k| {
        let [a, b, c, d] = [a[k], b[k], c[k], d[k]].map(f32::from);
        let (upper, lower) = (a + (b - a) * u, c + (d - c) * u);
        upper + (lower - upper) * v
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_corner_becomes_the_upper_left() {
        // Red grows to the right, green downwards.
        let rgb = (0..100 * 80).flat_map(|at| [(at % 100) as u8 * 2, (at / 100) as u8 * 3, 0]).collect();
        let photo = Photo::from_rgb(100, 80, rgb).unwrap();
        let corners = [[20.0, 10.0], [68.0, 10.0], [68.0, 58.0], [20.0, 58.0]];
        for turn in 0..4 {
            let turned: [[f32; 2]; 4] = std::array::from_fn(|k| corners[(k + turn) % 4]);
            let map = cut(&photo, &turned, 48);
            let pixels = map.values().as_chunks::<3>().0;
            for (k, at) in [0, 47, 48 * 48 - 1, 48 * 47].into_iter().enumerate() {
                let corner = corners[(k + turn) % 4];
                // The middle of the pixel in this corner of the rectangle.
                let [x, y] = corner.map(|at| if at == 10.0 || at == 20.0 { at } else { at - 1.0 });
                let expected = [normalised(2.0 * x), normalised(3.0 * y), -1.0];
                (0..3).for_each(|c| assert!((pixels[at][c] - expected[c]).abs() < 1e-3, "{turn} {k} {:?}", pixels[at]));
            }
        }
        // Far outside, and of no size at all: the edge, no panic.
        assert_eq!(cut(&photo, &[[-1e9, 0.0], [1e9, 0.0], [1e9, 1.0], [-1e9, 1.0]], 16).values().len(), 48 * 16 * 3);
        assert!(cut(&photo, &[[5.0, 5.0]; 4], 16).values().iter().all(|value| value.is_finite()));
        assert_eq!((width_of(100.0, 10.0), width_of(0.0, 0.0), width_of(1e9, 1.0)), (480, 16, 1600));
    }
}

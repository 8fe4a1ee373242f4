//! From a map of how likely each pixel belongs to text to rectangles around lines (Differentiable Binarization).

/// A pixel this likely belongs to a line.
const PIXEL: f32 = 0.3;
/// Lines whose pixels are less likely on average are left out.
const LINE: f32 = 0.5;
/// The map shows lines shrunk; they are enlarged by this factor of area over perimeter.
const ENLARGE: f32 = 1.6;
/// The shortest side of a line in pixels of the map, before it is enlarged.
const SHORTEST: f32 = 3.0;

type Point = [f32; 2];

/// A rectangle around a line: corners from its upper left one clockwise, and how likely it is text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) corners: [Point; 4],
    pub(super) score: f32,
}

impl Found {
    /// Lengths of the upper and the left side.
    pub(super) fn sides(&self) -> [f32; 2] {
        let [a, b, _, d] = self.corners;
        [distance(a, b), distance(a, d)]
    }
}

pub(super) fn distance(a: Point, b: Point) -> f32 {
    ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])).sqrt()
}

/// The lines of a map of `width` columns, in the order of their uppermost pixels, in pixels of the map.
pub(super) fn find_lines(map: &[f32], width: usize) -> Vec<Found> {
    let height = map.len() / width;
    let is_text = |x: usize, y: usize| map[y * width + x] > PIXEL;
    // Each pixel grows one to the right and one down, so that thin bridges hold.
    let grown = |x: usize, y: usize| {
        let (left, up) = (x.saturating_sub(1), y.saturating_sub(1));
        is_text(x, y) || is_text(left, y) || is_text(x, up) || is_text(left, up)
    };
    let mut open: Vec<bool> = (0..map.len()).map(|at| grown(at % width, at / width)).collect();
    let (mut lines, mut stack) = (Vec::new(), Vec::new());
    for start in 0..map.len() {
        if !std::mem::take(&mut open[start]) {
            continue;
        }
        // Of each row of the component, the first and the last pixel.
        let mut spans: Vec<[usize; 2]> = Vec::new();
        let top = start / width;
        stack.push(start);
        while let Some(at) = stack.pop() {
            let (x, y) = (at % width, at / width);
            if spans.len() <= y - top {
                spans.resize(y - top + 1, [usize::MAX, 0]);
            }
            let span = &mut spans[y - top];
            *span = [span[0].min(x), span[1].max(x)];
            // Nothing of a component lies above the pixel that was met first.
            for y in y.saturating_sub(1).max(top)..(y + 2).min(height) {
                for x in x.saturating_sub(1)..(x + 2).min(width) {
                    if std::mem::take(&mut open[y * width + x]) {
                        stack.push(y * width + x);
                    }
                }
            }
        }
        lines.extend(rectangle(&spans, top).and_then(|corners| enlarged(corners, map, width)));
    }
    lines
}

/// The smallest rectangle around a component; nothing if it is thinner than [`SHORTEST`].
fn rectangle(spans: &[[usize; 2]], top: usize) -> Option<[Point; 4]> {
    let points = spans.iter().enumerate().flat_map(|(y, span)| span.map(|x| [x as f32, (top + y) as f32]));
    let hull = hull(points.collect());
    let mut best: Option<(f32, [Point; 4])> = None;
    for (k, &from) in hull.iter().enumerate() {
        let to = hull[(k + 1) % hull.len()];
        let length = distance(from, to);
        if length == 0.0 {
            continue;
        }
        // Along the edge, and across it.
        let along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
        let across = [-along[1], along[0]];
        let extent = |axis: Point| {
            let places = hull.iter().map(|p| p[0] * axis[0] + p[1] * axis[1]);
            places.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], place| [low.min(place), high.max(place)])
        };
        let ([u0, u1], [v0, v1]) = (extent(along), extent(across));
        let area = (u1 - u0) * (v1 - v0);
        if (u1 - u0).min(v1 - v0) >= SHORTEST && best.is_none_or(|(least, _)| area < least) {
            let point = |u: f32, v: f32| [u * along[0] + v * across[0], u * along[1] + v * across[1]];
            best = Some((area, [point(u0, v0), point(u1, v0), point(u1, v1), point(u0, v1)]));
        }
    }
    best.map(|(_, corners)| from_upper_left(corners))
}

/// The convex hull of points that are ordered by rows, by Andrew's monotone chain.
fn hull(points: Vec<Point>) -> Vec<Point> {
    let mut hull: Vec<Point> = Vec::new();
    for points in [points.clone(), points.into_iter().rev().collect()] {
        let start = hull.len();
        for point in points {
            while let [.., a, b] = hull[start..]
                && (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) >= 0.0
            {
                hull.pop();
            }
            hull.push(point);
        }
        hull.pop();
    }
    hull
}

/// Corners clockwise, beginning with the upper one of the two leftmost.
fn from_upper_left(mut corners: [Point; 4]) -> [Point; 4] {
    corners.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let ordered = |a: Point, b: Point| if a[1] <= b[1] { [a, b] } else { [b, a] };
    let ([a, d], [b, c]) = (ordered(corners[0], corners[1]), ordered(corners[2], corners[3]));
    [a, b, c, d]
}

/// The rectangle that a line has in the photo, if the map is sure enough of it.
fn enlarged(corners: [Point; 4], map: &[f32], width: usize) -> Option<Found> {
    let score = mean_inside(&corners, map, width);
    let found = Found { corners, score };
    let [across, down] = found.sides();
    if score < LINE || across.min(down) < f32::EPSILON {
        return None;
    }
    let by = ENLARGE * across * down / (2.0 * (across + down));
    let [a, b, c, d] = corners;
    let unit = |from: Point, to: Point, length: f32| [0, 1].map(|k| (to[k] - from[k]) / length * by);
    let (right, below) = (unit(a, b, across), unit(a, d, down));
    // A pixel's middle is half a pixel from its corner.
    let moved = |p: Point, x: f32, y: f32| [0, 1].map(|k| p[k] + 0.5 + x * right[k] + y * below[k]);
    let corners = [moved(a, -1.0, -1.0), moved(b, 1.0, -1.0), moved(c, 1.0, 1.0), moved(d, -1.0, 1.0)];
    Some(Found { corners, score })
}

/// The mean of the map over the pixels inside a rectangle.
fn mean_inside(corners: &[Point; 4], map: &[f32], width: usize) -> f32 {
    let height = map.len() / width;
    let range = |k: usize, most: usize| {
        let places = corners.iter().map(|corner| corner[k]);
        let [low, high] = places.fold([f32::INFINITY, 0.0], |[low, high], place| [low.min(place), high.max(place)]);
        low.floor().max(0.0) as usize..(high.ceil() as usize + 1).min(most)
    };
    let is_inside = |x: f32, y: f32| {
        (0..4).all(|k| {
            let (a, b) = (corners[k], corners[(k + 1) % 4]);
            (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= -0.5 * distance(a, b)
        })
    };
    let (mut sum, mut count) = (0.0, 0.0_f32);
    for y in range(1, height) {
        for x in range(0, width) {
            if is_inside(x as f32, y as f32) {
                sum += map[y * width + x];
                count += 1.0;
            }
        }
    }
    sum / count.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map with the pixels that `inside` says.
    fn draw(width: usize, height: usize, inside: impl Fn(f32, f32) -> bool) -> Vec<f32> {
        let pixel = |at: usize| if inside((at % width) as f32, (at / width) as f32) { 0.9 } else { 0.05 };
        (0..width * height).map(pixel).collect()
    }

    #[test]
    fn two_bars_are_two_lines_enlarged() {
        let bar =
            |x: f32, y: f32| (20.0..80.0).contains(&x) && ((10.0..20.0).contains(&y) || (40.0..46.0).contains(&y));
        let found = find_lines(&draw(100, 60, bar), 100);
        assert_eq!(found.len(), 2);
        // 60×10 pixels, of which a grown pixel is one more; by = 1.6·60·10 / (2·70) = 6.9.
        let [a, b, c, d] = found[0].corners;
        for (got, expected) in [(a, [13.6, 3.6]), (b, [87.4, 3.6]), (c, [87.4, 27.4]), (d, [13.6, 27.4])] {
            assert!(distance(got, expected) < 1.0, "{got:?} {expected:?}");
        }
        assert!(found[0].score > 0.7 && found[1].corners[0][1] > 30.0);
    }

    #[test]
    fn a_slanted_bar_has_a_slanted_rectangle() {
        // 3-4-5: along (0.8, 0.6).
        let bar = |x: f32, y: f32| {
            let (u, v) = ((x - 60.0) * 0.8 + (y - 60.0) * 0.6, (y - 60.0) * 0.8 - (x - 60.0) * 0.6);
            u.abs() <= 40.0 && v.abs() <= 6.0
        };
        let found = find_lines(&draw(120, 120, bar), 120);
        assert_eq!(found.len(), 1);
        let [across, down] = found[0].sides();
        assert!((across - 96.7).abs() < 4.0 && (down - 28.7).abs() < 4.0, "{across} {down}");
        let [a, b, ..] = found[0].corners;
        assert!(((b[1] - a[1]) / (b[0] - a[0]) - 0.75).abs() < 0.05, "{a:?} {b:?}");
    }

    #[test]
    fn specks_and_faint_stains_are_no_lines() {
        let speck = |x: f32, y: f32| (5.0..7.0).contains(&x) && (5.0..6.0).contains(&y);
        assert_eq!(find_lines(&draw(40, 20, speck), 40), []);
        let faint: Vec<f32> = draw(40, 20, |x, _| x < 20.0).iter().map(|p| p * 0.45).collect();
        assert_eq!(find_lines(&faint, 40), []);
        // Every pixel, and one alone.
        assert_eq!(find_lines(&[0.9; 64 * 32], 64).len(), 1);
        assert_eq!(find_lines(&[0.9], 1), []);
    }
}

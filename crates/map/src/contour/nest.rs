//! Which hole belongs to which outer ring.

use locdiff_shdd::sphere::{Polygon, Ring, ring_area_sr, ring_contains};

/// Polygons from rings of one grid: a clockwise ring is a hole of the smallest counterclockwise ring around it.
pub(super) fn polygons(rings: Vec<Ring>) -> Vec<Polygon> {
    let (outers, holes): (Vec<Ring>, Vec<Ring>) = rings.into_iter().partition(|ring| ring_area_sr(ring) > 0.0);
    let boxes: Vec<[f64; 4]> = outers.iter().map(|ring| bounds(ring)).collect();
    let areas: Vec<f64> = outers.iter().map(|ring| ring_area_sr(ring)).collect();
    let mut polygons: Vec<Polygon> = outers.into_iter().map(|outer| Polygon { outer, holes: Vec::new() }).collect();
    for hole in holes {
        // The middle of an edge: a corner of a hole may also be a corner of the outer ring.
        let point = [0.5 * (hole[0][0] + hole[1][0]), 0.5 * (hole[0][1] + hole[1][1])];
        let around = (0..polygons.len())
            .filter(|&index| in_box(boxes[index], point) && ring_contains(&polygons[index].outer, point))
            .min_by(|&a, &b| areas[a].total_cmp(&areas[b]));
        if let Some(index) = around {
            polygons[index].holes.push(hole);
        }
    }
    polygons
}

/// West, south, east, north.
fn bounds(ring: &[[f64; 2]]) -> [f64; 4] {
    ring.iter().fold([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY], |[w, s, e, n], &[x, y]| {
        [w.min(x), s.min(y), e.max(x), n.max(y)]
    })
}

fn in_box([west, south, east, north]: [f64; 4], [x, y]: [f64; 2]) -> bool {
    (west..=east).contains(&x) && (south..=north).contains(&y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(low: f64, high: f64, hole: bool) -> Ring {
        let mut ring = vec![[low, low], [high, low], [high, high], [low, high], [low, low]];
        if hole {
            ring.reverse();
        }
        ring
    }

    #[test]
    fn holes_go_to_the_smallest_ring_around_them() {
        let rings =
            vec![square(-4.0, 4.0, true), square(-1.0, 1.0, true), square(-5.0, 5.0, false), square(-3.0, 3.0, false)];
        let polygons = polygons(rings);
        assert_eq!(polygons.len(), 2);
        assert_eq!((polygons[0].holes.len(), polygons[0].holes[0][0]), (1, [-4.0, -4.0]));
        assert_eq!((polygons[1].holes.len(), polygons[1].holes[0][0]), (1, [-1.0, -1.0]));
    }
}

//! Where a map is cut: the antimeridian and the poles.

/// Whether an edge of a ring is one of its region: the cut along the antimeridian and the closing along a pole are not.
pub(crate) fn is_edge_of_region(from: [f64; 2], to: [f64; 2]) -> bool {
    let on_cut = from[0].abs() >= 180.0 && to[0].abs() >= 180.0;
    let on_pole = from[1].abs() >= 90.0 && to[1].abs() >= 90.0;
    !on_cut && !on_pole
}

//! A library as trips: photos between which no long pause lies.

/// Positions of photos, by trip, in order of time; a pause of more than `pause_s` seconds ends a trip.
///
/// ```
/// use locdiff_immich::trips;
/// let hour = 3600.0;
/// assert_eq!(trips(&[50.0 * hour, 0.0, hour], 36.0 * hour), [vec![1, 2], vec![0]]);
/// ```
pub fn trips(times: &[f64], pause_s: f64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|a, b| times[*a].total_cmp(&times[*b]));
    let mut trips: Vec<Vec<usize>> = Vec::new();
    for k in order {
        match trips.last_mut() {
            Some(trip) if times[k] - trip.last().map_or(f64::INFINITY, |last| times[*last]) <= pause_s => {
                trip.push(k);
            }
            _ => trips.push(vec![k]),
        }
    }
    trips
}

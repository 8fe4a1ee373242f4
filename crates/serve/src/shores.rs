//! Outlines of states and provinces for a page that is zoomed in.

use crate::query;
use locdiff_map::places::state_outlines;
use serde_json::json;

/// The widest box that is answered, in degrees.
const WIDEST_DEG: f64 = 30.0;

/// The outlines that reach into a box (`west`, `south`, `degrees`), each with its number: longitudes and latitudes to a thousandth of a degree.
/// Nothing for what is no box. With `fine=1` land, lakes and borders of 1:10 million, cut at the box.
pub(crate) fn json(text: &str) -> String {
    let pairs = query::pairs(text).unwrap_or_default();
    let number =
        |name: &str| pairs.iter().find(|(own, _)| own == name).and_then(|(_, value)| value.parse::<f64>().ok());
    let (Some(west), Some(south), Some(degrees)) = (number("west"), number("south"), number("degrees")) else {
        return "[]".to_owned();
    };
    let is_box = west.abs() <= 181.0 && south.abs() <= 91.0 && degrees > 0.0 && degrees <= WIDEST_DEG;
    if !is_box {
        return "[]".to_owned();
    }
    let fine = |number: f64| (1000.0 * number).round() / 1000.0;
    let ring = |points: &[[f64; 2]]| points.iter().map(|point| point.map(fine)).collect::<Vec<_>>();
    #[cfg(feature = "server")] // a megabyte that the browser build does without
    if number("fine") == Some(1.0) {
        let near = locdiff_map::Coast::finest().within([west, south], [west + degrees, south + degrees]);
        let (lakes, land): (Vec<_>, Vec<_>) = near.land.iter().partition(|one| one.is_hole);
        let [land, lakes] = [land, lakes].map(|list| list.iter().map(|one| ring(&one.points)).collect::<Vec<_>>());
        let borders: Vec<_> = near.borders.iter().map(|line| ring(line)).collect();
        return json!({ "land": land, "lakes": lakes, "borders": borders }).to_string();
    }
    let all = state_outlines([west, south], [west + degrees, south + degrees]);
    json!(all.into_iter().map(|(id, points)| json!([id, ring(points)])).collect::<Vec<_>>()).to_string()
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn states_of_a_box_come_with_their_numbers() {
        let found: Vec<(usize, Vec<[f64; 2]>)> = serde_json::from_str(&json("west=10&south=40&degrees=10")).unwrap();
        assert!(found.len() > 50 && found.iter().all(|(_, ring)| ring.len() >= 3), "{}", found.len());
        assert!(json("west=10&south=40&degrees=10").len() < 600_000);
        let near: serde_json::Value = serde_json::from_str(&json("west=12&south=45&degrees=2&fine=1")).unwrap();
        assert!(near["land"].as_array().unwrap().len() >= 3 && near.to_string().len() < 100_000, "{near}");
        for bad in
            ["", "west=1", "west=nan&south=0&degrees=1", "west=0&south=0&degrees=1000", "west=%ff&south=0&degrees=1"]
        {
            assert_eq!(json(bad), "[]", "{bad}");
        }
    }
}

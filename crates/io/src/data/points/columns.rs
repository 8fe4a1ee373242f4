//! Which columns, keys or tensor hold the points.

use crate::data::{DataError, error::list_names};

/// Names of what holds latitude and longitude. What is `None` is found by its usual names, in any case: `lat` or
/// `latitude`; `lon`, `lng`, `long` or `longitude`; the tensor `points`, or the only one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointColumns {
    /// Column or key of the latitude.
    pub lat: Option<String>,
    /// Column or key of the longitude.
    pub lon: Option<String>,
    /// Tensor of a safetensors file.
    pub tensor: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotFound {
    Missing,
    /// Several fit: their names.
    Several(String),
}

/// Names that would do for one coordinate, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted(Vec<String>);

impl Wanted {
    fn new(given: Option<&String>, usual: &[&str]) -> Self {
        Self(given.map_or_else(|| usual.iter().map(ToString::to_string).collect(), |name| vec![name.clone()]))
    }

    /// What names rows: the column given, or one of the usual ones.
    pub(crate) fn for_ids(given: Option<&str>) -> Self {
        let usual = ["id", "image_id", "img_id", "photo_id", "image", "photo", "filename", "file", "path", "key"];
        Self::new(given.map(str::to_owned).as_ref(), &usual)
    }

    pub(crate) fn describe(&self) -> String {
        self.0.iter().map(|name| list_names([name.as_str()])).collect::<Vec<_>>().join(" or ")
    }

    /// How well a name fits: 0 is best, `None` is not at all. An exact match beats one in another case.
    pub(crate) fn rank(&self, name: &str) -> Option<usize> {
        let name = name.trim();
        let place = self.0.iter().position(|wanted| wanted.trim().eq_ignore_ascii_case(name))?;
        Some(2 * place + usize::from(self.0[place] != name))
    }

    pub(crate) fn find(&self, names: &[String]) -> Result<usize, NotFound> {
        let ranks = || names.iter().enumerate().filter_map(|(index, name)| Some((self.rank(name)?, index)));
        let (best, index) = ranks().min().ok_or(NotFound::Missing)?;
        let equals: Vec<&str> = ranks().filter(|&(rank, _)| rank == best).map(|(_, i)| names[i].as_str()).collect();
        if equals.len() > 1 { Err(NotFound::Several(list_names(equals))) } else { Ok(index) }
    }

    /// The column of a CSV file that fits best; the error names the columns that there are.
    pub(crate) fn column(&self, names: &[String], file: &str) -> Result<usize, DataError> {
        let (file, wanted) = (file.to_owned(), self.describe());
        let available = || list_names(names.iter().map(String::as_str));
        self.find(names).map_err(|problem| match problem {
            NotFound::Missing => DataError::MissingColumn { file, wanted, available: available() },
            NotFound::Several(available) => DataError::AmbiguousColumn { file, wanted, available },
        })
    }
}

impl PointColumns {
    pub(crate) fn lat_names(&self) -> Wanted {
        Wanted::new(self.lat.as_ref(), &["lat", "latitude"])
    }

    pub(crate) fn lon_names(&self) -> Wanted {
        Wanted::new(self.lon.as_ref(), &["lon", "lng", "long", "longitude"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(columns: &PointColumns, header: &[&str]) -> [Result<usize, NotFound>; 2] {
        let names: Vec<String> = header.iter().map(ToString::to_string).collect();
        [columns.lat_names().find(&names), columns.lon_names().find(&names)]
    }

    #[test]
    fn usual_names_are_found_in_any_case_and_order() {
        let default = PointColumns::default();
        assert_eq!(find(&default, &["id", "lat", "lon"]), [Ok(1), Ok(2)]);
        assert_eq!(find(&default, &["LNG", " Latitude "]), [Ok(1), Ok(0)]);
        assert_eq!(find(&default, &["latitude", "longitude", "lat", "lon"]), [Ok(2), Ok(3)]);
        assert_eq!(find(&default, &["Lat", "lat", "LON", "lon"]), [Ok(1), Ok(3)]);
        assert_eq!(find(&default, &["x", "y"]), [Err(NotFound::Missing), Err(NotFound::Missing)]);
        assert_eq!(find(&default, &["lat", "lat", "lon"])[0], Err(NotFound::Several("'lat', 'lat'".to_owned())));
    }

    #[test]
    fn given_names_are_the_only_ones() {
        let columns = PointColumns { lat: Some("Y".into()), lon: Some("x".into()), tensor: None };
        assert_eq!(find(&columns, &["lat", "lon", "x", "y"]), [Ok(3), Ok(2)]);
        assert_eq!(find(&columns, &["lat", "lon"])[0], Err(NotFound::Missing));
        assert_eq!(columns.lat_names().describe(), "'Y'");
        assert_eq!(PointColumns::default().lat_names().describe(), "'lat' or 'latitude'");
    }
}

//! What the map says about the cells where photos are taken: towns, coast, climate, country and state.

use crate::{places::Countries, places::Country, places::admin1::unit_name, places::inflate::inflate};
use locdiff_shdd::sphere::{LatLon, Pixel, Unpacker};
use std::sync::OnceLock;

/// A property of a cell that a photo can show. Each has a few classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MapAttribute {
    /// The density of people in towns. Each class equals one town of so many people at the cell's centre: none, then up to
    /// 1,500, 8,500, 32,000, 94,000, 310,000 and 1.5 million people, and more.
    Towns,
    /// The distance to the coast. Lakes count as land.
    Coast,
    /// The Köppen–Geiger climate. Rare climates are merged: As with Aw, Cfc with Cfb, Csc with Csb, Cwc with Cwb, Dfd with
    /// Dfc, Dsa, Dsc and Dsd with Dsb, Dwc and Dwd with Dwb, EF with ET.
    Climate,
}

impl MapAttribute {
    /// All attributes, in the order in which they are stored.
    pub const ALL: [Self; 3] = [Self::Towns, Self::Coast, Self::Climate];

    /// A word for files and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Towns => "towns",
            Self::Coast => "coast",
            Self::Climate => "climate",
        }
    }

    /// The number of classes.
    pub const fn count(self) -> usize {
        self.class_names().len()
    }

    /// The name of a class. Panics unless the class is less than [`MapAttribute::count`].
    pub const fn class_name(self, class: u8) -> &'static str {
        self.class_names()[class as usize]
    }

    const fn class_names(self) -> &'static [&'static str] {
        match self {
            Self::Towns => {
                &["no town", "hamlets", "villages", "small towns", "towns", "small cities", "cities", "large cities"]
            }
            Self::Coast => &[
                "over 12 km out at sea",
                "0 to 12 km out at sea",
                "0 to 6 km inland",
                "6 to 15 km inland",
                "15 to 35 km inland",
                "35 to 80 km inland",
                "80 to 160 km inland",
                "160 to 320 km inland",
                "320 to 640 km inland",
                "over 640 km inland",
            ],
            Self::Climate => &[
                "Af", "Am", "Aw", "BSh", "BSk", "BWh", "BWk", "Cfa", "Cfb", "Csa", "Csb", "Cwa", "Cwb", "Dfa", "Dfb",
                "Dfc", "Dsb", "Dwa", "Dwb", "ET",
            ],
        }
    }
}

/// The cells where photos are taken: HEALPix pixels 25 km wide, on land or up to 50 km out at sea, north of 60° S.
/// Methods count these active cells from 0, in the order of their nested pixel numbers.
///
/// ```
/// use locdiff_map::cells::{Cells, MapAttribute};
/// use locdiff_shdd::sphere::LatLon;
///
/// let cells = Cells::bundled();
/// let paris = cells.at(LatLon::new(48.86, 2.35)?).ok_or("no cell")?;
/// assert_eq!(cells.country(paris).map(|country| country.name()), Some("France"));
/// let class = cells.classes(MapAttribute::Towns)[paris];
/// assert_eq!(MapAttribute::Towns.class_name(class), "large cities");
/// assert_eq!(cells.at(LatLon::new(30.0, -40.0)?), None); // the middle of the Atlantic
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cells {
    indices: Vec<u32>,
    /// For each 64 pixels which of them are active, and the number of active cells before them.
    blocks: Vec<(u64, u32)>,
    classes: [Vec<u8>; MapAttribute::ALL.len()],
    countries: Vec<u8>,
    states: Vec<u16>,
    /// Names of regions that stand for small units. Their state numbers come after those of the units.
    regions: Vec<String>,
}

impl Cells {
    /// The depth of the cells' HEALPix pixels.
    pub const DEPTH: u8 = 8;
    const PIXELS: usize = 12 << (2 * Self::DEPTH);

    /// The embedded cells, unpacked on first use.
    pub fn bundled() -> &'static Self {
        static BUNDLED: OnceLock<Cells> = OnceLock::new();
        BUNDLED.get_or_init(|| Self::unpack(&inflate(include_bytes!("../assets/cells.bin"))))
    }

    fn unpack(bytes: &[u8]) -> Self {
        let (mask, mut rest) = bytes.split_at(Self::PIXELS / 8);
        let (mut indices, mut blocks) = (Vec::new(), Vec::with_capacity(Self::PIXELS / 64));
        for (block, bytes) in mask.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            blocks.push((word, indices.len() as u32));
            indices.extend((0..64).filter(|bit| word & (1 << bit) != 0).map(|bit| 64 * block as u32 + bit));
        }
        let mut column = || {
            let (column, after) = rest.split_at(indices.len());
            rest = after;
            column.to_vec()
        };
        let classes = std::array::from_fn(|_| column());
        let [countries, low, high] = std::array::from_fn(|_| column());
        let states = low.into_iter().zip(high).map(|(low, high)| u16::from_le_bytes([low, high])).collect();
        let mut unpacker = Unpacker::new(rest);
        let regions = (0..unpacker.number()).map(|_| unpacker.string()).collect();
        debug_assert!(unpacker.is_at_end(), "the whole table is read");
        Self { indices, blocks, classes, countries, states, regions }
    }

    /// The nested pixel numbers of the active cells, ascending.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The active cell with a nested pixel number of depth [`Cells::DEPTH`].
    pub fn find(&self, index: u64) -> Option<usize> {
        let (word, before) = *self.blocks.get(usize::try_from(index / 64).ok()?)?;
        let bit = 1 << (index % 64);
        (word & bit != 0).then(|| before as usize + (word & (bit - 1)).count_ones() as usize)
    }

    /// The active cell that holds a location.
    pub fn at(&self, location: LatLon) -> Option<usize> {
        self.find(Pixel::holding(location, Self::DEPTH).index)
    }

    /// Whether photos are taken at a location: on land, or at most 12 km from the shore.
    pub fn is_ashore(&self, location: LatLon) -> bool {
        self.at(location).is_some_and(|cell| self.classes(MapAttribute::Coast)[cell] > 0)
    }

    /// The class of each active cell.
    pub fn classes(&self, attribute: MapAttribute) -> &[u8] {
        &self.classes[attribute as usize]
    }

    /// The country that holds most of the land of an active cell. A cell at sea belongs to the nearest country within
    /// 50 km.
    pub fn country(&self, cell: usize) -> Option<&'static Country> {
        Countries::bundled().all().get(usize::from(self.countries[cell]))
    }

    /// For each active cell, the position of its country in [`Countries::all`], or 255 for none.
    pub fn country_numbers(&self) -> &[u8] {
        &self.countries
    }

    /// For each active cell, the number of its state or province, or [`u16::MAX`] for none. Countries with very small
    /// units have regions instead, such as Scotland or Tuscany. So have France and Spain.
    pub fn state_numbers(&self) -> &[u16] {
        &self.states
    }

    /// The English name and the ISO 3166-2 code of a state number. The code is empty for regions and a few others.
    pub fn state_name(number: u16) -> Option<(&'static str, &'static str)> {
        let region = |after: usize| Some((Self::bundled().regions.get(after)?.as_str(), ""));
        unit_name(usize::from(number)).map_or_else(region, Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_places_have_their_classes_countries_and_states() {
        let cells = Cells::bundled();
        for (lat, lon, expected) in [
            (48.86, 2.35, "large cities|80 to 160 km inland|Cfb|FR|Île-de-France"),
            (23.0, 10.0, "no town|over 640 km inland|BWh|DZ|Tamanghasset"),
            (1.35, 103.82, "large cities|0 to 6 km inland|Af|SG|"),
            (48.14, 11.58, "large cities|160 to 320 km inland|Cfb|DE|Bavaria"),
            (43.77, 11.26, "large cities|35 to 80 km inland|Csa|IT|Tuscany"),
            (57.2, -4.5, "hamlets|15 to 35 km inland|Cfb|GB|Scotland"),
            (-1.0, -90.9, "hamlets|0 to 6 km inland|BSh|EC|Galápagos"),
            (30.0, -40.0, "none"),
            (-75.0, 0.0, "none"),
        ] {
            let at = cells.at(LatLon::new(lat, lon).unwrap()).map_or("none".to_owned(), |cell| {
                let class = |attribute: MapAttribute| attribute.class_name(cells.classes(attribute)[cell]);
                let [towns, coast, climate] = MapAttribute::ALL.map(class);
                let country = cells.country(cell).map_or("", Country::code);
                let state = Cells::state_name(cells.state_numbers()[cell]).map_or("", |(name, _)| name);
                [towns, coast, climate, country, state].join("|")
            });
            assert_eq!(at, expected, "{lat} {lon}");
        }
    }

    #[test]
    fn every_number_has_its_meaning() {
        let cells = Cells::bundled();
        assert_eq!(cells.indices().len(), 249_671);
        for (k, &index) in cells.indices().iter().enumerate().step_by(97) {
            assert_eq!(cells.find(u64::from(index)), Some(k));
        }
        let active = (0..Cells::PIXELS as u64 + 64).filter(|&index| cells.find(index).is_some()).count();
        assert_eq!(active, cells.indices().len());
        for attribute in MapAttribute::ALL {
            let found: std::collections::BTreeSet<u8> = cells.classes(attribute).iter().copied().collect();
            assert!(found.iter().map(|&class| usize::from(class)).eq(0..attribute.count()), "{attribute:?}");
        }
        let named = |number: &&u16| Cells::state_name(**number).is_some() || **number == u16::MAX;
        assert_eq!(cells.state_numbers().iter().filter(named).count(), cells.indices().len());
        assert_eq!(Cells::state_name(u16::MAX), None);
    }

    #[test]
    fn countries_agree_with_the_outlines_at_the_centres() {
        let (cells, countries) = (Cells::bundled(), Countries::bundled());
        let (mut on_land, mut same) = (0, 0);
        for (cell, &index) in cells.indices().iter().enumerate().step_by(101) {
            let centre = Pixel { depth: Cells::DEPTH, index: u64::from(index) }.centre().to_latlon();
            if let Some(country) = countries.at(centre) {
                on_land += 1;
                same += usize::from(cells.country(cell) == Some(country));
            }
        }
        assert!(on_land > 1000 && same * 100 >= on_land * 95, "{same} of {on_land}");
    }
}

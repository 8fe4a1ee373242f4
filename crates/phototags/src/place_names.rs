//! City, state and country as XMP, where photo managers look for them.

use locdiff_base::escape_markup;
use roxmltree::Document;

const PHOTOSHOP: &str = "http://ns.adobe.com/photoshop/1.0/";
const CORE: &str = "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/";
const EXTENSION: &str = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
/// Names of a place; those that are empty are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaceNames {
    /// The town.
    pub city: String,
    /// The state, province or the like.
    pub state: String,
    /// The country.
    pub country: String,
    /// Two letters of ISO 3166.
    pub country_code: String,
}

/// The names' properties of a description: IPTC's of today, and those that most programs show.
pub(crate) fn properties(names: &PlaceNames) -> String {
    let lines = |fields: [(&str, &String); 4], indent: &str| -> String {
        let said = fields.into_iter().filter(|(_, text)| !text.is_empty());
        let lines = said.map(|(name, text)| format!("{indent}<{name}>{}</{name}>\n", escape_markup(text)));
        lines.collect::<Vec<_>>().concat()
    };
    let PlaceNames { city, state, country, country_code } = names;
    let plain = [
        ("photoshop:City", city),
        ("photoshop:State", state),
        ("photoshop:Country", country),
        ("Iptc4xmpCore:CountryCode", country_code),
    ];
    let created = [
        ("Iptc4xmpExt:City", city),
        ("Iptc4xmpExt:ProvinceState", state),
        ("Iptc4xmpExt:CountryName", country),
        ("Iptc4xmpExt:CountryCode", country_code),
    ];
    format!(
        "{}   <Iptc4xmpExt:LocationCreated><rdf:Bag><rdf:li rdf:parseType=\"Resource\">\n{}   </rdf:li></rdf:Bag></Iptc4xmpExt:LocationCreated>\n",
        lines(plain, "   "),
        lines(created, "    ")
    )
}

/// The namespaces of [`properties`].
pub(crate) fn namespaces() -> String {
    format!(" xmlns:photoshop=\"{PHOTOSHOP}\" xmlns:Iptc4xmpCore=\"{CORE}\" xmlns:Iptc4xmpExt=\"{EXTENSION}\"")
}

/// Whether XMP names a place already, in whatever field: that stays.
pub(crate) fn are_in(xml: &Document<'_>) -> bool {
    let is_name = |namespace: Option<&str>, name: &str| match namespace {
        Some(PHOTOSHOP) => matches!(name, "City" | "State" | "Country"),
        Some(CORE) => name == "CountryCode",
        Some(EXTENSION) => name == "LocationCreated",
        _ => false,
    };
    xml.descendants().any(|node| {
        is_name(node.tag_name().namespace(), node.tag_name().name())
            || node.attributes().any(|attribute| is_name(attribute.namespace(), attribute.name()))
    })
}

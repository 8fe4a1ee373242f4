//! What stands behind the question mark.

use percent_encoding::percent_decode_str;

/// Names and values, decoded; `Err` names what cannot be.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, String> {
    // The decoder keeps bad escapes as they are, and puts U+FFFD for what is no UTF-8: both are refused here.
    let is_escape = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    for field in query.split('&') {
        if !field.split('%').skip(1).all(is_escape) {
            return Err(format!("'{field}' has a % without two hexadecimal digits behind it"));
        }
        percent_decode_str(field).decode_utf8().map_err(|_| format!("'{field}' is not UTF-8"))?;
    }
    Ok(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        let found = pairs("a=1&b=x%20y+z&&c&within=%C3%85land").unwrap();
        let wanted = [("a", "1"), ("b", "x y z"), ("c", ""), ("within", "Åland")];
        assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for bad in ["a=%", "a=%4", "a=%zz", "a=%4é", "%=a", "a=%FF", "a=%C3&b=%85"] {
            assert!(pairs(bad).is_err(), "{bad}");
        }
    }
}

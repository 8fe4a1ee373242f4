//! What stands behind the question mark.

/// Names and values, decoded; `Err` names what cannot be.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, String> {
    let both = |field: &str| {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        Ok((decode(name)?, decode(value)?))
    };
    query.split('&').filter(|field| !field.is_empty()).map(both).collect()
}

fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else {
                    return Err(format!("'{text}' has a % without two hexadecimal digits behind it"));
                };
                (16 * high + low) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| format!("'{text}' is no UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        let found = pairs("a=1&b=x%20y+z&&c&within=%C3%85land").unwrap();
        let wanted = [("a", "1"), ("b", "x y z"), ("c", ""), ("within", "Åland")];
        assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for bad in ["a=%", "a=%4", "a=%zz", "a=%FF"] {
            assert!(pairs(bad).is_err(), "{bad}");
        }
    }
}

//! When a place is sure enough to be written: the one rule of `locate`, `album` and `immich`.

/// Which estimates become tags. People act on a tag, so by default only what is sure does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TagRule {
    /// The radius that holds 90 % may be this long; `None` for every guess.
    pub sure_within_km: Option<f64>,
}

impl Default for TagRule {
    fn default() -> Self {
        Self { sure_within_km: Some(25.0) }
    }
}

impl TagRule {
    /// Every guess becomes a tag.
    pub const GUESSES: Self = Self { sure_within_km: None };

    /// Why an estimate is not sure enough, in words; `odd` says what speaks against it.
    pub fn doubt(&self, can_tell: bool, radius_90_km: f64, odd: Option<&str>) -> Option<String> {
        match self.sure_within_km? {
            _ if !can_tell => Some("I can't tell where it was taken".to_owned()),
            within if radius_90_km.is_nan() || radius_90_km > within => {
                Some(format!("not sure to within {}", distance(within)))
            }
            _ => odd.map(|odd| format!("it may be wrong: {odd}")),
        }
    }
}

/// "12 km", "1.5 km", "300 m".
pub(crate) fn distance(km: f64) -> String {
    match km {
        0.0..1.0 => format!("{:.0} m", 1000.0 * km),
        1.0..10.0 if km.fract() != 0.0 => format!("{km:.1} km"),
        _ => format!("{km:.0} km"),
    }
}

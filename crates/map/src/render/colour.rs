//! Colours, and the scale from little to much.

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct Colour {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl Colour {
    /// White.
    pub const WHITE: Colour = Colour::from_hex(0xffffff);

    /// An answer, in every picture and on every page.
    pub const ANSWER: Colour = Colour::from_hex(0xb3263a);

    /// The photo's own GPS tag.
    pub const GPS_TAG: Colour = Colour::from_hex(0x0a7d32);

    /// From 0xRRGGBB.
    pub const fn from_hex(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self { red, green, blue }
    }

    pub(super) fn channels(self) -> [f32; 3] {
        [self.red, self.green, self.blue].map(f32::from)
    }
}

/// Matplotlib's `inferno` (public domain), from light to dark, sampled at 17 steps by `scripts/map_font.py`. Lightness
/// falls evenly, so equal steps look equal, in grey and to the colour-blind too.
const STEPS: [u32; 17] = [
    0xfcfea4, 0xf1e864, 0xf8c931, 0xfbaa0e, 0xf98c09, 0xf0701e, 0xe35832, 0xd04544, 0xba3655, 0xa12b61, 0x88216a,
    0x6e186e, 0x550f6d, 0x3b0964, 0x1f0c47, 0x090621, 0x000003,
];

/// The colour at `share` (0…1) and its opacity: the least is transparent. The last steps would hide coastlines.
pub(crate) fn heat_colour(share: f64) -> ([f32; 3], f32) {
    const LAST_STEP: f64 = 12.0;
    let share = share.clamp(0.0, 1.0);
    let place = share * LAST_STEP;
    let (step, fraction) = ((place as usize).min(STEPS.len() - 2), place.fract() as f32);
    let [from, to] = [STEPS[step], STEPS[step + 1]].map(|rgb| Colour::from_hex(rgb).channels());
    let colour = std::array::from_fn(|channel| from[channel] + fraction * (to[channel] - from[channel]));
    let ramp = (share / 0.3).min(1.0) as f32;
    (colour, 0.82 * ramp * ramp * (3.0 - 2.0 * ramp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_darkens_evenly_and_begins_transparent() {
        assert_eq!(heat_colour(-1.0).1, 0.0);
        let lightness = |share| {
            let ([r, g, b], _) = heat_colour(share);
            0.3 * r + 0.6 * g + 0.1 * b
        };
        let all: Vec<f32> = (0..=20).map(|step| lightness(f64::from(step) / 20.0)).collect();
        assert!(all.windows(2).all(|pair| pair[1] < pair[0]));
        assert_eq!(heat_colour(2.0), heat_colour(1.0));
    }
}

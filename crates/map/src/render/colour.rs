//! Colours, and the scale from little to much.

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour {
    /// 0…255.
    pub red: u8,
    /// 0…255.
    pub green: u8,
    /// 0…255.
    pub blue: u8,
}

impl Colour {
    /// White.
    pub const WHITE: Colour = Colour::from_hex(0xffffff);

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
const STEPS: [[u8; 3]; 17] = [
    [252, 254, 164],
    [241, 232, 100],
    [248, 201, 49],
    [251, 170, 14],
    [249, 140, 9],
    [240, 112, 30],
    [227, 88, 50],
    [208, 69, 68],
    [186, 54, 85],
    [161, 43, 97],
    [136, 33, 106],
    [110, 24, 110],
    [85, 15, 109],
    [59, 9, 100],
    [31, 12, 71],
    [9, 6, 33],
    [0, 0, 3],
];

/// The scale's colour at `share` (0…1), and how opaque it is: the least is transparent. The last steps, almost black,
/// are not used, for they would hide coastlines and markers.
pub(crate) fn heat_colour(share: f64) -> ([f32; 3], f32) {
    const LAST_STEP: f64 = 12.0;
    let share = share.clamp(0.0, 1.0);
    let place = share * LAST_STEP;
    let (step, fraction) = ((place as usize).min(STEPS.len() - 2), place.fract() as f32);
    let colour = std::array::from_fn(|channel| {
        let (from, to) = (f32::from(STEPS[step][channel]), f32::from(STEPS[step + 1][channel]));
        from + fraction * (to - from)
    });
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
        let mut last = f32::INFINITY;
        for step in 0..=20 {
            let light = lightness(f64::from(step) / 20.0);
            assert!(light < last);
            last = light;
        }
        assert_eq!(heat_colour(2.0), heat_colour(1.0));
    }
}

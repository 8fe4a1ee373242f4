//! Colours as the photo's embedded ICC profile means them, brought to sRGB.

use moxcms::{ColorProfile, DataColorSpace, Layout, Transform8BitExecutor, TransformExecutor, TransformOptions};
use std::sync::Arc;

/// Steps of the grid of colours that tells whether a profile changes anything.
const PROBE_STEPS: [u8; 5] = [0, 64, 128, 192, 255];
/// Profiles that change no probed colour by more than this are sRGB, rounded one way or the other.
const UNCHANGED: u8 = 2;

/// Brings RGB bytes to sRGB by the profile that came with them. Pixels stay to the bit if the profile is sRGB, is damaged
/// (most viewers ignore it then, too), or is of inks, which the decoder has turned into RGB, or of greys but not they.
pub(crate) fn to_srgb(rgb: &mut [u8], icc: &[u8]) {
    let Ok(profile) = ColorProfile::new_from_slice(icc) else { return };
    let layout = match profile.color_space {
        DataColorSpace::Rgb => Layout::Rgb,
        DataColorSpace::Gray if rgb.as_chunks::<3>().0.iter().copied().all(is_grey) => Layout::Gray,
        _ => return,
    };
    if let Some(transform) = change(&profile, layout) {
        apply(&*transform, layout, rgb);
    }
}

pub(crate) fn changes_nothing(icc: &[u8]) -> bool {
    let Ok(profile) = ColorProfile::new_from_slice(icc) else { return true };
    match profile.color_space {
        DataColorSpace::Rgb => change(&profile, Layout::Rgb).is_none(),
        space => space != DataColorSpace::Gray,
    }
}

/// What brings colours to sRGB; `None` where the profile is sRGB itself, or does not work.
fn change(profile: &ColorProfile, layout: Layout) -> Option<Arc<Transform8BitExecutor>> {
    let srgb = ColorProfile::new_srgb();
    let options = TransformOptions { rendering_intent: profile.rendering_intent, ..TransformOptions::default() };
    let transform = profile.create_transform_8bit(layout, &srgb, Layout::Rgb, options).ok()?;
    let mut probe = probe(layout);
    let before = probe.clone();
    let works = apply(&*transform, layout, &mut probe);
    let is_same = before.iter().zip(&probe).all(|(a, b)| a.abs_diff(*b) <= UNCHANGED);
    (works && !is_same).then_some(transform)
}

/// The profile in a TIFF file. `image` 0.25 asks for it as numbers of another type than TIFF writers use, and finds none.
pub(crate) fn tiff_profile(contents: &[u8]) -> Option<Vec<u8>> {
    const ICC_PROFILE: u16 = 34675;
    locdiff_io::tags::tiff_bytes(contents, ICC_PROFILE)
}

fn is_grey([r, g, b]: [u8; 3]) -> bool {
    r == g && g == b
}

/// A grid of colours, or of greys where the profile knows no others.
fn probe(layout: Layout) -> Vec<u8> {
    let colours = PROBE_STEPS.map(|r| PROBE_STEPS.map(|g| PROBE_STEPS.map(|b| [r, g, b])));
    let colours = colours.as_flattened().as_flattened().iter();
    colours.filter(|colour| layout != Layout::Gray || is_grey(**colour)).flatten().copied().collect()
}

/// Transforms RGB bytes in place; a grey profile takes the first channel, as all three are equal. False, and bytes as
/// they were, where the profile turns out not to work.
fn apply(transform: &(impl TransformExecutor<u8> + ?Sized), layout: Layout, rgb: &mut [u8]) -> bool {
    /// Pixels at a time: the copy stays small whatever the photo's size.
    const PIXELS: usize = 4096;
    let mut source = vec![0; 3 * PIXELS];
    for block in rgb.chunks_mut(3 * PIXELS) {
        let step = if layout == Layout::Gray { 3 } else { 1 };
        let length = block.len() / step;
        source.iter_mut().zip(block.iter().step_by(step)).for_each(|(to, from)| *to = *from);
        if transform.transform(&source[..length], block).is_err() {
            return false;
        }
    }
    true
}

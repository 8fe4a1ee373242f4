//! How much a gallery counts.

use super::reading::{Levels, Observation, group_weights, read_levels};
use crate::answer::{Calibration, GalleryMix, Globe, KernelSettings, Neighbour, Result};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};
use rayon::prelude::*;
use std::sync::Arc;

/// Neighbours, widths and factors on the retriever's own temperature that are tried.
const NEIGHBOURS: [usize; 4] = [5, 15, 40, 100];
const WIDTHS_KM: [f64; 6] = [25.0, 50.0, 100.0, 200.0, 400.0, 800.0];
const TEMPERATURES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Shares of the gallery that are tried; out of domain may do without it.
const SHARES: [f64; 11] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// Photos this alike, and this near to each other, are one photo.
const SAME: f64 = 0.999;
const SAME_KM: f64 = 0.001;
/// A gallery that holds more than this share of the photos says nothing about new ones.
const MOST_SAME: f64 = 0.02;

/// The most neighbours that a mixture takes: so many should be asked of the gallery.
pub const MOST_NEIGHBOURS: usize = NEIGHBOURS[NEIGHBOURS.len() - 1];

/// A photo's log density by the model at its true place, its neighbours, and that place.
type Neighboured<'a> = (f64, &'a [Neighbour], UnitVec);

/// The kernels and the gallery's share under which photos' true places are most probable, and the mean −log density.
/// `temperature` is the retriever's; kernels are no narrower than `least_km`.
pub fn choose_mix(
    least_km: f64,
    photos: &[Neighboured<'_>],
    weights: &[f64],
    temperature: f64,
) -> (KernelSettings, f64, f64) {
    let widths = WIDTHS_KM.into_iter().filter(|width_km| least_km <= *width_km);
    let pairs = NEIGHBOURS.into_iter().flat_map(|few| widths.clone().map(move |width_km| (few, width_km)));
    let settings = pairs.flat_map(|(neighbours, width_km)| {
        TEMPERATURES.map(|factor| KernelSettings { neighbours, width_km, temperature: factor * temperature })
    });
    let model: Vec<f64> = photos.iter().map(|photo| photo.0).collect();
    let tried = settings.collect::<Vec<_>>().into_par_iter().map(|kernels| {
        let at = |(_, near, truth): &Neighboured<'_>| density(&kernels, near, *truth);
        let gallery: Vec<f64> = photos.iter().map(at).collect();
        let (share, nll) = choose_share(&SHARES, &model, &gallery, weights);
        (kernels, share, nll)
    });
    let tried: Vec<_> = tried.collect();
    tried.into_iter().min_by(|a, b| a.2.total_cmp(&b.2)).expect("there are settings")
}

fn density(kernels: &KernelSettings, near: &[Neighbour], truth: UnitVec) -> f64 {
    if near.is_empty() { 0.0 } else { kernels.kernels(near).density(truth) }
}

/// The share with the least −log density, given log densities of the model and densities of the gallery at the truths.
pub(super) fn choose_share(shares: &[f64], model: &[f64], gallery: &[f64], weights: &[f64]) -> (f64, f64) {
    let nll = |share: f64| -> f64 {
        let mixed = model.iter().zip(gallery).map(|(model, gallery)| (1.0 - share) * model.exp() + share * gallery);
        mixed.zip(weights).map(|(mixed, weight)| -weight * mixed.max(f64::MIN_POSITIVE).ln()).sum()
    };
    let tried = shares.iter().map(|share| (*share, nll(*share)));
    tried.fold((0.0, f64::INFINITY), |best, own| if own.1 < best.1 { own } else { best })
}

/// A calibration that also knows what a gallery is worth: kernels and shares by −log density, then window, radii and
/// threshold of the mixed density. The observations' neighbours are those that the gallery of this `key` gives.
/// Fails on a gallery that holds the very photos it is fitted on, or numbers of another degree.
pub fn fit_gallery(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    observations: &[Observation],
    out_of_domain: &[Observation],
    key: &str,
    temperature: f64,
) -> Result<Calibration> {
    let is_same = |seen: &&Observation| {
        let km = |near: &Neighbour| near.place.angle_rad(seen.truth.to_unit()) * EARTH_RADIUS_KM;
        seen.neighbours.first().is_some_and(|near| near.similarity > SAME && km(near) < SAME_KM)
    };
    let same = observations.iter().filter(is_same).count();
    if same as f64 > MOST_SAME * observations.len() as f64 {
        let remedy = "it holds the photos that it is fitted on; build it from others";
        return Err(locdiff_base::setting("gallery", format!("{same} photos of {}", observations.len()), remedy));
    }
    let plain = Calibration { gallery: None, ..calibration.clone() };
    let model = |photos: &[Observation]| -> Result<Vec<f64>> {
        let each = photos.par_iter().map(|seen| {
            let density = plain.density(globe, seen.model_output(&plain), None)?;
            Ok(density.log_density(&[seen.truth.to_unit()])[0])
        });
        each.collect()
    };
    let weights = group_weights(observations);
    let own = model(observations)?;
    let photos = observations.iter().zip(own).map(|(s, log)| (log, s.neighbours.as_slice(), s.truth.to_unit()));
    // Where a model gives places scores, pixels are cut about narrow kernels.
    let least_km = if calibration.places.is_some() { 0.0 } else { globe.narrowest_kernel_km() };
    let (kernels, share, nll_nats) = choose_mix(least_km, &photos.collect::<Vec<_>>(), &weights, temperature);
    let mut out_of_domain_share = share;
    if !out_of_domain.is_empty() {
        let at = |seen: &Observation| density(&kernels, &seen.neighbours, seen.truth.to_unit());
        let gallery: Vec<f64> = out_of_domain.iter().map(at).collect();
        let equal = vec![1.0 / out_of_domain.len() as f64; out_of_domain.len()];
        out_of_domain_share = choose_share(&SHARES, &model(out_of_domain)?, &gallery, &equal).0;
    }
    let unfitted = GalleryMix::unfitted(temperature, calibration.window_km);
    let mix = GalleryMix { key: key.to_owned(), kernels, share, out_of_domain_share, nll_nats, ..unfitted };
    let mut mixed = Calibration { gallery: Some(mix.clone()), ..calibration.clone() };
    let Levels { window_km, can_tell_from, own, out_of_domain, .. } =
        read_levels(globe, &mixed, (observations, None), out_of_domain)?;
    mixed.gallery = Some(GalleryMix {
        window_km,
        can_tell_from,
        radius_levels: own,
        out_of_domain_radius_levels: out_of_domain.map_or(own, |(levels, _)| levels),
        ..mix
    });
    Ok(mixed)
}

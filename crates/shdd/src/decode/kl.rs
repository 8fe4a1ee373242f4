//! PD_KL (the paper's Eq. for the KL-divergence SHDD decoder), exactly.
//!
//! `KL(q_e ‖ p_x) = −H(q_e) − E_q[Y]·Y(x) + log Z_p`, and neither the entropy nor log Z_p depends on x: the argmin is
//! the maximum of the field whose coefficients are the mean parameters `E_q[Y]`.

use crate::{Codec, Coefficients, Mode, ShddError, search::SearchScratch};

pub(super) fn decode(codec: &Codec, e: &Coefficients, scratch: &mut SearchScratch) -> Result<Mode, ShddError> {
    let mean = codec.density(e)?.mean_parameters();
    super::exact::decode(codec, &mean, None, scratch)
}

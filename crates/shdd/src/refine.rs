//! Climbing to the exact maximum of a field on the sphere.

use crate::{Mode, sphere::JetField, sphere::JetPlan, sphere::UnitVec};

/// Steps shorter than this end the climb: Newton's method squares the error, so what remains is far below a micrometre.
const CONVERGED_RAD: f64 = 1e-9;
const MOST_STEPS: usize = 30;

/// Returns the local maximum reached from `start` by Newton steps of at most `longest_rad`, or by gradient steps if F is not concave.
pub(crate) fn refine(plan: &JetPlan, field: &mut JetField, start: UnitVec, longest_rad: f64) -> Mode {
    let mut point = start;
    let mut jet = plan.jet(field, point);
    let mut limit = longest_rad;
    for _ in 0..MOST_STEPS {
        let [gu, gv] = jet.gradient;
        let slope = gu.hypot(gv);
        let [mut a, mut b] = jet.newton_step().unwrap_or_else(|| {
            let along = if slope > 0.0 { limit / slope } else { 0.0 };
            [gu * along, gv * along]
        });
        let length = a.hypot(b);
        if length > limit {
            (a, b) = (a * limit / length, b * limit / length);
        }
        let next = point.step(a, b);
        if length < CONVERGED_RAD {
            // The last step's gain is below rounding: no need to look again.
            return Mode { point: next, value: jet.value, hessian: jet.hessian };
        }
        let there = plan.jet(field, next);
        if there.value >= jet.value - 1e-12 * jet.value.abs() {
            (point, jet) = (next, there);
        } else {
            limit = 0.25 * length.min(limit);
        }
    }
    Mode { point, value: jet.value, hessian: jet.hessian }
}

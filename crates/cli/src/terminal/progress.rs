//! Progress bars: on a terminal only, and only for work that takes longer than a moment.

use super::verbosity::is_quiet;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::{fmt, time::Duration};

/// A bar over `count` items (a spinner where the count is unknown), on standard error.
pub(crate) fn bar(what: &'static str, count: Option<u64>) -> ProgressBar {
    let bar = count.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = if count.is_some() {
        "{prefix} {wide_bar} {human_pos}/{human_len} {rate} {eta} left"
    } else {
        "{prefix} {spinner} {human_pos} {rate}"
    };
    // Draws nothing where stderr is not a terminal.
    let target = if is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
    bar.set_draw_target(target);
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = out.write_str(&rate(state.per_sec())); // a bar that is not drawn is no loss
    };
    bar.set_style(style.with_key("rate", rate));
    bar.set_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// "6.3/s", "120/s".
fn rate(per_second: f64) -> String {
    if per_second < 10.0 { format!("{per_second:.1}/s") } else { format!("{per_second:.0}/s") }
}

/// Parts of a bar of shares.
const PARTS: f64 = 10_000.0;

/// A bar of percent, with a message beside it.
pub(crate) fn share_bar(what: &'static str) -> ProgressBar {
    let bar = bar(what, Some(PARTS as u64));
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent} % {msg}");
    bar.set_style(style.expect("the template is valid"));
    bar
}

/// Sets such a bar to a share of 0 to 1.
pub(crate) fn set_share(bar: &ProgressBar, share: f64) {
    bar.set_position((PARTS * share) as u64);
}

#[cfg(test)]
mod tests {
    #[test]
    fn rates_are_short() {
        assert_eq!([6.2839, 119.7].map(super::rate), ["6.3/s", "120/s"]);
    }
}

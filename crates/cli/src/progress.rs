//! Progress bars: on a terminal only, and only for work that takes longer than a moment.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar over `count` items (a spinner where the count is unknown), on standard error.
pub(crate) fn bar(what: &'static str, count: Option<u64>) -> ProgressBar {
    let bar = count.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = if count.is_some() {
        "{prefix} {wide_bar} {human_pos}/{human_len} {per_sec} {eta} left"
    } else {
        "{prefix} {spinner} {human_pos} {per_sec}"
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8)); // draws nothing where stderr is not a terminal
    bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
    bar.set_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

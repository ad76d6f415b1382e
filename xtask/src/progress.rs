//! Progress for work that takes longer than a moment: drawn on stderr, and not at all where stderr is no terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `steps` steps with a message. Indicatif hides it by itself where stderr is no terminal.
pub(crate) fn bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} [{pos}/{len}] {msg} ({elapsed})")
        .expect("the template above is well formed");
    let bar = ProgressBar::new(steps as u64).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

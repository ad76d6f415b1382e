//! Where the lines go that kernels of a device print.

use std::io::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

/// What becomes of a line.
type Print = Arc<dyn Fn(&str) + Send + Sync>;

/// Standard output, or what the program has chosen.
#[derive(Default)]
pub(crate) struct Printer(RwLock<Option<Print>>);

impl Printer {
    pub(crate) fn set(&self, print: impl Fn(&str) + Send + Sync + 'static) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(print));
    }

    /// Prints a line, as one piece.
    pub(crate) fn print(&self, line: &str) {
        let print = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        match print {
            Some(print) => print(line),
            // Nobody may be reading standard output.
            None => drop(writeln!(std::io::stdout().lock(), "{line}")),
        }
    }
}

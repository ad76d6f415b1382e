//! The figures of the teaching texts, row by row, each computed when it is asked for.
//!
//! A [`Figure`] holds three numbers for one thing: what the text states, what the rule behind it gives for this shape
//! by arithmetic alone, and what was counted when the kernel ran on the simulator. The last two must be equal; where
//! the text is off, the figure says why.

pub mod banks;
mod conflicts;
mod counted;
pub mod matmul;
pub mod roofline;
pub mod squares;
pub mod transposes;
pub mod warps;

use std::fmt;

use anyhow::Result;

/// A row of the texts: one kernel or one family of them, and its figures.
pub struct Row {
    /// The row's name: a letter for the text, a number.
    pub id: &'static str,
    /// The kernels it is about.
    pub kernels: &'static [&'static str],
    /// What it teaches, in one line.
    pub idea: &'static str,
    /// Computes its figures.
    pub figures: fn() -> Result<Vec<Figure>>,
}

/// One number of a text, reproduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What is counted, and at which shape.
    pub what: String,
    /// What the text states; `None` where it states the rule only.
    pub text: Option<Value>,
    /// What the rule gives, by arithmetic on the shape.
    pub rule: Value,
    /// What the simulator counted, or what the launch did.
    pub computed: Value,
    /// Why the text's number is another one.
    pub because: Option<&'static str>,
}

impl Figure {
    /// A figure whose number the text states.
    pub fn stated(what: impl Into<String>, text: Value, rule: Value, computed: Value) -> Self {
        Self { what: what.into(), text: Some(text), rule, computed, because: None }
    }

    /// A figure of which the text states the rule, not the number.
    pub fn ruled(what: impl Into<String>, rule: Value, computed: Value) -> Self {
        Self { what: what.into(), text: None, rule, computed, because: None }
    }

    /// Says why the text's number is another one.
    #[must_use]
    pub fn because(mut self, reason: &'static str) -> Self {
        self.because = Some(reason);
        self
    }

    /// Whether the number was reproduced: rule and count agree, and the text with them or for a stated reason not.
    pub fn is_reproduced(&self) -> bool {
        let agrees = self.text.as_ref().is_none_or(|text| text.agrees(&self.computed));
        self.rule.agrees(&self.computed) && agrees == self.because.is_none()
    }
}

/// A number, or a few that belong together.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A count for each step.
    Steps(Vec<u64>),
    /// Conflict degrees of the store into shared memory and of the load from it.
    Degrees(u64, u64),
    /// A rate in 10⁹ operations a second, as the text rounds it: one decimal.
    Gflops(f64),
}

impl Value {
    /// Whether both say the same, at the precision in which they are printed.
    fn agrees(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Steps(counts) => {
                for (i, count) in counts.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{count}")?;
                }
                Ok(())
            }
            Self::Degrees(store, load) => write!(f, "{store} / {load}"),
            Self::Gflops(rate) => write!(f, "{rate:.1} GFLOP/s"),
        }
    }
}

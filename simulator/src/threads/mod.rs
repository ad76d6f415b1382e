//! The threads of a resident block as the checks see them: who they are, what came before what, and what they did
//! wrong.

mod faults;
mod order;
mod state;

pub(crate) use order::is_before;
pub(crate) use state::{LaunchState, MAX_CLOCK, MAX_THREAD, Threads};

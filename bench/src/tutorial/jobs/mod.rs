//! Jobs that only the tutorial has; matrix products, sums and transposes are those of the main job ([`crate::job`]).

pub(super) mod banks;
pub(super) mod gray;
pub(super) mod squares;
pub(super) mod tensor;
pub(super) mod threads;

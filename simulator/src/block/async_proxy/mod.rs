//! The async proxy of one block, TMA and mbarriers: what threads ask of it, and what it does between their turns.

mod boxes;
mod issue;
mod mbarrier;
mod phase;
mod proxy;
mod request;
mod stores;
mod tma;

pub(crate) use proxy::AsyncProxy;
pub(crate) use request::TmaRequest;

//! Code that the test programs of this package share.

pub mod runner;
pub mod sim;

//! What the resident blocks of one OS thread have in common.

use crate::config::{Config, Level};
use crate::counters::Counters;
use crate::happens_before::Logs;
use crate::launch::Launch;
use crate::shadow::GlobalShadow;
use crate::threads::LaunchState;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::io;

/// A launch on one OS thread.
pub(crate) struct Run<'a> {
    pub(crate) state: LaunchState<'a>,
    pub(crate) body: &'a (dyn Fn() + Sync),
    pub(crate) counters: RefCell<Counters>,
    pub(crate) global: UnsafeCell<GlobalShadow>,
    pub(super) logs: UnsafeCell<Logs>,
    /// Most bytes of shadow seen.
    pub(crate) shadow_bytes: Cell<usize>,
}

impl<'a> Run<'a> {
    /// # Errors
    /// If the host has no memory for the shadows.
    pub(crate) fn new(launch: &'a Launch<'a>, config: &'a Config, body: &'a (dyn Fn() + Sync)) -> io::Result<Self> {
        let checked = launch.bindings.iter().filter(|_| config.level != Level::Off);
        Ok(Self {
            state: LaunchState::new(launch, config),
            body,
            counters: RefCell::default(),
            global: UnsafeCell::new(GlobalShadow::new(checked.map(|b| (b.memory, b.writable)))?),
            logs: UnsafeCell::new(Logs::default()),
            shadow_bytes: Cell::new(0),
        })
    }
}

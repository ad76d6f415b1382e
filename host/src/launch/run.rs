//! From a kernel and its arguments to a launch.

use std::ffi::c_void;

use simt::{Kernel, KernelInfo};

use super::{Execution, Geometry, KernelArgs, Launch};
use crate::backend::Queue;
use crate::device::Device;
use crate::error::{BadLaunch, LaunchRule, Result};
use crate::memory::Allocation;
use crate::module;

/// A launch that was checked, for a back end.
pub(crate) struct Request<'a> {
    pub(crate) info: &'static KernelInfo,
    pub(crate) geometry: Geometry,
    /// The memory of the arguments; views name it by its index.
    pub(crate) bound: &'a [Bound<'a>],
    /// Where the arguments' values are.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the simulator calls the body"))]
    pub(crate) parameters: &'a [*mut c_void],
    /// Runs the kernel for the simulator's current thread.
    pub(crate) body: &'a (dyn Fn() + Sync),
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the simulator has no queues"))]
    pub(crate) queue: &'a Queue,
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the simulator needs no PTX"))]
    pub(crate) module: Option<&'a module::Loaded>,
}

/// An allocation that a launch uses.
pub(crate) struct Bound<'a> {
    /// The first parameter that uses it.
    pub(crate) name: &'static str,
    pub(crate) allocation: &'a Allocation,
    /// Whether any parameter may write it.
    pub(crate) write: bool,
}

/// Collects the memory of a launch's arguments.
#[doc(hidden)]
pub struct Binder<'a> {
    device: &'a Device,
    info: &'static KernelInfo,
    /// Names of the parameters, or of the fields of the one that is being bound.
    names: &'static [&'static str],
    /// Name of the one that is being bound.
    argument: &'static str,
    bound: Vec<Bound<'a>>,
}

impl<'a> Binder<'a> {
    /// What follows is the argument `index`.
    pub(super) fn next_argument(&mut self, index: usize) {
        self.argument = self.names.get(index).copied().unwrap_or("unnamed");
    }

    /// What follows are fields with these names; gives the names so far, for [`Binder::leave`].
    pub(super) fn enter(&mut self, names: &'static [&'static str]) -> &'static [&'static str] {
        std::mem::replace(&mut self.names, names)
    }

    /// What follows are again arguments with these names.
    pub(super) fn leave(&mut self, names: &'static [&'static str]) {
        self.names = names;
    }

    /// Notes that the present argument uses `allocation`; gives the tag for its view. Views of one allocation have one
    /// tag, since the simulator watches memory, not arguments.
    pub(super) fn memory(&mut self, allocation: &'a Allocation, write: bool) -> Result<u32> {
        self.device.check_same(allocation.device(), &format!("kernel `{}`", self.info.name), self.argument)?;
        let known = self.bound.iter().position(|bound| std::ptr::eq(bound.allocation, allocation));
        let tag = known.unwrap_or_else(|| {
            self.bound.push(Bound { name: self.argument, allocation, write });
            self.bound.len() - 1
        });
        self.bound[tag].write |= write;
        Ok(tag as u32)
    }

    /// The words of a tensor map of memory with this tag.
    pub(super) fn tagged(&self, words: [u64; 16], tag: u32) -> [u64; 16] {
        self.device.backend().tagged(words, tag)
    }
}

impl Device {
    /// Runs `kernel` on the arguments `args`, a tuple with one value for each parameter: see [`Arg`](super::Arg).
    ///
    /// On a GPU the launch is queued, and what goes wrong in the kernel shows later, in a call that waits; on the
    /// simulator it runs to its end. Either way, work on a buffer keeps the order of the calls, whatever their streams.
    ///
    /// # Errors
    /// - [`crate::Error::Launch`]: an empty grid, a block that the kernel is not written for, more threads, blocks or
    ///   shared memory than there can be, a stream or module of another device, no PTX for the kernel.
    /// - [`crate::Error::Argument`]: memory of another device.
    /// - [`crate::Error::Faults`]: the simulator saw the kernel do wrong. The device stays usable.
    /// - [`crate::Error::TooOld`], [`crate::Error::Ptx`], [`crate::Error::DeviceLost`], [`crate::Error::Driver`]: on a GPU.
    pub fn launch<P, A>(&self, kernel: &Kernel<P>, launch: Launch<'_>, args: A) -> Result<Execution>
    where
        P: Copy + Send + Sync,
        A: KernelArgs<P>,
    {
        let info = kernel.info();
        let geometry = Geometry::check(&launch, info, self.limits())?;
        let queue = match launch.stream {
            None => self.queue(),
            Some(stream) if stream.device().is(self) => stream.queue(),
            Some(stream) => return Err(self.stranger(info, LaunchRule::Stream, "a stream", stream.device())),
        };
        let module = match launch.module {
            None => None,
            Some(module) if module.device().is(self) => module.loaded(),
            Some(module) => return Err(self.stranger(info, LaunchRule::Module, "a module", module.device())),
        };
        let mut binder = Binder { device: self, info, names: info.args, argument: "", bound: Vec::new() };
        let mut values = args.bind(&mut binder)?;
        let entry = kernel.entry();
        let body = move || entry(values);
        let parameters = A::addresses(&mut values);
        let request =
            Request { info, geometry, bound: &binder.bound, parameters: &parameters, body: &body, queue, module };
        // SAFETY: parameters and body hold the values that the arguments gave, of the types that the kernel takes; their
        // views were made with the tags of `bound`; the geometry was checked. The borrows in `args` last until after this
        // call, which excludes writers of what is read and everybody else from what is written.
        unsafe { self.backend().launch(&request) }
    }

    fn stranger(&self, info: &KernelInfo, rule: LaunchRule, what: &str, device: &Device) -> crate::Error {
        let (expected, found) =
            (format!("{what} of this device, {}", self.name()), format!("one of {}", device.name()));
        BadLaunch::new(rule, info.name, expected, found, "make it with the device that launches").into()
    }
}

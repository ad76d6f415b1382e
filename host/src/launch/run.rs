//! Binds the arguments of a kernel and launches it.

use simt::{Kernel, KernelInfo};
use smallvec::SmallVec;

use super::{Arg, BindEach, KernelArgs, Launch, validate};
use crate::backend::{Backend, Memory, Pair};
use crate::contract::{Binding, Execution, KernelLaunch, Role};
use crate::device::Device;
use crate::error::{BadLaunch, Error, LaunchRule, Result};
use crate::memory::Allocation;

/// Collects the memory of a launch's arguments.
#[doc(hidden)]
pub struct Binder<'a> {
    device: &'a Device,
    info: &'static KernelInfo,
    /// Names of the parameters, or of the fields of the one that is being bound.
    names: &'static [&'static str],
    /// Name of the one that is being bound.
    argument: &'static str,
    bindings: SmallVec<[Binding<'a, Memory>; 6]>,
    /// Why the first argument that cannot be passed cannot.
    failure: Option<Error>,
}

impl<'a> Binder<'a> {
    /// Starts the argument `index`.
    pub(super) fn next_argument(&mut self, index: usize) {
        self.argument = self.names.get(index).copied().unwrap_or("unnamed");
    }

    /// Binds the fields of the current argument, which have these names.
    pub(crate) fn fields<V>(&mut self, names: &'static [&'static str], bind: impl FnOnce(&mut Self) -> V) -> V {
        let outer = std::mem::replace(&mut self.names, names);
        let bound = bind(self);
        self.names = outer;
        bound
    }

    /// Binds field `index`.
    pub(crate) fn field<V>(&mut self, index: usize, value: impl Arg<V> + 'a) -> V {
        self.next_argument(index);
        value.bind(self)
    }

    /// Records that the current argument uses `allocation`; returns the tag for its view. Views of one allocation share
    /// one tag, since the simulator tracks memory, not arguments.
    pub(super) fn memory(&mut self, allocation: &'a Allocation, write: bool) -> u32 {
        if !self.device.is(allocation.device()) {
            let call = format!("kernel `{}`", self.info.name);
            let refused = self.device.check_same(allocation.device(), &call, self.argument);
            refused.err().into_iter().for_each(|failure| self.failed(failure));
            return 0;
        }
        let memory = allocation.memory();
        let known = self.bindings.iter().position(|binding| std::ptr::eq(binding.memory, memory));
        let tag = known.unwrap_or_else(|| {
            self.bindings.push(Binding { name: self.argument, memory, write });
            self.bindings.len() - 1
        });
        self.bindings[tag].write |= write;
        tag as u32
    }

    /// An argument cannot be passed.
    #[cold]
    pub(super) fn failed(&mut self, failure: Error) {
        self.failure.get_or_insert(failure);
    }

    /// What encodes tensor maps.
    pub(super) fn backend(&self) -> &Backend {
        self.device.backend()
    }
}

impl Device {
    /// Runs `kernel` on the arguments `args`, a tuple with one value for each parameter: see [`Arg`].
    ///
    /// On a GPU the launch is queued, and a failure of the kernel is reported later, by a call that waits; on the
    /// simulator the kernel runs to its end. Work on a buffer keeps the order of the calls on any streams.
    ///
    /// ```
    /// use warpwright::prelude::*;
    ///
    /// /// y = factor · x, one thread for each element.
    /// #[kernel]
    /// pub fn scale(factor: f32, x: MatRef<f32>, y: MatMut<f32>) {
    ///     let (col, row) = index_2d();
    ///     let (row, col) = (row as u32, col as u32);
    ///     if branch(row < x.rows() && col < x.cols()) {
    ///         y.set(row, col, factor * x.get(row, col));
    ///     }
    /// }
    ///
    /// let device = Device::simulator();
    /// let x = device.upload(&ndarray::array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// let mut y = device.alloc_matrix(2, 3)?;
    /// device.launch(&scale, Launch::grid(1).block((32, 8)), (2.0, &x, &mut y))?;
    /// assert_eq!(y.download()?, ndarray::array![[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`crate::Error::Launch`]: an empty grid, a block shape that the kernel does not accept, more threads, blocks
    ///   or shared memory than the limits allow, a stream or module of another device, no PTX for the kernel, or PTX of
    ///   another one.
    /// - [`crate::Error::Argument`]: memory of another device.
    /// - [`crate::Error::Faults`]: the simulator found faults in the kernel. The device stays usable.
    /// - [`crate::Error::TooOld`], [`crate::Error::Ptx`], [`crate::Error::DeviceLost`], [`crate::Error::Driver`]: on a
    ///   GPU.
    pub fn launch<P: Copy + Send + Sync, A: BindEach<P> + KernelArgs<P>>(
        &self,
        kernel: &Kernel<P>,
        launch: Launch<'_>,
        args: A,
    ) -> Result<Execution> {
        self.launch_of_pair(None, kernel, launch, args)
    }

    /// [`Device::launch`] of one of a pair of kernels in the program.
    pub(crate) fn launch_of_pair<P: Copy + Send + Sync, A: KernelArgs<P>>(
        &self,
        pair: Option<(&Pair<'_>, Role)>,
        kernel: &Kernel<P>,
        launch: Launch<'_>,
        args: A,
    ) -> Result<Execution> {
        let info = kernel.info();
        let geometry = validate::geometry(&launch, info, self.limits())?;
        let queue = match launch.stream {
            None => self.queue(),
            Some(stream) if stream.device().is(self) => stream.queue(),
            Some(stream) => return Err(self.of_another_device(info, LaunchRule::Stream, "a stream", stream.device())),
        };
        let module = match launch.module {
            None => None,
            Some(module) if module.device().is(self) => module.loaded(),
            Some(module) => return Err(self.of_another_device(info, LaunchRule::Module, "a module", module.device())),
        };
        let bindings = SmallVec::new();
        let mut binder = Binder { device: self, info, names: info.args, argument: "", bindings, failure: None };
        let mut values = args.bind(&mut binder);
        if let Some(failure) = binder.failure {
            return Err(failure);
        }
        let entry = kernel.entry();
        let parameters = A::addresses(&mut values);
        let body = || entry(values);
        let launch = KernelLaunch { info, geometry, parameters: &parameters, body: &body };
        // SAFETY: parameters and body hold the values of the arguments, of the types that the kernel takes; their views
        // have the tags of `bindings`; the geometry was checked. The borrows in `args` last until after this call: they
        // exclude writers of what is read, and any other access to what is written.
        let execution = unsafe { self.backend().launch(&launch, &binder.bindings, queue, module, pair) }?;
        if let Some(counters) = &execution.counters {
            self.add_counters(counters);
        }
        Ok(execution)
    }

    fn of_another_device(&self, info: &KernelInfo, rule: LaunchRule, what: &str, device: &Device) -> Error {
        let (expected, found) =
            (format!("{what} of this device, {}", self.name()), format!("one of {}", device.name()));
        BadLaunch::new(rule, info.name, expected, found, "create it with the device that launches").into()
    }
}

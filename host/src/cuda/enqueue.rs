//! Queues kernel launches on a GPU.

use std::cell::RefCell;
use std::sync::Arc;

use qcell::QCellOwner;

use super::backend::Backend;
use super::driver;
use super::driver_stream::Queue;
use super::loaded_module::Module;
use super::ordered_memory::Memory;
use super::primary::Enqueue;
use crate::contract::{Execution, KernelLaunch, Role};
use crate::error::{BadLaunch, LaunchRule, Result};

/// Two launches of kernels in the program, in one queue, that are queued at once: no other work of the device is queued
/// between them.
pub(crate) struct Pair<'p> {
    /// Held from the first to the second: the first is registered as a use of its memory, but not queued.
    held: RefCell<Enqueue<'p>>,
    first: RefCell<Option<First>>,
}

/// A launch that waits for the second one of its pair.
struct First {
    launch: driver::Launch,
    module: Arc<Module>,
    queue: Arc<Queue>,
    name: &'static str,
    arguments: driver::Arguments,
}

impl First {
    /// # Safety
    /// `launch.arguments` are the addresses of values of `launch.types`.
    unsafe fn new(launch: driver::Launch, module: Arc<Module>, queue: &Arc<Queue>, name: &'static str) -> Self {
        let mut arguments = driver::Arguments::default();
        // SAFETY: the caller's promise.
        unsafe { arguments.set(&launch) };
        Self { launch, module, queue: Arc::clone(queue), name, arguments }
    }

    /// Calls `work` with the launch, whose arguments are the copies, and with its module.
    fn with<R>(&mut self, work: impl FnOnce(&driver::Launch, &Arc<Module>) -> R) -> R {
        let mut arguments = self.arguments.addresses();
        work(&driver::Launch { arguments: arguments.as_mut_ptr(), ..self.launch }, &self.module)
    }
}

impl Pair<'_> {
    /// Queues the first launch if the second has not come.
    pub(crate) fn finish(self) -> Result<()> {
        let Some(mut first) = self.first.take() else { return Ok(()) };
        let (queue, name) = (Arc::clone(&first.queue), first.name);
        let primary = Arc::clone(queue.primary());
        // SAFETY: as in `Backend::launch`, which made it.
        primary.call(format_args!("launching kernel `{name}`"), || unsafe {
            first.with(|launch, _| queue.launch(launch, None))
        })
    }
}

impl Backend {
    /// Begins a pair of launches. While it exists, this thread must not queue other work, which would wait for its end.
    pub(crate) fn pair(&self) -> Pair<'_> {
        Pair { held: self.primary().enqueue().into(), first: RefCell::default() }
    }

    /// Queues the kernel; the first one of a pair when the second comes. `memory` is the memory that it uses, and
    /// whether it writes it.
    ///
    /// # Safety
    /// `launch.parameters` are the addresses of the arguments of `launch.info`'s kernel, with views of `memory`;
    /// geometry and shared memory were checked against the kernel.
    pub(crate) unsafe fn launch<'a>(
        &self,
        launch: &KernelLaunch<'_>,
        memory: impl Iterator<Item = (&'a Memory, bool)>,
        queue: &Arc<Queue>,
        module: Option<&Arc<Module>>,
        pair: Option<(&Pair<'_>, Role)>,
    ) -> Result<Execution> {
        let KernelLaunch { info, geometry, parameters, .. } = *launch;
        let name = info.name;
        // A module of the user's may be unloaded; those of kernels in the program are not.
        let may_be_first = module.is_none() && info.cluster <= 1;
        let of_graph = may_be_first && !info.pdl;
        let wants_module = of_graph || pair.is_some();
        let (module, function) = match module {
            Some(module) => (wants_module.then(|| Arc::clone(module)), module.function(info, geometry.shared_bytes)?),
            None => self.kernel(info, geometry.shared_bytes, wants_module)?,
        };
        let threads = geometry.threads_per_block();
        if threads > u64::from(function.max_threads) {
            return Err(BadLaunch::new(
                LaunchRule::Threads,
                name,
                format_args!(
                    "at most {} threads per block, which the kernel's registers allow here",
                    function.max_threads
                ),
                threads,
                "take a smaller block",
            )
            .into());
        }
        let (mut own, mut of_pair);
        let held: &mut QCellOwner = if let Some((pair, _)) = pair {
            of_pair = pair.held.borrow_mut();
            &mut of_pair
        } else {
            own = self.primary().enqueue();
            &mut own
        };
        for (memory, write) in memory {
            memory.order(held, queue, write)?;
        }
        self.primary().launched(info);
        let of_driver = driver::Launch {
            function: function.raw.cast(),
            grid: geometry.grid,
            block: geometry.block,
            shared_bytes: geometry.shared_bytes as u32,
            stream: queue.raw().cast(),
            arguments: parameters.as_ptr().cast_mut(),
            types: info.arg_types,
            pdl: info.pdl,
        };
        if let Some((pair, Role::First)) = pair
            && may_be_first
            && let Some(module) = &module
        {
            // SAFETY: the caller's promise.
            let first = unsafe { First::new(of_driver, Arc::clone(module), queue, name) };
            pair.first.replace(Some(first));
            return Ok(Execution::default());
        }
        self.primary().call(format_args!("launching kernel `{name}` ({geometry})"), || {
            let mut first = pair.map(|(pair, _)| pair.first.borrow_mut());
            let first = first.as_mut().and_then(|first| first.as_mut());
            // SAFETY: the function belongs to a module that stays loaded until its kernels are done. The driver reads
            // the parameters before the call returns; the caller promises that they are what the function takes. The
            // memory they point to is registered with the queue, so it lives until the queue has passed this launch.
            // For kernels with programmatic dependent launch see the module documentation of `cuda`.
            unsafe {
                match (first, &module) {
                    (Some(first), Some(module)) => first.with(|launch, of_first| {
                        queue.launch_pair([launch, &of_driver], [of_first, module], info.cluster)
                    }),
                    (_, module) => queue.launch(&of_driver, module.as_ref().filter(|_| of_graph)),
                }
            }
        })?;
        if let Some((pair, _)) = pair {
            pair.first.take();
        }
        Ok(Execution::default())
    }
}

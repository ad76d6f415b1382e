//! Queues kernel launches on a GPU.

use std::sync::Arc;

use super::backend::Backend;
use super::driver;
use super::driver_stream::Queue;
use super::loaded_module::Module;
use super::ordered_memory::Memory;
use crate::contract::{Execution, KernelLaunch};
use crate::error::{BadLaunch, LaunchRule, Result};

impl Backend {
    /// Queues the kernel. `memory` is the memory that it uses, and whether it writes it.
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
    ) -> Result<Execution> {
        let KernelLaunch { info, geometry, parameters, .. } = *launch;
        let name = info.name;
        // A module of the user's may be unloaded; those of kernels in the program are not.
        let of_graph = module.is_none() && !info.pdl && info.cluster <= 1;
        let (module, function) = match module {
            Some(module) => (Arc::clone(module), module.function(info, geometry.shared_bytes)?),
            None => self.kernel(info, geometry.shared_bytes)?,
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
        let held = self.primary().enqueue();
        for (memory, write) in memory {
            memory.order(&held, queue, write)?;
        }
        self.primary().launched(name);
        let launch = driver::Launch {
            function: function.raw.cast(),
            grid: geometry.grid,
            block: geometry.block,
            shared_bytes: geometry.shared_bytes as u32,
            stream: queue.raw().cast(),
            arguments: parameters.as_ptr().cast_mut(),
            pdl: info.pdl,
        };
        self.primary().call(format_args!("launching kernel `{name}` ({geometry})"), || {
            // SAFETY: the function belongs to a module that stays loaded until its kernels are done. The driver reads
            // the parameters before the call returns; the caller promises that they are what the function takes. The
            // memory they point to is registered with the queue, so it lives until the queue has passed this launch.
            // For kernels with programmatic dependent launch see the module documentation of `cuda`.
            unsafe { queue.launch(&launch, of_graph.then_some(&module)) }
        })?;
        Ok(Execution::default())
    }
}

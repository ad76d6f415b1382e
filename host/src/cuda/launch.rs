//! Launches on a GPU.

use std::sync::Arc;

use super::device::Backend;
use super::driver;
use crate::backend;
use crate::error::{BadLaunch, LaunchRule, Result};
use crate::launch::{Execution, Request};

impl Backend {
    /// Queues the kernel.
    ///
    /// # Safety
    /// `request.parameters` are the addresses of the arguments of `request.info`'s kernel, with views of `request.bound`;
    /// geometry and shared memory were checked against the kernel.
    pub(crate) unsafe fn launch(&self, request: &Request<'_>) -> Result<Execution> {
        let name = request.info.name;
        let geometry = &request.geometry;
        let module = match request.module {
            Some(module) => Arc::clone(module),
            None => match gpu::family_of(request.info) {
                Some(family) => self.family(name, family)?,
                None => {
                    return Err(BadLaunch::new(
                        LaunchRule::Module,
                        name,
                        "a kernel of the crate `gpu`, whose PTX is embedded",
                        format_args!("one of `{}`", request.info.path),
                        "build its PTX, load it with Module::from_ptx, and name it with Launch::module",
                    )
                    .into());
                }
            },
        };
        let function = module.function(name, geometry.shared_bytes)?;
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
        #[allow(irrefutable_let_patterns, reason = "the other variant is the simulator's")]
        let backend::Queue::Cuda(queue) = request.queue else {
            unreachable!("a stream of another device was refused before this");
        };
        let held = self.primary().enqueue();
        for bound in request.bound {
            let backend::Memory::Cuda(memory) = bound.allocation.memory() else {
                unreachable!("an argument on another device was refused when it was bound");
            };
            memory.order(&held, queue, bound.write)?;
        }
        self.primary().launched(name);
        let launch = driver::Launch {
            function: function.raw.cast(),
            grid: geometry.grid,
            block: geometry.block,
            shared_bytes: geometry.shared_bytes as u32,
            stream: queue.raw().cast(),
            arguments: request.parameters.as_ptr().cast_mut(),
            pdl: request.info.pdl,
        };
        self.primary().call(format_args!("launching kernel `{name}` ({geometry})"), || {
            // SAFETY: the function is of a module that is alive until its kernels are done; the parameters are read
            // before the call returns, and are what the function takes, as the caller promises; the memory they point to
            // lives until the queue has passed this launch, since it is registered with the queue. Whether a kernel that
            // overlaps keeps its promise is its own matter, as any order of its accesses is: the module's documentation.
            unsafe { driver::launch(&launch) }
        })?;
        Ok(Execution::default())
    }
}

//! A launch as a graph of one kernel, whose parameters are set before each launch: the host is busy with it for about
//! 1 µs less than with `cuLaunchKernel`.
//!
//! Graphs have no programmatic dependent launch across their borders, and Nsight Systems shows a graph where it would
//! show a kernel: [`graphs_are_wanted`].

use std::env;
use std::ffi::c_void;
use std::ptr;
use std::sync::LazyLock;

use super::forward::typed;
use super::launch_ex::Launch;
use super::status::{Failure, Handle, result};

/// Whether launches may be graphs: not under Nsight Systems, which sets the first variable for the program that it
/// profiles, nor if the user says 0.
pub(crate) fn graphs_are_wanted() -> bool {
    static WANTED: LazyLock<bool> = LazyLock::new(|| {
        let off = env::var_os("WARPWRIGHT_GRAPH_LAUNCHES").is_some_and(|value| value == "0");
        env::var_os("NSYS_PROFILING_SESSION_ID").is_none() && !off
    });
    *WANTED
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
pub(crate) struct KernelNode {
    pub(crate) function: Handle,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: Handle,
    context: Handle,
}

// The size in `cuda.h` of CUDA 12, with pointers of 8 bytes.
const _: () = assert!(size_of::<KernelNode>() == 72);

impl KernelNode {
    fn new(launch: &Launch) -> Self {
        let &Launch { function, grid, block, shared_bytes, arguments, .. } = launch;
        let (extra, kernel, context) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        Self { function, grid, block, shared_bytes, arguments, extra, kernel, context }
    }
}

/// A graph of one kernel. It is not destroyed when it is dropped: see [`KernelGraph::destroy`].
pub(crate) struct KernelGraph {
    graph: Handle,
    node: Handle,
    executable: Handle,
}

// SAFETY: the handles may be used from any thread, one at a time, as the exclusive references of the methods ensure.
unsafe impl Send for KernelGraph {}

impl KernelGraph {
    /// A graph for the kernel of this launch, in the current context. Drivers older than CUDA 12 do not have it.
    ///
    /// # Safety
    /// The contract of `cuLaunchKernel`, whose arguments are read before this returns.
    pub(crate) unsafe fn new(launch: &Launch) -> Result<Self, Failure> {
        let [graph, node, executable] = [ptr::null_mut(); 3];
        let mut it = Self { graph, node, executable };
        // SAFETY: `it.graph` is writable.
        result("cuGraphCreate", unsafe { typed::cuGraphCreate(&raw mut it.graph, 0) })?;
        // SAFETY: the caller's promise.
        unsafe { it.fill(launch) }.inspect_err(|_| {
            // SAFETY: made above, and used no more.
            unsafe { it.destroy() };
        })?;
        Ok(it)
    }

    /// # Safety
    /// That of [`Self::new`]; the graph is empty.
    unsafe fn fill(&mut self, launch: &Launch) -> Result<(), Failure> {
        let parameters = KernelNode::new(launch);
        // SAFETY: the caller's promise; `self.node` is writable, and the node has no dependencies.
        result("cuGraphAddKernelNode_v2", unsafe {
            typed::cuGraphAddKernelNode_v2(&raw mut self.node, self.graph, ptr::null(), 0, &raw const parameters)
        })?;
        // SAFETY: the graph exists; `self.executable` is writable.
        result("cuGraphInstantiateWithFlags", unsafe {
            typed::cuGraphInstantiateWithFlags(&raw mut self.executable, self.graph, 0)
        })
    }

    /// Queues the kernel, which may be another one than before. Launches that are queued keep their parameters.
    ///
    /// # Safety
    /// The contract of `cuLaunchKernel`; the context is that of [`Self::new`], and the stream is not being captured.
    pub(crate) unsafe fn launch(&mut self, launch: &Launch) -> Result<(), Failure> {
        let parameters = KernelNode::new(launch);
        // SAFETY: the caller's promise; the parameters are read before the call returns.
        result("cuGraphExecKernelNodeSetParams_v2", unsafe {
            typed::cuGraphExecKernelNodeSetParams_v2(self.executable, self.node, &raw const parameters)
        })?;
        // SAFETY: the executable graph exists.
        result("cuGraphLaunch", unsafe { typed::cuGraphLaunch(self.executable, launch.stream) })
    }

    /// Destroys the graph; launches that are queued are done all the same. There is no handling of a failure.
    ///
    /// # Safety
    /// The context is that of [`Self::new`]; the graph is used no more.
    pub(crate) unsafe fn destroy(&mut self) {
        if !self.executable.is_null() {
            // SAFETY: it exists, by the caller's promise for the last time.
            unsafe { typed::cuGraphExecDestroy(self.executable) };
        }
        // SAFETY: as above.
        unsafe { typed::cuGraphDestroy(self.graph) };
    }
}

//! Launches as graphs: of one kernel, or of two, the second after the first. What differs from the graph's last launch
//! is set before the next. The host is busy with one kernel for about 1 µs less than with `cuLaunchKernel`, with two
//! for 3 µs less, and for less still where nothing is set.
//!
//! Graphs have no programmatic dependent launch across their borders, and Nsight Systems shows a graph where it would
//! show a kernel: [`graphs_are_wanted`].

use std::env;
use std::ffi::c_void;
use std::ptr;
use std::sync::LazyLock;

use smallvec::SmallVec;

use super::arguments::{Arguments, Field, fields};
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

/// Most kernels of a graph.
pub(crate) const MOST_KERNELS: usize = 2;

/// A graph of kernels, each after the one before it. It is not destroyed when it is dropped: see
/// [`KernelGraph::destroy`].
pub(crate) struct KernelGraph {
    graph: Handle,
    nodes: SmallVec<[Node; MOST_KERNELS]>,
    executable: Handle,
}

/// A node, and what the executable graph launches there.
struct Node {
    handle: Handle,
    /// Null if it is not known.
    function: Handle,
    /// Grid and block, and bytes of shared memory.
    geometry: ([u32; 3], [u32; 3], u32),
    arguments: Arguments,
    /// What counts in arguments of their types.
    fields: SmallVec<[Field; 8]>,
}

impl Node {
    fn new(handle: Handle) -> Self {
        let (function, geometry, arguments) = (ptr::null_mut(), <_>::default(), Arguments::default());
        Self { handle, function, geometry, arguments, fields: SmallVec::new() }
    }

    /// # Safety
    /// That of [`Arguments::set`].
    unsafe fn set(&mut self, launch: &Launch) {
        self.function = launch.function;
        self.geometry = (launch.grid, launch.block, launch.shared_bytes);
        if !ptr::eq(self.arguments.types(), launch.types) {
            self.fields = fields(launch.types);
        }
        // SAFETY: the caller's promise.
        unsafe { self.arguments.set(launch) };
    }

    /// Whether it launches this.
    ///
    /// # Safety
    /// That of [`Arguments::set`].
    unsafe fn is(&self, launch: &Launch) -> bool {
        self.function == launch.function
            && self.geometry == (launch.grid, launch.block, launch.shared_bytes)
            // SAFETY: the caller's promise; arguments of one kernel have the same types.
            && unsafe { self.arguments.are_those_of(launch, &self.fields) }
    }
}

// SAFETY: the handles may be used from any thread, one at a time, as the exclusive references of the methods ensure.
unsafe impl Send for KernelGraph {}

impl KernelGraph {
    /// A graph for the kernels of these launches, in the current context. Drivers older than CUDA 12 do not have it.
    ///
    /// # Safety
    /// The contract of `cuLaunchKernel` for each launch, whose arguments are read before this returns.
    pub(crate) unsafe fn new(launches: &[&Launch]) -> Result<Self, Failure> {
        let mut it = Self { graph: ptr::null_mut(), nodes: SmallVec::new(), executable: ptr::null_mut() };
        // SAFETY: `it.graph` is writable.
        result("cuGraphCreate", unsafe { typed::cuGraphCreate(&raw mut it.graph, 0) })?;
        // SAFETY: the caller's promise.
        unsafe { it.fill(launches) }.inspect_err(|_| {
            // SAFETY: made above, and used no more.
            unsafe { it.destroy() };
        })?;
        Ok(it)
    }

    /// # Safety
    /// That of [`Self::new`]; the graph is empty.
    unsafe fn fill(&mut self, launches: &[&Launch]) -> Result<(), Failure> {
        for launch in launches {
            let parameters = KernelNode::new(launch);
            let (mut node, before) = (ptr::null_mut(), self.nodes.last().map(|node| node.handle));
            let count = usize::from(before.is_some());
            let before = before.as_ref().map_or(ptr::null(), ptr::from_ref);
            // SAFETY: the caller's promise; `node` is writable, and `before` points to as many nodes as `count` says.
            result("cuGraphAddKernelNode_v2", unsafe {
                typed::cuGraphAddKernelNode_v2(&raw mut node, self.graph, before, count, &raw const parameters)
            })?;
            let mut node = Node::new(node);
            // SAFETY: the caller's promise.
            unsafe { node.set(launch) };
            self.nodes.push(node);
        }
        // SAFETY: the graph exists; `self.executable` is writable.
        result("cuGraphInstantiateWithFlags", unsafe {
            typed::cuGraphInstantiateWithFlags(&raw mut self.executable, self.graph, 0)
        })
    }

    /// Whether it launches just these.
    ///
    /// # Safety
    /// The contract of `cuLaunchKernel` for the arguments of each launch, and for their types.
    pub(crate) unsafe fn is(&self, launches: &[&Launch]) -> bool {
        // SAFETY: the caller's promise.
        self.nodes.len() == launches.len() && self.nodes.iter().zip(launches).all(|(node, it)| unsafe { node.is(it) })
    }

    /// Sets what the next launch of the graph launches: as many kernels as it has, with these arguments. Launches that
    /// are queued keep theirs. The kernels may be other ones than before, with clusters as large: a node keeps the
    /// shape of the clusters of the kernel that it was made for, and does not launch another one, without an error, if
    /// its grid is no multiple of that (driver 580).
    ///
    /// # Safety
    /// The contract of `cuLaunchKernel`, and for the types of the arguments; the context is that of [`Self::new`].
    pub(crate) unsafe fn set(&mut self, launches: &[&Launch]) -> Result<(), Failure> {
        assert_eq!(launches.len(), self.nodes.len(), "a launch for each node");
        for (node, launch) in self.nodes.iter_mut().zip(launches) {
            // SAFETY: the caller's promise.
            if unsafe { node.is(launch) } {
                continue;
            }
            let parameters = KernelNode::new(launch);
            // It is not known what a node launches if this fails.
            node.function = ptr::null_mut();
            // SAFETY: the caller's promise; the parameters are read before the call returns.
            result("cuGraphExecKernelNodeSetParams_v2", unsafe {
                typed::cuGraphExecKernelNodeSetParams_v2(self.executable, node.handle, &raw const parameters)
            })?;
            // SAFETY: as above.
            unsafe { node.set(launch) };
        }
        Ok(())
    }

    /// Queues the kernels in the stream.
    ///
    /// # Safety
    /// The contract of `cuLaunchKernel` for what was set last, or given to [`Self::new`]; the context is the same, and
    /// the stream is not being captured.
    pub(crate) unsafe fn launch(&mut self, stream: Handle) -> Result<(), Failure> {
        // SAFETY: the executable graph exists.
        result("cuGraphLaunch", unsafe { typed::cuGraphLaunch(self.executable, stream) })
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

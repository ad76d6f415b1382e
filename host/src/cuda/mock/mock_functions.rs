//! The mock's implementations of the driver's functions.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};

use cust::sys::CUDA_MEMCPY2D;
use simt::{ArgPart, ArgType, KernelInfo};

use super::super::driver::{Config, KernelNode};
use super::machine::{KernelLaunch, Work};
use super::{CHARACTERS, Character, Machine};

/// The state of each device.
pub(super) static MACHINES: LazyLock<Vec<Mutex<Machine>>> =
    LazyLock::new(|| CHARACTERS.iter().map(|_| Mutex::default()).collect());

thread_local! {
    /// The device whose context is current on this thread.
    static CURRENT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// Whether this thread is in a function of the mock.
    static DRIVING: Cell<bool> = const { Cell::new(false) };
    /// The device that counts the calls of this thread, whatever context is current.
    static WATCHED: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Lets a device count the calls of this thread from now on ([`Machine::calls`]).
pub(in crate::cuda) fn watch(ordinal: u32) {
    WATCHED.set(Some(ordinal));
}

/// Whether this thread is in a function of the mock.
pub(in crate::cuda) fn is_driving() -> bool {
    DRIVING.get()
}

/// Makes no context current on this thread, as in a new thread.
pub(in crate::cuda) fn leave_context() {
    CURRENT.set(usize::MAX);
}

/// The device whose context is current on this thread.
pub(in crate::cuda) fn current() -> Option<u32> {
    u32::try_from(CURRENT.get()).ok()
}

/// Makes the context of a device current on this thread, as code beside ours does.
pub(in crate::cuda) fn set_current(ordinal: u32) {
    CURRENT.set(ordinal as usize);
}

/// Runs `work` on the current device. Returns 201 (invalid context) without one, and the device's status once it is
/// lost.
fn here(work: impl FnOnce(&mut Machine, Character) -> i32) -> i32 {
    let Some(machine) = MACHINES.get(CURRENT.get()) else { return 201 };
    let mut machine = machine.lock().unwrap_or_else(PoisonError::into_inner);
    if machine.lost != 0 {
        return machine.lost;
    }
    let status = work(&mut machine, CHARACTERS[CURRENT.get()]);
    if status == 0 { machine.lost } else { status }
}

/// The status with which this call of the driver fails, if a test asked for it ([`Machine::fail_at`],
/// [`Machine::fail_next`]).
fn injected(function: &'static str) -> Option<i32> {
    if let Some(status) = WATCHED.get().and_then(|ordinal| super::machine(ordinal).count(function)) {
        return Some(status);
    }
    let mut machine = MACHINES.get(CURRENT.get())?.lock().unwrap_or_else(PoisonError::into_inner);
    machine.fail_next.take_if(|(failing, _)| *failing == function).map(|(_, status)| status)
}

/// Stores a result of a driver function; returns success.
fn store<T>(result: *mut T, value: T) -> i32 {
    // SAFETY: the caller of a driver function passes a writable address for its result.
    unsafe { result.write(value) };
    0
}

fn handle(number: usize) -> *mut c_void {
    ptr::without_provenance_mut(number)
}

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $body:block)*) => {
        $(
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "name and signature are the driver's")]
            extern "C" fn $name($($argument: $type),*) -> i32 {
                let outside = DRIVING.replace(true);
                let status = injected(stringify!($name)).unwrap_or_else(|| $body);
                DRIVING.set(outside);
                status
            }
        )*

        /// The address of a function by its name.
        pub(super) fn find(name: &CStr) -> Option<*mut c_void> {
            match name.to_str().ok()? {
                $(stringify!($name) => Some($name as *mut c_void),)*
                _ => None,
            }
        }
    };
}

functions! {
    fn cuInit(_flags: u32) { 0 }
    fn cuDeviceGetCount(count: *mut i32) { store(count, CHARACTERS.len() as i32) }
    fn cuDeviceGet(device: *mut i32, ordinal: i32) { store(device, ordinal) }
    fn cuDeviceGetName(name: *mut c_char, _length: i32, _device: i32) {
        // SAFETY: the caller's buffer is longer than this.
        unsafe { c"Mock GPU".as_ptr().copy_to_nonoverlapping(name, 9) };
        0
    }
    fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) {
        let (major, minor) = match CHARACTERS[device as usize] {
            Character::Old => (7, 5),
            Character::Ampere => (8, 0),
            _ => (9, 0),
        };
        store(value, match attribute {
            1..=3 => 1024,
            4 => 64,
            5 => i32::MAX,
            6 | 7 => 65535,
            13 => 1_980_000,
            16 => 132,
            36 => 3_201_000,
            37 => 6144,
            38 => 52_428_800,
            75 => major,
            76 => minor,
            97 => 232_448,
            _ => return 1,
        })
    }
    fn cuGetErrorName(status: i32, text: *mut *const c_char) {
        store(text, match status {
            2 => c"CUDA_ERROR_OUT_OF_MEMORY",
            222 => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            719 => c"CUDA_ERROR_LAUNCH_FAILED",
            _ => return 1,
        }.as_ptr())
    }
    fn cuGetErrorString(status: i32, text: *mut *const c_char) {
        store(text, match status {
            700 => c"an illegal memory access was encountered",
            719 => c"unspecified launch failure",
            222 => c"the provided PTX was compiled with an unsupported toolchain.",
            _ => return 1,
        }.as_ptr())
    }
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: i32) {
        super::machine(device as u32).contexts += 1;
        store(context, handle(device as usize + 1))
    }
    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        super::machine(device as u32).contexts -= 1;
        0
    }
    fn cuCtxGetCurrent(context: *mut *mut c_void) { store(context, handle(CURRENT.get().wrapping_add(1))) }
    fn cuCtxSetCurrent(context: *mut c_void) {
        CURRENT.set((context as usize).wrapping_sub(1));
        0
    }
    fn cuCtxSynchronize() {
        here(|machine, _| { machine.run_all(); 0 })
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { here(|_, _| store(free, 400) + store(total, 1000)) }
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        here(|machine, character| {
            if bytes > character.capacity() { 2 } else { store(address, machine.allocate(bytes)) }
        })
    }
    fn cuMemPoolCreate(pool: *mut *mut c_void, _properties: *const c_void) {
        here(|machine, character| {
            // Old devices have no memory pools.
            if [Character::Old, Character::FaultyWithoutPools].contains(&character) {
                return 801;
            }
            machine.pools += 1;
            store(pool, handle(machine.pools))
        })
    }
    fn cuMemPoolDestroy(_pool: *mut c_void) { here(|machine, _| { machine.pools -= 1; 0 }) }
    fn cuMemPoolSetAttribute(_pool: *mut c_void, _attribute: i32, _value: *mut c_void) { here(|_, _| 0) }
    fn cuMemPoolTrimTo(_pool: *mut c_void, _keep: usize) { here(|machine, _| { machine.trims += 1; 0 }) }
    fn cuMemAllocFromPoolAsync(address: *mut u64, bytes: usize, _pool: *mut c_void, _stream: *mut c_void) {
        here(|machine, character| {
            if bytes > character.capacity() { 2 } else { store(address, machine.allocate(bytes)) }
        })
    }
    fn cuMemFreeAsync(at: u64, stream: *mut c_void) {
        here(|machine, _| { machine.push(stream as usize, Work::Free { at }); 0 })
    }
    fn cuMemFree_v2(address: u64) { here(|machine, _| { machine.free(address); 0 }) }
    fn cuMemAllocHost_v2(address: *mut *mut c_void, bytes: usize) {
        here(|machine, _| store(address, machine.allocate(bytes) as *mut c_void))
    }
    fn cuMemFreeHost(address: *mut c_void) { here(|machine, _| { machine.free(address as u64); 0 }) }
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        here(|machine, _| {
            let to = match (to, bytes) {
                (REPORT_VARIABLE, 8) => (&raw mut machine.report).cast(),
                (LINES_VARIABLE, 16) => machine.lines.as_mut_ptr().cast(),
                _ => to as *mut u8,
            };
            // SAFETY: both sides have this size.
            unsafe { to.copy_from(from.cast(), bytes) };
            0
        })
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) {
        // SAFETY: memory of the mock is the host's; both sides have this size.
        here(|_, _| { unsafe { to.cast::<u8>().copy_from(from as *const u8, bytes) }; 0 })
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: *mut c_void) {
        copy(to, from as u64, bytes, stream)
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: *mut c_void) {
        copy(to as u64, from, bytes, stream)
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) { copy(to, from, bytes, stream) }
    fn cuMemcpy2DAsync_v2(description: *const c_void, stream: *mut c_void) {
        // SAFETY: the caller passes a description.
        let it = unsafe { &*description.cast::<CUDA_MEMCPY2D>() };
        let to = if it.dstDevice == 0 { it.dstHost as u64 } else { it.dstDevice };
        let from = if it.srcDevice == 0 { it.srcHost as u64 } else { it.srcDevice };
        (0..it.Height as u64).map(|row| {
            copy(to + row * it.dstPitch as u64, from + row * it.srcPitch as u64, it.WidthInBytes, stream)
        }).find(|&status| status != 0).unwrap_or(0)
    }
    fn cuMemsetD8Async(at: u64, value: u8, bytes: usize, stream: *mut c_void) {
        assert_eq!(value, 0, "the mock only clears");
        here(|machine, _| { machine.push(stream as usize, Work::Clear { at, bytes }); 0 })
    }
    fn cuStreamCreateWithPriority(stream: *mut *mut c_void, _flags: u32, _priority: i32) {
        here(|machine, _| store(stream, handle(machine.new_queue())))
    }
    fn cuStreamDestroy_v2(stream: *mut c_void) { here(|machine, _| { machine.remove_queue(stream as usize); 0 }) }
    fn cuStreamSynchronize(stream: *mut c_void) {
        here(|machine, character| {
            machine.expect_queue(stream as usize, "a wait");
            machine.run(stream as usize, None);
            if character == Character::UnlistedStatus { 912 } else { 0 }
        })
    }
    fn cuStreamQuery(stream: *mut c_void) {
        here(|machine, _| {
            machine.expect_queue(stream as usize, "a query");
            if machine.is_idle(stream as usize) { 0 } else { 600 }
        })
    }
    fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, _flags: u32) {
        here(|machine, _| { machine.wait(stream as usize, event as usize); 0 })
    }
    fn cuStreamIsCapturing(stream: *mut c_void, status: *mut u32) {
        here(|machine, _| store(status, u32::from(machine.captured == Some(stream as usize))))
    }
    fn cuThreadExchangeStreamCaptureMode(_mode: *mut u32) { 0 }
    fn cuEventCreate(event: *mut *mut c_void, _flags: u32) {
        here(|machine, _| store(event, handle(machine.new_event())))
    }
    fn cuEventDestroy_v2(event: *mut c_void) { here(|machine, _| { machine.destroy_event(event as usize); 0 }) }
    fn cuEventRecord(event: *mut c_void, stream: *mut c_void) {
        here(|machine, _| { machine.record(event as usize, stream as usize); 0 })
    }
    fn cuEventSynchronize(event: *mut c_void) { here(|machine, _| { machine.pass(event as usize); 0 }) }
    fn cuEventQuery(event: *mut c_void) {
        here(|machine, _| if machine.is_passed(event as usize) { 0 } else { 600 })
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) {
        here(|machine, _| {
            let passed = machine.is_passed(start as usize) && machine.is_passed(end as usize);
            if passed { store(milliseconds, 1.5) } else { 600 }
        })
    }
    fn cuTensorMapEncodeTiled(
        map: *mut c_void,
        kind: i32,
        rank: u32,
        base: *mut c_void,
        extents: *const u64,
        strides: *const u64,
        boxes: *const u32,
        steps: *const u32,
        interleave: i32,
        swizzle: i32,
        promotion: i32,
        fill: i32
    ) {
        let aligned = (map as usize).is_multiple_of(64) && (base as usize).is_multiple_of(16);
        if !aligned || interleave != 0 || fill != 0 || promotion != 2 {
            return 1;
        }
        let rank = rank as usize;
        let mut words = [0_u64; 16];
        words[0] = base as u64;
        words[1] = kind as u64;
        words[2] = swizzle as u64;
        // SAFETY: the caller passes `rank` extents, box extents and element strides, one stride less, and a writable
        // map.
        unsafe {
            words[3..3 + rank].copy_from_slice(std::slice::from_raw_parts(extents, rank));
            words[8..7 + rank].copy_from_slice(std::slice::from_raw_parts(strides, rank - 1));
            for i in 0..rank {
                assert_eq!(*steps.add(i), 1);
                words[12] |= u64::from(*boxes.add(i)) << (9 * i);
            }
            map.cast::<[u64; 16]>().write(words);
        }
        0
    }
    fn cuTensorMapReplaceAddress(map: *mut c_void, base: *mut c_void) {
        if !(map as usize).is_multiple_of(64) || !(base as usize).is_multiple_of(16) {
            return 1;
        }
        // SAFETY: the caller passes a writable map.
        unsafe { map.cast::<u64>().write(base as u64) };
        0
    }
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        count: u32,
        options: *mut i32,
        values: *mut *mut c_void
    ) {
        here(|machine, character| {
            if character == Character::Strict {
                let log = c"ptxas application ptx input, line 1; fatal : Unsupported .version 99.0\n";
                // SAFETY: the first value is the buffer of the error log, which is longer than this.
                unsafe { log.as_ptr().copy_to_nonoverlapping((*values).cast(), log.count_bytes() + 1) };
                return 222;
            }
            machine.modules += 1;
            // SAFETY: there are `count` options, and as many values.
            let asked = (0..count as usize).any(|i| unsafe {
                // CU_JIT_GENERATE_LINE_INFO, whose value is passed in place of an address.
                *options.add(i) == 13 && (*values.add(i)).addr() == 1
            });
            machine.with_lines += usize::from(asked);
            // SAFETY: the image is PTX, a zero-terminated string.
            let text = unsafe { CStr::from_ptr(image.cast()) }.to_owned();
            store(module, text.into_raw().cast())
        })
    }
    fn cuModuleUnload(module: *mut c_void) {
        // SAFETY: made by `into_raw` when it was loaded.
        drop(unsafe { std::ffi::CString::from_raw(module.cast()) });
        here(|machine, _| { machine.modules -= 1; 0 })
    }
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        // SAFETY: the module is its text; both strings are zero-terminated.
        let (text, name) = unsafe { (CStr::from_ptr(module.cast()), CStr::from_ptr(name)) };
        let (text, entry) = (text.to_string_lossy(), format!(".entry {}(", name.to_string_lossy()));
        // The handle of a function is its cluster size and which kernel it is, which is all that a launch needs.
        let Some((_, header)) = text.split_once(&entry) else { return 500 };
        let header = header.split('{').next().unwrap_or_default();
        let shape = header.split_once(".reqnctapercluster ").map(|(_, shape)| shape);
        let cluster: Option<usize> = shape.and_then(|shape| shape.split(',').next()?.parse().ok());
        let kernel = kernels().position(|info| info.name.as_bytes() == name.to_bytes()).map_or(0, |at| at + 1);
        here(|_, _| store(function, handle(cluster.unwrap_or(1) + kernel * KERNEL)))
    }
    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: *mut c_void, name: *const c_char) {
        // SAFETY: the module is its text; both strings are zero-terminated.
        let (text, name) = unsafe { (CStr::from_ptr(module.cast()), CStr::from_ptr(name)) };
        if !text.to_string_lossy().contains(&format!(".b8 {}[16]", name.to_string_lossy())) {
            return 500;
        }
        let printed = name.to_string_lossy().contains(simt::report::print::VARIABLE);
        let variable = if printed { LINES_VARIABLE } else { REPORT_VARIABLE };
        here(|_, _| store(address, variable) + store(bytes, 16))
    }
    fn cuFuncGetAttribute(value: *mut i32, attribute: i32, _function: *mut c_void) {
        assert_eq!(attribute, 0, "the mock has only the maximum threads per block");
        here(|_, character| store(value, if character == Character::Narrow { 32 } else { 1024 }))
    }
    fn cuFuncSetAttribute(_function: *mut c_void, attribute: i32, value: i32) {
        assert_eq!(attribute, 8, "the mock has only dynamic shared memory");
        here(|_, _| i32::from(value > 232_448))
    }
    fn cuLaunchKernel(
        function: *mut c_void,
        gx: u32, gy: u32, gz: u32,
        bx: u32, by: u32, bz: u32,
        shared: u32,
        stream: *mut c_void,
        arguments: *mut *mut c_void,
        _extra: *mut *mut c_void
    ) {
        if !gx.is_multiple_of((function as usize % KERNEL) as u32) {
            // CUDA_ERROR_INVALID_CLUSTER_SIZE
            return 912;
        }
        launch(function, ([gx, gy, gz], [bx, by, bz], shared), stream, arguments, false)
    }
    fn cuLaunchKernelEx(
        config: *const Config,
        function: *mut c_void,
        arguments: *mut *mut c_void,
        _extra: *mut *mut c_void
    ) {
        if is_old() {
            return 801;
        }
        // SAFETY: the caller passes a configuration.
        let it = unsafe { &*config };
        launch(function, (it.grid, it.block, it.shared_bytes), it.stream, arguments, it.is_pdl())
    }
    fn cuGraphCreate(graph: *mut *mut c_void, _flags: u32) {
        if is_old() {
            return 801;
        }
        here(|machine, _| {
            let number = Machine::handle();
            machine.graphs.insert(number, Vec::new());
            store(graph, handle(number))
        })
    }
    fn cuGraphDestroy(graph: *mut c_void) {
        here(|machine, _| { assert!(machine.graphs.remove(&(graph as usize)).is_some()); 0 })
    }
    fn cuGraphAddKernelNode_v2(
        node: *mut *mut c_void,
        graph: *mut c_void,
        dependencies: *const *mut c_void,
        count: usize,
        parameters: *const KernelNode
    ) {
        // SAFETY: the caller passes as many nodes.
        let before = (count > 0).then(|| unsafe { *dependencies });
        let index = here(|machine, _| machine.graphs[&(graph as usize)].len() as i32) as usize;
        // A line of nodes.
        assert_eq!((count, before), (index.min(1), index.checked_sub(1).map(|index| handle(NODES + index))));
        store(node, handle(NODES + index)).max(set_node(graph, index, parameters))
    }
    fn cuGraphInstantiateWithFlags(executable: *mut *mut c_void, graph: *mut c_void, _flags: u64) {
        here(|machine, _| {
            let launches = machine.graphs[&(graph as usize)].clone();
            assert!(!launches.is_empty(), "a graph with nodes");
            let number = Machine::handle();
            machine.graphs.insert(number, launches);
            store(executable, handle(number))
        })
    }
    fn cuGraphExecKernelNodeSetParams_v2(
        executable: *mut c_void,
        node: *mut c_void,
        parameters: *const KernelNode
    ) {
        set_node(executable, node as usize - NODES, parameters)
    }
    fn cuGraphLaunch(executable: *mut c_void, stream: *mut c_void) {
        here(|machine, _| {
            if machine.captured == Some(stream as usize) {
                machine.violations.push("a graph is launched in a stream that is being captured".to_owned());
            }
            machine.graph_launches += 1;
            let launches = machine.graphs[&(executable as usize)].clone();
            launches.into_iter().map(|launch| machine.launch(stream as usize, launch, false)).max().unwrap_or(0)
        })
    }
    fn cuGraphExecDestroy(executable: *mut c_void) {
        here(|machine, _| { assert!(machine.graphs.remove(&(executable as usize)).is_some()); 0 })
    }
}

/// The address of the variable for reports of panics, in every module that has one.
const REPORT_VARIABLE: u64 = 0xf000;
/// Likewise for lines.
const LINES_VARIABLE: u64 = 0xf100;

/// A function's handle has this for each kernel in [`kernels`] before it, and once for it; none if the function adds
/// vectors.
const KERNEL: usize = 1 << 16;

/// The kernels that do nothing when they are launched: those of the crate `gpu`, except additions.
fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
    let kernels = gpu::FAMILIES.iter().flat_map(|family| family.kernels.iter().copied());
    kernels.filter(|info| !info.name.starts_with("add"))
}

/// Whether the driver is older than launch attributes and kernels in graphs.
fn is_old() -> bool {
    CHARACTERS.get(CURRENT.get()) == Some(&Character::OldDriver)
}

/// The handle of a graph's first node; those of the next ones follow.
const NODES: usize = 1 << 40;

/// Sets the launch of a graph's node, or adds it.
fn set_node(graph: *mut c_void, index: usize, parameters: *const KernelNode) -> i32 {
    // SAFETY: the caller passes the parameters.
    let it = unsafe { &*parameters };
    here(|machine, character| {
        let launch = ((it.grid, it.block, it.shared_bytes), work(it.function, it.arguments, character));
        let launches = machine.graphs.get_mut(&(graph as usize)).expect("a graph");
        let [before, now] = [launches.get(index), Some(&launch)].map(|launch| launch.map(|(_, work)| cluster(work)));
        if before.is_some_and(|before| Some(before) != now) {
            machine.violations.push(format!("a node for clusters of {before:?} gets a kernel with {now:?}"));
        }
        match launches.get_mut(index) {
            Some(known) => {
                *known = launch;
                machine.node_changes += 1;
            }
            None => launches.push(launch),
        }
        0
    })
}

fn launch(
    function: *mut c_void,
    geometry: ([u32; 3], [u32; 3], u32),
    stream: *mut c_void,
    arguments: *mut *mut c_void,
    pdl: bool,
) -> i32 {
    if CHARACTERS.get(CURRENT.get()) == Some(&Character::Slow) {
        std::thread::sleep(std::time::Duration::from_micros(300));
    }
    here(|machine, character| machine.launch(stream as usize, (geometry, work(function, arguments, character)), pdl))
}

impl Machine {
    /// Queues a kernel; success.
    fn launch(&mut self, stream: usize, (geometry, work): KernelLaunch, pdl: bool) -> i32 {
        self.launches.push(geometry);
        self.pdl.push(pdl);
        self.push(stream, work);
        0
    }
}

/// Blocks of a cluster.
fn cluster(work: &Work) -> u32 {
    let info = |name| kernels().find(|info| info.name == name);
    if let Work::Kernel { name, .. } = *work { info(name).map_or(1, |info| info.cluster) } else { 1 }
}

/// What a kernel does with these arguments.
fn work(function: *mut c_void, arguments: *mut *mut c_void, character: Character) -> Work {
    if let Some(info) = (function as usize / KERNEL).checked_sub(1).and_then(|at| kernels().nth(at)) {
        let mut uses = Vec::new();
        for (i, ty) in info.arg_types.iter().enumerate() {
            // SAFETY: the caller passes the address of each argument, which has this type.
            unsafe { collect_uses(ty, *arguments.add(i), &mut uses) };
        }
        Work::Kernel { name: info.name, uses }
    } else {
        // SAFETY: every other kernel that these tests launch takes three vectors.
        let [x, y, z] = [0, 1, 2].map(|i| unsafe { (*arguments.add(i)).cast::<Vector>().read() });
        match character {
            Character::Failing => Work::Fault,
            Character::Panicking => Work::Panic,
            _ => Work::Add { x: x.address, y: y.address, z: z.address, len: z.len as usize },
        }
    }
}

fn copy(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> i32 {
    here(|machine, _| {
        machine.push(stream as usize, Work::Copy { to, from, bytes });
        0
    })
}

/// Adds the addresses of the views in an argument of type `ty`, and whether they may be written. Empty views have no
/// memory.
///
/// # Safety
/// `at` is the address of such an argument.
unsafe fn collect_uses(ty: &ArgType, at: *const c_void, uses: &mut Vec<(u64, bool)>) {
    // SAFETY: a field of the argument.
    let field = |part: &ArgPart| unsafe { at.byte_add(part.offset) };
    let number = |part: &ArgPart| match part.ty.size {
        // SAFETY: a field of 8 bytes, aligned as the argument is.
        8 => unsafe { field(part).cast::<u64>().read() },
        // SAFETY: a field of 4 bytes.
        _ => u64::from(unsafe { field(part).cast::<u32>().read() }),
    };
    let named = |name: &str| ty.parts.iter().find(|part| part.name == name).map(number);
    let write = ty.name.ends_with("Mut");
    match ty.name {
        "VecRef" | "VecMut" | "MatRef" | "MatMut" => {
            let is_empty = ["len", "rows", "cols"].into_iter().any(|extent| named(extent) == Some(0));
            uses.extend(named("ptr").filter(|_| !is_empty).map(|address| (address, write)));
        }
        // As `cuTensorMapEncodeTiled` above writes it; 0 for a map of no memory.
        "TensorMap" | "TensorMapMut" => {
            // SAFETY: a map has 16 words.
            let address = unsafe { at.cast::<u64>().read() };
            uses.extend((address != 0).then_some((address, write)));
        }
        _ => {
            for part in ty.parts.iter().filter(|part| part.name != "element") {
                // SAFETY: a field of this type.
                unsafe { collect_uses(&part.ty, field(part), uses) };
            }
        }
    }
}

/// A vector in the layout of kernel parameters.
#[repr(C)]
struct Vector {
    address: u64,
    len: u64,
    tag: u32,
    padding: u32,
}

const _: () = assert!(size_of::<Vector>() == size_of::<simt::global::VecRef<f32>>() && offset_of!(Vector, len) == 8);

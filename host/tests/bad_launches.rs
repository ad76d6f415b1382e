//! The error of every kind of invalid call. On the device that `WARPWRIGHT_DEVICE` names; tests that need a GPU do
//! nothing without one.

use std::process::Command;

use ndarray::Array2;
use simt::tma::Swizzle;
use warpwright::gpu::elementwise::add::add_f32;
use warpwright::gpu::gemm::tiled::matmul_tiled;
use warpwright::gpu::lab::instructions_sm90::clusters::cluster_exchange;
use warpwright::gpu::reduce::dynamic::reduce_sum_dynamic;
use warpwright::reduce::Sum;
use warpwright::{ArgumentRule, Device, Error, Launch, LaunchRule, Layout, Matrix, Module};

fn device() -> Device {
    Device::best().unwrap()
}

/// Checks the rule and parts of the message of a refused argument.
#[track_caller]
fn argument<T>(result: Result<T, Error>, rule: ArgumentRule, words: &[&str]) {
    let Err(error) = result else { panic!("accepted") };
    let Error::Argument(bad) = &error else { panic!("another error: {error}") };
    assert_eq!(bad.rule, rule, "{error}");
    has(&error, words);
}

/// Checks the rule and parts of the message of a refused launch.
#[track_caller]
fn launch<T>(result: Result<T, Error>, rule: LaunchRule, words: &[&str]) {
    let Err(error) = result else { panic!("accepted") };
    let Error::Launch(bad) = &error else { panic!("another error: {error}") };
    assert_eq!(bad.rule, rule, "{error}");
    has(&error, words);
}

#[track_caller]
fn has(error: &Error, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

#[test]
fn wrong_length() {
    let device = device();
    let words = ["upload_matrix", "`data`", "12 elements", "found 10"];
    argument(device.upload_matrix(&[0.0_f32; 10], 3, 4), ArgumentRule::Length, &words);
    let mut x = device.alloc::<f32>(5).unwrap();
    argument(x.write(&[0.0; 6]), ArgumentRule::Length, &["write", "`data`", "5 elements", "found 6"]);
    argument(x.view().download_into(&mut [0.0; 4]), ArgumentRule::Length, &["download_into", "`out`", "5", "4"]);
    let layout = Layout::contiguous(3, 4).ld(5).offset(1);
    let words = ["`buffer`", "at least 15 elements", "3 x 4, ld 5, offset 1", "found 14"];
    argument(Matrix::from_buffer(device.alloc::<f32>(14).unwrap(), layout), ArgumentRule::Length, &words);
    let (y, z) = (device.alloc::<f32>(4).unwrap(), device.alloc::<f32>(5).unwrap());
    argument(device.add(&y, &z), ArgumentRule::Shape, &["add", "`y`", "1 x 4", "found 1 x 5"]);
}

#[test]
fn wrong_leading_dimension() {
    let device = device();
    let buffer = device.alloc::<f32>(100).unwrap();
    let words = ["`ld`", "at least 4", "found 3"];
    argument(buffer.view().as_matrix(Layout::contiguous(5, 4).ld(3)), ArgumentRule::LeadingDimension, &words);
    argument(Matrix::from_buffer(buffer, Layout::contiguous(5, 4).ld(3)), ArgumentRule::LeadingDimension, &words);
}

#[test]
fn wrong_range() {
    let device = device();
    let x = device.alloc::<f32>(5).unwrap();
    argument(x.slice(2..6), ArgumentRule::Range, &["slice", "0..5", "2..6"]);
    let a = device.alloc_matrix::<f32>(3, 4).unwrap();
    argument(a.block(0..4, 0..1), ArgumentRule::Range, &["block", "`rows`", "0..3", "0..4"]);
    argument(a.block(0..1, 2..5), ArgumentRule::Range, &["block", "`cols`", "0..4", "2..5"]);
}

#[test]
fn extents_beyond_32_bits() {
    let device = device();
    let words = ["`rows`", "4294967295", "4294967296"];
    argument(device.alloc_matrix::<u8>(1 << 32, 0), ArgumentRule::Extent, &words);
    let words = ["alloc", "`len`", "18446744073709551615"];
    argument(device.alloc::<f64>(usize::MAX), ArgumentRule::Extent, &words);
    argument(device.alloc_matrix::<u8>(usize::MAX, 2), ArgumentRule::Extent, &["alloc_matrix"]);
}

#[test]
fn shapes_that_disagree() {
    let device = device();
    let (a, b) = (device.alloc_matrix::<f32>(2, 3).unwrap(), device.alloc_matrix::<f32>(4, 5).unwrap());
    argument(device.matmul(&a, &b), ArgumentRule::Shape, &["matmul", "`b`", "3 rows", "4 x 5"]);
    let mut c = device.alloc_matrix::<f32>(2, 4).unwrap();
    let b = b.block(0..3, 0..5).unwrap();
    argument(device.matmul_into(&a, b, &mut c), ArgumentRule::Shape, &["matmul_into", "`c`", "2 x 5", "2 x 4"]);
    argument(device.transpose_into(&a, &mut c), ArgumentRule::Shape, &["transpose_into", "`b`", "3 x 2", "2 x 4"]);
}

#[test]
fn empty_grid() {
    let device = device();
    let x = device.alloc::<f32>(0).unwrap();
    let mut y = device.alloc::<f32>(0).unwrap();
    let words = ["`add_f32`", "at least one block", "0 x 1 x 1"];
    launch(device.launch(&add_f32, Launch::cover(0, 64), (&x, &x, &mut y)), LaunchRule::EmptyGrid, &words);
    let words = ["3 x 0 x 1"];
    launch(device.launch(&add_f32, Launch::grid((3, 0)), (&x, &x, &mut y)), LaunchRule::EmptyGrid, &words);
    assert_eq!(device.add(&x, &x).unwrap().len(), 0, "operations launch nothing for empty input");
}

#[test]
fn grid_beyond_the_device() {
    let device = device();
    let x = device.alloc::<f32>(1).unwrap();
    let mut y = device.alloc::<f32>(1).unwrap();
    let words = ["`add_f32`", "2147483647 x 65535 x 65535", "1 x 65536 x 1"];
    launch(device.launch(&add_f32, Launch::grid((1, 65_536)), (&x, &x, &mut y)), LaunchRule::GridLimit, &words);
    let words = ["288230376151711744 x 1 x 1"];
    launch(device.launch(&add_f32, Launch::cover(usize::MAX, 64), (&x, &x, &mut y)), LaunchRule::GridLimit, &words);
}

/// Extents come in any integer type: none wraps, and none that fits is refused.
#[test]
fn extents_of_any_type() {
    let device = device();
    let x = device.upload(&[1.0_f32; 64]).unwrap();
    let mut y = device.alloc::<f32>(64).unwrap();
    let (wraps, one) = ((1_usize << 32) + 1, 1_u32);
    let mut add = |it: Launch<'_>| device.launch(&add_f32, it, (&x, &x, &mut y));
    launch(add(Launch::grid(wraps)), LaunchRule::GridLimit, &["4294967297 x 1 x 1"]);
    launch(add(Launch::grid((one, wraps))), LaunchRule::GridLimit, &["1 x 4294967297 x 1"]);
    launch(add(Launch::grid(-1)), LaunchRule::EmptyGrid, &["-1 x 1 x 1"]);
    launch(add(Launch::cover(-1000, 256)), LaunchRule::EmptyGrid, &["-3 x 1 x 1"]);
    let mut required = add_f32.info().block.unwrap().map(|extent| extent as usize);
    add(Launch::grid((one, 1, 1_usize)).block(required)).unwrap();
    required[0] += 1 << 32;
    launch(add(Launch::grid(1).block(required)), LaunchRule::RequiredBlock, &["found 4294967"]);

    let mut sums = device.alloc::<f32>(1).unwrap();
    let mut reduce = |it: Launch<'_>| device.launch(&reduce_sum_dynamic, it, (&x, &mut sums));
    reduce(Launch::grid(1_u64).block(64_usize).shared_elements(64_u32)).unwrap();
    launch(reduce(Launch::grid(1).block((wraps, 1)).shared_elements(64)), LaunchRule::BlockShape, &["4294967297"]);
    launch(reduce(Launch::grid(1).block((64, -1)).shared_elements(64)), LaunchRule::BlockShape, &["64 x -1 x 1"]);
    launch(reduce(Launch::grid(1).block(64).shared_elements(-4)), LaunchRule::SharedMemory, &["found -4"]);
}

#[test]
fn part_of_a_cluster() {
    let device = device();
    let mut x = device.upload(&[7_u32; 3 * 64]).unwrap();
    let mut ranks = device.upload(&[7_u32; 3]).unwrap();
    for (grid, found) in [((3, 1), "3 x 1 x 1"), ((1, 4), "1 x 4 x 1")] {
        let words = ["`cluster_exchange`", "a multiple of 4 blocks along x", found, "round the blocks along x up"];
        let result = device.launch(&cluster_exchange, Launch::grid(grid), (&mut x, &mut ranks));
        launch(result, LaunchRule::Cluster, &words);
    }
    assert_eq!((x.download().unwrap(), ranks.download().unwrap()), (vec![7; 3 * 64], vec![7; 3]), "no kernel has run");
}

#[test]
fn wrong_block() {
    let device = device();
    let a = device.alloc_matrix::<f32>(4, 4).unwrap();
    let mut c = device.alloc_matrix::<f32>(4, 4).unwrap();
    let words = ["`matmul_tiled`", "32 x 32 x 1", "16 x 16 x 1", "leave out Launch::block"];
    let sixteen = Launch::grid(1).block((16, 16));
    launch(device.launch(&matmul_tiled, sixteen, (&a, &a, &mut c)), LaunchRule::RequiredBlock, &words);

    let x = device.alloc::<f32>(4).unwrap();
    let mut sums = device.alloc::<f32>(1).unwrap();
    let mut reduce = |it: Launch<'_>| device.launch(&reduce_sum_dynamic, it.shared_elements(64), (&x, &mut sums));
    launch(reduce(Launch::grid(1)), LaunchRule::BlockShape, &["`reduce_sum_dynamic`", "found none", "Launch::block"]);
    launch(reduce(Launch::grid(1).block((64, 0))), LaunchRule::BlockShape, &["64 x 0 x 1"]);
    launch(reduce(Launch::grid(1).block((1, 1, 65))), LaunchRule::BlockShape, &["1024 x 1024 x 64", "1 x 1 x 65"]);
    launch(
        reduce(Launch::grid(1).block((64, 32))),
        LaunchRule::Threads,
        &["at most 1024", "64 x 32 x 1, that is 2048"],
    );
}

#[test]
fn wrong_shared_memory() {
    let device = device();
    let x = device.alloc::<f32>(4).unwrap();
    let mut sums = device.alloc::<f32>(1).unwrap();
    let plain = Launch::grid(1).block(64);
    let words = ["`reduce_sum_dynamic`", "4 bytes each", "found none", "Launch::shared_elements"];
    launch(device.launch(&reduce_sum_dynamic, plain, (&x, &mut sums)), LaunchRule::SharedMemory, &words);
    for elements in [1 << 20, usize::MAX] {
        let much = plain.shared_elements(elements);
        let words = ["bytes of shared memory per block", if elements == 1 << 20 { "4194304" } else { "address space" }];
        launch(device.launch(&reduce_sum_dynamic, much, (&x, &mut sums)), LaunchRule::SharedLimit, &words);
    }
    let a = device.alloc_matrix::<f32>(4, 4).unwrap();
    let mut c = device.alloc_matrix::<f32>(4, 4).unwrap();
    let words = ["`matmul_tiled`", "layout of 8192 bytes", "5 elements"];
    let given = Launch::grid(1).shared_elements(5);
    launch(device.launch(&matmul_tiled, given, (&a, &a, &mut c)), LaunchRule::SharedMemory, &words);
    let (x, mut y) = (device.alloc::<f32>(4).unwrap(), device.alloc::<f32>(4).unwrap());
    let words = ["`add_f32`", "uses none"];
    launch(device.launch(&add_f32, given, (&x, &x, &mut y)), LaunchRule::SharedMemory, &words);
}

#[test]
fn more_than_48_kilobytes_of_shared_memory_are_fine() {
    let device = device();
    let x = device.upload(&[1.0_f32; 100]).unwrap();
    let mut sums = device.alloc::<f32>(1).unwrap();
    let much = Launch::grid(1).block(128).shared_elements(25_000);
    device.launch(&reduce_sum_dynamic, much, (&x, &mut sums)).unwrap();
    assert_eq!(sums.download().unwrap(), [100.0]);
}

#[test]
fn an_array_of_more_elements_than_memory() {
    let device = device();
    // One number, repeated by a stride of 0.
    let one = Array2::<f32>::ones((1, 1));
    let vector = one.row(0);
    let vector = vector.broadcast(1 << 61).unwrap();
    let matrix = one.broadcast((1 << 31, 1 << 30)).unwrap();
    for error in [device.upload(&vector).map(|_| ()).unwrap_err(), device.upload(&matrix).map(|_| ()).unwrap_err()] {
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        has(&error, &["the host", "no memory for 9223372036854775808 bytes"]);
    }
}

/// An axis of extent 1 has no neighbours, so any stride is right.
#[test]
fn a_stride_that_is_not_used_may_be_any_number() {
    const FAR: usize = usize::MAX;
    let device = device();
    let x = device.upload(&(0..64).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let shapes: [(&[usize], &[usize]); 5] = [
        (&[64, 1, 1], &[1, FAR, FAR]),
        (&[2, 32, 1], &[32, 1, FAR]),
        (&[2, 1, 32], &[32, FAR, 1]),
        (&[1, 2, 32], &[FAR, 32, 1]),
        (&[1, 64, 1], &[FAR, 1, FAR]),
    ];
    for (shape, strides) in shapes {
        let view = x.view().as_tensor_strided(shape, strides).unwrap();
        // Refused or not, without a panic.
        for boxes in [[1, 1, 4], [1, 4, 4], [1, 32, 4]] {
            let _ = view.tma(&boxes, Swizzle::None);
        }
        assert_eq!(device.permute(view, &[2, 0, 1]).unwrap().into_buffer().len(), 64);
        for axis in 0..3 {
            let sums = device.reduce_axis(Sum, view, axis).unwrap().into_buffer().download().unwrap();
            assert_eq!(sums.iter().sum::<f32>(), 2016.0, "{shape:?} along {axis}");
        }
        let product = device.gemm(view, view).transpose_b().run_batch().unwrap();
        assert_eq!(product.shape(), [shape[0], shape[1], shape[1]], "{shape:?}");
    }
    let row = x.view().as_tensor_strided(&[1, 64], &[FAR, 1]).unwrap();
    assert_eq!(device.gemm(row, row).transpose_b().run().unwrap().download().unwrap()[(0, 0)], 85_344.0);
}

#[test]
fn objects_of_another_device() {
    let (device, other) = (device(), Device::simulator());
    let x = device.alloc_zeros::<f32>(4).unwrap();
    let foreign = other.alloc_zeros::<f32>(4).unwrap();
    let mut y = device.alloc::<f32>(4).unwrap();
    let grid = Launch::grid(1);
    let words = ["kernel `add_f32`", "`y`", "the simulator"];
    argument(device.launch(&add_f32, grid, (&x, &foreign, &mut y)), ArgumentRule::Device, &words);
    let stream = other.stream().unwrap();
    let words = ["`add_f32`", "a stream of this device", "the simulator"];
    launch(device.launch(&add_f32, grid.stream(&stream), (&x, &x, &mut y)), LaunchRule::Stream, &words);
    // SAFETY: nothing is launched with it; on the simulator a module is empty.
    let module = unsafe { Module::from_ptx(&other, "none", "") }.unwrap();
    let words = ["`add_f32`", "a module of this device"];
    launch(device.launch(&add_f32, grid.module(&module), (&x, &x, &mut y)), LaunchRule::Module, &words);
    argument(y.view_mut().copy_from(&foreign), ArgumentRule::Device, &["copy_from", "`source`"]);
    let event = stream.record().unwrap();
    argument(device.default_stream().wait(&event), ArgumentRule::Device, &["Stream::wait", "`event`"]);
}

/// Before anything is written: neither C nor the workspace, to which operands are copied first.
#[test]
fn a_product_on_a_stream_of_another_device() {
    let (device, stream) = (device(), Device::simulator().stream().unwrap());
    let a = device.upload(&Array2::<f32>::ones((64, 64))).unwrap();
    let mut c = device.upload(&Array2::<f32>::zeros((64, 64))).unwrap();
    let plans = device.gemm(&a, &a).plans(&c).unwrap();
    assert!(plans.iter().any(|plan| plan.algorithm().packed() != [false; 2]), "some algorithm copies an operand");
    for plan in plans {
        let mut workspace = device.upload(&vec![7.0_f32; plan.workspace_len()]).unwrap();
        let product = device.gemm(&a, &a).algorithm(plan.algorithm()).workspace(&mut workspace).stream(&stream);
        argument(product.into(&mut c), ArgumentRule::Device, &["gemm", "`stream`", "use clones of one Device"]);
        assert!(workspace.download().unwrap().iter().all(|&x| x == 7.0), "{}", plan.algorithm());
    }
    let product = device.gemm(&a, &a).stream(&stream);
    argument(product.plans(&c), ArgumentRule::Device, &["gemm", "`stream`"]);
    argument(product.run(), ArgumentRule::Device, &["gemm", "`stream`"]);
    assert_eq!(c.download().unwrap(), Array2::<f32>::zeros((64, 64)));
}

#[test]
fn a_fault_on_the_simulator_leaves_the_device_usable() {
    let device = Device::simulator();
    let x = device.upload(&[1.0_f32; 64]).unwrap();
    let mut y = device.alloc(64).unwrap();
    let unwritten = device.alloc::<f32>(64).unwrap();
    let error = device.launch(&add_f32, Launch::grid(1), (&x, &unwritten, &mut y)).unwrap_err();
    let Error::Faults(report) = &error else { panic!("another error: {error}") };
    assert_eq!(report.reports.len(), 1, "{error}");
    has(&error, &["kernel `add_f32`: the simulator found 1 fault", "add.rs:", "block (0, 0, 0)", "seed 0"]);
    device.launch(&add_f32, Launch::grid(1), (&x, &x, &mut y)).unwrap();
    assert_eq!(y.download().unwrap(), [2.0; 64]);
}

#[test]
fn ptx_that_is_too_new_for_the_driver_or_the_device() {
    let device = device();
    if device.is_simulator() {
        return;
    }
    let entry = ".address_size 64\n.visible .entry nothing() { ret; }\n";
    for (head, target) in [(".version 99.0", "sm_80"), (".version 8.8", "sm_121")] {
        let text = format!("{head}\n.target {target}\n{entry}");
        // SAFETY: nothing is launched.
        let error = unsafe { Module::from_ptx(&device, "tomorrow", &text) }.unwrap_err();
        let Error::Ptx(ptx) = &error else { panic!("another error: {error}") };
        println!("{error}");
        assert!(!ptx.log.is_empty(), "the driver's log: {error}");
        has(&error, &["PTX module `tomorrow`", "cuModuleLoadDataEx", "CUDA_ERROR_", &device.name()]);
    }
    assert!(device.upload(&[1.0_f32]).is_ok(), "the device stays usable");
}

/// Runs one of this file's tests in its own process, with these environment variables; returns whether it passed, and
/// its output.
fn alone(test: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--include-ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success() && text.contains("1 passed"), text)
}

#[test]
fn a_failed_kernel_loses_the_gpu() {
    if device().is_simulator() {
        return;
    }
    let (passed, text) = alone("child_that_loses_the_gpu", &[]);
    assert!(passed, "{text}");
}

/// Loses the context of the whole process.
#[test]
#[ignore = "run by a_failed_kernel_loses_the_gpu in a process of its own"]
fn child_that_loses_the_gpu() {
    let device = device();
    let x = device.upload(&[1.0_f32; 128]).unwrap();
    let mut sums = device.alloc(1).unwrap();
    // Half the shared memory that the kernel needs: it traps.
    let short = Launch::grid(1).block(128).shared_elements(64);
    device.launch(&reduce_sum_dynamic, short, (&x, &mut sums)).unwrap();
    let error = device.synchronize().unwrap_err();
    assert!(matches!(error, Error::DeviceLost(_)), "{error}");
    has(&error, &["reduce_sum_dynamic", "CUDA_ERROR_", "Device::simulator()"]);
    assert_eq!(x.download().unwrap_err().to_string(), error.to_string());
    drop((x, sums, device));
}

#[cfg(feature = "cuda")]
#[test]
fn no_driver() {
    let library = ("WARPWRIGHT_LIBCUDA", "libcuda-not-there.so.1");
    let (passed, text) = alone("child_without_driver", &[library, ("WARPWRIGHT_DEVICE", "best")]);
    assert!(passed, "{text}");
    // Once, though two devices are opened.
    let announced = "the NVIDIA driver's libcuda-not-there.so.1 could not be loaded";
    assert_eq!(text.matches(announced).count(), 1, "{text}");
    let (passed, text) = alone("child_without_driver", &[library, ("WARPWRIGHT_DEVICE", "simulator")]);
    assert!(passed && !text.contains("kernels run on the simulator"), "{text}");
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "run by no_driver in a process of its own"]
fn child_without_driver() {
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(error, Error::NoDriver { .. }), "{error}");
    has(&error, &["no NVIDIA driver", "libcuda-not-there.so.1", "Device::simulator()"]);
    let device = Device::best().unwrap();
    assert!(device.is_simulator() && Device::best().unwrap().is_simulator());
    assert_eq!(device.sum(&device.upload(&[1.0; 3]).unwrap()).unwrap(), 3.0);
}

#[cfg(not(feature = "cuda"))]
#[test]
fn no_cuda_in_this_build() {
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(error, Error::CudaNotBuilt), "{error}");
    has(&error, &["features = [\"cuda\"]"]);
    assert!(Device::best().unwrap().is_simulator());
}

#[test]
fn views_and_boxes_that_tma_does_not_support() {
    let device = device();
    let matrix = device.upload(&Array2::<f32>::zeros((20, 24))).unwrap();
    let whole = matrix.view();
    let rule = ArgumentRule::TmaTensor;
    for (rows, cols) in [(0, 8), (8, 0), (257, 8), (8, 260)] {
        let words = ["tma", "`shape`", "1 to 256", &format!("[{rows}, {cols}]")];
        argument(whole.tma(rows, cols, Swizzle::None), rule, &words);
    }
    argument(whole.tma(8, 6, Swizzle::None), rule, &["`shape`", "multiple of 16 bytes", "found 24 bytes"]);
    for (swizzle, span) in [(Swizzle::B32, 32), (Swizzle::B64, 64), (Swizzle::B128, 128)] {
        let cols = span / 4;
        assert!(whole.tma(8, cols, swizzle).is_ok(), "{swizzle:?} spans {span} bytes");
        for (cols, bytes) in [(cols + 4, span + 16), (cols - 4, span - 16)] {
            let words = ["`shape`", &format!("of {span} bytes"), &format!("found {bytes} bytes")];
            argument(whole.tma(8, cols, swizzle), rule, &words);
        }
    }
    let part = matrix.block(0..20, 1..24).unwrap();
    argument(part.tma(8, 8, Swizzle::None), rule, &["`self`", "first element", "4 bytes past"]);
    assert!(matrix.block(3..20, 4..24).unwrap().tma(8, 8, Swizzle::None).is_ok(), "16 bytes past the start");
    let odd = device.upload(&Array2::<f32>::zeros((20, 23))).unwrap();
    argument(odd.view().tma(8, 8, Swizzle::None), rule, &["`self`", "multiples of 16 bytes", "stride of 92 bytes"]);
    assert!(odd.block(5..6, 0..23).is_ok_and(|row| row.tma(8, 8, Swizzle::None).is_err()), "starts at 460 bytes");
    assert!(odd.block(0..1, 0..23).is_ok_and(|row| row.tma(8, 8, Swizzle::None).is_ok()), "one row has no stride");
    let mut padded = device.upload(&Array2::<f32>::zeros((20, 24))).unwrap();
    let part = padded.view_mut().block(0..20, 0..22).unwrap();
    let words = ["`self`", "rows of a multiple of 16 bytes", "found 88 bytes"];
    argument(part.tma(8, 8, Swizzle::None).map(|_| ()), rule, &words);
    assert!(padded.view_mut().block(0..20, 0..20).unwrap().tma(8, 8, Swizzle::None).is_ok());
    let none = matrix.block(4..4, 0..24).unwrap();
    argument(none.tma(8, 8, Swizzle::None), ArgumentRule::Elements, &["`self`", "at least one element"]);

    let buffer = device.alloc::<f32>(960).unwrap();
    let tensor = || buffer.view().as_tensor(&[2, 20, 24]).unwrap();
    assert!(tensor().tma(&[1, 8, 8], Swizzle::None).is_ok());
    argument(tensor().tma(&[8, 8], Swizzle::None), ArgumentRule::Axes, &["`shape`", "two or three axes", "[8, 8]"]);
    let permuted = tensor().permuted(&[0, 2, 1]).unwrap();
    argument(permuted.tma(&[1, 8, 8], Swizzle::None), rule, &["`self`", "a last axis with stride 1", "[480, 1, 24]"]);
    let four = buffer.view().as_tensor(&[2, 2, 10, 24]).unwrap();
    argument(four.tma(&[1, 1, 8, 8], Swizzle::None), ArgumentRule::Axes, &["`shape`", "[2, 2, 10, 24]"]);
}

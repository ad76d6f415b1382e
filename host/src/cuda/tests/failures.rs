//! Errors and failures, and the arguments that launches pass to the driver.

use gpu::elementwise::add::add_f32;

use super::{Character, add, device, mock, module, ptx};
use crate::{Device, Error, Launch, Module};

#[test]
fn a_failed_kernel_loses_the_device_without_a_crash() {
    let device = device(mock::ordinal(Character::Failing));
    let (module, stream) = (module(&device), device.default_stream());
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    add(&stream, &module, &x, &x, &mut y);
    let first = y.download().unwrap_err();
    let Error::DeviceLost(lost) = &first else { panic!("{first}") };
    assert_eq!((lost.cause.code, lost.last_kernel.as_deref()), (700, Some("add_f32")));
    assert_eq!(
        first.to_string(),
        "the CUDA context is lost, and with it every buffer on this device: CUDA device 9 (Mock GPU): waiting for a \
         stream: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was \
         encountered; the last kernel launched was `add_f32`; restart the program; to find the fault, make the same \
         launch on Device::simulator(), which reports line, block and thread, or run the program under \
         compute-sanitizer"
    );
    for later in [
        device.alloc::<f32>(1).unwrap_err(),
        device.synchronize().unwrap_err(),
        x.download().unwrap_err(),
        device.launch(&add_f32, Launch::grid(1).module(&module), (&x, &x, &mut y)).unwrap_err(),
    ] {
        assert_eq!(later.to_string(), first.to_string());
    }
}

#[test]
fn a_panic_of_a_kernel_is_reported() {
    let ordinal = mock::ordinal(Character::Panicking);
    let device = device(ordinal);
    let text = ptx(&[add_f32.info()]) + ".global .align 8 .b8 _RN4simt23warpwright_panic_report[16] = {};\n";
    // SAFETY: the mock reports a panic, whatever the kernel is.
    let module = unsafe { Module::from_ptx(&device, "panics", &text) }.unwrap();
    let stream = device.default_stream();
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    add(&stream, &module, &x, &x, &mut y);
    let error = y.download().unwrap_err();
    let Error::DeviceLost(lost) = &error else { panic!("{error}") };
    let panic = lost.panic.as_ref().expect("a report");
    assert_eq!((panic.block, panic.thread, &panic.message[..]), ([1, 0, 0], [37, 0, 0], "a negative number"));
    assert_eq!(
        error.to_string(),
        format!(
            "a kernel panicked at kernels/src/lib.rs:12:5 in block (1, 0, 0), thread (37, 0, 0): a negative number; \
             the CUDA context is lost, and with it every buffer on this device: CUDA device {ordinal} (Mock GPU): \
             waiting for a stream: cuStreamSynchronize returned CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch \
             failure; the last kernel launched was `add_f32`; restart the program"
        )
    );
}

#[test]
fn a_module_whose_variable_cannot_be_found_is_refused_and_unloaded() {
    let device = device(mock::ordinal(Character::Plain));
    let text = ptx(&[add_f32.info()]) + ".global .align 8 .b64 _RN4simt23warpwright_panic_report;\n";
    // SAFETY: nothing is launched.
    let error = unsafe { Module::from_ptx(&device, "odd", &text) }.unwrap_err();
    assert!(error.to_string().contains("preparing the reports of panics of the PTX module `odd`"), "{error}");
}

#[test]
fn ptx_that_is_too_new_shows_the_compilers_log() {
    let device = device(mock::ordinal(Character::Strict));
    // SAFETY: nothing is launched.
    let error = unsafe { Module::from_ptx(&device, "tomorrow", ".version 99.0") }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "PTX module `tomorrow`: CUDA device 10 (Mock GPU): compiling the PTX module `tomorrow`: cuModuleLoadDataEx \
         returned CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): the provided PTX was compiled with an unsupported \
         toolchain.\n\
         ptxas application ptx input, line 1; fatal : Unsupported .version 99.0\n\
         the PTX is newer than the driver: update the NVIDIA driver, or build the PTX for an older version"
    );
}

#[test]
fn a_device_that_is_too_old_is_refused() {
    let device = device(mock::ordinal(Character::Old));
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let error = device.add(&x, &x).unwrap_err();
    assert!(matches!(error, Error::TooOld { capability: (7, 5), .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "CUDA device 8 (Mock GPU) has compute capability 7.5; the PTX of `elementwise` is built for sm_80; \
         use a newer GPU, or use Device::simulator()"
    );
}

#[test]
fn the_error_for_too_little_memory_has_figures() {
    let device = device(mock::ordinal(Character::Small));
    let error = device.alloc::<f64>(1000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CUDA device 11 (Mock GPU): no memory for 8000 bytes (400 of 1000 bytes are free); drop unused buffers, or \
         work on parts of the data"
    );
    let trims = || mock::machine(mock::ordinal(Character::Small)).trims;
    assert_eq!(trims(), 1, "what the pool keeps is given back before an allocation fails");
    assert!(device.alloc::<f64>(10).is_ok(), "the device stays usable");
    assert_eq!(trims(), 1);
    device.release_unused_memory().unwrap();
    assert_eq!(trims(), 2);
}

#[test]
fn a_status_that_cust_does_not_list_is_reported_unchanged() {
    let device = device(mock::ordinal(Character::UnlistedStatus));
    let Error::Driver(error) = device.default_stream().synchronize().unwrap_err() else { panic!() };
    assert_eq!((error.code, error.call), (912, "cuStreamSynchronize"));
}

#[test]
fn a_kernel_may_allow_fewer_threads_than_the_device() {
    let device = device(mock::ordinal(Character::Narrow));
    let module = module(&device);
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    let error = device.launch(&add_f32, Launch::grid(1).module(&module), (&x, &x, &mut y)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `add_f32`: expected at most 32 threads per block, which the kernel's registers allow here, found 256; \
         take a smaller block"
    );
    assert!(mock::machine(mock::ordinal(Character::Narrow)).launches.is_empty());
}

#[test]
fn a_launch_passes_its_geometry() {
    let device = device(mock::ordinal(Character::Geometric));
    let module = module(&device);
    let x = device.upload(&[1.0_f32; 100]).unwrap();
    let mut y = device.alloc(100).unwrap();
    device.launch(&add_f32, Launch::grid((2, 3, 4)).module(&module), (&x, &x, &mut y)).unwrap();
    let launches = &mock::machine(mock::ordinal(Character::Geometric)).launches;
    assert_eq!(*launches, [([2, 3, 4], [256, 1, 1], 0)]);
}

#[test]
fn embedded_ptx_is_loaded_once_and_needs_no_module() {
    let ordinal = mock::ordinal(Character::Embedded);
    let device = device(ordinal);
    let x = device.upload(&[1.0_f32; 100]).unwrap();
    let y = device.add(&x, &x).unwrap();
    assert_eq!(device.add(&x, &y).unwrap().download().unwrap(), [3.0; 100]);
    assert_eq!(mock::machine(ordinal).modules, 1);
}

#[test]
fn a_prepared_kernel_is_not_loaded_by_its_launch() {
    let ordinal = mock::ordinal(Character::Prepared);
    let device = device(ordinal);
    device.prepare([add_f32.info(), gpu::gemm::tiled::matmul_tiled.info(), add_f32.info()]).unwrap();
    // One module for each kernel, with no other kernel of its family.
    assert_eq!(mock::machine(ordinal).modules, 2);
    let x = device.upload(&[1.0_f32; 100]).unwrap();
    device.add(&x, &x).unwrap();
    assert_eq!(mock::machine(ordinal).modules, 2);
}

#[test]
fn the_error_for_a_kernel_missing_in_the_ptx_names_it() {
    let device = device(0);
    // SAFETY: nothing is launched.
    let module = unsafe { Module::from_ptx(&device, "empty", ".version 8.0") }.unwrap();
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    let error = device.launch(&add_f32, Launch::grid(1).module(&module), (&x, &x, &mut y)).unwrap_err();
    assert!(error.to_string().contains("an entry of this name in the PTX module `empty`"), "{error}");
}

#[test]
fn the_error_for_a_missing_device_has_the_number_of_devices() {
    mock::install();
    let error = Device::cuda(99).unwrap_err();
    assert!(matches!(error, Error::NoSuchDevice { asked: 99, found: 49 }), "{error}");
}

//! Kernels of other packages than `gpu`, whose build scripts made their PTX.

use simt::prelude::*;
use simt::{Kernel, KernelInfo, KernelPtx};

use super::{device, mock, ptx};
use crate::{Error, Launch, LaunchRule, Module, embedded_ptx};

/// z = x + y: what the mock takes every kernel for that is not of the crate `gpu`.
#[kernel(block = 64)]
fn plus(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>) {
    let i = index_1d();
    z.set_within(i, x.get_or(i, 0.0) + y.get_or(i, 0.0));
}

type Plus = Kernel<(VecRef<'static, f32>, VecRef<'static, f32>, VecMut<'static, f32>)>;

/// [`plus`] with this PTX.
fn with(ptx: KernelPtx) -> Plus {
    let info: &'static KernelInfo = Box::leak(Box::new(KernelInfo { ptx, ..*plus.info() }));
    // SAFETY: the kernel is the same; the mock runs what it computes.
    unsafe { Kernel::new(info, plus.entry()) }
}

/// What a build script leaves: the PTX of [`plus`] for this architecture.
fn archive(arch: &str) -> KernelPtx {
    let text = ptx(&[plus.info()]).replace("sm_80", arch);
    let kernel = ptx_archive::Kernel { name: "plus", arch, text: &text };
    KernelPtx::Archive(Vec::leak(ptx_archive::write("test", &[kernel])))
}

/// The message and remedy of a launch that is refused.
fn refusal(kernel: &Plus) -> (LaunchRule, String) {
    let device = device(0);
    let (x, mut y) = (device.upload(&[1.0_f32; 100]).unwrap(), device.alloc(100).unwrap());
    match device.launch(kernel, Launch::grid(2), (&x, &x, &mut y)) {
        Err(Error::Launch(bad)) => (bad.rule, bad.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_kernel_with_ptx_needs_no_module() {
    let (device, kernel) = (device(0), with(archive("sm_80")));
    assert!(device.has_kernel(kernel.info()) && !device.has_kernel(plus.info()));
    assert_eq!(embedded_ptx(kernel.info()).map(|(arch, _)| arch).collect::<Vec<_>>(), ["sm_80"]);
    let (x, mut y) = (device.upload(&[1.5_f32; 100]).unwrap(), device.alloc(100).unwrap());
    for _ in 0..2 {
        device.launch(&kernel, Launch::grid(2), (&x, &x, &mut y)).unwrap();
        assert_eq!(y.download().unwrap(), [3.0; 100]);
    }
}

/// [`plus`], generic.
#[kernel(block = N as u32, instances(<f32, 64>, <f64, 128>))]
fn plus_generic<T: Float, const N: usize>(x: VecRef<T>, y: VecRef<T>, z: VecMut<T>) {
    let i = index_1d();
    if i < z.len() {
        z.set(i, x.get(i) + y.get(i));
    }
}

#[test]
fn instances_of_a_generic_kernel_run_on_both_back_ends() {
    let kernel = plus_generic::<f32, 64>();
    let text = ptx(&[kernel.info(), plus_generic::<f64, 128>().info()]);
    assert!(text.contains(".entry plus_generic_f32_64(") && text.contains(".entry plus_generic_f64_128("), "{text}");
    let gpu = device(0);
    // SAFETY: the PTX declares the kernels, and the mock runs what they compute.
    let module = unsafe { Module::from_ptx(&gpu, "generic", &text) }.unwrap();
    for (device, launch) in [(&gpu, Launch::grid(2).module(&module)), (&crate::Device::simulator(), Launch::grid(2))] {
        let (x, mut y) = (device.upload(&[1.5_f32; 100]).unwrap(), device.alloc(100).unwrap());
        device.launch(&kernel, launch, (&x, &x, &mut y)).unwrap();
        assert_eq!(y.download().unwrap(), [3.0; 100]);
    }
    let simulator = crate::Device::simulator();
    let (x, mut y) = (simulator.upload(&[1.5_f64; 100]).unwrap(), simulator.alloc(100).unwrap());
    simulator.launch(&plus_generic::<f64, 128>(), Launch::grid(1), (&x, &x, &mut y)).unwrap();
    assert_eq!(y.download().unwrap(), [3.0; 100]);
}

#[test]
fn the_driver_keeps_the_source_lines_that_ptx_names() {
    let device = device(0);
    let without = ptx(&[plus.info()]);
    let with = without.replace("{\n", "{\n\t.loc\t1 9 5\n");
    for (text, more) in [(without, 0), (with, 1)] {
        let before = mock::machine(0).with_lines;
        // SAFETY: the module is not launched.
        unsafe { Module::from_ptx(&device, "lines", &text) }.unwrap();
        assert_eq!(mock::machine(0).with_lines - before, more, "{text}");
    }
}

#[test]
fn two_kernels_of_one_name_have_their_own_ptx() {
    let (device, kernel) = (device(0), with(archive("sm_80")));
    let (x, mut y) = (device.upload(&[1.5_f32; 100]).unwrap(), device.alloc(100).unwrap());
    device.launch(&kernel, Launch::grid(2), (&x, &x, &mut y)).unwrap();
    let info =
        Box::leak(Box::new(KernelInfo { path: "another::crate", ptx: KernelPtx::NoBuildScript, ..*kernel.info() }));
    // SAFETY: as in `with`.
    let other: Plus = unsafe { Kernel::new(info, plus.entry()) };
    let refused = device.launch(&other, Launch::grid(2), (&x, &x, &mut y)).unwrap_err().to_string();
    assert!(refused.contains("`another` has no build script"), "{refused}");
}

/// Anyone can make a `KernelInfo`, with the PTX of something else.
#[test]
fn a_kernel_does_not_run_ptx_that_another_description_has_prepared() {
    let device = device(0);
    device.prepare([with(archive("sm_80")).info()]).unwrap();
    let (x, mut y) = (device.upload(&[1.5_f32; 100]).unwrap(), device.alloc(100).unwrap());
    let refused = device.launch(&plus, Launch::grid(2), (&x, &x, &mut y)).unwrap_err().to_string();
    assert!(refused.contains("has no build script"), "{refused}");
}

#[test]
fn a_launch_without_ptx_says_why_and_what_to_do() {
    let reason = "no nightly toolchain is installed; `rustup toolchain install nightly` installs it";
    for (ptx, expected) in [
        (KernelPtx::NoBuildScript, &["kernel `plus`", "KernelBuilder::default().build()", "[build-dependencies]"][..]),
        (KernelPtx::Missing(reason), &["built for the simulator alone", reason, "install what is missing"]),
        (KernelPtx::Elsewhere, &["did not compile", "own_kernels.rs", "KernelBuilder::new"]),
        (archive("sm_120"), &["compute capability 9.0", "PTX for sm_120", "`.arch(\"sm_90\")`"]),
        (KernelPtx::Archive(b"damaged"), &["an archive that is damaged", "cargo clean"]),
    ] {
        let (rule, message) = refusal(&with(ptx));
        assert_eq!(rule, LaunchRule::Module);
        for expected in expected {
            assert!(message.contains(expected), "`{expected}` is not in: {message}");
        }
    }
}

#[test]
fn ptx_of_another_version_of_the_kernel_is_refused() {
    let text = ptx(&[plus.info()]).replace("block=64,1,1", "block=128,1,1");
    let kernel = ptx_archive::Kernel { name: "plus", arch: "sm_80", text: &text };
    let kernel = with(KernelPtx::Archive(Vec::leak(ptx_archive::write("test", &[kernel]))));
    assert_eq!(refusal(&kernel).0, LaunchRule::Ptx);
}

//! PTX of other kernels than those that are launched.

use simt::KernelInfo;
use simt::prelude::*;

use super::super::declared::{self, Declared};
use super::{Character, device, mock, ptx};
use crate::{Error, Launch, LaunchRule, Module};

/// z = x + y.
#[kernel(block = 64)]
fn add(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>) {
    let i = index_1d();
    z.set_within(i, x.get_or(i, 0.0) + y.get_or(i, 0.0));
}

/// Kernels of the same name, each with one difference. All arguments have 24 bytes, and PTX has sizes alone.
mod others {
    use simt::prelude::*;

    macro_rules! others {
        ($($module:ident($($keys:tt)*) $arguments:tt;)*) => {$(
            pub(super) mod $module {
                use super::*;
                #[kernel($($keys)*)]
                #[allow(unused_variables)]
                pub(in super::super) fn add $arguments {}
            }
        )*};
    }
    others! {
        same(block = 64)(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        element(block = 64)(x: VecRef<f32>, y: VecRef<u32>, z: VecMut<f32>);
        shape(block = 64)(x: MatRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        mutable(block = 64)(x: VecRef<f32>, y: VecMut<f32>, z: VecMut<f32>);
        order(block = 64)(y: VecRef<f32>, x: VecRef<f32>, z: VecMut<f32>);
        count(block = 64)(x: VecRef<f32>, y: VecRef<f32>);
        number(block = 64)(x: [u32; 6], y: VecRef<f32>, z: VecMut<f32>);
        block(block = (32, 2))(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        threads(max_threads = 64)(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        cluster(block = 64, cluster = 2)(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        pdl(block = 64, pdl)(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        shared(block = 64)(#[shared] s: &SharedArray<f32, 4>, x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        section(block = 64)(#[shared] s: DynShared<f64>, x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
        audited(block = 64, registers = 40)(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>);
    }
}

/// The text of the refusal of [`add`] for PTX of `other`.
fn refusal(other: &KernelInfo) -> Option<String> {
    let ptx = Declared::read(&format!("{}\n", declared::line(other)));
    let bad = ptx.check(add.info(), "m").err()?;
    assert_eq!(bad.rule, LaunchRule::Ptx);
    Some(format!("{}, {}", bad.expected, bad.found))
}

#[test]
fn ptx_of_another_kernel_of_the_same_name_is_refused() {
    let argument = |expected: &str, found: &str| format!("an argument `{expected}` in the PTX module `m`, `{found}`");
    let bounds = |found: &str| format!("`block=64,1,1` in the PTX module `m`, `{found}`");
    for (other, expected) in [
        (others::same::add.info(), None),
        (others::audited::add.info(), None),
        (others::element::add.info(), Some(argument("y: VecRef<f32>", "y: VecRef<u32>"))),
        (others::shape::add.info(), Some(argument("x: VecRef<f32>", "x: MatRef<f32>"))),
        (others::mutable::add.info(), Some(argument("y: VecRef<f32>", "y: VecMut<f32>"))),
        (others::order::add.info(), Some(argument("x: VecRef<f32>", "y: VecRef<f32>"))),
        (others::number::add.info(), Some(argument("x: VecRef<f32>", "x: [u32;6]"))),
        (others::count::add.info(), Some("3 arguments in the PTX module `m`, 2 arguments".into())),
        (others::block::add.info(), Some(bounds("block=32,2,1"))),
        (others::threads::add.info(), Some(bounds("max_threads=64"))),
        (others::cluster::add.info(), Some(bounds("block=64,1,1 cluster=2"))),
        (others::pdl::add.info(), Some(bounds("block=64,1,1 pdl"))),
        (others::shared::add.info(), Some(bounds("block=64,1,1 shared_bytes=16"))),
        (others::section::add.info(), Some(bounds("block=64,1,1 shared_element=8"))),
    ] {
        assert_eq!(refusal(other), expected);
    }
}

#[test]
fn a_struct_whose_fields_changed_is_refused() {
    mod now {
        use simt::KernelArg;
        use simt::prelude::*;

        #[repr(C)]
        #[derive(Clone, Copy, KernelArg)]
        pub(super) struct Scale {
            pub(super) factor: f32,
            pub(super) offset: f32,
        }

        #[kernel]
        #[allow(unused_variables)]
        pub(super) fn scale(args: Scale, x: VecMut<f32>) {}
    }
    mod before {
        use simt::KernelArg;
        use simt::prelude::*;

        #[repr(C)]
        #[derive(Clone, Copy, KernelArg)]
        pub(super) struct Scale {
            pub(super) offset: f32,
            pub(super) factor: f32,
        }

        #[kernel]
        #[allow(unused_variables)]
        pub(super) fn scale(args: Scale, x: VecMut<f32>) {}
    }
    let check = |ptx: &KernelInfo| Declared::read(&declared::line(ptx)).check(now::scale.info(), "m");
    let expected = "kernel `scale`: expected an argument `args: Scale` with the fields that it has now in the PTX \
        module `m`, found others; the PTX is of another kernel or another version of it: rebuild it from the kernel's \
        current source, for the crate `gpu` with `cargo xtask build`";
    assert_eq!(check(before::scale.info()).unwrap_err().to_string(), expected);
    assert!(check(now::scale.info()).is_ok());
    let _ = [now::Scale { factor: 1.0, offset: 0.0 }.factor, before::Scale { factor: 1.0, offset: 0.0 }.offset];
}

#[test]
fn a_kernel_is_compared_when_it_is_launched_first() {
    let ordinal = mock::ordinal(Character::Declared);
    let device = device(ordinal);
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut z = device.alloc(10).unwrap();
    let load = |kernel: &KernelInfo| {
        // SAFETY: the mock runs what the kernel computes.
        unsafe { Module::from_ptx(&device, "mine", &ptx(&[kernel])) }.unwrap()
    };
    let wrong = load(others::element::add.info());
    for _ in 0..2 {
        let error = device.launch(&add, Launch::grid(1).module(&wrong), (&x, &x, &mut z)).unwrap_err();
        assert!(matches!(&error, Error::Launch(bad) if bad.rule == LaunchRule::Ptx), "{error}");
        let text = error.to_string();
        assert!(text.starts_with("kernel `add`: expected an argument `y: VecRef<f32>` in the PTX"), "{text}");
    }
    assert_eq!(mock::machine(ordinal).launches, [], "the driver is not called");

    let right = load(add.info());
    device.launch(&add, Launch::grid(1).module(&right), (&x, &x, &mut z)).unwrap();
    assert_eq!(z.download().unwrap(), [2.0; 10]);
    // Another kernel of the name, after the first was found.
    let y = device.alloc_zeros::<u32>(10).unwrap();
    let other = device.launch(&others::element::add, Launch::grid(1).module(&right), (&x, &y, &mut z));
    assert!(matches!(&other, Err(Error::Launch(bad)) if bad.rule == LaunchRule::Ptx), "{other:?}");
    device.launch(&others::same::add, Launch::grid(1).module(&right), (&x, &x, &mut z)).unwrap();
    assert_eq!(mock::machine(ordinal).launches.len(), 2);
    drop((wrong, right, x, y, z, device));
    let machine = mock::machine(ordinal);
    assert_eq!((machine.left(), &*machine.violations), (vec![], &[][..]));
}

#[test]
fn ptx_without_declaration_is_refused() {
    let bare = ptx(&[add.info()]).replace(&declared::line(add.info()), "");
    for (text, what) in [(&*bare, "no line"), ("// warpwright.kernel add block=64,1,1 arg=x at=f.rs:1", "malformed")] {
        let bad = Declared::read(text).check(add.info(), "m").expect_err(what);
        assert_eq!(
            (&*bad.expected, &*bad.found),
            ("a comment `// warpwright.kernel add …`, which #[kernel] writes in the PTX module `m`", "none")
        );
    }
}

/// Also: the hash in PTX, which rustc computed for the GPU, is that of the host.
#[test]
fn embedded_ptx_declares_what_this_program_has() {
    for family in gpu::FAMILIES {
        let mut kernels = 0;
        for (kernel, arch, text) in super::super::ptx::texts(family.name) {
            let info = family.kernels.iter().find(|info| info.name == kernel).expect("a kernel of the family");
            Declared::read(&text).check(info, arch).unwrap();
            kernels += 1;
        }
        assert_eq!(kernels, family.kernels.len() * super::super::ptx::archs(family.name).len(), "{}", family.name);
    }
}

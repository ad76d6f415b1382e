//! What `#[kernel]` generates from a function and `#[derive(Shared)]` from a struct.

use simt::{
    ArgType, Instance, Kernel, KernelArg, KernelInfo, Limits, SharedSpec,
    element::Element,
    global::{MatMut, VecMut, VecRef},
    kernel,
    math::Float,
    shared::{DynShared, Shared, SharedArray, SharedTile},
};

/// A layout with a layout in it.
#[repr(C)]
#[derive(Shared)]
pub struct Layout {
    tile: SharedTile<f32, 4, 33>,
    inner: [Inner; 2],
}

/// A small layout.
#[repr(C)]
#[derive(Shared)]
pub struct Inner {
    bytes: SharedArray<u8, 3>,
}

/// A layout with a parameter.
#[repr(C)]
#[derive(Shared)]
pub struct Ring<S, const STAGES: usize> {
    stages: [S; STAGES],
}

const TILE: u32 = 8;

mod kernels {
    use super::*;

    /// Generic, with keys that depend on the parameters.
    #[kernel(instances(<f32, 128>, <f64, 64>), block = N, registers = size_of::<T>() as u32 * 8)]
    pub fn scale<T: Float, const N: usize>(x: VecRef<T>, y: VecMut<T>, factor: T, offset: [T; 2]) {
        assert!(x.is_empty() && y.is_empty() && offset[0] + offset[1] == factor, "{N}");
    }

    /// With shared memory of a size that a parameter determines.
    #[kernel(instances(<u8, 3>, <u16, 5>))]
    pub(crate) fn in_shared<T: Element, const N: usize>(#[shared] tile: &Tile<T, N>) {
        let _ = &tile.tile;
    }

    /// A generic layout.
    #[repr(C)]
    #[derive(Shared)]
    pub(crate) struct Tile<T: Element, const N: usize> {
        tile: SharedArray<T, N>,
    }

    /// No keys.
    #[kernel]
    pub fn bare() {}

    /// All keys.
    #[kernel(
        block = (2 * TILE, TILE, 2),
        min_blocks = 2,
        cluster = TILE / 2,
        pdl,
        registers = 40,
        barriers = 1,
        global_load_bytes = 16,
        global_store_bytes = 8,
        traps = 3,
        local_bytes = 64
    )]
    #[allow(unused_variables)]
    pub(crate) fn full(#[shared] layout: &Layout, alpha: f32, x: VecRef<u8>, mut y: MatMut<f64>) {
        // A parameter can be a variable.
        y = MatMut::clone(&y);
        assert_eq!(y.rows(), 0);
        let Layout { tile, inner } = layout;
    }

    /// Not compiled.
    #[kernel(max_threads = 256)]
    #[cfg(any())]
    pub fn left_out() {}

    /// Shared memory whose size the launch chooses.
    #[kernel(max_threads = 256)]
    pub fn dynamic(#[shared] _section: DynShared<u16>, _out: VecMut<u32>) {}

    /// A block shape of one extent, not a tuple.
    #[kernel(block = TILE)]
    pub fn line(#[shared] _ring: &Ring<Inner, 3>) {}
}

#[test]
fn a_kernel_without_keys_has_no_requirements() {
    let kernel: Kernel<()> = kernels::bare;
    let KernelInfo { name, path, args, block, max_threads, min_blocks, cluster, pdl, shared, limits, .. } =
        *kernel.info();
    assert_eq!((name, path), ("bare", "kernel::kernels"));
    assert_eq!(args, [""; 0]);
    assert_eq!((block, max_threads, min_blocks, cluster, pdl), (None, None, None, 1, false));
    assert_eq!((shared, limits), (SharedSpec::None, Limits::default()));
    kernel.entry()(());
}

#[test]
fn keys_and_parameters_reach_the_description() {
    let kernel: Kernel<(f32, VecRef<'static, u8>, MatMut<'static, f64>)> = kernels::full;
    let info = kernel.info();
    assert_eq!(info.args, ["alpha", "x", "y"]);
    let types = [<f32 as KernelArg>::TYPE, <VecRef<u8>>::TYPE, <MatMut<f64>>::TYPE];
    assert_eq!(info.arg_types, types);
    assert_eq!(types.map(|ty| (ty.name, ty.size)), [("f32", 4), ("VecRef", 24), ("MatMut", 24)]);
    assert_eq!(info.block, Some([16, 8, 2]));
    assert_eq!((info.min_blocks, info.max_threads(), info.cluster, info.pdl), (Some(2), 256, 4, true));
    let bytes = 4 * 33 * 4 + 2 * 16;
    assert_eq!(info.shared, SharedSpec::Fixed { bytes, align: 16 });
    let limits = Limits {
        registers: Some(40),
        barriers: Some(1),
        global_load_bytes: Some(16),
        global_store_bytes: Some(8),
        traps: Some(3),
        local_bytes: 64,
    };
    assert_eq!(info.limits, limits);
    assert!(info.file.ends_with("kernel.rs"), "{}", info.file);
}

#[test]
fn a_struct_of_arguments_has_its_fields_in_its_type() {
    /// Fields that are aligned differently, and a view.
    #[repr(C)]
    #[derive(Clone, Copy, KernelArg)]
    struct Args<'a, T: Element> {
        scale: f32,
        offset: [u64; 2],
        x: VecMut<'a, T>,
    }
    let ArgType { name, size, align, parts } = <Args<u16>>::TYPE;
    assert_eq!((name, size, align), ("Args", 48, 8));
    let fields: Vec<_> = parts.iter().map(|part| (part.name, part.offset, part.ty.name)).collect();
    assert_eq!(fields, [("scale", 0, "f32"), ("offset", 8, "array"), ("x", 24, "VecMut")]);
    assert_eq!(parts[2].ty.parts[0].ty.name, "u16");
    assert_ne!(<Args<u16>>::TYPE.hash(), <Args<i16>>::TYPE.hash());
}

#[test]
fn launches_can_choose_the_size_of_shared_memory() {
    let info = kernels::dynamic.info();
    assert_eq!(info.shared, SharedSpec::PerLaunch { element: 2, align: 16 });
    assert_eq!((info.block, info.max_threads()), (None, 256));
    assert_eq!(info.args, ["_out"], "shared memory is no argument");
}

#[test]
fn layouts_can_be_generic() {
    assert_eq!(kernels::line.info().shared, SharedSpec::Fixed { bytes: 48, align: 16 });
    assert_eq!(kernels::line.info().block, Some([8, 1, 1]));
}

/// A module may use the names that the macro's code could have: they are the module's in keys, in types and in bodies.
mod names {
    use super::*;

    const INFO: u32 = 96;
    const BLOCKS: u32 = 2;
    const SPEC: usize = 5;
    const VALUE: u32 = 1;

    /// Never launched: it compiles.
    #[kernel(max_threads = INFO, cluster = BLOCKS, registers = BLOCKS + VALUE)]
    #[allow(unused_variables)]
    pub fn shadowed(#[shared] tile: &SharedArray<f32, SPEC>, out: VecMut<u32>) {
        const { assert!(INFO == 96 && BLOCKS == 2 && SPEC == 5) };
        out.set(0, INFO + BLOCKS);
    }
}

#[test]
fn names_of_the_module_are_not_hidden() {
    let info = names::shadowed.info();
    assert_eq!((info.max_threads(), info.cluster, info.limits.registers), (96, 2, Some(3)));
    assert_eq!(info.shared, SharedSpec::Fixed { bytes: 32, align: 16 });
}

#[test]
fn a_kernel_outside_a_launch_panics() {
    /// Sets an element.
    #[kernel]
    pub fn write(#[shared] section: DynShared<f32>) {
        section.set(0, 1.0);
    }
    let entry = write.entry();
    assert!(std::panic::catch_unwind(|| entry(())).is_err());
}

#[test]
fn each_instance_of_a_generic_kernel_is_a_kernel_of_its_own() {
    let (single, double) = (kernels::scale::<f32, 128>(), kernels::scale::<f64, 64>());
    let of = |info: &'static KernelInfo| (info.name, info.block, info.limits.registers, info.arg_types[2].name);
    assert_eq!(of(single.info()), ("scale_f32_128", Some([128, 1, 1]), Some(32), "f32"));
    assert_eq!(of(double.info()), ("scale_f64_64", Some([64, 1, 1]), Some(64), "f64"));
    assert_eq!(single.info().args, ["x", "y", "factor", "offset"]);
    assert_eq!(single.info().arg_types[3].parts[0].ty.name, "f32");
    let bytes = [kernels::in_shared::<u8, 3>().info().shared, kernels::in_shared::<u16, 5>().info().shared];
    assert_eq!(bytes.map(SharedSpec::fixed_bytes), [16, 16]);
}

#[test]
fn a_generic_function_of_the_host_may_require_an_instance() {
    fn name<T: Element, const N: usize>() -> &'static str
    where
        kernels::in_shared<T, N>: Instance,
    {
        let kernel: Kernel<()> = kernels::in_shared::<T, N>();
        kernel.info().name
    }
    assert_eq!(name::<u16, 5>(), "in_shared_u16_5");
}

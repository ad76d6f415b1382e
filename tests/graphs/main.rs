//! Asynchronous operations in a CUDA graph: captured once, launched repeatedly on different data. On a GPU only, since
//! the simulator has no graphs.

use warpwright::half::f16;
use warpwright::reduce::{ArgMax, Sum, Workspace};
use warpwright::{Device, Stream};
use warpwright_bench::peers::driver::Driver;

/// The GPU that `WARPWRIGHT_DEVICE` names; none if it names the simulator.
fn gpu() -> Option<Device> {
    let device = Device::best().unwrap_or_else(|error| panic!("no device to test: {error}"));
    (!device.is_simulator()).then_some(device)
}

#[test]
fn a_captured_reduction_reads_new_data_at_every_launch() {
    let Some(device) = gpu() else { return };
    let n = 300_000;
    let mut x = device.alloc_zeros::<f32>(n).expect("x");
    let (mut sum, mut place) = (device.alloc::<f32>(1).expect("sum"), device.alloc::<u64>(1).expect("place"));
    let mut workspace = Workspace::new(&device).expect("a workspace");
    // Loads the kernels, which is not possible while a graph is captured.
    device.reduce_into(Sum, &x, &mut sum, &mut workspace, None).expect("a sum");
    device.reduce_into(ArgMax, &x, &mut place, &mut workspace, None).expect("an argmax");
    // A separate stream, since other tests use the default stream.
    let stream = device.stream().expect("a stream");
    let driver = Driver::new(stream.clone()).expect("the driver");
    let graph = driver
        .capture(|| {
            device.reduce_into(Sum, &x, &mut sum, &mut workspace, Some(&stream))?;
            device.reduce_into(ArgMax, &x, &mut place, &mut workspace, Some(&stream))?;
            Ok(())
        })
        .expect("a graph");
    for round in 1..20 {
        let mut values = vec![1.0_f32; n];
        values[round * 1000] = 3.0;
        x.write(&values).expect("new data");
        driver.launch(&graph).expect("a launch");
        driver.synchronize().expect("the end");
        assert_eq!(sum.download().expect("sum"), [n as f32 + 2.0], "round {round}");
        assert_eq!(place.download().expect("place"), [(round * 1000) as u64], "round {round}");
    }
}

/// GEMM by every plan, with workspace and tensor maps: without allocation and synchronisation.
#[test]
fn a_captured_gemm_reads_new_data_at_every_launch() {
    let Some(device) = gpu() else { return };
    let (m, n, k) = (200, 312, 1000);
    let a = device.upload(&vec![f16::ONE; m * k]).expect("a");
    let (a, mut b) = (a.view().as_tensor(&[m, k]).expect("a"), device.alloc_zeros::<f16>(k * n).expect("b"));
    let mut c = device.alloc::<f16>(m * n).expect("c");
    let plans = {
        let (b, c) = (b.view().as_tensor(&[k, n]).expect("b"), c.view().as_tensor(&[m, n]).expect("c"));
        device.gemm(a, b).plans(c).expect("plans")
    };
    assert!(plans.len() > 4, "few plans: {plans:?}");
    let stream = device.stream().expect("a stream");
    let (first, driver) = (device.default_stream(), Driver::new(stream.clone()).expect("the driver"));
    for plan in plans {
        // Zeroed for compute-sanitizer's initcheck, as the documentation of `Gemm::workspace` says.
        let mut workspace = device.alloc_zeros::<f32>(plan.workspace_len()).expect("a workspace");
        let mut multiply = |stream: &Stream| {
            let (b, c) = (b.view().as_tensor(&[k, n])?, c.view_mut().as_tensor(&[m, n])?);
            device.gemm(a, b).algorithm(plan.algorithm()).workspace(&mut workspace).stream(stream).into(c)
        };
        // Loads the kernels.
        multiply(&first).expect("a product");
        let graph = driver.capture(|| Ok(multiply(&stream)?)).expect("a graph");
        for round in 1..4 {
            b.write(&vec![f16::from_f32(round as f32 / 4.0); k * n]).expect("new data");
            driver.launch(&graph).expect("a launch");
            driver.synchronize().expect("the end");
            let expected = f16::from_f32(k as f32 * round as f32 / 4.0);
            assert_eq!(c.download().expect("c"), vec![expected; m * n], "{}, round {round}", plan.algorithm());
        }
    }
}

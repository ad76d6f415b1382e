//! Asynchronous operations in a CUDA graph: captured once, launched again and again on other data. On a GPU only: the
//! simulator has no graphs.

use warpwright::reduce::{ArgMax, Sum, Workspace};
use warpwright_bench::peers::driver::Driver;

use crate::support::device::{is_gpu, under_test};

#[test]
fn a_captured_reduction_sees_new_data_at_every_launch() {
    if !is_gpu() {
        return;
    }
    let device = under_test(0);
    let n = 300_000;
    let mut x = device.alloc_zeros::<f32>(n).expect("x");
    let (mut sum, mut place) = (device.alloc::<f32>(1).expect("sum"), device.alloc::<u64>(1).expect("place"));
    let mut workspace = Workspace::new(&device).expect("a workspace");
    // Loads the kernels, which cannot be done while a graph is captured.
    device.reduce_into(Sum, &x, &mut sum, &mut workspace, None).expect("a sum");
    device.reduce_into(ArgMax, &x, &mut place, &mut workspace, None).expect("an argmax");
    // A stream of its own: other tests use the default one meanwhile.
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

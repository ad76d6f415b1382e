//! Launches as graphs of one kernel.

use gpu::elementwise::add::add_f32;

use super::super::driver::codes;
use super::super::driver_stream::FEW_LAUNCHES;
use super::{Character, add, device, mock, module};
use crate::{Buffer, BufferView, Device, Launch, Stream};

/// z = x + x in a stream, by the kernel in the program.
fn double(stream: &Stream, x: BufferView<'_, f32>, z: &mut Buffer<f32>) {
    stream.device().launch(&add_f32, Launch::grid(1).stream(stream), (x, x, z)).unwrap();
}

/// x + x by so many launches in one stream, each into a vector of its own and with a length of its own.
fn run(device: &Device, stream: &Stream, launches: usize) {
    let x = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let results: Vec<Buffer<f32>> = (0..launches)
        .map(|i| {
            let (length, mut z) = (1 + i % 3, device.alloc::<f32>(1 + i % 3).unwrap());
            double(stream, x.slice(0..length).unwrap(), &mut z);
            z
        })
        .collect();
    for (i, z) in results.into_iter().enumerate() {
        assert_eq!(z.download().unwrap(), [2.0, 4.0, 6.0][..=i % 3], "launch {i}");
    }
}

/// Launches of graphs so far, and what is left of graphs.
fn graphs(ordinal: u32) -> (usize, usize) {
    let machine = mock::machine(ordinal);
    (machine.graph_launches, machine.graphs.len())
}

#[test]
fn a_stream_launches_kernels_as_graphs_after_some_time() {
    let ordinal = mock::ordinal(Character::Graphs);
    let device = device(ordinal);
    let (stream, few) = (device.stream().unwrap(), FEW_LAUNCHES as usize);
    run(&device, &stream, few);
    assert_eq!(graphs(ordinal), (0, 0));
    run(&device, &stream, 5);
    assert_eq!(graphs(ordinal), (5, 2));
    // A stream that is being captured takes none, nor does a kernel whose module may be unloaded.
    let before = mock::machine(ordinal).launches.len();
    let x = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let mut z = device.alloc::<f32>(3).unwrap();
    double(&stream, x.view(), &mut z);
    mock::machine(ordinal).captured = stream.as_raw().map(|raw| raw as usize);
    double(&stream, x.view(), &mut z);
    mock::machine(ordinal).captured = None;
    add(&stream, &module(&device), &x, &x, &mut z);
    assert_eq!(graphs(ordinal), (6, 2));
    assert_eq!(mock::machine(ordinal).launches.len(), before + 3);
    drop((x, z, stream));
    let machine = mock::machine(ordinal);
    assert_eq!(machine.graphs.len(), 0, "destroyed with the stream");
    assert!(machine.violations.is_empty(), "{:?}", machine.violations);
}

/// Whichever call of a graph fails, the kernel is launched without it, but for a lost device.
#[test]
fn kernels_are_launched_without_a_graph_that_fails() {
    let ordinal = mock::ordinal(Character::GraphsThatFail);
    for call in [
        "cuGraphCreate",
        "cuGraphAddKernelNode_v2",
        "cuGraphInstantiateWithFlags",
        "cuGraphExecKernelNodeSetParams_v2",
        "cuGraphLaunch",
    ] {
        let device = device(ordinal);
        let stream = device.stream().unwrap();
        run(&device, &stream, FEW_LAUNCHES as usize);
        mock::machine(ordinal).fail_next = Some((call, codes::NOT_SUPPORTED));
        run(&device, &stream, 3);
        let machine = mock::machine(ordinal);
        assert_eq!(machine.fail_next, None, "{call} is called");
        // Where there is no graph, none is asked for again.
        let has_graph = !["cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags"].contains(&call);
        assert_eq!(machine.graphs.len(), if has_graph { 2 } else { 0 }, "{call}");
        assert!(machine.violations.is_empty(), "{:?}", machine.violations);
        drop(machine);
        drop(stream);
        assert_eq!(graphs(ordinal).1, 0, "{call}");
    }
    let device = device(ordinal);
    let stream = device.stream().unwrap();
    run(&device, &stream, FEW_LAUNCHES as usize);
    let x = device.upload(&[1.0_f32]).unwrap();
    let mut z = device.alloc::<f32>(1).unwrap();
    mock::machine(ordinal).fail_next = Some(("cuGraphLaunch", 700));
    let launch = Launch::grid(1).stream(&stream);
    let error = device.launch(&add_f32, launch, (&x, &x, &mut z)).unwrap_err();
    assert!(matches!(&error, crate::Error::DeviceLost(lost) if lost.cause.call == "cuGraphLaunch"), "{error}");
}

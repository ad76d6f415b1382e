//! Launches as graphs, of one kernel and of two.

use gpu::elementwise::add::add_f32;
use half::f16;

use super::super::driver::codes;
use super::super::graphs::{FEW_LAUNCHES, MOST_GRAPHS};
use super::{Character, add, device, mock, module};
use crate::contract::Role;
use crate::gemm::{Algorithm, Plan};
use crate::{Buffer, BufferView, Device, Launch, Result, Stream};

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

/// Checks the device of a stream that had a graph, after its end.
fn nothing_is_left(ordinal: u32) {
    let machine = mock::machine(ordinal);
    assert_eq!(machine.graphs.len(), 0, "destroyed with the stream");
    assert!(machine.violations.is_empty(), "{:?}", machine.violations);
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
    nothing_is_left(ordinal);
}

/// Work that is repeated in a few sets of buffers has a graph for each, and sets nothing. In more sets than there may
/// be graphs each launch sets what it launches.
#[test]
fn a_launch_as_before_sets_nothing() {
    let ordinal = mock::ordinal(Character::GraphsAgain);
    let device = device(ordinal);
    for sets in [1, 3, MOST_GRAPHS, MOST_GRAPHS + 1, 3 * MOST_GRAPHS] {
        let stream = device.stream().unwrap();
        let x: Vec<_> = (0..sets).map(|i| device.upload(&[i as f32; 2]).unwrap()).collect();
        let mut z: Vec<_> = (0..sets).map(|_| device.alloc::<f32>(2).unwrap()).collect();
        let mut all = || {
            for (x, z) in x.iter().zip(&mut z) {
                double(&stream, x.view(), z);
            }
        };
        // Until each set has a graph, or there are as many as there may be.
        let until_made = (MOST_GRAPHS + 1) * (FEW_LAUNCHES as usize + 1);
        for _ in 0..=until_made.div_ceil(sets) {
            all();
        }
        let changes = mock::machine(ordinal).node_changes;
        let launches = graphs(ordinal).0;
        all();
        assert_eq!(graphs(ordinal), (launches + sets, 2 * sets.min(MOST_GRAPHS)), "{sets} sets");
        let set = mock::machine(ordinal).node_changes - changes;
        assert_eq!(set, if sets <= MOST_GRAPHS { 0 } else { sets }, "{sets} sets");
        for (i, z) in z.iter().enumerate() {
            assert_eq!(z.download().unwrap(), [2.0 * i as f32; 2], "{i} of {sets} sets");
        }
    }
}

/// A launch that differs in one argument, or in its grid, from one that a graph has.
#[test]
fn each_difference_is_set() {
    let device = device(mock::ordinal(Character::GraphsOfOthers));
    let stream = device.stream().unwrap();
    let [x, y] = [[1.0_f32; 300], [10.0; 300]].map(|values| device.upload(&values).unwrap());
    let mut z = device.alloc::<f32>(300).unwrap();
    let mut launch = |a: &Buffer<f32>, b: &Buffer<f32>, grid: u32, len: usize| {
        z.write(&[0.0; 300]).unwrap();
        let z_view = z.slice_mut(0..len).unwrap();
        let (a, b) = (a.slice(0..len).unwrap(), b.slice(0..len).unwrap());
        device.launch(&add_f32, Launch::grid(grid).stream(&stream), (a, b, z_view)).unwrap();
        z.download().unwrap()
    };
    for _ in 0..=FEW_LAUNCHES {
        launch(&x, &x, 1, 200);
    }
    let of = |value: f32, len: usize| [vec![value; len], vec![0.0; 300 - len]].concat();
    for _ in 0..3 {
        assert_eq!(launch(&x, &x, 1, 200), of(2.0, 200));
        assert_eq!(launch(&x, &y, 1, 200), of(11.0, 200));
        assert_eq!(launch(&y, &x, 1, 200), of(11.0, 200));
        assert_eq!(launch(&y, &y, 1, 200), of(20.0, 200));
        assert_eq!(launch(&y, &y, 1, 199), of(20.0, 199));
        assert_eq!(launch(&y, &y, 2, 300), of(20.0, 300));
    }
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

/// y = x + x and z = y + y, by a pair of launches in a stream.
fn pair(stream: &Stream, x: &Buffer<f32>, y: &mut Buffer<f32>, z: &mut Buffer<f32>) -> Result<()> {
    let (device, launch) = (stream.device(), Launch::grid(1).stream(stream));
    let pair = device.backend().pair();
    device.launch_of_pair(Some((&pair, Role::First)), &add_f32, launch, (x, x, &mut *y))?;
    device.launch_of_pair(Some((&pair, Role::Second)), &add_f32, launch, (&*y, &*y, &mut *z))?;
    pair.finish()
}

/// So many pairs, each of vectors of its own; returns how many results are right.
fn pairs(device: &Device, stream: &Stream, count: usize) -> usize {
    let results: Vec<_> = (0..count)
        .map(|i| {
            let x = device.upload(&vec![i as f32; 1 + i % 3]).unwrap();
            let [mut y, mut z] = [0; 2].map(|_| device.alloc::<f32>(1 + i % 3).unwrap());
            pair(stream, &x, &mut y, &mut z).unwrap();
            (x, y, z)
        })
        .collect();
    let is_right =
        |(i, (_, _, z)): &(usize, (_, _, Buffer<f32>))| z.download().unwrap() == vec![4.0 * *i as f32; 1 + i % 3];
    results.into_iter().enumerate().filter(is_right).count()
}

#[test]
fn two_kernels_are_one_graph_after_some_time() {
    let ordinal = mock::ordinal(Character::Pairs);
    let device = device(ordinal);
    let (stream, few) = (device.stream().unwrap(), FEW_LAUNCHES as usize);
    assert_eq!(pairs(&device, &stream, few), few);
    assert_eq!(graphs(ordinal), (0, 0));
    assert_eq!(pairs(&device, &stream, 5), 5);
    // In a stream that is being captured they are kernels.
    mock::machine(ordinal).captured = stream.as_raw().map(|raw| raw as usize);
    let x = device.upload(&[1.0_f32]).unwrap();
    let [mut y, mut z] = [0; 2].map(|_| device.alloc::<f32>(1).unwrap());
    let before = mock::machine(ordinal).launches.len();
    pair(&stream, &x, &mut y, &mut z).unwrap();
    mock::machine(ordinal).captured = None;
    assert_eq!(graphs(ordinal), (5, 2));
    assert_eq!(mock::machine(ordinal).launches.len(), before + 2);
    drop((x, y, z, stream));
    nothing_is_left(ordinal);
}

/// Whichever call of a graph fails, both kernels are launched without it.
#[test]
fn two_kernels_are_launched_without_a_graph_that_fails() {
    let ordinal = mock::ordinal(Character::PairsThatFail);
    for call in ["cuGraphAddKernelNode_v2", "cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch"] {
        let device = device(ordinal);
        let stream = device.stream().unwrap();
        pairs(&device, &stream, FEW_LAUNCHES as usize);
        mock::machine(ordinal).fail_next = Some((call, codes::NOT_SUPPORTED));
        assert_eq!(pairs(&device, &stream, 3), 3, "{call}");
        assert_eq!(mock::machine(ordinal).fail_next, None, "{call} is called");
    }
}

/// A first launch to which no second one comes.
#[test]
fn a_launch_alone_is_queued_at_the_end() {
    let device = device(mock::ordinal(Character::PairsThatFail));
    let (x, mut y) = (device.upload(&[3.0_f32]).unwrap(), device.alloc::<f32>(1).unwrap());
    let pair = device.backend().pair();
    device.launch_of_pair(Some((&pair, Role::First)), &add_f32, Launch::grid(1), (&x, &x, &mut y)).unwrap();
    pair.finish().unwrap();
    assert_eq!(y.download().unwrap(), [6.0]);
}

/// A product whose operands are packed is one launch of a graph: one for each size of clusters.
#[test]
fn packed_operands_and_their_product_are_one_graph() {
    let ordinal = mock::ordinal(Character::Packed);
    let device = device(ordinal);
    let (a, b) = (device.alloc_matrix::<f16>(333, 555).unwrap(), device.alloc_matrix::<f16>(555, 777).unwrap());
    let mut c = device.alloc_matrix::<f16>(333, 777).unwrap();
    let plans = device.gemm(&a, &b).plans(&c).unwrap();
    let algorithms = [1, 2].map(|cluster| {
        // Neither operand is transposed, and k is not split.
        let is_one = |algorithm: &Algorithm| {
            let (kernel, is_whole) = (algorithm.kernel(), algorithm.parts() == 1);
            algorithm.packed() == [true; 2] && is_whole && kernel.cluster == cluster && kernel.name.contains("_nn_")
        };
        plans.iter().map(Plan::algorithm).find(is_one).unwrap()
    });
    let lengths = plans.iter().filter(|plan| algorithms.contains(&plan.algorithm())).map(Plan::workspace_len);
    let mut workspace = device.alloc(lengths.max().unwrap()).unwrap();
    for _ in 0..FEW_LAUNCHES + 3 {
        for algorithm in algorithms {
            device.gemm(&a, &b).algorithm(algorithm).workspace(&mut workspace).into(&mut c).unwrap();
        }
    }
    assert_eq!(graphs(ordinal), (2 * 3, 2 * 2));
    let machine = mock::machine(ordinal);
    assert_eq!(machine.launches.len(), 2 * 2 * (FEW_LAUNCHES as usize + 3));
    assert!(machine.violations.is_empty(), "{:?}", machine.violations);
}

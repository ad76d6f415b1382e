//! Order of work, lifetimes, copies.

use std::sync::Barrier;
use std::thread;

use gpu::elementwise::add::{add_f32, grid};
use ndarray::{Array2, s};

use super::{Character, add, device, mock, module};
use crate::{Buffer, Device, Launch};

#[test]
fn downloads_return_what_was_uploaded() {
    let device = device(0);
    let x = [1.5_f32, -2.0, 3.25];
    assert_eq!(device.upload(&x).unwrap().download().unwrap(), x);
    assert_eq!(device.alloc_zeros::<u8>(5).unwrap().download().unwrap(), [0; 5]);
    assert_eq!(device.upload::<&[f64]>(&[]).unwrap().download().unwrap(), [0.0_f64; 0]);

    let a = Array2::from_shape_fn((5, 7), |(i, j)| (10 * i + j) as i32);
    let mut matrix = device.upload(&a).unwrap();
    let block = matrix.block(1..4, 2..5).unwrap();
    assert_eq!(block.download().unwrap(), a.slice(s![1..4, 2..5]));
    assert_eq!(block.to_contiguous().unwrap().download().unwrap(), a.slice(s![1..4, 2..5]));

    let mut expected = a.clone();
    expected.slice_mut(s![1..3, 1..3]).fill(-1);
    matrix.block_mut(1..3, 1..3).unwrap().write(Array2::from_elem((2, 2), -1).view()).unwrap();
    assert_eq!(matrix.download().unwrap(), expected);
    expected.slice_mut(s![0..5, 6..7]).fill(0);
    matrix.block_mut(0..5, 6..7).unwrap().zero().unwrap();
    assert_eq!(matrix.download().unwrap(), expected);
}

#[test]
fn work_on_one_buffer_keeps_its_order_across_streams() {
    let device = device(1);
    let module = module(&device);
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let x = device.upload(&[1.0_f32; 100]).unwrap();
    let (mut y, mut z) = (device.alloc(100).unwrap(), device.alloc(100).unwrap());
    // Write after write, read after write, write after read, each on the other stream.
    add(&first, &module, &x, &x, &mut y);
    add(&second, &module, &x, &y, &mut z);
    add(&first, &module, &z, &z, &mut y);
    add(&second, &module, &y, &y, &mut z);
    let delayed = mock::machine(1).pending();
    assert!(delayed > 0, "the mock delays work, or this test proves nothing");
    assert_eq!(z.download().unwrap(), [12.0; 100]);
    assert_eq!(y.download().unwrap(), [6.0; 100]);
}

#[test]
fn a_write_waits_for_earlier_reads() {
    let device = device(2);
    let (module, stream) = (module(&device), device.stream().unwrap());
    let mut x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    add(&stream, &module, &x, &x, &mut y);
    // On the default stream, while the launch that reads `x` is still queued.
    x.write(&[7.0; 10]).unwrap();
    assert_eq!(y.download().unwrap(), [2.0; 10]);
}

#[test]
fn a_write_waits_for_reads_by_the_stream_of_the_last_write() {
    let ordinal = mock::ordinal(Character::Rereading);
    let device = device(ordinal);
    let (module, stream) = (module(&device), device.stream().unwrap());
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let [mut y, mut z, mut late] = [0; 3].map(|_| device.alloc(10).unwrap());
    add(&stream, &module, &x, &x, &mut y);
    // The default stream waits for the write of `y`; what `stream` reads after that it has not waited for.
    add(&device.default_stream(), &module, &y, &y, &mut z);
    add(&stream, &module, &y, &y, &mut late);
    y.write(&[7.0; 10]).unwrap();
    assert_eq!(late.download().unwrap(), [4.0; 10]);
    assert_eq!(mock::machine(ordinal).violations, Vec::<String>::new());
}

/// The steps of making a stream wait for another.
const STEPS_OF_A_WAIT: [&str; 3] = ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"];

/// `CUDA_ERROR_OUT_OF_MEMORY`, which the context survives.
const NO_MEMORY: i32 = 2;

#[test]
fn a_wait_that_fails_leaves_the_order_as_it_was() {
    let ordinal = mock::ordinal(Character::Interrupted);
    let device = device(ordinal);
    let (module, stream) = (module(&device), device.stream().unwrap());
    for step in STEPS_OF_A_WAIT {
        // The default stream waits for the other one, which has not done its work.
        let write = |buffer: &mut Buffer<f32>, fails: bool| {
            mock::machine(ordinal).fail_next = fails.then_some((step, NO_MEMORY));
            assert_eq!(buffer.write(&[7.0; 10]).is_err(), fails, "a write, {step} failing: {fails}");
        };
        let mut x = device.upload(&[1.0_f32; 10]).unwrap();
        let mut y = device.alloc(10).unwrap();
        add(&stream, &module, &x, &x, &mut y);
        // Write after read.
        write(&mut x, true);
        write(&mut x, false);
        // Write after write.
        write(&mut y, true);
        assert_eq!(y.download().unwrap(), [2.0; 10], "after a failure of {step}");
        // Drop.
        add(&stream, &module, &x, &x, &mut y);
        write(&mut y, true);
        drop(y);
        assert_eq!(mock::machine(ordinal).violations, Vec::<String>::new(), "after a failure of {step}");
    }
}

#[test]
fn a_buffer_releases_streams_whose_reads_are_done() {
    let ordinal = mock::ordinal(Character::Counted);
    let device = device(ordinal);
    let (module, busy) = (module(&device), device.stream().unwrap());
    let mut x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut read_late = device.alloc(10).unwrap();
    add(&busy, &module, &x, &x, &mut read_late);
    for _ in 0..100 {
        let stream = device.stream().unwrap();
        let mut y = device.alloc(10).unwrap();
        add(&stream, &module, &x, &x, &mut y);
        stream.synchronize().unwrap();
    }
    let streams = mock::machine(ordinal).streams();
    assert!(streams < 20, "{streams} streams are kept");
    // The first one still counts.
    x.write(&[7.0; 10]).unwrap();
    assert_eq!(read_late.download().unwrap(), [2.0; 10]);
}

#[test]
fn one_stream_needs_no_waits() {
    let ordinal = mock::ordinal(Character::Single);
    let device = device(ordinal);
    let (module, stream) = (module(&device), device.default_stream());
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    let mut z = device.alloc(10).unwrap();
    add(&stream, &module, &x, &x, &mut y);
    add(&stream, &module, &x, &y, &mut z);
    assert_eq!(z.download().unwrap(), [3.0; 10]);
    assert_eq!(mock::machine(ordinal).waits, 0);
}

#[test]
fn a_stream_waits_for_a_write_once() {
    let ordinal = mock::ordinal(Character::Waiting);
    let device = device(ordinal);
    let (module, stream) = (module(&device), device.stream().unwrap());
    let mut x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    for write in 1..4 {
        for _ in 0..5 {
            add(&stream, &module, &x, &x, &mut y);
        }
        // For the write; the write then waits for the reads.
        assert_eq!(mock::machine(ordinal).waits, 2 * write - 1);
        x.write(&[write as f32; 10]).unwrap();
        assert_eq!(mock::machine(ordinal).waits, 2 * write);
    }
    add(&stream, &module, &x, &x, &mut y);
    assert_eq!(y.download().unwrap(), [6.0; 10]);
}

#[test]
fn dropping_everything_at_once_frees_everything_in_order() {
    // No other test opens this device: what is left is counted.
    let ordinal = 3;
    {
        let device = device(ordinal);
        let module = module(&device);
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let x = device.upload(&[1.0_f32; 10]).unwrap();
        let mut kept = device.alloc(10).unwrap();
        add(&streams[0], &module, &x, &x, &mut kept);
        {
            let mut dropped = device.alloc(10).unwrap();
            add(&streams[1], &module, &x, &x, &mut dropped);
        }
        let mut pinned = device.pinned::<f32>(10).unwrap();
        pinned.fill(4.0);
        let mut target = device.alloc(10).unwrap();
        drop(streams[0].upload(pinned, &mut target).unwrap());
        add(&streams[0], &module, &x, &x, &mut kept);
        // Dropped on another thread, while a stream that reads it has not run yet.
        thread::spawn(move || drop(x)).join().unwrap();
    }
    let machine = mock::machine(ordinal);
    assert_eq!(machine.violations, Vec::<String>::new());
    assert_eq!((machine.live(), machine.pending(), machine.modules, machine.contexts), (0, 0, 0, 0));
    assert_eq!((machine.pools, machine.streams()), (0, 0));
}

#[test]
fn a_dropped_buffer_is_freed_behind_its_work_and_nothing_waits() {
    let ordinal = mock::ordinal(Character::Pooled);
    let device = device(ordinal);
    let module = module(&device);
    let streams = [device.stream().unwrap(), device.stream().unwrap()];
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut z = device.alloc(10).unwrap();
    let live = mock::machine(ordinal).live();
    {
        let mut y = device.alloc(10).unwrap();
        add(&streams[0], &module, &x, &x, &mut y);
        // A second user of `y`, for which the release must wait, too.
        add(&streams[1], &module, &x, &y, &mut z);
    }
    {
        let machine = mock::machine(ordinal);
        let launches = machine.delayed(|work| work.starts_with("Add"));
        assert_eq!(launches, 2, "the drop did no work, so it waited for none");
        assert_eq!(machine.live(), live);
    }
    // The stream with the release first: it does the work of the other one before.
    streams[0].synchronize().unwrap();
    assert_eq!(z.download().unwrap(), [3.0; 10]);
    assert_eq!(mock::machine(ordinal).violations, Vec::<String>::new());
}

#[test]
fn a_device_without_pools_frees_when_the_work_is_done() {
    let ordinal = mock::ordinal(Character::Old);
    let device = device(ordinal);
    let (module, stream) = (module(&device), device.stream().unwrap());
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    add(&stream, &module, &x, &x, &mut y);
    drop(y);
    let machine = mock::machine(ordinal);
    assert_eq!((machine.delayed(|work| work.starts_with("Add")), machine.pools), (0, 0));
    assert_eq!(machine.violations, Vec::<String>::new());
}

#[test]
fn reductions_that_wait_reuse_their_memory() {
    let ordinal = mock::ordinal(Character::Reused);
    let device = device(ordinal);
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    // The mock adds vectors only: what counts is memory, not the result.
    let sums: Vec<_> = (0..3).map(|_| device.sum(&x).map(|_: f32| mock::machine(ordinal).live())).collect();
    let live: Vec<usize> = sums.into_iter().map(Result::unwrap).collect();
    assert_eq!(live, [live[0]; 3]);
}

#[test]
fn two_halves_of_a_buffer_on_two_threads() {
    let ordinal = mock::ordinal(Character::Slow);
    let device = device(ordinal);
    let module = &module(&device);
    let x = &device.upload(&[1.0_f32; 8]).unwrap();
    let streams = [device.stream().unwrap(), device.stream().unwrap()];
    for _ in 0..100 {
        let mut z = device.alloc::<f32>(16).unwrap();
        let (low, high) = z.view_mut().split_at(8).unwrap();
        let start = &Barrier::new(2);
        thread::scope(|scope| {
            for (half, stream) in [low, high].into_iter().zip(&streams) {
                scope.spawn(move || {
                    start.wait();
                    let launch = Launch::grid(grid(8)).module(module).stream(stream);
                    stream.device().launch(&add_f32, launch, (x, x, half)).unwrap();
                });
            }
        });
        assert_eq!(z.download().unwrap(), [2.0; 16]);
    }
    assert_eq!(mock::machine(ordinal).violations, Vec::<String>::new());
}

#[test]
fn calls_leave_the_context_that_the_thread_has_chosen() {
    mock::install();
    mock::set_current(7);
    let chosen = |after: &str| assert_eq!(mock::current(), Some(7), "after {after}");
    let device = Device::cuda(6).unwrap();
    chosen("opening a device");
    let (module, stream) = (module(&device), device.stream().unwrap());
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    chosen("an upload");
    add(&stream, &module, &x, &x, &mut y);
    chosen("a launch");
    assert_eq!(y.download().unwrap(), [2.0; 10]);
    chosen("a download");
    let pinned = device.pinned::<f32>(10).unwrap();
    drop(stream.download(&y, pinned).unwrap());
    chosen("an asynchronous copy");
    drop((x, y, stream, module, device));
    chosen("drops");
}

#[test]
fn asynchronous_copies_own_their_memory() {
    let ordinal = 5;
    let device = device(ordinal);
    let stream = device.stream().unwrap();
    let mut pinned = device.pinned::<u32>(4).unwrap();
    pinned.copy_from_slice(&[1, 2, 3, 4]);
    let mut buffer = device.alloc(4).unwrap();
    let upload = stream.upload(pinned, &mut buffer).unwrap();
    assert!(!upload.is_done().unwrap());
    let download = stream.download(&buffer, device.pinned(4).unwrap()).unwrap();
    assert_eq!(*download.wait().unwrap(), [1, 2, 3, 4]);
    assert!(upload.is_done().unwrap());

    let short = stream.upload(upload.wait().unwrap(), buffer.slice_mut(0..3).unwrap()).unwrap_err();
    assert_eq!(
        short.to_string(),
        "Stream::upload: argument `data`: expected 3 elements, the length of `to`, found 4; take a slice of `to`, or \
         page-locked memory of its length"
    );
    assert_eq!(mock::machine(ordinal).violations, Vec::<String>::new());
}

#[test]
fn events_mark_time() {
    let device = device(6);
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let start = stream.record().unwrap();
    let end = stream.record().unwrap();
    assert!(!end.is_done().unwrap());
    assert_eq!(end.since(&start).unwrap().as_micros(), 1500);
    assert!(end.is_done().unwrap());
    other.wait(&end).unwrap();
    other.synchronize().unwrap();
}

#[test]
fn other_libraries_get_the_drivers_own_handles() {
    let device = device(6);
    let (one, other) = (device.stream().unwrap(), device.stream().unwrap());
    let raw = one.as_raw().expect("a GPU's stream has a handle");
    assert_eq!(one.clone().as_raw(), Some(raw));
    assert_ne!(other.as_raw(), Some(raw));

    // Device memory of the mock is memory of this process.
    let mut buffer = device.upload(&[1_i32, 2, 3, 4]).unwrap();
    let third = buffer.slice_mut(2..4).unwrap().device_ptr();
    assert_eq!(third.cast_const(), buffer.slice(2..3).unwrap().device_ptr());
    assert_eq!(buffer.view().device_ptr().wrapping_add(2), third.cast_const());
    // SAFETY: an element of the buffer, which nothing else uses.
    unsafe { third.write(30) };
    assert_eq!(buffer.download().unwrap(), [1, 2, 30, 4]);
    assert_eq!(Device::simulator().default_stream().as_raw(), None);
}

#[test]
fn handles_of_one_gpu_are_one_device() {
    let (one, two) = (device(7), device(7));
    let x = one.upload(&[1.0_f32]).unwrap();
    let mut y = two.alloc(1).unwrap();
    y.view_mut().copy_from(&x).unwrap();
    assert_eq!(y.download().unwrap(), [1.0]);
    let other = device(0).alloc::<f32>(1).unwrap();
    let error = y.view_mut().copy_from(&other).unwrap_err().to_string();
    assert!(error.contains("CUDA device 7 (Mock GPU)") && error.contains("CUDA device 0 (Mock GPU)"), "{error}");
}

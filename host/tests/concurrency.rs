//! Devices, buffers and streams on several threads.

use std::thread;

use warpwright::gpu::elementwise::add::{add_f32, grid};
use warpwright::{
    Buffer, BufferView, BufferViewMut, Device, Event, Launch, Matrix, Module, PinnedBuffer, Stream, Transfer,
};

fn assert_send_sync<T: Send + Sync>() {}

#[test]
fn types_are_send_and_sync() {
    assert_send_sync::<Device>();
    assert_send_sync::<Buffer<f32>>();
    assert_send_sync::<BufferView<'_, f32>>();
    assert_send_sync::<BufferViewMut<'_, f32>>();
    assert_send_sync::<Matrix<f32>>();
    assert_send_sync::<Stream>();
    assert_send_sync::<Event>();
    assert_send_sync::<Module>();
    assert_send_sync::<PinnedBuffer<f32>>();
    assert_send_sync::<Transfer<f32>>();
    assert_send_sync::<warpwright::Error>();
}

#[test]
fn halves_of_a_buffer_are_filled_by_two_threads_from_one_input() {
    let device = Device::best().unwrap();
    let x = device.upload(&[1.0_f32; 1000]).unwrap();
    let mut z = device.alloc::<f32>(2000).unwrap();
    for _ in 0..20 {
        let (low, high) = z.view_mut().split_at(1000).unwrap();
        thread::scope(|scope| {
            for half in [low, high] {
                let (device, x) = (&device, &x);
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    let launch = Launch::grid(grid(1000)).stream(&stream);
                    device.launch(&add_f32, launch, (x, x, half)).unwrap();
                });
            }
        });
        assert_eq!(z.download().unwrap(), [2.0; 2000]);
        z.view_mut().zero().unwrap();
    }
}

#[test]
fn buffers_are_dropped_on_other_threads() {
    let device = Device::best().unwrap();
    let x = device.upload(&vec![1.0_f32; 100_000]).unwrap();
    let sum = device.add(&x, &x).unwrap();
    thread::spawn(move || drop(x)).join().unwrap();
    let value = thread::spawn(move || sum.download().unwrap()[99_999]).join().unwrap();
    assert_eq!(value, 2.0);
}

#[test]
fn a_transfer_may_be_dropped_or_forgotten() {
    let device = Device::best().unwrap();
    let stream = device.stream().unwrap();
    let mut x = device.alloc::<u32>(1000).unwrap();
    for round in 0..3 {
        let mut host = device.pinned(1000).unwrap();
        host.fill(round);
        let transfer = stream.upload(host, &mut x).unwrap();
        if round == 1 {
            std::mem::forget(transfer);
        }
        assert_eq!(x.download().unwrap(), [round; 1000]);
    }
}

//! Downloads of memory that nothing has written.

use simt::prelude::*;
use warpwright::{ArgumentRule, Device, Error, Launch};

#[kernel(block = 32)]
fn fill(y: VecMut<u32>) {
    y.set_within(index_1d(), 7);
}

/// The text of a refused download.
fn refused<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Argument(bad)) if bad.rule == ArgumentRule::Unwritten => bad.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("a download"),
    }
}

#[test]
fn a_grid_that_is_too_small_is_found_at_the_download() {
    let device = Device::simulator();
    let mut y = device.alloc::<u32>(100).unwrap();
    device.launch(&fill, Launch::grid(3), (&mut y,)).unwrap();
    let text = refused(y.download());
    assert!(text.contains("4 of 100 that nothing has written, first elements 96 to 99"), "{text}");
    assert!(text.contains("let the launch have a thread for each element"), "{text}");
    let text = refused(y.slice(95..97).unwrap().download());
    assert!(text.contains("1 of 2 that nothing has written, first element 1;"), "{text}");
    let (stream, pinned) = (device.stream().unwrap(), device.pinned(100).unwrap());
    assert!(refused(stream.download(&y, pinned)).contains("4 of 100"));
    assert_eq!(y.slice(0..96).unwrap().download().unwrap(), [7; 96]);
    device.launch(&fill, Launch::grid(4), (&mut y,)).unwrap();
    assert_eq!(y.download().unwrap(), [7; 100]);
}

#[test]
fn copies_of_unwritten_memory_are_unwritten() {
    let device = Device::simulator();
    let mut y = device.alloc::<u32>(100).unwrap();
    device.launch(&fill, Launch::grid(1), (&mut y,)).unwrap();
    let mut z = device.alloc_zeros::<u32>(100).unwrap();
    z.slice_mut(10..60).unwrap().copy_from(y.slice(0..50).unwrap()).unwrap();
    assert!(refused(z.download()).contains("18 of 100 that nothing has written, first elements 42 to 59"));
    z.view_mut().assume_init();
    assert_eq!(z.download().unwrap()[..42], [[0; 10].as_slice(), &[7; 32]].concat());
}

#[test]
fn only_the_elements_of_a_matrix_count() {
    let device = Device::simulator();
    let mut a = device.alloc_matrix::<f32>(5, 8).unwrap();
    a.block_mut(0..5, 0..6).unwrap().zero().unwrap();
    assert_eq!(a.block(1..5, 1..6).unwrap().download().unwrap().len(), 20);
    let text = refused(a.download());
    assert!(text.contains("10 of 40 that nothing has written, first elements 6 to 7"), "{text}");
    a.view_mut().assume_init();
    assert_eq!(a.download().unwrap().len(), 40);
}

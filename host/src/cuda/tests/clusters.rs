//! Launches of kernels with clusters: the arguments that the driver receives.

use simt::prelude::*;

use super::{Character, device, mock, ptx};
use crate::{Error, Launch, LaunchRule, Module};

/// z = x + y.
#[kernel(block = 32, cluster = 4)]
fn add_in_clusters(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>) {
    let i = index_1d();
    z.set_within(i, x.get_or(i, 0.0) + y.get_or(i, 0.0));
}

#[test]
fn only_whole_clusters_are_launched() {
    let ordinal = mock::ordinal(Character::Clustered);
    let device = device(ordinal);
    // SAFETY: the mock runs what the kernel computes.
    let module = unsafe { Module::from_ptx(&device, "clusters", &ptx(&[add_in_clusters.info()])) }.unwrap();
    let x = device.upload(&[1.0_f32; 200]).unwrap();
    let mut z = device.upload(&[0.0_f32; 200]).unwrap();
    for blocks in [1, 6, 7] {
        let grid = Launch::grid(blocks).module(&module);
        let error = device.launch(&add_in_clusters, grid, (&x, &x, &mut z)).unwrap_err();
        assert!(matches!(&error, Error::Launch(bad) if bad.rule == LaunchRule::Cluster), "{error}");
    }
    assert_eq!(mock::machine(ordinal).launches, [], "the driver is not called");
    device.launch(&add_in_clusters, Launch::grid(8).module(&module), (&x, &x, &mut z)).unwrap();
    assert_eq!(mock::machine(ordinal).launches, [([8, 1, 1], [32, 1, 1], 0)]);
    assert_eq!(z.download().unwrap(), [2.0; 200]);
}

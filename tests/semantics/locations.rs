//! Which line a report names: that of the access, in the kernel, in a closure, or in the helper that contains it.

use simt::prelude::*;
use simulator::Config;
use std::collections::BTreeSet;
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Reports name this function's line.
fn helper(y: &VecMut<u32>) {
    y.set(10, 1); // HERE: in a helper
}

/// Reports name the caller's line.
#[track_caller]
fn transparent(y: &VecMut<u32>) {
    y.set(11, 1);
}

macro_rules! store {
    ($view:ident, $i:expr) => {
        $view.set($i, 1)
    };
}

/// Faults in different places of the source.
#[kernel(block = 1)]
fn faults(y: VecMut<u32>) {
    helper(&y);
    transparent(&y); // HERE: called by a helper that passes its caller on
    (0..2).for_each(|i| y.set(20 + i, 1)); // HERE: in a closure
    store!(y, 30); // HERE: by a macro
    let many = y // the location of a call over several lines is that of the method's name
        .get_vec::<2>(40) // HERE
        .lanes[0];
    y.set(0, many);
}

#[test]
fn reports_name_the_line_of_the_access() {
    let mut y = Buffer::unwritten(4);
    let outcome = launch(&Config::default(), faults, Grid::line(1, 1), (&mut y,)).unwrap();
    let lines: BTreeSet<u32> = outcome.reports.iter().map(|report| report.site.line).collect();
    let kernels = include_str!("locations.rs").lines().zip(1..).take_while(|&(line, _)| line != "#[test]");
    let marked = kernels.filter(|(line, _)| line.contains("// HERE")).map(|(_, number)| number).collect();
    assert_eq!(lines, marked);
    assert!(outcome.reports.iter().all(|report| report.site.file == file!()));
}

//! Output of kernels: the same text on a GPU and on the simulator.

use warpwright::prelude::*;
use warpwright::println;

/// Threads of a block.
pub const THREADS: u32 = 32;

/// A line for each type and style: `$line!` is `println!` in the kernel, and `format!` in the test.
#[macro_export]
macro_rules! each_format {
    ($line:ident: $n:expr, $x:expr, $y:expr) => {{
        let (n, x, y): (u32, f32, f64) = ($n, $x, $y);
        $line!("a line without values");
        $line!("{n} {} {} {}", n as u8, n as u16, u64::from(n) << 20);
        $line!("{} {} {} {}", n as i8, -(n as i16), -(n as i32), -i64::from(n));
        $line!("{n:?} {n:x} {n:#X} {n:#010b} {n:>8}|{n:<8}|{n:^8}|{n:+}");
        $line!("{x} {x:?} {x:5.2} {x:e} {y} {y:?} {y:10.4}");
        $line!("{} {:?} {} {:>6} {:?}", n > 3, n < 3, 'ß', "text", "text");
    }};
}

/// All formats, by one thread.
#[kernel(block = THREADS)]
pub fn formats(n: u32, x: f32, y: f64) {
    if thread_idx_x() == n % THREADS {
        each_format!(println: n, x, y);
    }
}

// ANCHOR: not_finite
/// Says which elements are no finite numbers.
#[kernel(block = THREADS)]
pub fn not_finite(x: VecRef<f32>) {
    let i = index_1d();
    if i < x.len() && !x.get(i).is_finite() {
        println!("x[{i}] is {}, in block {}", x.get(i), block_idx_x());
    }
}
// ANCHOR_END: not_finite

//! Errors of `simt::math`, in units in the last place.
//!
//! Functions of one `f32` are compared with `f64` functions of the C library and of the crate `libm`, whose own error
//! is below 2⁻²⁸ ulp of an `f32`. `WARPWRIGHT_MATH_STRIDE=1` tries all 2³² arguments (minutes for each function on a
//! core; build with `--release` and `RUSTFLAGS=-Ctarget-feature=+fma`); the default tries every 4099th.
//!
//! Functions of `f64`, and those of two `f32`, are compared with `f64.csv` and `pairs.csv`, which `simt/tools/table.py`
//! writes. `WARPWRIGHT_MATH_TABLES=FOLDER` names a folder with longer tables.

mod single;
mod special;
mod tables;

use std::fmt::Write as _;

/// The greatest error found, and where.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    ulp: f64,
    at: [f64; 2],
}

impl Worst {
    fn note(&mut self, ulp: f64, at: [f64; 2]) {
        if ulp > self.ulp {
            *self = Self { ulp, at };
        }
    }
}

/// Prints all errors, then fails if one is beyond its bound.
fn judge(results: &[(&str, Worst, f64)]) {
    let mut beyond = String::new();
    for (name, Worst { ulp, at }, bound) in results {
        println!("{name:8} {ulp:9.5} ulp of at most {bound:5.3} at {:e} {:e}", at[0], at[1]);
        if ulp > bound {
            let _ = write!(beyond, " {name}: {ulp} > {bound} at {at:?};");
        }
    }
    assert!(beyond.is_empty(), "{beyond}");
}

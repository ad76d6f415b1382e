//! Every row of the tables in `gpu::gemm::configs` earns its place: `cargo xtask coverage`.
//!
//! The planner chooses for a fixed random set of products, with and without each row, on an H200 and on an A100, which
//! has neither TMA nor `wgmma`. A row's *gain* is how much longer these products would take without it, on average, by
//! the cost model. A row stays if on one of these GPUs it is the first choice for some of the set and for the product
//! that it names as the one that needs it, and if its gain is at least [`LEAST_GAIN`], or [`LEAST_GAIN_WHERE_NEEDED`]
//! for that product alone.

use std::collections::BTreeMap;
use std::fmt::Write;

use gpu::gemm::configs::{Layout, ThreadKernel, WgmmaKernel};
use gpu::gemm::number::Number;
use gpu::gemm::{ffma, mma, sm90, small};
use half::f16;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use simt::Kernel;

use super::algorithm::Plan;
use super::element::Multiply;
use super::golden::plans;
use crate::device::Device;

/// Products of each element type.
const PRODUCTS: usize = 12_000;
/// Least gain, as a fraction of the time of all products.
const LEAST_GAIN: f64 = 0.0005;
/// Least gain for the product that needs a row which has less than that.
const LEAST_GAIN_WHERE_NEEDED: f64 = 0.02;

/// A row of a table: its kernels, and the layout of each; none for any.
struct Row {
    kernels: Vec<&'static str>,
    layouts: Vec<Option<Layout>>,
    needed_by: [usize; 3],
}

/// What the set of products says of a row.
#[derive(Clone, Copy, Default)]
struct Coverage {
    first: usize,
    gain: f64,
}

/// The rows, by the name of their kernels without the layout.
#[derive(Default)]
struct Rows(BTreeMap<String, Row>);

impl Rows {
    fn add(&mut self, name: &'static str, layout: Option<Layout>, needed_by: [usize; 3]) {
        let row =
            self.0.entry(row_of(name)).or_insert_with(|| Row { kernels: Vec::new(), layouts: Vec::new(), needed_by });
        row.kernels.push(name);
        row.layouts.push(layout);
    }

    fn add_all<T: Number>(&mut self, kernels: &[ThreadKernel<T>]) {
        for kernel in kernels {
            self.add(kernel.kernel.info().name, kernel.layout, kernel.config.needed_by);
        }
    }

    fn add_wgmma<P>(&mut self, kernels: &[WgmmaKernel<Kernel<P>>]) {
        for kernel in kernels {
            self.add(kernel.kernel.info().name, Some(kernel.layout), kernel.config.needed_by);
        }
    }

    fn f16() -> Self {
        let mut rows = Self::default();
        rows.add_all(mma::F16);
        rows.add_all(small::F16);
        rows.add_wgmma(sm90::F16);
        rows
    }

    fn f32() -> Self {
        let mut rows = Self::default();
        rows.add_all(small::F32);
        for kernel in ffma::KERNELS {
            rows.add(kernel.kernel.info().name, Some(Layout::NN), kernel.config.needed_by);
        }
        for kernel in sm90::ffma::F32 {
            rows.add(kernel.kernel.info().name, Some(kernel.layout), kernel.config.needed_by);
        }
        rows
    }

    fn tf32() -> Self {
        let mut rows = Self::default();
        rows.add_all(mma::TF32);
        rows.add_wgmma(sm90::TF32);
        rows
    }

    fn bf16x6() -> Self {
        let mut rows = Self::default();
        rows.add_wgmma(sm90::BF16X6);
        rows
    }
}

/// The name of a kernel without its layout.
fn row_of(kernel: &str) -> String {
    ["_nn_", "_nt_", "_tn_", "_tt_"].iter().fold(kernel.to_owned(), |name, layout| name.replace(layout, "_"))
}

/// m from 8 to 6000, n and k from 64 to 8192, uniform in their logarithms; four in five extents are multiples of 8: the
/// distribution of `cargo xtask bench --algorithms`, which times what this estimates.
fn product(rng: &mut StdRng) -> ([usize; 3], Layout) {
    let mut extent = |from: f64, to: f64| {
        let extent = rng.random_range(from..to).exp2() as usize;
        if rng.random_bool(0.8) { extent / 8 * 8 } else { extent }
    };
    let extents = [extent(3.0, 12.55), extent(6.0, 13.0), extent(6.0, 13.0)];
    (extents, [Layout::NN, Layout::NT, Layout::TN, Layout::TT][rng.random_range(0..4)])
}

/// A GPU as the planner sees it.
#[derive(Clone, Copy)]
struct Gpu {
    name: &'static str,
    sm_count: &'static str,
    has_wgmma: bool,
}

const GPUS: [Gpu; 2] =
    [Gpu { name: "H200", sm_count: "132", has_wgmma: true }, Gpu { name: "A100", sm_count: "108", has_wgmma: false }];

impl Gpu {
    /// The plans for a contiguous product.
    fn plans<T: Multiply>(self, device: &Device, elements: &str, [m, n, k]: [usize; 3], layout: Layout) -> Vec<Plan> {
        let extents = format!("{m} {n} {k}");
        let [a, b] = layout.transposed().map(|transposed| if transposed { "T" } else { "N" });
        let inputs = [elements, &format!("{a}{b}N"), &extents, "1", "0 0 0", "0 0 0", "-", self.sm_count];
        let mut plans = plans::<T>(device, &inputs);
        plans.retain(|plan| self.has_wgmma || !plan.algorithm().kernel().name.starts_with("gemm_sm90_"));
        plans
    }

    /// What the set of products says of the rows.
    fn coverage<T: Multiply>(self, device: &Device, elements: &str) -> BTreeMap<String, Coverage> {
        let mut rng = StdRng::seed_from_u64(1);
        let mut coverage = BTreeMap::<_, Coverage>::new();
        for _ in 0..PRODUCTS {
            let (extents, layout) = product(&mut rng);
            let plans = self.plans::<T>(device, elements, extents, layout);
            let row = |plan: &Plan| row_of(plan.algorithm().kernel().name);
            let best = row(&plans[0]);
            let second = plans.iter().find(|plan| row(plan) != best).map_or(f64::INFINITY, Plan::cost);
            let covered = coverage.entry(best).or_default();
            covered.first += 1;
            covered.gain += (second / plans[0].cost() - 1.0) / PRODUCTS as f64;
        }
        coverage
    }

    /// For the product that a row is named for, and the layout in which that is most: how much longer it would take
    /// without the row, as a fraction; none where the row is first in no layout.
    fn gain_where_needed<T: Multiply>(self, device: &Device, elements: &str, row: &Row) -> Option<f64> {
        let gain = |&layout: &Option<Layout>| {
            let layout = layout.unwrap_or(Layout::NN);
            let plans = self.plans::<T>(device, elements, row.needed_by, layout);
            let is_of_row = |plan: &Plan| row.kernels.contains(&plan.algorithm().kernel().name);
            let second = plans.iter().find(|plan| !is_of_row(plan)).map_or(f64::INFINITY, Plan::cost);
            is_of_row(&plans[0]).then_some(second / plans[0].cost() - 1.0)
        };
        row.layouts.iter().filter_map(gain).max_by(f64::total_cmp)
    }
}

/// Prints a line for each row; what is wrong.
fn check<T: Multiply>(elements: &str, rows: &Rows) -> Vec<String> {
    let device = Device::simulator();
    let coverage = GPUS.map(|gpu| gpu.coverage::<T>(&device, elements));
    let mut wrong = Vec::new();
    for (name, row) in &rows.0 {
        let [m, n, k] = row.needed_by;
        let (mut is_covered, mut is_needed) = (false, false);
        let mut line = format!("{name:24} {:7}", row.kernels.len());
        for (gpu, coverage) in GPUS.iter().zip(&coverage) {
            let Coverage { first, gain } = coverage.get(name).copied().unwrap_or_default();
            let where_needed = gpu.gain_where_needed::<T>(&device, elements, row);
            is_covered |= first > 0;
            is_needed |= where_needed.is_some_and(|there| gain >= LEAST_GAIN || there >= LEAST_GAIN_WHERE_NEEDED);
            let there = where_needed.map_or("-".to_owned(), |there| format!("{:.1}", 100.0 * there));
            let share = first as f64 / PRODUCTS as f64;
            write!(line, " {:9.2} {:9.3} {there:>9}", 100.0 * share, 100.0 * gain).unwrap();
        }
        println!("{line}  {m} x {n} x {k}");
        if !is_covered {
            wrong.push(format!("{name}: it is the first choice for none of {PRODUCTS} products"));
        }
        if !is_needed {
            wrong.push(format!("{name}: it gains too little, also for the product that needs it, {m} x {n} x {k}"));
        }
    }
    wrong
}

#[test]
fn every_configuration_is_needed() {
    println!("{:32} {:^29} {:^29}", "in %", GPUS[0].name, GPUS[1].name);
    let columns = ["first", "gain", "gain there"];
    println!("{:24} kernels {} {}  there", "row", columns.join(" "), columns.join(" "));
    let wrong = [
        check::<f16>("f16", &Rows::f16()),
        check::<f32>("f32", &Rows::f32()),
        check::<f32>("tf32", &Rows::tf32()),
        check::<f32>("bf16x6", &Rows::bf16x6()),
    ]
    .concat();
    assert!(wrong.is_empty(), "remove these rows, or name a product that needs them:\n{}", wrong.join("\n"));
}

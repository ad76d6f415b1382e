//! How well `Device::gemm` chooses an algorithm: on random GEMMs, the algorithms that its model ranks first are timed
//! in one round with each other and with cuBLAS, called one by one from the host unless another mode is asked for.
//!
//! A time is the least of its samples, because small GEMMs take what the host takes, whatever the algorithm, and a host
//! whose processor other programs use takes 4 or 6 µs for the same call by turns, for seconds. The least of a dozen
//! times is too small by chance. So those that come out ahead of the chosen one are timed again beside it, in more
//! rounds: the median of how much longer the chosen one takes in a round says by how much they are ahead.

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::calls;
use super::case::{Case, Dtype, Shape, Work};
use super::data::Period;
use super::gemm;
use super::implementations::Context;
use super::interleave::{Mode, Plan, interleave, interleave_some};
use super::on_gpu::{Gpu, Variant, slots};
use super::statistics::median;

/// Algorithms that are timed for a GEMM.
const ALGORITHMS: usize = 12;
/// Samples of each of them.
const SAMPLES: usize = 7;
/// Rounds in which the chosen one is timed again, beside those that were ahead of it by more than [`AHEAD`].
const ROUNDS_AGAIN: usize = 15;
/// Work before sustained samples.
const SUSTAINED: Duration = Duration::from_millis(500);
/// A factor of time.
const AHEAD: f64 = 1.02;
/// The types of each GEMM.
const TYPES: [Dtype; 3] = [Dtype::F32, Dtype::Tf32, Dtype::Bf16];

/// Random GEMMs of each of the types: m from 8 to 6000, n and k from 64 to 8192, uniform in their logarithms; four in
/// five extents are multiples of 8.
pub(super) fn cases(count: u32, seed: u64) -> Vec<Case> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut extent = |from: f64, to: f64| {
        let extent = rng.random_range(from..to).exp2() as usize;
        if rng.random_bool(0.8) { extent / 8 * 8 } else { extent }
    };
    let shapes: Vec<[usize; 3]> =
        (0..count).map(|_| [extent(3.0, 12.55), extent(6.0, 13.0), extent(6.0, 13.0)]).collect();
    let with_layout = shapes.into_iter().map(|mnk| (mnk, [rng.random(), rng.random()]));
    with_layout
        .flat_map(|(mnk, transposed)| {
            TYPES.map(|dtype| Case {
                work: Work::Gemm,
                dtype,
                shape: Shape::Gemm { mnk, transposed, batch: 1 },
                quick: false,
            })
        })
        .collect()
}

/// The times of one GEMM in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Of each algorithm, the chosen one first.
    algorithms: Vec<(String, f64)>,
    /// Of cuBLAS, where it is installed.
    cublas: Option<f64>,
}

impl Outcome {
    /// The fastest algorithm.
    fn best(&self) -> Option<&(String, f64)> {
        self.algorithms.iter().min_by(|left, right| left.1.total_cmp(&right.1))
    }

    /// Time of the first algorithm whose kernel is of none of these rows, over that of the chosen one.
    fn without(&self, rows: &[String]) -> f64 {
        let kernel = |name: &str| name.split(',').next().unwrap_or_default().to_owned();
        let is_left = |name: &str| !rows.iter().any(|row| kernel(name).ends_with(&format!("_{row}")));
        let left = self.algorithms.iter().find(|(name, _)| is_left(name));
        self.algorithms.first().zip(left).map_or(f64::NAN, |(chosen, left)| left.1 / chosen.1)
    }

    /// Every algorithm with its time.
    pub(super) fn list(&self) -> String {
        self.algorithms.iter().map(|(name, us)| format!("{us:.2} {name}")).collect::<Vec<_>>().join("; ")
    }

    /// Time of the chosen algorithm over that of the fastest.
    fn behind(&self) -> f64 {
        self.algorithms.first().zip(self.best()).map_or(f64::NAN, |(chosen, best)| chosen.1 / best.1)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some((chosen, us)), Some((best, least))) = (self.algorithms.first(), self.best()) else {
            return f.write_str("no algorithm");
        };
        write!(f, "{us:.2} µs by {chosen}")?;
        if chosen != best {
            write!(f, "; {least:.2} by {best}")?;
        }
        self.cublas.map_or(Ok(()), |cublas| write!(f, "; cuBLAS {cublas:.2} ({:.3}x)", cublas / us))
    }
}

/// Times one GEMM: the algorithms that the model ranks first, or the first of each kernel.
///
/// # Errors
/// A call fails; there is no memory.
pub(super) fn measure(
    context: &Context<'_>,
    case: &Case,
    period: &Period,
    mode: Mode,
    of_kernels: bool,
) -> Result<Outcome> {
    let Some(driver) = &context.driver else { anyhow::bail!("time means nothing on the simulator") };
    let mut slots = slots(&context.device, case, period)?;
    let cheapest = if of_kernels { gemm::cheapest_of_kernels } else { gemm::cheapest };
    let calls = cheapest(context, case, &mut slots[0], ALGORITHMS)?;
    let names: Vec<String> = calls.iter().map(|call| call.note.clone().unwrap_or_default()).collect();
    let mut variants: Vec<Variant<'_>> = calls.into_iter().map(|call| Variant::new("algorithm", call)).collect();
    variants.extend(calls::cublas(context, case, &mut slots[0])?.map(|call| Variant::new("cublas", call)));
    let mut gpu = Gpu::new(driver, variants, slots, case.bytes(), None)?;
    let plan = |samples| Plan { mode, samples, sustained: SUSTAINED };
    let times = interleave(&plan(SAMPLES), gpu.variants().len(), &mut gpu)?;
    let mut times: Vec<f64> = times.iter().map(|samples| least(samples)).collect();
    let again = ahead(&times[..names.len()]);
    if again.len() > 1 {
        let samples = interleave_some(&plan(ROUNDS_AGAIN), &again, &mut gpu)?;
        times[0] = times[0].min(least(&samples[0]));
        for (variant, of) in again.into_iter().zip(&samples).skip(1) {
            times[variant] = times[0] / ratio(&samples[0], of);
        }
    }
    let mut times = times.into_iter();
    let algorithms = names.into_iter().zip(&mut times).collect();
    Ok(Outcome { algorithms, cublas: times.next() })
}

/// The least of these times.
fn least(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

/// How much longer the first of two takes: the median of all rounds.
fn ratio(first: &[f64], second: &[f64]) -> f64 {
    median(&first.iter().zip(second).map(|(first, second)| first / second).collect::<Vec<_>>())
}

/// Which algorithms to time again: the first, which is the chosen one, and those ahead of it.
fn ahead(times: &[f64]) -> Vec<usize> {
    let Some(chosen) = times.first() else { return Vec::new() };
    std::iter::once(0).chain((1..times.len()).filter(|&other| times[other] * AHEAD < *chosen)).collect()
}

/// The summary of all outcomes.
pub(super) fn summary(outcomes: &[Outcome]) -> String {
    let behind: Vec<f64> = outcomes.iter().map(Outcome::behind).filter(|behind| behind.is_finite()).collect();
    let beyond = |share: f64| behind.iter().filter(|&&behind| behind > 1.0 + share).count();
    let mean = |of: &[f64]| (of.iter().map(|x| x.ln()).sum::<f64>() / of.len() as f64).exp();
    let beside: Vec<f64> =
        outcomes.iter().filter_map(|outcome| Some(outcome.cublas? / outcome.algorithms.first()?.1)).collect();
    let cublas = match beside.as_slice() {
        [] => String::new(),
        beside => format!("; cuBLAS takes {:.3} of the chosen one's", mean(beside)),
    };
    format!(
        "{} GEMMs: the chosen algorithm takes {:.3} of the best one's time (geometric mean), more than 1.05 for {}, \
         more than 1.15 for {}{cublas}",
        behind.len(),
        mean(&behind),
        beyond(0.05),
        beyond(0.15)
    )
}

/// How much longer the GEMMs take without the kernels of these rows.
pub(super) fn summary_without(outcomes: &[Outcome], rows: &[String]) -> String {
    let ratios: Vec<f64> = outcomes.iter().map(|outcome| outcome.without(rows)).filter(|x| x.is_finite()).collect();
    let mean = (ratios.iter().map(|x| x.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let changed = outcomes.iter().filter(|outcome| outcome.without(rows).to_bits() != 1.0_f64.to_bits()).count();
    let most = ratios.iter().copied().fold(f64::NAN, f64::max);
    format!(
        "without {}: {mean:.4} of the time (geometric mean), at most {most:.3}; another choice for {changed} of {}",
        rows.join(", "),
        outcomes.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_random_and_the_same_for_a_seed() {
        let cases = cases(50, 3);
        assert_eq!(cases.len(), 150);
        let shapes = |cases: &[Case]| cases.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shapes(&cases), shapes(&super::cases(50, 3)));
        assert_ne!(shapes(&cases), shapes(&super::cases(50, 4)));
        for case in &cases {
            let Shape::Gemm { mnk: [m, n, k], batch: 1, .. } = case.shape else { panic!("{case}") };
            assert!((8..6000).contains(&m) && (64..8192).contains(&n) && (64..8192).contains(&k), "{case}");
        }
    }

    #[test]
    fn those_ahead_are_timed_again() {
        assert_eq!(ahead(&[]), [0; 0]);
        assert_eq!(ahead(&[10.0, 9.9, 12.0]), [0]);
        assert_eq!(ahead(&[10.0, 9.0, 12.0, 8.0]), [0, 1, 3]);
    }

    /// The host is slower in three of five rounds, and in the fourth of all it changes between the two.
    #[test]
    fn a_ratio_is_that_of_most_rounds() {
        assert!((ratio(&[4.4, 4.4, 6.6, 6.6, 6.6], &[4.0, 4.0, 6.0, 4.0, 6.0]) - 1.1).abs() < 1e-9);
        assert!(ratio(&[], &[]).is_nan());
    }

    #[test]
    fn the_next_kernel_takes_the_place_of_one_that_is_left_out() {
        let outcome = |names: [&str; 3]| Outcome {
            algorithms: names.into_iter().map(ToOwned::to_owned).zip([2.0, 3.0, 1.0]).collect(),
            cublas: None,
        };
        let names = ["gemm_sm90_f16_nn_2x64x128, B packed", "gemm_sm90_f16_nn_64x128", "gemm_mma_f16_nn_64x64"];
        let outcomes = [outcome(names), outcome([names[2], names[1], names[0]])];
        let without = |rows: &[&str]| {
            let rows: Vec<String> = rows.iter().map(|&row| row.to_owned()).collect();
            (outcomes[0].without(&rows), outcomes[1].without(&rows), summary_without(&outcomes, &rows))
        };
        assert_eq!(without(&["2x64x128"]).0, 1.5);
        assert_eq!(without(&["64x128", "2x64x128"]).0, 0.5);
        assert_eq!(without(&["64x128"]).0, 1.0);
        assert_eq!(without(&["64x64"]).1, 1.5);
        assert_eq!(
            without(&["2x64x128"]).2,
            "without 2x64x128: 1.2247 of the time (geometric mean), at most 1.500; another choice for 1 of 2"
        );
    }

    #[test]
    fn outcomes_are_summed_up() {
        let outcome =
            |chosen, other, cublas| Outcome { algorithms: vec![("x".into(), chosen), ("y".into(), other)], cublas };
        let outcomes = [outcome(2.0, 3.0, Some(4.0)), outcome(8.0, 2.0, Some(4.0))];
        assert_eq!(outcomes[0].to_string(), "2.00 µs by x; cuBLAS 4.00 (2.000x)");
        assert_eq!(outcomes[1].to_string(), "8.00 µs by x; 2.00 by y; cuBLAS 4.00 (0.500x)");
        assert_eq!(
            summary(&outcomes),
            "2 GEMMs: the chosen algorithm takes 2.000 of the best one's time (geometric mean), more than 1.05 for 1, \
             more than 1.15 for 1; cuBLAS takes 1.000 of the chosen one's"
        );
    }
}

//! Running a case by some or all algorithms.

use warpwright::gemm::{Algorithm, Gemm, Plan};
use warpwright::{Buffer, Device, Result as WarpwrightResult};

use super::case::{Bias, Case, Data};
use super::framed::Framed;
use super::sample::{Kind, Sample, Wide};

/// Which algorithms.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Algorithms {
    /// The one that `into` chooses without a workspace, and another, chosen by this number.
    Two(u64),
    /// All, but only one split-K of each kernel.
    All,
    /// Those of `All` whose tile has at most 32 rows or at most 32 columns, and the choice of `into`.
    Narrow,
}

/// The buffers of a case on a device.
pub(crate) struct OnDevice<K: Kind> {
    case: Case,
    a: (Framed<K::Operand>, Buffer<K::Operand>),
    b: (Framed<K::Operand>, Buffer<K::Operand>),
    bias: Buffer<Wide<K>>,
    pub(crate) c: Framed<K::Result>,
    device: Device,
}

impl<K: Kind> OnDevice<K> {
    pub(crate) fn new(device: &Device, case: &Case, data: &Data) -> WarpwrightResult<Self> {
        let [a, b] = [(&data.a, 0), (&data.b, 1)].map(|(values, operand)| {
            let transposed = case.ops[operand] == warpwright::gemm::Op::T;
            let values = if transposed { values.clone().permuted_axes([0, 2, 1]) } else { values.clone() };
            Framed::holding(&values, case.placements[operand])
        });
        let (on_a, on_b) = (device.upload(a.image())?, device.upload(b.image())?);
        let bias: Vec<_> = data.bias.iter().map(|&x| Wide::<K>::of(x)).collect();
        let c = if case.beta == 0.0 {
            Framed::blank([case.batch, case.m, case.n], case.placements[2])
        } else {
            Framed::holding(&data.c, case.placements[2])
        };
        let bias = device.upload(&bias)?;
        Ok(Self { case: case.clone(), a: (a, on_a), b: (b, on_b), bias, c, device: device.clone() })
    }

    /// The call, without algorithm and workspace.
    pub(crate) fn gemm(&self) -> WarpwrightResult<Gemm<'_, K::Operand>> {
        let Case { batch, broadcast, ops, alpha, beta, bias, activation, .. } = self.case;
        let repeat = |broadcast: bool| (broadcast && batch > 1).then_some(batch);
        let (a, b) = (self.a.0.view(&self.a.1, repeat(broadcast[0]))?, self.b.0.view(&self.b.1, repeat(broadcast[1]))?);
        let gemm = self.device.gemm(a, b).op(ops[0], ops[1]).alpha(Wide::<K>::of(alpha)).beta(Wide::<K>::of(beta));
        let gemm = match bias {
            Bias::None => gemm,
            Bias::PerColumn => gemm.bias(&self.bias),
            Bias::PerRow => gemm.bias_per_row(&self.bias),
        };
        Ok(K::with_options(gemm, activation))
    }

    /// The plans of these algorithms; `None` is the choice of `into`.
    pub(crate) fn plans(&self, algorithms: Algorithms) -> WarpwrightResult<Vec<Option<Plan>>> {
        let buffer = self.device.upload(self.c.image())?;
        let mut plans = self.gemm()?.plans(self.c.view(&buffer, None)?)?;
        if K::LEAST_K > 0 {
            // Kernels with full arithmetic have properties of their own.
            plans.retain(|plan| plan.algorithm().kernel().name.contains(K::NAME));
            if plans.is_empty() {
                return Ok(vec![None]);
            }
        }
        if matches!(algorithms, Algorithms::Narrow) {
            plans.retain(|plan| plan.tile().into_iter().any(|extent| extent <= 32));
        }
        Ok(match algorithms {
            Algorithms::All | Algorithms::Narrow => {
                let all: Vec<Algorithm> = plans.iter().map(Plan::algorithm).collect();
                // Cases differ in which split-K of a kernel they run.
                let is_chosen = |algorithm: Algorithm| {
                    let of_kernel = |other: &Algorithm| {
                        other.parts() > 1
                            && other.kernel() == algorithm.kernel()
                            && other.packed() == algorithm.packed()
                    };
                    let mut splits: Vec<u32> =
                        all.iter().copied().filter(of_kernel).map(|algorithm| algorithm.parts()).collect();
                    splits.sort_unstable();
                    algorithm.parts() == 1 || splits[self.case.data as usize % splits.len()] == algorithm.parts()
                };
                plans.into_iter().filter(|plan| is_chosen(plan.algorithm())).map(Some).chain([None]).collect()
            }
            Algorithms::Two(number) => vec![None, Some(plans[number as usize % plans.len()])],
        })
    }

    /// C's whole buffer after the product.
    pub(crate) fn run(&self, plan: Option<Plan>) -> WarpwrightResult<Vec<K::Result>> {
        let mut buffer = self.device.upload(self.c.image())?;
        let Some(plan) = plan else {
            self.gemm()?.into(self.c.view_mut(&mut buffer)?)?;
            return buffer.download();
        };
        // The workspace has any alignment, and canaries around it.
        let (before, len) = (self.case.schedule as usize % 37, plan.workspace_len());
        let canaries: Vec<f32> = (0..before + len + 5).map(f32::canary).collect();
        let mut room = self.device.upload(&canaries)?;
        let gemm = self.gemm()?.algorithm(plan.algorithm()).workspace(room.slice_mut(before..before + len)?);
        gemm.into(self.c.view_mut(&mut buffer)?)?;
        let room = room.download()?;
        let outside = (0..before).chain(before + len..canaries.len());
        let changed: Vec<_> = outside.filter(|&at| room[at].to_bits() != canaries[at].to_bits()).collect();
        assert!(
            changed.is_empty(),
            "{}: {changed:?} changed, outside the {len} elements of workspace from {before} on",
            plan.algorithm()
        );
        buffer.download()
    }

    /// The plan for this algorithm, listed or not.
    pub(crate) fn plan(&self, algorithm: Algorithm) -> WarpwrightResult<Plan> {
        let buffer = self.device.upload(self.c.image())?;
        self.gemm()?.plan(algorithm, self.c.view(&buffer, None)?)
    }

    /// Checks that the inputs did not change.
    pub(crate) fn inputs_unchanged(&self) -> Result<(), String> {
        let download = |error: warpwright::Error| error.to_string();
        self.a.0.unchanged(&self.a.1.download().map_err(download)?)?;
        self.b.0.unchanged(&self.b.1.download().map_err(download)?)
    }
}

/// Runs a case by these algorithms, and has `judge` check the values of each C.
pub(crate) fn verify<K: Kind>(
    device: &Device,
    case: &Case,
    data: &Data,
    algorithms: Algorithms,
    judge: impl Fn(&[f64]) -> Result<f64, String>,
) -> Result<f64, String> {
    let failed = |error: warpwright::Error| format!("{}: {error}", device.name());
    let on = OnDevice::<K>::new(device, case, data).map_err(failed)?;
    let mut worst = 0.0_f64;
    for plan in on.plans(algorithms).map_err(failed)? {
        let name = plan.map_or("into".to_owned(), |plan| plan.algorithm().to_string());
        let got = on.run(plan).map_err(|error| format!("{name}: {error}"))?;
        let ratio = on.c.values(&got).and_then(|values| judge(&values)).map_err(|error| format!("{name}: {error}"))?;
        worst = worst.max(ratio);
    }
    on.inputs_unchanged()?;
    Ok(worst)
}

/// Checks for equal values; any NaN equals any NaN, and −0 equals 0.
pub(crate) fn equal(expected: &[f64], got: &[f64]) -> Result<f64, String> {
    let differ = |(x, y): (&f64, &f64)| x != y && !(x.is_nan() && y.is_nan());
    match expected.iter().zip(got).position(differ) {
        _ if expected.len() != got.len() => Err(format!("{} elements, not {}", got.len(), expected.len())),
        None => Ok(0.0),
        Some(at) => Err(format!("element {at} is {}, not {}", got[at], expected[at])),
    }
}

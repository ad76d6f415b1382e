//! Cases: shapes, placements in memory, and epilogues.

use ndarray::{Array3, s};
use proptest::prelude::*;
use proptest::sample::select;
use rand::Rng;
use warpwright::gemm::{Activation, Op};

use super::framed::Placement;
use super::sample::{Kind, Sample, Wide, activated};
use crate::support::{shapes, values};

/// Which elements of C share one element of the bias.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bias {
    None,
    PerColumn,
    PerRow,
}

/// A problem without its data.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) batch: usize,
    /// Whether A, and B, is one matrix for the whole batch.
    pub(crate) broadcast: [bool; 2],
    pub(crate) ops: [Op; 2],
    /// Of A, B and C.
    pub(crate) placements: [Placement; 3],
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) bias: Bias,
    pub(crate) activation: Activation,
    pub(crate) data: u64,
    pub(crate) schedule: u64,
}

/// The data of a case: op(A), op(B), the old C, and the bias.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) a: Array3<f64>,
    pub(crate) b: Array3<f64>,
    pub(crate) c: Array3<f64>,
    pub(crate) bias: Vec<f64>,
}

fn placement() -> impl Strategy<Value = Placement> {
    (shapes::place(), any::<[bool; 3]>()).prop_map(|(placement, [column_major, single, aligned])| Placement {
        offset: placement.offset,
        gap: placement.gap,
        after: placement.after,
        column_major,
        single,
        aligned,
    })
}

/// Any case of a kind.
pub(crate) fn any_case<K: Kind>() -> impl Strategy<Value = Case> {
    let op = || select(&[Op::N, Op::T][..]);
    let epilogue = (
        select(&[1.0, 1.0, -1.0, 2.0, 0.5, 0.0][..]),
        select(&[0.0, 0.0, 1.0, -1.0, 0.5][..]),
        select(&[Bias::None, Bias::PerColumn, Bias::PerRow][..]),
        select(K::ACTIVATIONS),
    );
    let batch = (select(&[1_usize, 1, 1, 2, 3][..]), any::<[bool; 2]>());
    (shapes::three_extents(), batch, [op(), op()], [placement(), placement(), placement()], epilogue, any::<[u64; 2]>())
        .prop_map(
            |([m, k, n], (batch, broadcast), ops, placements, (alpha, beta, bias, activation), [data, schedule])| {
                let k = k + K::LEAST_K;
                Case { m, k, n, batch, broadcast, ops, placements, alpha, beta, bias, activation, data, schedule }
                    .normalized()
            },
        )
}

/// A product of row-major matrices, none of them aligned; k is [`Kind::LEAST_K`] longer.
pub(crate) fn sample<K: Kind>(m: usize, k: usize, n: usize) -> Case {
    let placements = [(3, 1, 2), (0, 5, 1), (1, 2, 4)].map(|(offset, gap, after)| Placement {
        offset,
        gap,
        after,
        ..Placement::default()
    });
    Case {
        m,
        k: k + K::LEAST_K,
        n,
        batch: 1,
        broadcast: [false; 2],
        ops: [Op::N; 2],
        placements,
        alpha: 1.0,
        beta: 0.0,
        bias: Bias::None,
        activation: Activation::None,
        data: 5,
        schedule: 6,
    }
}

impl Case {
    /// The same, with everything at multiples of 16 elements, so that TMA can load it.
    pub(crate) fn aligned(self) -> Self {
        Self { placements: self.placements.map(|placement| Placement { aligned: true, ..placement }), ..self }
    }

    /// Only C of a batch of one, and A and B with one matrix for all, may omit the batch axis.
    fn normalized(mut self) -> Self {
        let alone = [self.broadcast[0] || self.batch == 1, self.broadcast[1] || self.batch == 1, self.batch == 1];
        for (placement, alone) in self.placements.iter_mut().zip(alone) {
            placement.single &= alone;
        }
        if self.placements[2].single {
            self.batch = 1;
        }
        self
    }

    /// Data drawn by `draw`, rounded to the element types.
    pub(crate) fn data<K: Kind>(&self, mut draw: impl FnMut(&mut rand::rngs::StdRng) -> f64) -> Data {
        let mut rng = values::rng(self.data);
        let [of_a, of_b] = self.broadcast.map(|broadcast| if broadcast { 1 } else { self.batch });
        let mut fill = |shape, round: fn(f64) -> f64| Array3::from_shape_simple_fn(shape, || round(draw(&mut rng)));
        let wide: fn(f64) -> f64 = |x| Wide::<K>::of(x).value();
        let bias = match self.bias {
            Bias::None => 0,
            Bias::PerColumn => self.n,
            Bias::PerRow => self.m,
        };
        let mut data = Data {
            a: fill((of_a, self.m, self.k), |x| K::Operand::of(x).value()),
            b: fill((of_b, self.k, self.n), |x| K::Operand::of(x).value()),
            c: fill((self.batch, self.m, self.n), |x| K::Result::of(x).value()),
            bias: fill((1, 1, bias), wide).into_iter().collect(),
        };
        // NaNs where nothing may be read.
        if self.alpha == 0.0 {
            data.a.fill(f64::NAN);
            data.b.fill(f64::NAN);
        }
        if self.beta == 0.0 {
            data.c.fill(f64::NAN);
        }
        data
    }

    /// Small integers, whose sums are exact in any order.
    pub(crate) fn integers<K: Kind>(&self) -> Data {
        self.data::<K>(|rng| f64::from(rng.random_range(-8_i32..=8)))
    }

    /// The bias of an element of C.
    pub(crate) fn bias_at(&self, data: &Data, row: usize, col: usize) -> f64 {
        match self.bias {
            Bias::None => 0.0,
            Bias::PerColumn => data.bias[col],
            Bias::PerRow => data.bias[row],
        }
    }

    /// The definition, by loops in `f64`: the result of every algorithm where all sums are exact.
    pub(crate) fn expected<K: Kind>(&self, data: &Data) -> Vec<f64> {
        let mut expected = Vec::new();
        let (a, b) = (data.a.mapv(K::rounded), data.b.mapv(K::rounded));
        for (matrix, row, col) in ndarray::indices((self.batch, self.m, self.n)) {
            let of = |x: &Array3<f64>| matrix % x.dim().0;
            let mut sum = 0.0;
            if self.alpha != 0.0 && self.k > 0 {
                let (row, col) = (a.slice(s![of(&a), row, ..]), b.slice(s![of(&b), .., col]));
                sum = self.alpha * row.iter().zip(col).map(|(a, b)| a * b).sum::<f64>();
            }
            if self.beta != 0.0 {
                sum += self.beta * data.c[[of(&data.c), row, col]];
            }
            sum += self.bias_at(data, row, col);
            expected.push(K::Result::of(activated(sum, self.activation)).value());
        }
        expected
    }
}

//! Cases: shapes, places, factors and endings.

use ndarray::Array3;
use proptest::prelude::*;
use proptest::sample::select;
use rand::Rng;
use warpwright::gemm::{Activation, Op};

use super::held::Place;
use super::sample::{Kind, Sample, Wide};
use crate::support::{shapes, values};

/// What has a number of the bias.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bias {
    None,
    PerColumn,
    PerRow,
}

/// Everything about a product but its data.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) batch: usize,
    /// A, or B, is one matrix for the whole batch.
    pub(crate) shared: [bool; 2],
    pub(crate) ops: [Op; 2],
    /// Of A, B and C.
    pub(crate) places: [Place; 3],
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) bias: Bias,
    pub(crate) activation: Activation,
    pub(crate) data: u64,
    pub(crate) schedule: u64,
}

/// The numbers of a case: op(A), op(B), the old C, and the bias.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) a: Array3<f64>,
    pub(crate) b: Array3<f64>,
    pub(crate) c: Array3<f64>,
    pub(crate) bias: Vec<f64>,
}

fn place() -> impl Strategy<Value = Place> {
    (shapes::place(), any::<[bool; 3]>()).prop_map(|(place, [by_columns, flat, aligned])| Place {
        offset: place.offset,
        gap: place.gap,
        after: place.after,
        by_columns,
        flat,
        aligned,
    })
}

/// Any case of a kind.
pub(crate) fn any_case<K: Kind>() -> impl Strategy<Value = Case> {
    let op = || select(&[Op::N, Op::T][..]);
    let ending = (
        select(&[1.0, 1.0, -1.0, 2.0, 0.5, 0.0][..]),
        select(&[0.0, 0.0, 1.0, -1.0, 0.5][..]),
        select(&[Bias::None, Bias::PerColumn, Bias::PerRow][..]),
        select(K::ACTIVATIONS),
    );
    let batch = (select(&[1_usize, 1, 1, 2, 3][..]), any::<[bool; 2]>());
    (shapes::three_extents(), batch, [op(), op()], [place(), place(), place()], ending, any::<[u64; 2]>()).prop_map(
        |([m, k, n], (batch, shared), ops, places, (alpha, beta, bias, activation), [data, schedule])| {
            Case { m, k, n, batch, shared, ops, places, alpha, beta, bias, activation, data, schedule }.settled()
        },
    )
}

/// A plain product, row by row, where nothing is aligned.
pub(crate) fn sample(m: usize, k: usize, n: usize) -> Case {
    let places =
        [(3, 1, 2), (0, 5, 1), (1, 2, 4)].map(|(offset, gap, after)| Place { offset, gap, after, ..Place::default() });
    Case {
        m,
        k,
        n,
        batch: 1,
        shared: [false; 2],
        ops: [Op::N; 2],
        places,
        alpha: 1.0,
        beta: 0.0,
        bias: Bias::None,
        activation: Activation::None,
        data: 5,
        schedule: 6,
    }
}

impl Case {
    /// The same, with everything at multiples of 16 elements: what the copy engine can fetch.
    pub(crate) fn aligned(self) -> Self {
        Self { places: self.places.map(|place| Place { aligned: true, ..place }), ..self }
    }

    /// An axis for the batch may be left out of C only where there is one matrix, of A and B where there is one for all.
    fn settled(mut self) -> Self {
        let alone = [self.shared[0] || self.batch == 1, self.shared[1] || self.batch == 1, self.batch == 1];
        for (place, alone) in self.places.iter_mut().zip(alone) {
            place.flat &= alone;
        }
        if self.places[2].flat {
            // Then there is no axis for one matrix in a batch of one to agree with.
            self.batch = 1;
        }
        self
    }

    /// Numbers drawn by `draw`, rounded to what they are to be.
    pub(crate) fn data<K: Kind>(&self, mut draw: impl FnMut(&mut rand::rngs::StdRng) -> f64) -> Data {
        let mut rng = values::rng(self.data);
        let [of_a, of_b] = self.shared.map(|shared| if shared { 1 } else { self.batch });
        let mut fill = |shape, round: fn(f64) -> f64| Array3::from_shape_simple_fn(shape, || round(draw(&mut rng)));
        let wide: fn(f64) -> f64 = |x| Wide::<K>::of(x).value();
        let bias = match self.bias {
            Bias::None => 0,
            Bias::PerColumn => self.n,
            Bias::PerRow => self.m,
        };
        let mut data = Data {
            a: fill((of_a, self.m, self.k), |x| K::Factor::of(x).value()),
            b: fill((of_b, self.k, self.n), |x| K::Factor::of(x).value()),
            c: fill((self.batch, self.m, self.n), |x| K::Result::of(x).value()),
            bias: fill((1, 1, bias), wide).into_iter().collect(),
        };
        // What must not be read.
        if self.alpha == 0.0 {
            data.a.fill(f64::NAN);
            data.b.fill(f64::NAN);
        }
        if self.beta == 0.0 {
            data.c.fill(f64::NAN);
        }
        data
    }

    /// Small integers, with which every order of additions is exact.
    pub(crate) fn integers<K: Kind>(&self) -> Data {
        self.data::<K>(|rng| f64::from(rng.random_range(-8_i32..=8)))
    }

    /// The number of the bias for an element of C.
    pub(crate) fn bias_at(&self, data: &Data, row: usize, col: usize) -> f64 {
        match self.bias {
            Bias::None => 0.0,
            Bias::PerColumn => data.bias[col],
            Bias::PerRow => data.bias[row],
        }
    }

    /// The definition, by plain loops in `f64`: what every way must give where all sums are exact.
    pub(crate) fn expected<K: Kind>(&self, data: &Data) -> Vec<f64> {
        let mut expected = Vec::new();
        for (matrix, row, col) in ndarray::indices((self.batch, self.m, self.n)) {
            let of = |x: &Array3<f64>, index: [usize; 2]| x[[matrix % x.dim().0, index[0], index[1]]];
            let mut sum = 0.0;
            if self.alpha != 0.0 && self.k > 0 {
                let products = (0..self.k).map(|k| K::factor(of(&data.a, [row, k])) * K::factor(of(&data.b, [k, col])));
                sum = self.alpha * products.sum::<f64>();
            }
            if self.beta != 0.0 {
                sum += self.beta * of(&data.c, [row, col]);
            }
            sum += self.bias_at(data, row, col);
            expected.push(K::Result::of(K::activated(sum, self.activation)).value());
        }
        expected
    }
}

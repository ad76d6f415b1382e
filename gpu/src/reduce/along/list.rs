//! The table of reductions and element types, for all three families.

/// Calls a macro with the table. A row has: documentation; the kernels' names for rows, columns and segments; their
/// blocks per SM; the element type, how many elements a load has, and the type of the result; the reduction. Indices
/// are relative to the line or segment.
macro_rules! reductions {
    ($make:ident) => {
        $make! {
            /// Σ x, or Σ x / d: see [`totals`](crate::reduce::along::totals).
            [rows_total_f32 columns_total_f32 segments_total_f32] [5 4 4] (f32 by 4 => f32) totals::Total<f32>;
            /// Σ x, or Σ x / d.
            [rows_total_f16 columns_total_f16 segments_total_f16] [4 3 4] (f16 by 8 => f32) totals::Total<f16>;
            /// Σ x, or Σ x / d.
            [rows_total_bf16 columns_total_bf16 segments_total_bf16] [4 3 4] (bf16 by 8 => f32) totals::Total<bf16>;
            /// Σ x, or Σ x / d.
            [rows_total_f64 columns_total_f64 segments_total_f64] [4 4 3] (f64 by 2 => f64) totals::TotalOfF64;
            /// The bits of Σ x, or of Σ x / d.
            [rows_total_i32 columns_total_i32 segments_total_i32]
                [5 4 4] (i32 by 4 => u64) totals::TotalOfIntegers<i32>;
            /// The bits of Σ x, or of Σ x / d.
            [rows_total_u32 columns_total_u32 segments_total_u32]
                [5 4 4] (u32 by 4 => u64) totals::TotalOfIntegers<u32>;
            /// The bits of Σ x modulo 2⁶⁴; the same for `i64`.
            [rows_total_u64 columns_total_u64 segments_total_u64]
                [5 4 4] (u64 by 2 => u64) totals::TotalOfIntegers<u64>;
            /// Σ x, or Σ x / d, without NaNs.
            [rows_nan_total_f32 columns_nan_total_f32 segments_nan_total_f32]
                [5 4 4] (f32 by 4 => f32) totals::Total<f32, Ignore>;
            /// Σ x, or Σ x / d, without NaNs.
            [rows_nan_total_f16 columns_nan_total_f16 segments_nan_total_f16]
                [4 3 4] (f16 by 8 => f32) totals::Total<f16, Ignore>;
            /// Σ x, or Σ x / d, without NaNs.
            [rows_nan_total_bf16 columns_nan_total_bf16 segments_nan_total_bf16]
                [4 3 4] (bf16 by 8 => f32) totals::Total<bf16, Ignore>;
            /// Σ x, or Σ x / d, without NaNs.
            [rows_nan_total_f64 columns_nan_total_f64 segments_nan_total_f64]
                [4 4 3] (f64 by 2 => f64) totals::TotalOfF64<Ignore>;
            /// Σ x², or its root: see [`totals`](crate::reduce::along::totals).
            [rows_squares_f32 columns_squares_f32 segments_squares_f32]
                [5 4 3] (f32 by 4 => f32) totals::SquareTotal<f32>;
            /// Σ x², or its root.
            [rows_squares_f16 columns_squares_f16 segments_squares_f16]
                [4 3 3] (f16 by 8 => f32) totals::SquareTotal<f16>;
            /// Σ x², or its root.
            [rows_squares_bf16 columns_squares_bf16 segments_squares_bf16]
                [4 3 3] (bf16 by 8 => f32) totals::SquareTotal<bf16>;
            /// Σ x².
            [rows_squares_f64 columns_squares_f64 segments_squares_f64] [4 4 2] (f64 by 2 => f64) squares::SquaresOfF64;
            /// √Σ x².
            [rows_norm_f64 columns_norm_f64 segments_norm_f64] [3 3 2] (f64 by 2 => f64) squares::NormOfF64;
            /// Σ x² modulo 2⁶⁴.
            [rows_squares_i32 columns_squares_i32 segments_squares_i32]
                [4 4 3] (i32 by 4 => u64) squares::SquaresOfIntegers<i32>;
            /// Σ x² modulo 2⁶⁴.
            [rows_squares_u32 columns_squares_u32 segments_squares_u32]
                [4 4 3] (u32 by 4 => u64) squares::SquaresOfIntegers<u32>;
            /// Σ x² modulo 2⁶⁴; the same for `i64`.
            [rows_squares_u64 columns_squares_u64 segments_squares_u64]
                [5 4 2] (u64 by 2 => u64) squares::SquaresOfIntegers<u64>;
            /// ∏ x.
            [rows_product_f32 columns_product_f32 segments_product_f32]
                [4 4 3] (f32 by 4 => f32) products::Product<f32>;
            /// ∏ x.
            [rows_product_f16 columns_product_f16 segments_product_f16]
                [4 3 3] (f16 by 8 => f32) products::Product<f16>;
            /// ∏ x.
            [rows_product_bf16 columns_product_bf16 segments_product_bf16]
                [4 3 3] (bf16 by 8 => f32) products::Product<bf16>;
            /// ∏ x.
            [rows_product_f64 columns_product_f64 segments_product_f64]
                [4 4 2] (f64 by 2 => f64) products::ProductOfF64;
            /// ∏ x modulo 2⁶⁴.
            [rows_product_i32 columns_product_i32 segments_product_i32]
                [5 4 3] (i32 by 4 => i64) products::ProductOfIntegers<i32>;
            /// ∏ x modulo 2⁶⁴.
            [rows_product_u32 columns_product_u32 segments_product_u32]
                [4 4 3] (u32 by 4 => u64) products::ProductOfIntegers<u32>;
            /// ∏ x modulo 2⁶⁴; the same for `i64`.
            [rows_product_u64 columns_product_u64 segments_product_u64]
                [4 4 2] (u64 by 2 => u64) products::ProductOfIntegers<u64>;
            /// The greatest or least, NaN if there is one: see [`best`](crate::reduce::along::best).
            [rows_best_f32 columns_best_f32 segments_best_f32] [5 4 4] (f32 by 4 => f32) best::Best<f32>;
            /// The greatest or least, NaN if there is one.
            [rows_best_f16 columns_best_f16 segments_best_f16] [4 4 4] (f16 by 8 => f16) best::Best<f16>;
            /// The greatest or least, NaN if there is one.
            [rows_best_bf16 columns_best_bf16 segments_best_bf16] [4 4 4] (bf16 by 8 => bf16) best::Best<bf16>;
            /// The greatest or least, NaN if there is one.
            [rows_best_f64 columns_best_f64 segments_best_f64] [4 4 4] (f64 by 2 => f64) best::Best<f64>;
            /// The greatest or least; also for `i32`.
            [rows_best_u32 columns_best_u32 segments_best_u32] [5 4 4] (u32 by 4 => u32) best::Best<u32>;
            /// The greatest or least; also for `i64`.
            [rows_best_u64 columns_best_u64 segments_best_u64] [5 4 4] (u64 by 2 => u64) best::Best<u64>;
            /// The greatest or least without NaNs.
            [rows_nan_best_f32 columns_nan_best_f32 segments_nan_best_f32]
                [5 4 4] (f32 by 4 => f32) best::Best<f32, Ignore>;
            /// The greatest or least without NaNs.
            [rows_nan_best_f16 columns_nan_best_f16 segments_nan_best_f16]
                [4 4 4] (f16 by 8 => f16) best::Best<f16, Ignore>;
            /// The greatest or least without NaNs.
            [rows_nan_best_bf16 columns_nan_best_bf16 segments_nan_best_bf16]
                [4 4 4] (bf16 by 8 => bf16) best::Best<bf16, Ignore>;
            /// The greatest or least without NaNs.
            [rows_nan_best_f64 columns_nan_best_f64 segments_nan_best_f64]
                [4 4 4] (f64 by 2 => f64) best::Best<f64, Ignore>;
            /// The first index of the greatest or least, or of NaN if there is one.
            [rows_best_at_f32 columns_best_at_f32 segments_best_at_f32] [4 4 4] (f32 by 4 => u64) best::BestAt<f32>;
            /// The first index of the greatest or least, or of NaN if there is one.
            [rows_best_at_f16 columns_best_at_f16 segments_best_at_f16] [4 3 4] (f16 by 8 => u64) best::BestAt<f16>;
            /// The first index of the greatest or least, or of NaN if there is one.
            [rows_best_at_bf16 columns_best_at_bf16 segments_best_at_bf16]
                [4 3 4] (bf16 by 8 => u64) best::BestAt<bf16>;
            /// The first index of the greatest or least, or of NaN if there is one.
            [rows_best_at_f64 columns_best_at_f64 segments_best_at_f64] [4 4 4] (f64 by 2 => u64) best::BestAt<f64>;
            /// The first index of the greatest or least; also for `i32`.
            [rows_best_at_u32 columns_best_at_u32 segments_best_at_u32] [4 4 4] (u32 by 4 => u64) best::BestAt<u32>;
            /// The first index of the greatest or least; also for `i64`.
            [rows_best_at_u64 columns_best_at_u64 segments_best_at_u64] [4 4 4] (u64 by 2 => u64) best::BestAt<u64>;
            /// The first index of the greatest or least without NaNs.
            [rows_nan_best_at_f32 columns_nan_best_at_f32 segments_nan_best_at_f32]
                [4 4 4] (f32 by 4 => u64) best::BestAt<f32, Ignore>;
            /// The first index of the greatest or least without NaNs.
            [rows_nan_best_at_f16 columns_nan_best_at_f16 segments_nan_best_at_f16]
                [4 3 4] (f16 by 8 => u64) best::BestAt<f16, Ignore>;
            /// The first index of the greatest or least without NaNs.
            [rows_nan_best_at_bf16 columns_nan_best_at_bf16 segments_nan_best_at_bf16]
                [4 3 4] (bf16 by 8 => u64) best::BestAt<bf16, Ignore>;
            /// The first index of the greatest or least without NaNs.
            [rows_nan_best_at_f64 columns_nan_best_at_f64 segments_nan_best_at_f64]
                [4 4 4] (f64 by 2 => u64) best::BestAt<f64, Ignore>;
            /// The number of nonzero elements, or whether at least so many are nonzero: see [`counts`].
            [rows_count_u8 columns_count_u8 segments_count_u8] [4 2 2] (u8 by 16 => u64) counts::Count<u8>;
            /// The same for `f16` or `bf16`, by their bits.
            [rows_count_f16_bits columns_count_f16_bits segments_count_f16_bits]
                [4 4 3] (u16 by 8 => u64) counts::Count<u16>;
            /// The same for `u32` or `i32`.
            [rows_count_u32 columns_count_u32 segments_count_u32] [5 4 3] (u32 by 4 => u64) counts::Count<u32>;
            /// The same for `u64` or `i64`.
            [rows_count_u64 columns_count_u64 segments_count_u64] [5 4 2] (u64 by 2 => u64) counts::Count<u64>;
            /// The same for `f32`.
            [rows_count_f32 columns_count_f32 segments_count_f32] [5 4 3] (f32 by 4 => u64) counts::Count<f32>;
            /// The same for `f64`.
            [rows_count_f64 columns_count_f64 segments_count_f64] [4 4 2] (f64 by 2 => u64) counts::Count<f64>;
            /// Σ (x − mean)² / d.
            [rows_variance_f32 columns_variance_f32 segments_variance_f32]
                [2 2 1] (f32 by 4 => f32) moments::Variance<f32>;
            /// Σ (x − mean)² / d.
            [rows_variance_f16 columns_variance_f16 segments_variance_f16]
                [2 2 1] (f16 by 4 => f32) moments::Variance<f16>;
            /// Σ (x − mean)² / d.
            [rows_variance_bf16 columns_variance_bf16 segments_variance_bf16]
                [2 2 1] (bf16 by 4 => f32) moments::Variance<bf16>;
            /// Σ (x − mean)² / d.
            [rows_variance_f64 columns_variance_f64 segments_variance_f64]
                [2 2 1] (f64 by 2 => f64) moments::VarianceOfF64;
        }
    };
}
pub(crate) use reductions;

//! THE table of GEMM configurations: which kernels there are, and how fast each is.
//!
//! A row names a kernel's tile, how many blocks and warpgroups compute it, for which types and layouts there is one,
//! the figures that the planner estimates its time from, and m, n and k of a product that needs it. Entries, lists of
//! kernels, the planner's candidates and the property tests' lists come from these rows; boxes, descriptor advances,
//! registers and barriers are `const fn`s of a row.
//!
//! To add a configuration, add a row.

/// What the planner estimates a kernel's time from, measured on an H200 (docs/lab/gemm-trials.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerfModel {
    /// Multiply-adds per clock and SM over 128, the rate of `f32`: with one block on an SM, and with as many as it
    /// holds at once; of a kernel with one block per SM, with one tile per block and with more. Hopper's tensor cores
    /// do at most 16 of 16 bits. Of [two-width](crate::gemm::sm90::schedule::two_width) kernels: in narrow tiles and in
    /// wide ones. A cluster counts as one SM.
    pub efficiency: [f64; 2],
    /// The factor on it where rows of an operand are no multiples of 128 bytes apart, so that a row of a box lies in
    /// two lines; of kernels whose threads load, no multiples of 16 bytes, so that they load fewer bytes at a time. A
    /// tile four times as wide as high, or as high as wide, has one operand that they load once: it does not count.
    pub misaligned: f64,
    /// Time of a tile before the first multiply-add and after the last, in elements along k: where C is the rounded
    /// product and where the epilogue does more.
    pub tile_overhead: [f64; 2],
}

/// How A and B lie in memory, as BLAS's `transa` and `transb` say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// op(A) = Aᵀ: A lies as k × m.
    pub transpose_a: bool,
    /// op(B) = Bᵀ: B lies as n × k.
    pub transpose_b: bool,
}

impl Layout {
    /// A is m × k, B is k × n.
    pub const NN: Self = Self { transpose_a: false, transpose_b: false };
    /// A is m × k, B is n × k.
    pub const NT: Self = Self { transpose_a: false, transpose_b: true };
    /// A is k × m, B is k × n.
    pub const TN: Self = Self { transpose_a: true, transpose_b: false };
    /// A is k × m, B is n × k.
    pub const TT: Self = Self { transpose_a: true, transpose_b: true };

    /// Whether A, and B, is transposed.
    #[must_use]
    pub const fn transposed(self) -> [bool; 2] {
        [self.transpose_a, self.transpose_b]
    }

    /// Whether A, and B, is K-major: its rows in memory run along k.
    #[must_use]
    pub const fn k_major(self) -> [bool; 2] {
        [!self.transpose_a, self.transpose_b]
    }
}

/// A configuration of the kernels on Hopper's tensor cores: [`sm90`](super::sm90).
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties of a kernel, each of its own column in the table"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WgmmaConfig {
    /// The end of the kernels' names: the tile of C, after the number of blocks of a cluster if there is more than one.
    pub name: &'static str,
    /// Rows and columns of a block's MMA tile: of C, or of Cᵀ with `swap_ab`. 64 rows for each consumer warpgroup, or
    /// 128 of them with `two_width`.
    pub mma: [u32; 2],
    /// Blocks of a cluster, whose MMA tiles lie one below the other and which load B once for all.
    pub cluster: u32,
    /// Stages of the pipeline.
    pub stages: usize,
    /// Cᵀ = op(B)ᵀ·op(A)ᵀ is computed: the narrow side of the MMA tile is that of C's rows.
    pub swap_ab: bool,
    /// Tiles have two widths: see [`two_width`](crate::gemm::sm90::schedule::two_width).
    pub two_width: bool,
    /// Blocks can split tiles along k: see [`stream_k`](crate::gemm::sm90::schedule::stream_k).
    pub stream_k: bool,
    /// A is loaded from shared memory to registers, because it is MN-major tf32, which tensor cores do not read from
    /// shared memory.
    pub a_in_registers: bool,
    /// The sums of a stage are added to others in registers: `mainloop_wgmma_promoted`.
    pub promotes: bool,
    /// The same with factors of blocks.
    pub promotes_blocks: bool,
    /// Planes of `bf16` that an element of A or B, an `f32`, is the sum of; 1 where elements are multiplied as they
    /// are: see [`bf16x6`](crate::gemm::sm90::bf16x6).
    pub planes: u32,
    /// Bytes of an element of A and B, or of their planes.
    pub element_bytes: u32,
    /// Its speed.
    pub model: PerfModel,
    /// m, n and k of a product that needs it.
    pub needed_by: [usize; 3],
}

/// A kernel of a [`WgmmaConfig`], with the signature `K`.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
pub struct WgmmaKernel<K: 'static> {
    /// Its row.
    pub config: &'static WgmmaConfig,
    /// The layout that it is for.
    pub layout: Layout,
    /// The kernel.
    pub kernel: &'static K,
}

/// Elements of `f32` by which a warpgroup stages C in shared memory: 16 KiB.
pub const STAGING: usize = 4096;
/// Stages of which a warp has the factors of blocks in shared memory.
pub const FACTOR_STAGES: usize = 3;
/// Factors of a stage that a warp needs: of its 16 rows and of two blocks of columns.
pub const WARP_FACTORS: usize = 18;

impl WgmmaConfig {
    /// Rows of an MMA tile that one warpgroup computes at a time: `wgmma.m64`.
    pub const MMA_ROWS: u32 = 64;

    /// Warpgroups that multiply.
    #[must_use]
    pub const fn consumers(&self) -> u32 {
        self.mma[0] / (Self::MMA_ROWS * self.accumulators())
    }

    /// Accumulators of 64 rows that each of them has.
    #[must_use]
    pub const fn accumulators(&self) -> u32 {
        if self.two_width { 2 } else { 1 }
    }

    /// Threads of a block: a producer warpgroup and the consumers.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        (1 + self.consumers()) * 128
    }

    /// Rows and columns of C that a block, or a cluster of blocks, computes at a time.
    #[must_use]
    pub const fn tile(&self) -> [u32; 2] {
        let [m, n] = self.mma;
        if self.swap_ab { [n, m * self.cluster] } else { [m * self.cluster, n] }
    }

    /// Elements along k in a stage: 128 bytes. Those of all planes are in as many stages.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        128 / self.element_bytes
    }

    /// Whether TMA can store a C of elements of so many bytes: those of A and B, and `f32` where planes are multiplied;
    /// of operands of 8 bits C has 16 or 32 bits, and is stored as bytes.
    #[must_use]
    pub const fn stores(&self, output_bytes: u32) -> bool {
        match (self.planes, self.element_bytes) {
            (1, 1) => matches!(output_bytes, 2 | 4),
            (1, bytes) => output_bytes == bytes,
            _ => output_bytes == 4,
        }
    }

    /// Whether a consumer wants more registers than others: for 192 accumulators.
    #[must_use]
    pub const fn has_many_accumulators(&self) -> bool {
        self.planes > 1 || self.promotes && self.mma[1] >= 128
    }

    /// Whether the MMA's A and its B are K-major in memory in this layout.
    #[must_use]
    pub const fn k_major(&self, layout: Layout) -> [bool; 2] {
        let [a, b] = layout.k_major();
        if self.swap_ab { [b, a] } else { [a, b] }
    }

    /// Rows of the boxes of an operand that is K-major, each 128 bytes of k long: of the MMA's A and of its B.
    #[must_use]
    pub const fn k_major_rows(&self) -> [u32; 2] {
        // A box of B is as wide as the narrower of two tiles' common part.
        [self.mma[0], if self.two_width { 64 } else { multicast_slice(self.mma[1], self.cluster) }]
    }

    /// Elements of `f32` by which C is staged in shared memory: [`STAGING`] for each warpgroup that multiplies, or what
    /// a tile of Cᵀ has that is no wider than 32.
    #[must_use]
    pub const fn staging(&self) -> usize {
        if self.swap_ab && self.mma[1] <= 32 { 32 * 64 } else { self.consumers() as usize * STAGING }
    }

    /// Factors of blocks in shared memory: [`WARP_FACTORS`] of [`FACTOR_STAGES`] stages for each warp that multiplies.
    #[must_use]
    pub const fn factors(&self) -> usize {
        if self.promotes_blocks { 4 * self.consumers() as usize * FACTOR_STAGES * WARP_FACTORS } else { 0 }
    }

    /// Whether a block leaves room on its SM for one of the next launch, which then begins to load before this launch
    /// has ended.
    #[must_use]
    pub const fn leaves_room(&self) -> bool {
        // Half of 228 KiB, 1 KiB of it the driver's; the mbarriers and what aligns them are at most another.
        let pipeline = self.stages * (self.mma[0] + self.mma[1]) as usize * 128;
        let fits = pipeline + 4 * self.staging() <= (114 - 2) * 1024;
        fits && 2 * self.threads() * self.registers() <= 65_536
    }

    /// Registers of a thread at launch: a third of what there is where two warpgroups multiply, who then take some from
    /// the producer; else what the accumulators, and as many loads of partials, want.
    ///
    /// # Panics
    /// If an SM has not as many: with more than two consumer warpgroups. It is called at compile time.
    #[must_use]
    pub const fn registers(&self) -> u32 {
        let registers = match (self.consumers(), self.mma[1]) {
            (1, 16 | 32) => 96,
            (1, _) if self.has_many_accumulators() || self.mma[1] >= 192 => 240,
            (1, _) => 192,
            _ => 168,
        };
        assert!(self.threads() * registers <= 65_536, "more registers than an SM has: at most two warpgroups multiply");
        registers
    }

    /// Barriers in the code: that of the launch, those of stream-K, two in the generic epilogue, and two for each box
    /// in the TMA-store epilogue; with two widths both for each.
    #[must_use]
    pub const fn barriers(&self) -> u32 {
        let narrow = if self.two_width { self.epilogue_barriers(128) } else { 0 };
        let epilogues = self.accumulators() * (self.epilogue_barriers(self.mma[1]) + narrow);
        1 + epilogues + if self.stream_k { 2 } else { 0 }
    }

    /// Those of the epilogue of an accumulator with so many columns.
    const fn epilogue_barriers(&self, cols: u32) -> u32 {
        let mut boxes = 0;
        if let Some(rows) = self.store_rows() {
            // Of 64 columns of 16 bits and of 32 of 32 bits, or of so many rows where Cᵀ is computed.
            if self.stores(2) {
                boxes += cols / if self.swap_ab { rows } else { 64 };
            }
            if self.stores(4) {
                boxes += cols / if self.swap_ab { 64 } else { 32 };
            }
        }
        2 + 2 * boxes * if self.copies_boxes() { 2 } else { 1 }
    }

    /// Whether threads copy the boxes of C that TMA cannot store. Not of operands of 8 bits, of which C has several
    /// types, nor in pairs of blocks with 256 columns: there are no registers for it. Not in tiles of two widths, which
    /// have four epilogues: they would take the driver 0.9 s to compile.
    #[must_use]
    pub const fn copies_boxes(&self) -> bool {
        let is_full = self.element_bytes == 1 || self.cluster == 2 && self.mma[1] == 256;
        self.store_rows().is_some() && !is_full && !self.two_width
    }

    /// Rows of the boxes, 128 bytes wide, by which TMA stores C; none where it cannot.
    #[must_use]
    pub const fn store_rows(&self) -> Option<u32> {
        let [rows, cols] = self.tile();
        if !cols.is_multiple_of(64) {
            None
        } else if self.swap_ab && self.element_bytes == 2 {
            // As many as the narrow sides of these tiles are multiples of.
            if rows.is_multiple_of(48) { Some(48) } else { None }
        } else if rows.is_multiple_of(64) {
            Some(64)
        } else {
            None
        }
    }
}

/// Rows of the boxes by which the blocks of a cluster load an operand of `rows` rows that all of them read: an equal
/// part each; where that is no multiple of the 8 rows with which the swizzle's pattern repeats, boxes of 16 by turns.
///
/// ```
/// use gpu::gemm::configs::multicast_slice;
/// assert_eq!((multicast_slice(256, 1), multicast_slice(256, 2), multicast_slice(144, 4)), (256, 128, 16));
/// ```
#[must_use]
pub const fn multicast_slice(rows: u32, cluster: u32) -> u32 {
    let part = rows / cluster;
    if part.is_multiple_of(8) { part } else { 16 }
}

/// Calls `$then!` with the rows for 16-bit elements; of equally fast ones the planner takes the first.
///
/// C tile: MMA tile, cluster, stages, flags, `[layouts]`, efficiency, misaligned, tile overhead, m, n and k of a
/// product that needs it.
macro_rules! wgmma_16_configs {
    ($then:ident) => { $then! {
        "16x64": 64 x 16, 1, 16, [swap_ab stream_k], [nn nt], [2.55 1.45], 0.5, [300.0 300.0], 16 x 8192 x 8192;
        "64x16": 64 x 16, 1, 16, [stream_k], [nt tt], [2.6 1.45], 0.42, [500.0 500.0], 8192 x 16 x 8192;
        "32x64": 64 x 32, 1, 16, [swap_ab stream_k], [nn nt], [5.0 2.9], 0.45, [450.0 450.0], 32 x 8192 x 8192;
        "32x64_s8": 64 x 32, 1, 8, [swap_ab], [nn nt], [5.0 2.9], 0.43, [450.0 450.0], 32 x 5120 x 5120;
        "64x32": 64 x 32, 1, 16, [stream_k], [nt tt], [5.0 2.9], 0.5, [500.0 500.0], 8192 x 32 x 8192;
        "128x256": 128 x 256, 1, 4, [stream_k], [nn nt tn tt], [11.0 11.0], 0.81, [80.0 700.0], 4096 x 4096 x 64;
        "256x192": 256 x 192, 1, 3, [two_width], [nn nt tn tt], [10.8 11.4], 0.93, [110.0 700.0], 4096 x 4096 x 4096;
        "128x128": 128 x 128, 1, 6, [stream_k], [nn nt tn tt], [10.8 10.0], 0.75, [160.0 500.0], 1024 x 2048 x 1024;
        "136x128": 128 x 136, 1, 5, [swap_ab stream_k], [nn nt], [9.8 9.8], 0.76, [400.0 400.0], 257 x 4096 x 65536;
        "128x136": 128 x 136, 1, 5, [stream_k], [nt tt], [9.7 9.7], 0.76, [400.0 400.0], 4096 x 257 x 65536;
        "2x128x256": 128 x 256, 2, 4, [stream_k], [nn nt tn tt], [21.6 22.2], 0.95, [100.0 700.0], 3000 x 5000 x 4104;
        "4x128x128": 128 x 128, 4, 6, [stream_k], [nn nt tn tt], [46.0 44.0], 0.85, [130.0 400.0], 5104 x 288 x 2368;
        "4x64x128": 64 x 128, 4, 8, [stream_k], [nn nt tn tt], [35.0 27.0], 0.94, [60.0 530.0], 2016 x 336 x 4688;
        "4x192x64": 64 x 192, 4, 6, [swap_ab stream_k], [nn nt tn tt], [39.0 36.0], 1.0, [125.0 620.0], 168 x 6816 x 96;
        "4x144x64": 64 x 144, 4, 7, [swap_ab stream_k], [nn nt], [38.7 38.0], 0.86, [125.0 500.0], 1000 x 1000 x 1000;
        "2x64x128": 64 x 128, 2, 8, [stream_k], [nn nt tn tt], [17.5 13.5], 0.78, [70.0 270.0], 128 x 8192 x 8192;
        "64x128": 64 x 128, 1, 8, [stream_k], [nn nt tn tt], [9.9 7.8], 0.57, [60.0 300.0], 1024 x 1024 x 1024;
        "64x64": 64 x 64, 1, 8, [stream_k], [nn nt tn tt], [8.2 4.65], 0.43, [40.0 200.0], 512 x 512 x 512;
    } };
}
pub(crate) use wgmma_16_configs;

/// Calls `$then!` with the rows for `f32` rounded to tf32, which tensor cores read from shared memory K-major alone. TN
/// has no kernel: one operand is transposed first.
macro_rules! wgmma_tf32_configs {
    ($then:ident) => { $then! {
        "256x128": 128 x 256, 1, 4, [swap_ab a_in_registers], [nn], [5.95 5.95], 1.0, [70.0 230.0], 4096 x 4096 x 4096;
        "128x256": 128 x 256, 1, 4, [], [nt], [5.95 5.95], 1.0, [70.0 230.0], 4096 x 4096 x 4096;
        "128x256": 128 x 256, 1, 4, [a_in_registers], [tt], [5.95 5.95], 1.0, [70.0 230.0], 4096 x 4096 x 4096;
        "128x128": 128 x 128, 1, 6, [swap_ab a_in_registers], [nn], [5.35 5.35], 0.95, [70.0 180.0], 1024 x 2048 x 1024;
        "128x128": 128 x 128, 1, 6, [], [nt], [5.35 5.35], 0.95, [70.0 180.0], 1024 x 2048 x 1024;
        "128x128": 128 x 128, 1, 6, [a_in_registers], [tt], [5.35 5.35], 0.95, [70.0 180.0], 1024 x 2048 x 1024;
        "64x128": 128 x 64, 1, 8, [swap_ab a_in_registers], [nn], [3.8 3.8], 0.7, [40.0 120.0], 1024 x 1024 x 1024;
        "128x64": 128 x 64, 1, 8, [], [nt], [3.8 3.8], 0.8, [40.0 120.0], 1024 x 1024 x 1024;
        "128x64": 128 x 64, 1, 8, [a_in_registers], [tt], [3.8 3.8], 0.8, [40.0 120.0], 1024 x 1024 x 1024;
    } };
}
pub(crate) use wgmma_tf32_configs;

/// Calls `$then!` with the rows for `f32` as three planes of `bf16` each, of which six products are added. The planes
/// are copies, so one layout is enough.
macro_rules! wgmma_bf16x6_configs {
    ($then:ident) => {
        $then! {
            "128x128": 128 x 128, 1, 6, [stream_k], [nt], [2.1 2.1], 1.0, [40.0 60.0], 4096 x 4096 x 4096;
            "64x128": 64 x 128, 1, 8, [stream_k], [nt], [1.6 1.6], 1.0, [40.0 60.0], 320 x 512 x 3000;
        }
    };
}
pub(crate) use wgmma_bf16x6_configs;

/// Calls `$then!` with the rows for products of groups of rows: [`sm90::grouped`](super::sm90::grouped).
///
/// C tile: MMA tile, cluster, stages, flags, `[layouts]`, efficiency with many tiles per block, tile overhead, and rows
/// of each group, n and k of a product that needs it.
macro_rules! grouped_configs {
    ($then:ident) => {
        $then! {
            "2x128x256": 128 x 256, 2, 4, [stream_k], [nn nt], 22.4, [80.0 700.0], 4096 x 4096 x 7168;
            "128x256": 128 x 256, 1, 4, [stream_k], [nn nt], 11.0, [80.0 700.0], 264 x 1536 x 2048;
            "128x128": 128 x 128, 1, 6, [], [nn nt], 10.4, [160.0 500.0], 96 x 128 x 2048;
            "64x128": 64 x 128, 1, 8, [], [nn nt], 7.8, [60.0 300.0], 16 x 1536 x 2048;
        }
    };
}
pub(crate) use grouped_configs;

/// The same for 8-bit floating-point numbers, whose sums are promoted.
macro_rules! grouped_fp8_configs {
    ($then:ident) => {
        $then! {
            "2x128x256": 128 x 256, 2, 4, [promotes stream_k], [nt], 44.4, [200.0 1400.0], 4096 x 4096 x 7168;
            "128x256": 128 x 256, 1, 4, [promotes stream_k], [nt], 21.0, [200.0 1400.0], 264 x 1536 x 2048;
            "64x128": 64 x 128, 1, 8, [promotes], [nt], 13.0, [80.0 600.0], 16 x 1536 x 2048;
        }
    };
}
pub(crate) use grouped_fp8_configs;

/// Calls `$then!` with the rows for `i8`. Tensor cores read 8-bit operands K-major alone, so one layout is enough;
/// others are transposed first.
macro_rules! wgmma_i8_configs {
    ($then:ident) => {
        $then! {
            "2x128x256": 128 x 256, 2, 4, [], [nt], [45.0 51.4], 1.0, [500.0 1700.0], 8192 x 8192 x 8192;
            "128x256": 128 x 256, 1, 4, [], [nt], [21.0 24.7], 1.0, [200.0 1400.0], 4096 x 4096 x 4096;
            "128x128": 128 x 128, 1, 6, [], [nt], [18.6 22.5], 1.0, [160.0 1000.0], 2048 x 2048 x 2048;
            "64x128": 64 x 128, 1, 8, [], [nt], [13.0 16.3], 1.0, [80.0 600.0], 1024 x 1024 x 1024;
        }
    };
}
pub(crate) use wgmma_i8_configs;

/// Calls `$then!` with the rows for 8-bit floating-point numbers whose sums are promoted.
macro_rules! wgmma_fp8_configs {
    ($then:ident) => {
        $then! {
            "2x128x256": 128 x 256, 2, 4, [promotes], [nt], [43.6 44.4], 1.0, [200.0 1400.0], 8192 x 8192 x 8192;
            "128x256": 128 x 256, 1, 4, [promotes], [nt], [22.0 21.9], 1.0, [200.0 1400.0], 2048 x 2048 x 2048;
            "128x128": 128 x 128, 1, 6, [promotes], [nt], [17.7 18.2], 1.0, [160.0 1000.0], 1024 x 2048 x 1024;
            "2x64x128": 64 x 128, 2, 8, [promotes], [nt], [25.0 27.0], 1.0, [80.0 600.0], 128 x 8192 x 8192;
            "64x128": 64 x 128, 1, 8, [promotes], [nt], [12.0 13.9], 1.0, [80.0 600.0], 1024 x 1024 x 1024;
        }
    };
}
pub(crate) use wgmma_fp8_configs;

/// Calls `$then!` with the rows for 8-bit floating-point numbers with factors of blocks, whose sums are promoted.
macro_rules! wgmma_fp8_blocks_configs {
    ($then:ident) => {
        $then! {
            "2x128x256": 128 x 256, 2, 4, [promotes_blocks], [nt], [41.0 42.0], 1.0, [200.0 1400.0], 8192 x 8192 x 8192;
            "128x256": 128 x 256, 1, 4, [promotes_blocks], [nt], [21.0 21.0], 1.0, [200.0 1400.0], 2048 x 2048 x 2048;
            "64x128": 64 x 128, 1, 8, [promotes_blocks], [nt], [11.0 12.5], 1.0, [80.0 600.0], 1024 x 1024 x 1024;
        }
    };
}
pub(crate) use wgmma_fp8_blocks_configs;

/// Calls `$then!` with the rows for 8-bit floating-point numbers whose sums stay in the tensor cores' accumulators.
macro_rules! wgmma_fp8_fast_configs {
    ($then:ident) => {
        $then! {
            "128x256": 128 x 256, 1, 4, [], [nt], [23.4 24.6], 1.0, [200.0 1400.0], 2048 x 2048 x 2048;
            "256x192": 256 x 192, 1, 3, [two_width], [nt], [24.0 25.4], 1.0, [200.0 1400.0], 8192 x 8192 x 8192;
            "128x128": 128 x 128, 1, 6, [], [nt], [18.0 23.0], 1.0, [160.0 1000.0], 1024 x 2048 x 1024;
            "2x64x128": 64 x 128, 2, 8, [], [nt], [29.0 36.0], 1.0, [80.0 600.0], 128 x 8192 x 8192;
            "64x128": 64 x 128, 1, 8, [], [nt], [15.0 18.6], 1.0, [80.0 600.0], 1024 x 1024 x 1024;
        }
    };
}
pub(crate) use wgmma_fp8_fast_configs;

/// A configuration of the FFMA kernels fed by TMA: [`sm90::ffma`](super::sm90::ffma).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FfmaConfig {
    /// The end of the kernels' names: the tile of C, with intra-block split-K the number of groups.
    pub name: &'static str,
    /// Rows and columns of C per block.
    pub tile: [u32; 2],
    /// Elements along k in a stage.
    pub depth: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Groups of warps that share the steps of a tile; 1: sequential accumulation in order of k, which stream-K
    /// continues.
    pub groups: u32,
    /// Blocks per SM.
    pub blocks_per_sm: u32,
    /// Steps of k that the main loop is unrolled for. A long program does not stay in the instruction cache.
    pub unroll: u32,
    /// Its speed.
    pub model: PerfModel,
    /// m, n and k of a product that needs it.
    pub needed_by: [usize; 3],
}

impl FfmaConfig {
    /// Barriers in the code, where A and B are K-major: of a launch, two in the epilogue, then those of stream-K; of
    /// intra-block split-K one more before the next tile, and one for each group where it has several warps and
    /// transposes.
    #[must_use]
    pub const fn barriers(&self, k_major: [bool; 2]) -> u32 {
        let warps = self.threads / 32 / self.groups;
        match self.groups {
            1 => 6,
            _ if warps > 1 && (k_major[0] || k_major[1]) => 5,
            _ => 4,
        }
    }

    /// Whether blocks can split tiles along k.
    #[must_use]
    pub const fn is_stream_k(&self) -> bool {
        self.groups == 1
    }
}

/// A kernel of a [`FfmaConfig`].
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
pub struct FfmaKernel {
    /// Its row.
    pub config: &'static FfmaConfig,
    /// The layout that it is for.
    pub layout: Layout,
    /// The kernel.
    pub kernel: &'static super::args::TmaGemmKernel<f32>,
}

/// Calls `$then!` with the rows for `f32` by FFMA fed by TMA.
///
/// C tile: tile and depth, microtile of a thread in quads of 4 × 4, threads, groups, stages of each group, blocks per
/// SM, unrolled steps, `[layouts]`, efficiency, tile overhead, m, n and k of a product that needs it.
macro_rules! ffma_sm90_configs {
    ($then:ident) => {
        $then! {
            "128x128": 128 x 128 x 32, 4 x 2, 128, 1, 3, 2, 2, [tn], [0.40 0.79], 15.0, 8192 x 8192 x 8192;
            "64x64": 64 x 64 x 32, 2 x 1, 128, 1, 4, 3, 4, [tn], [0.33 0.70], 15.0, 1664 x 1664 x 1664;
            "64x32": 64 x 32 x 64, 1 x 1, 128, 1, 4, 2, 16, [tn], [0.43 0.63], 40.0, 768 x 768 x 768;
            "128x64_k4": 128 x 64 x 32, 4 x 2, 256, 4, 2, 1, 2, [nn nt tn tt], [0.69 0.67], 40.0, 1024 x 1024 x 1024;
            "32x64_k8": 32 x 64 x 32, 2 x 2, 256, 8, 2, 1, 2, [nn nt tn tt], [0.88 0.58], 120.0, 512 x 512 x 512;
        }
    };
}
pub(crate) use ffma_sm90_configs;

/// A configuration of the kernels for `f64` fed by TMA: [`sm90::f64`](super::sm90::f64).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MmaF64Config {
    /// The end of the kernels' names: the tile of C.
    pub name: &'static str,
    /// Rows and columns of C per block.
    pub tile: [u32; 2],
    /// Blocks of 16 × 16 of each of the eight warps that multiply, down and across.
    pub warp: [u32; 2],
    /// Stages of the pipeline.
    pub stages: usize,
    /// Whether it has a stream-K schedule. Finding its units takes a launch 0.9 µs.
    pub stream_k: bool,
    /// Its speed.
    pub model: PerfModel,
    /// m, n and k of a product that needs it.
    pub needed_by: [usize; 3],
}

impl MmaF64Config {
    /// Threads of a block: a producer warpgroup and two consumer warpgroups.
    pub const THREADS: u32 = 384;
    /// Elements along k in a stage: 128 bytes.
    pub const DEPTH: u32 = 16;
}

/// A kernel of a [`MmaF64Config`].
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
pub struct MmaF64Kernel {
    /// Its row.
    pub config: &'static MmaF64Config,
    /// The layout that it is for.
    pub layout: Layout,
    /// The kernel.
    pub kernel: &'static super::args::TmaGemmKernel<f64>,
}

/// Calls `$then!` with the rows for `f64` by `mma.sync` fed by TMA.
///
/// C tile: its extents, blocks of 16 × 16 of a warp, stages, whether it has a stream-K schedule, `[layouts]`,
/// efficiency, misaligned, tile overhead, m, n and k of a product that needs it.
macro_rules! mma_f64_sm90_configs {
    ($then:ident) => {
        $then! {
            "128x128": 128 x 128, 4 x 2, 5, stream_k = true, [nn nt tn tt], [0.93 0.93], 1.0, 50.0, 4096 x 4096 x 4096;
            "128x64": 128 x 64, 2 x 2, 6, stream_k = false, [nn nt tn tt], [0.87 0.87], 1.0, 70.0, 1024 x 1024 x 1024;
            "64x32": 64 x 32, 1 x 1, 12, stream_k = false, [nn nt tn tt], [0.6 0.6], 1.0, 100.0, 512 x 512 x 512;
        }
    };
}
pub(crate) use mma_f64_sm90_configs;

/// A configuration of kernels whose threads load the operands: [`mma`](super::mma), [`small`](super::small),
/// [`ffma`](super::ffma), [`reference`](super::reference).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadConfig {
    /// The end of the kernels' names: the tile of C.
    pub name: &'static str,
    /// Rows and columns of C per block.
    pub tile: [u32; 2],
    /// A part of a split along k is a multiple of this, so that it begins as aligned as the operands and ends with a
    /// whole step.
    pub k_granularity: usize,
    /// Its speed.
    pub model: PerfModel,
    /// m, n and k of a product that needs it.
    pub needed_by: [usize; 3],
}

/// A kernel of a [`ThreadConfig`].
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
pub struct ThreadKernel<T: super::number::Number> {
    /// Its row.
    pub config: &'static ThreadConfig,
    /// The layout that it is for; none for any.
    pub layout: Option<Layout>,
    /// The kernel.
    pub kernel: &'static super::args::GemmKernel<T>,
}

/// Calls `$then!` with the rows for 16-bit elements by `mma.sync`.
///
/// C tile: its extents, fragments of A and B in a warp's tile, threads, blocks per SM, registers, `[layouts]`,
/// efficiency, misaligned, tile overhead, m, n and k of a product that needs it.
macro_rules! mma_16_configs {
    ($then:ident) => {
        $then! {
            "128x256": 128 x 256, 4 x 8, 256, 1, 255, [nn nt tn tt], [6.4 6.4], 0.15, [60.0 250.0], 4095 x 4095 x 4095;
            "64x64": 64 x 64, 2 x 4, 128, 3, 168, [nn nt tn tt], [2.6 4.4], 0.2, [200.0 350.0], 512 x 512 x 512;
        }
    };
}
pub(crate) use mma_16_configs;

/// Calls `$then!` with the rows for `f32` rounded to tf32 by `mma.sync`: as [`mma_16_configs`].
macro_rules! mma_tf32_configs {
    ($then:ident) => {
        $then! {
            "128x128": 128 x 128, 4 x 4, 256, 1, 255, [nn nt tn tt], [1.2 1.2], 0.4, [100.0 100.0], 4095 x 4095 x 4095;
            "64x64": 64 x 64, 2 x 4, 128, 3, 168, [nn nt tn tt], [0.48 1.0], 0.4, [130.0 130.0], 333 x 777 x 555;
        }
    };
}
pub(crate) use mma_tf32_configs;

/// Calls `$then!` with the rows for `f64` by `mma.sync`, for operands of any layout at any address.
///
/// C tile: its extents, fragments of A and B in a warp's tile, threads, blocks per SM, registers, efficiency, tile
/// overhead, m, n and k of a product that needs it.
macro_rules! mma_f64_configs {
    ($then:ident) => {
        $then! {
            "128x128": 128 x 128, 4 x 4, 256, 1, 255, [0.71 0.73], 32.0, 4096 x 4096 x 4096;
            "64x64": 64 x 64, 2 x 4, 128, 3, 168, [0.4 0.6], 48.0, 512 x 512 x 512;
        }
    };
}
pub(crate) use mma_f64_configs;

/// Calls `$then!` with the rows of 16-bit elements for a C of few rows or columns.
///
/// C tile: elements in 16 bytes, accumulators, rows of the small operand, whether that is A, threads, registers,
/// efficiency, misaligned, tile overhead, m, n and k of a product that needs it.
macro_rules! small_16_configs {
    ($then:ident) => {
        $then! {
            "16x64": 8, Fragments, 16, true, 384, 168, [0.34 0.70], 0.3, [128.0 128.0], 13 x 4096 x 4095;
            "64x16": 8, Fragments, 16, false, 384, 168, [0.33 0.41], 0.25, [192.0 192.0], 4096 x 13 x 4096;
        }
    };
}
pub(crate) use small_16_configs;

/// Calls `$then!` with the rows of `f32`: as [`small_16_configs`].
macro_rules! small_f32_configs {
    ($then:ident) => {
        $then! {
            "4x64": 4, Rows<4>, 4, true, 384, 168, [0.12 0.11], 0.18, [80.0 80.0], 1 x 8192 x 8192;
            "64x4": 4, Rows<4>, 4, false, 384, 168, [0.13 0.11], 0.18, [80.0 80.0], 8192 x 1 x 8192;
            "16x64": 4, Rows<16>, 16, true, 256, 255, [0.20 0.22], 0.33, [80.0 80.0], 9 x 8191 x 8191;
            "64x16": 4, Rows<16>, 16, false, 256, 255, [0.21 0.21], 0.33, [64.0 64.0], 8192 x 16 x 8192;
        }
    };
}
pub(crate) use small_f32_configs;

/// Calls `$then!` with the rows of `f32` by FFMA, for row-major operands at any address: two blocks of 128 × 128 to an
/// SM, so that one computes while the other waits at its barrier.
///
/// C tile: tile and depth, microtile of a thread in quads of 4 × 4, threads, blocks per SM, registers, efficiency, tile
/// overhead, m, n and k of a product that needs it.
macro_rules! ffma_configs {
    ($then:ident) => {
        $then! {
            "128x256": 128 x 256 x 16, 4 x 2, 256, 1, 255, [0.72 0.72], 16.0, 4095 x 4095 x 4095;
            "128x128": 128 x 128 x 8, 4 x 2, 128, 2, 255, [0.40 0.67], 4.0, 2048 x 2560 x 512;
            "64x64": 64 x 64 x 32, 2 x 1, 128, 4, 128, [0.36 0.54], 32.0, 333 x 777 x 555;
        }
    };
}
pub(crate) use ffma_configs;

//! A ring of stages: how it begins, and where somebody is in it.

/// Makes the mbarriers of `$stages.full` and `$stages.empty`, `$ring` of each, ready, with all threads of the block, of which this is
/// number `$t`, and of the others of its cluster: a stage is full when the copy engine has brought what one thread announced, and
/// empty when `$readers` have said so. Then the next launch may begin.
///
/// So far a launch may run beside its predecessor (`pdl`). Without `$cluster` the block has waited for that and may touch global
/// memory from here on; with it, each thread waits for itself.
///
/// No function: of references to mbarriers the compiler knows less than of the stages that they are in, and a dozen instructions
/// compute where in shared memory they point to.
macro_rules! begin {
    ($stages:ident, $ring:ident, $t:ident, $readers:expr) => {
        $crate::hopper::gemm::ring::begin!($stages, $ring, $t, $readers, 1);
        simt::grid::dependency_wait();
    };
    ($stages:ident, $ring:ident, $t:ident, $readers:expr, $cluster:expr) => {
        if $t == 0 {
            for stage in 0..$ring {
                $stages.full.init(stage, 1);
                $stages.empty.init(stage, $readers);
            }
            simt::mbarrier::fence_mbarrier_init();
        }
        if $cluster > 1 {
            simt::cluster::cluster_sync();
        } else {
            simt::prelude::sync_threads();
        }
        simt::grid::launch_dependents();
    };
}
pub(in crate::hopper) use begin;

/// The stage that comes next, and the parity of the phase to wait for there.
#[derive(Clone, Copy, Debug)]
pub struct Turn<const STAGES: u32> {
    stage: u32,
    /// Of its mbarrier's phase.
    pub parity: u32,
}

impl<const STAGES: u32> Turn<STAGES> {
    /// The first stage of who waits for stages to be full.
    pub const FULL: Self = Self { stage: 0, parity: 0 };
    /// The first stage of who waits for stages to be empty, which they are at first.
    pub const EMPTY: Self = Self { stage: 0, parity: 1 };

    /// That of who waits for stages to be full and has had so many.
    #[inline(always)]
    #[must_use]
    pub const fn after(steps: u64) -> Self {
        Self { stage: (steps % STAGES as u64) as u32, parity: (steps / STAGES as u64 % 2) as u32 }
    }

    /// That of who is to wait for the stage `later` turns after this one, fewer than there are stages, to be empty, where this is of who
    /// waits for it to be full.
    ///
    /// ```
    /// use gpu::hopper::gemm::ring::Turn;
    /// let (mut full, mut empty) = (Turn::<3>::FULL, Turn::<3>::EMPTY);
    /// empty.advance();
    /// empty.advance();
    /// for _ in 0..7 {
    ///     let ahead = full.empty_after(2);
    ///     assert_eq!((ahead.stage(), ahead.parity), (empty.stage(), empty.parity));
    ///     full.advance();
    ///     empty.advance();
    /// }
    /// ```
    #[inline(always)]
    #[must_use]
    pub const fn empty_after(self, later: u32) -> Self {
        let stage = self.stage + later;
        if stage < STAGES {
            Self { stage, parity: self.parity ^ 1 }
        } else {
            Self { stage: stage - STAGES, parity: self.parity }
        }
    }

    /// The stage. (The minimum tells the compiler that it is one, so that no access to it needs a check of its own.)
    #[inline(always)]
    pub const fn stage(self) -> u32 {
        if self.stage < STAGES { self.stage } else { STAGES - 1 }
    }

    /// Goes on to the next stage.
    #[inline(always)]
    pub const fn advance(&mut self) {
        self.stage += 1;
        if self.stage >= STAGES {
            self.stage = 0;
            self.parity ^= 1;
        }
    }
}

//! A ring of stages: where a producer or a consumer is.

/// Stage and the parity to wait for.
#[derive(Clone, Copy)]
pub struct Place<const STAGES: u32> {
    /// The stage.
    pub stage: u32,
    /// Of the phase to wait for.
    pub parity: u32,
}

impl<const STAGES: u32> Place<STAGES> {
    /// The first stage.
    #[inline(always)]
    pub fn first(parity: u32) -> Self {
        Self { stage: 0, parity }
    }

    /// The next stage.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.stage += 1;
        if self.stage >= STAGES {
            self.stage = 0;
            self.parity ^= 1;
        }
    }
}

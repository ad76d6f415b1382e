//! Figures of the teaching texts, computed by the simulator's counters.

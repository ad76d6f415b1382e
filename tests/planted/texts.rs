//! What the reports say.

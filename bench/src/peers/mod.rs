//! The libraries that the benchmark compares with, found at run time: typed bindings of the few functions it calls.
//!
//! Nothing here is needed to build or to run the rest: a library that is missing is reported by name, with how to get
//! it ([`Missing`]), and its measurements are left out. All of them work in the device's primary context, which
//! `warpwright` makes current on the calling thread, and on the raw handle of a `warpwright` stream.

pub mod cub;
pub mod cublas;
pub mod cublaslt;
pub mod driver;
mod library;
pub mod nvml;

pub use library::{Missing, Status};

use cub::Cub;
use cublas::Cublas;
use cublaslt::CublasLt;

/// What of the libraries there is.
pub struct Peers {
    /// cuBLAS.
    pub cublas: Result<Cublas, Missing>,
    /// cuBLASLt.
    pub cublaslt: Result<CublasLt, Missing>,
    /// CUB.
    pub cub: Result<Cub, Missing>,
}

impl Peers {
    /// Loads the libraries that are installed.
    pub fn load() -> Self {
        Self { cublas: Cublas::load(), cublaslt: CublasLt::load(), cub: Cub::load() }
    }

    /// No library at all, as where there is no GPU.
    pub fn none() -> Self {
        let missing = |name| Missing { name, tried: vec!["not asked for".into()], remedy: "ask for it" };
        Self { cublas: Err(missing("cuBLAS")), cublaslt: Err(missing("cuBLASLt")), cub: Err(missing("CUB")) }
    }

    /// The libraries that are not there.
    pub fn missing(&self) -> impl Iterator<Item = &Missing> {
        [self.cublas.as_ref().err(), self.cublaslt.as_ref().err(), self.cub.as_ref().err()].into_iter().flatten()
    }

    /// Name and version of those that are.
    pub fn versions(&self) -> Vec<String> {
        let mut versions = Vec::new();
        versions.extend(self.cublas.as_ref().ok().map(|library| format!("cuBLAS {}", library.version())));
        versions.extend(self.cublaslt.as_ref().ok().map(|library| format!("cuBLASLt {}", library.version())));
        versions.extend(self.cub.as_ref().ok().map(|library| format!("CUB {}", library.version())));
        versions
    }
}

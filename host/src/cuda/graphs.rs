//! The graphs as which a stream launches kernels.

use std::mem;
use std::sync::Arc;

use smallvec::SmallVec;

use super::capture::Relaxed;
use super::driver::{self, Failure, KernelGraph, MOST_KERNELS};
use super::loaded_module::Module;

/// Launches after which a stream has a graph for the next ones: to make one takes the time of a dozen launches.
pub(super) const FEW_LAUNCHES: u32 = 8;

/// Most graphs of a stream for launches of one kind. Work that is repeated in so many sets of buffers, or fewer, is
/// launched by graphs that have its parameters already.
pub(super) const MOST_GRAPHS: usize = 8;

/// The graphs of a stream for launches of one kernel, or for those of two.
pub(super) struct Graphs {
    kept: Vec<Kept>,
    /// How many there may be: none if the driver has none, or if they are not wanted.
    most: usize,
    /// Launches, since the last graph was made, of which none had the parameters.
    others: u32,
    /// Launches as a graph.
    launched: u64,
}

/// A graph, which refers to the kernels of these modules: for each node the first one and the last one that it
/// launched.
struct Kept {
    graph: KernelGraph,
    modules: SmallVec<[[Arc<Module>; 2]; MOST_KERNELS]>,
    /// The number of its last launch.
    last: u64,
}

impl Graphs {
    pub(super) fn new() -> Self {
        let most = if driver::graphs_are_wanted() { MOST_GRAPHS } else { 0 };
        Self { kept: Vec::new(), most, others: 0, launched: 0 }
    }

    /// Whether a launch is to be one of a graph: not at the beginning, and never where there are none.
    pub(super) fn take_part(&mut self) -> bool {
        let is_early = self.kept.is_empty() && self.others < FEW_LAUNCHES;
        self.others += u32::from(is_early);
        !is_early && self.most > 0
    }

    /// Launches the kernels as a graph: one that has their parameters, or else a new one, when it is time, or that
    /// which was launched least recently.
    ///
    /// # Safety
    /// The contract of [`driver::launch`] for each launch, whose types are those of its arguments. The context is
    /// current and always the same, and the stream is not being captured. `modules` are those of the kernels, of which
    /// those at one place always have clusters as large; graphs keep them, but must not be the last to do so.
    pub(super) unsafe fn launch(
        &mut self,
        launches: &[&driver::Launch],
        modules: &[&Arc<Module>],
    ) -> Result<(), Failure> {
        self.launched += 1;
        let number = self.launched;
        // SAFETY: the caller's promise.
        let known = self.kept.iter().position(|kept| unsafe { kept.graph.is(launches) });
        let kept = if let Some(index) = known {
            &mut self.kept[index]
        } else if self.others >= FEW_LAUNCHES && self.kept.len() < self.most {
            // SAFETY: as above.
            unsafe { self.make(launches, modules) }?
        } else {
            self.others = self.others.saturating_add(1);
            let Some(kept) = self.kept.iter_mut().min_by_key(|kept| kept.last) else {
                unreachable!("the first launch here makes a graph")
            };
            for ([_, last], &module) in kept.modules.iter_mut().zip(modules) {
                if !Arc::ptr_eq(last, module) {
                    *last = Arc::clone(module);
                }
            }
            // SAFETY: as above.
            unsafe { kept.graph.set(launches) }?;
            kept
        };
        // SAFETY: as above.
        unsafe { kept.graph.launch(launches[0].stream) }?;
        kept.last = number;
        Ok(())
    }

    /// A graph for these launches. If the driver does not make it, there will be no more than there are.
    ///
    /// # Safety
    /// That of [`Self::launch`].
    unsafe fn make(&mut self, launches: &[&driver::Launch], modules: &[&Arc<Module>]) -> Result<&mut Kept, Failure> {
        let most = mem::replace(&mut self.most, self.kept.len());
        // Another stream may be being captured, which forbids what may allocate memory.
        let _making = Relaxed::begin()?;
        // SAFETY: the caller's promise.
        let graph = unsafe { KernelGraph::new(launches) }?;
        (self.most, self.others) = (most, 0);
        let modules = modules.iter().map(|&module| [module, module].map(Arc::clone)).collect();
        self.kept.push(Kept { graph, modules, last: 0 });
        let newest = self.kept.len() - 1;
        Ok(&mut self.kept[newest])
    }

    /// Destroys the graphs; launches that are queued are done all the same.
    ///
    /// # Safety
    /// The context is that of the launches.
    pub(super) unsafe fn destroy(&mut self) {
        self.most = 0;
        for mut kept in self.kept.drain(..) {
            // SAFETY: the caller's promise; the graph is used no more.
            unsafe { kept.graph.destroy() };
        }
    }
}

//! The graphs on which the kernels run.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::path::Path;

/// A graph: for each vertex its first edge, and one more; the vertices at which the edges end.
pub struct Graph {
    /// Its name in the suite.
    pub name: String,
    pub(super) index: Vec<u32>,
    pub(super) neighbours: Vec<u32>,
}

impl Graph {
    /// Distinct edges by vertex.
    fn new(name: &str, vertices: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_unstable();
        let index = (0..=vertices).map(|i| edges.partition_point(|&(from, _)| from < i) as u32).collect();
        Self { name: name.to_owned(), index, neighbours: edges.into_iter().map(|(_, to)| to).collect() }
    }

    /// So many distinct edges of `edge`.
    fn random(name: &str, vertices: u32, edges: usize, mut edge: impl FnMut(&mut StdRng) -> (u32, u32)) -> Self {
        let (mut random, mut found) = (StdRng::seed_from_u64(edges as u64), std::collections::BTreeSet::new());
        while found.len() < edges {
            let (from, to) = edge(&mut random);
            if from != to {
                found.insert((from, to));
            }
        }
        Self::new(name, vertices, found)
    }

    /// Edges from the vertices of a random order to earlier ones.
    fn acyclic(name: &str, vertices: u32, edges: usize, reverse: bool) -> Self {
        let order = |v: u32| (u64::from(v) * 77 + 31) % u64::from(vertices);
        Self::random(name, vertices, edges, |random| {
            let (a, b) = (random.random_range(0..vertices), random.random_range(0..vertices));
            if (order(a) > order(b)) == reverse { (b, a) } else { (a, b) }
        })
    }

    /// A graph of the suite's files: vertices, edges, index, neighbours.
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("a readable graph");
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let vertices = words[0] as usize;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, index: words[2..3 + vertices].to_vec(), neighbours: words[3 + vertices..].to_vec() }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.index.len() - 1
    }
}

/// The six graphs of the suite, if `WARPWRIGHT_INDIGO` names the folder with its files (`*.egr`); otherwise graphs of
/// the same sizes and kinds.
///
/// # Panics
/// If such a file cannot be read.
pub fn graphs() -> Vec<Graph> {
    if let Some(folder) = std::env::var_os("WARPWRIGHT_INDIGO") {
        let files = std::fs::read_dir(folder).expect("the folder of WARPWRIGHT_INDIGO");
        let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
        paths.sort();
        return paths
            .iter()
            .filter(|path| path.extension().is_some_and(|it| it == "egr"))
            .map(|p| Graph::read(p))
            .collect();
    }
    vec![
        Graph::acyclic("DAG_100n_200e", 100, 200, false),
        Graph::acyclic("DAG_200n_400e", 200, 400, false),
        Graph::new("DAG_5n_5e", 5, [(1, 0), (2, 0), (2, 1), (3, 1), (4, 1)]),
        Graph::acyclic("counterDAG_200n_1000e", 200, 1000, true),
        Graph::new("counterDAG_5n_5e", 5, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4)]),
        Graph::random("power_law_200n_1000e", 200, 1000, |random| {
            // No edges at the ends, as in the suite's.
            let mut skewed = || (198.0 * random.random::<f64>().powi(2)) as u32 + 1;
            (skewed(), skewed())
        }),
    ]
}

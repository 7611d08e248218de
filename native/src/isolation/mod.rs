//! Isolation: the smallest cycle of each kind among the dependencies of transactions, for `storeproof.check.isolation`.

mod graph;
mod search;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use graph::{Graph, ORDER, RW, RW_BY_PREDICATE, Step, WR, WW};
use search::{Cycle, KINDS};

const ORDERS: [&str; 3] = ["item", "process", "realtime"];

/// The kinds of edges, as numbers from 0.
const EDGES: [u8; 5] = [WW, WR, RW, RW_BY_PREDICATE, ORDER];

/// Source, target, kind.
type Dependency = (u32, u32, u8);

/// (kind, order, cycle, with whom the first of any size was complete).
type Found = (&'static str, &'static str, Cycle, u32);

fn graph_of(order: &str, times: &[(u64, Option<u64>)], dependencies: &[Dependency]) -> Graph {
    let mut edges = Vec::with_capacity(dependencies.len());
    for (index, (source, target, kind)) in dependencies.iter().enumerate() {
        let kind = EDGES[*kind as usize];
        if kind != ORDER || order == "process" {
            edges.push((2 * source, Step { to: 2 * target, kind, edge: index as u32 }));
        }
    }
    if order == "realtime" {
        let ends: Vec<u64> = times.iter().map(|(invoked, completed)| completed.unwrap_or(*invoked)).collect();
        let mut lead = |from: usize, to: usize| edges.push((from as u32, Step { to: to as u32, kind: ORDER, edge: u32::MAX }));
        for (place, (invoked, completed)) in times.iter().enumerate() {
            if completed.is_some() {
                lead(2 * place, 2 * place + 1);
            }
            if place > 0 {
                lead(2 * place - 1, 2 * place + 1);
            }
            let before = ends.partition_point(|end| end < invoked);
            if before > 0 {
                lead(2 * before - 1, 2 * place);
            }
        }
    }
    Graph::new(2 * times.len(), edges)
}

fn search(times: &[(u64, Option<u64>)], dependencies: &[Dependency]) -> Vec<Found> {
    let graphs = ORDERS.map(|order| graph_of(order, times, dependencies));
    let mut found: Vec<(usize, usize, Cycle, u32)> = Vec::new();
    for (number, kind) in KINDS.iter().enumerate() {
        for (rank, graph) in graphs.iter().enumerate() {
            if found.iter().any(|(worse, weaker, ..)| kind.follows_from(&KINDS[*worse]) && *weaker <= rank) {
                break;
            }
            if let Some((cycle, seen)) = kind.first(graph) {
                found.push((number, rank, cycle, seen));
                break;
            }
        }
    }
    found.into_iter().map(|(number, rank, cycle, seen)| (KINDS[number].name, ORDERS[rank], cycle, seen)).collect()
}

/// The smallest cycle of each kind, in the weakest order that has one.
#[pyfunction]
#[pyo3(signature = (times, dependencies))]
fn smallest_cycles(py: Python<'_>, times: Vec<(u64, Option<u64>)>, dependencies: Vec<Dependency>) -> PyResult<Vec<Found>> {
    if !times.is_sorted_by_key(|(invoked, completed)| completed.unwrap_or(*invoked)) {
        return Err(PyValueError::new_err("transactions are given in the order of completion"));
    }
    let size = times.len();
    let wrong = |(source, target, kind): &&Dependency| {
        source == target || *source as usize >= size || *target as usize >= size || *kind as usize >= EDGES.len()
    };
    if let Some((source, target, kind)) = dependencies.iter().find(wrong) {
        return Err(PyValueError::new_err(format!("no dependency of two among {size} transactions: {source} to {target}, kind {kind}")));
    }
    Ok(py.detach(|| search(&times, &dependencies)))
}

/// Adds this part to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(smallest_cycles, module)?)
}

//! The smallest cycle of one kind.

use std::collections::VecDeque;

use crate::isolation::graph::{Graph, ORDER, RW, RW_BY_PREDICATE, Rule, State, Step, WR, WW, node};

/// Edges of a cycle by the names of their ends; None is an edge of real time.
pub type Cycle = Vec<(u32, u32, Option<u32>)>;

/// No transaction depends on itself.
const SMALLEST: usize = 2;

/// A cycle of a kind begins with an edge of certain kinds, or two `rw`; a way from there back to its beginning closes it.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    begins: u8,
    twice: bool,
    back: Rule,
    /// A walk that takes any such cycle.
    round: Rule,
}

const fn by(uses: u8) -> Rule {
    Rule { uses: uses | ORDER, alternates: false }
}

const ALTERNATING: Rule = Rule { uses: WW | WR | RW | RW_BY_PREDICATE | ORDER, alternates: true };
const BY_ITEMS: Rule = by(WW | WR | RW);
const BY_ANY: Rule = by(WW | WR | RW | RW_BY_PREDICATE);

/// The worst first.
pub const KINDS: [Kind; 6] = [
    Kind { name: "G0", begins: WW, twice: false, back: by(WW), round: by(WW) },
    Kind { name: "G1c", begins: WR, twice: false, back: by(WW | WR), round: by(WW | WR) },
    Kind { name: "G-single", begins: RW | RW_BY_PREDICATE, twice: false, back: by(WW | WR), round: ALTERNATING },
    Kind { name: "G-nonadjacent", begins: RW | RW_BY_PREDICATE, twice: false, back: ALTERNATING, round: ALTERNATING },
    Kind { name: "G2-item", begins: RW, twice: true, back: BY_ITEMS, round: BY_ITEMS },
    Kind { name: "G2", begins: RW | RW_BY_PREDICATE, twice: true, back: BY_ANY, round: BY_ANY },
];

impl Kind {
    /// Whether it says no more than this other kind, which is worse.
    pub fn follows_from(&self, other: &Kind) -> bool {
        match self.name {
            "G-nonadjacent" => ["G0", "G1c", "G-single"].contains(&other.name),
            "G2" => other.name == "G2-item",
            _ => false,
        }
    }

    /// Of the smallest cycles the first to complete, and the transaction with which the first cycle of any size was complete.
    pub fn first(&self, graph: &Graph) -> Option<(Cycle, u32)> {
        let graph = graph.on_cycles(self.round);
        let size = self.smallest(&graph, usize::MAX)?.len();
        let until = |end: usize, most: usize| self.smallest(&graph.restricted(|node| node < end), most);
        let seen = earliest(0, graph.names.len(), |end| until(end, usize::MAX).is_some());
        let complete = earliest(seen - 1, graph.names.len(), |end| until(end, size).is_some());
        Some((until(complete, size)?, graph.names[seen - 1] / 2))
    }

    /// One of the smallest cycles, if it has at most that many edges.
    fn smallest(&self, graph: &Graph, most: usize) -> Option<Cycle> {
        let graph = &graph.on_cycles(self.round);
        let mut search = Search::new(graph, self.back);
        let mut best: Option<Cycle> = None;
        for from in (0..graph.names.len()).filter(|from| !graph.is_moment(*from)) {
            for first in graph.steps(from).iter().filter(|step| step.kind & self.begins != 0) {
                let second = if self.twice { graph.steps(first.to as usize) } else { &[] };
                let second = second.iter().filter(|step| step.kind & self.begins != 0).map(Some);
                for second in second.chain((!self.twice).then_some(None)) {
                    let longest = best.as_ref().map_or(most, |cycle| cycle.len() - 1);
                    if longest < SMALLEST {
                        return best;
                    }
                    best = search.close(from, first, second, longest).or(best);
                }
            }
        }
        best
    }
}

/// The least end above `after` for which this holds, as it does for all from there to `last`; it looks near `after` first.
fn earliest(after: usize, last: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (after, 64);
    let mut high = loop {
        let next = last.min(low + step);
        if next == last || holds(next) {
            break next;
        }
        (low, step) = (next, 2 * step);
    };
    while low + 1 < high {
        let middle = low.midpoint(high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

struct Search<'a> {
    graph: &'a Graph,
    back: Rule,
    components: Vec<u32>,
    /// The search that last came to a state; from where; and by which edge, if not by moments.
    came: Vec<(u32, State, Option<u32>)>,
    number: u32,
    queue: VecDeque<(State, usize)>,
    moments: Vec<State>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, back: Rule) -> Self {
        Search {
            graph,
            back,
            components: graph.components(back),
            came: vec![(0, 0, None); 2 * graph.names.len()],
            number: 0,
            queue: VecDeque::new(),
            moments: Vec::new(),
        }
    }

    /// The smallest cycle that begins with this step, or these two, if it has at most `longest` edges.
    fn close(&mut self, from: usize, first: &Step, second: Option<&Step>, longest: usize) -> Option<Cycle> {
        let last = second.unwrap_or(first);
        let avoided = second.map(|_| first.to as usize);
        let (goal, begin) = (2 * from, 2 * last.to as usize + usize::from(self.back.alternates));
        let begun = [Some((from, first)), second.map(|step| (first.to as usize, step))].into_iter().flatten();
        let begun = begun.map(|(source, step)| self.named(source, step.to as usize, Some(step.edge)));
        let mut cycle: Cycle = begun.collect();
        if begin == goal {
            return Some(cycle);
        }
        if self.components[begin] < self.components[goal] {
            return None;
        }
        self.number += 1;
        self.came[begin] = (self.number, begin, None);
        self.queue.clear();
        self.queue.push_back((begin, cycle.len()));
        while let Some((state, length)) = self.queue.pop_front() {
            if length == longest {
                return None;
            }
            if self.expand(state, length + 1, goal, avoided) {
                let kept = cycle.len();
                let mut at = goal;
                while at != begin {
                    let (_, before, edge) = self.came[at];
                    cycle.push(self.named(node(before), node(at), edge));
                    at = before;
                }
                cycle[kept..].reverse();
                return Some(cycle);
            }
        }
        None
    }

    fn named(&self, from: usize, to: usize, edge: Option<u32>) -> (u32, u32, Option<u32>) {
        (self.graph.names[from] / 2, self.graph.names[to] / 2, edge)
    }

    /// Enters all that is one edge away, over any number of moments; whether that is the goal.
    fn expand(&mut self, state: State, length: usize, goal: State, avoided: Option<usize>) -> bool {
        self.moments.push(state);
        while let Some(at) = self.moments.pop() {
            for step in self.graph.steps(node(at)) {
                let Some(to) = self.graph.take(self.back, at, step) else { continue };
                let entered = self.came[to].0 == self.number || self.components[to] < self.components[goal];
                if entered || Some(node(to)) == avoided {
                    continue;
                }
                self.came[to] = (self.number, state, (at == state).then_some(step.edge));
                if to == goal {
                    self.moments.clear();
                    return true;
                }
                if self.graph.is_moment(node(to)) {
                    self.moments.push(to);
                } else {
                    self.queue.push_back((to, length));
                }
            }
        }
        false
    }
}

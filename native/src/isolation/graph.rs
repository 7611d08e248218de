//! A graph of transactions and moments, and which of its nodes are on cycles.
//!
//! Real time needs no edge for each pair of transactions: a transaction leads to the moment at which it completed, a moment to the next one,
//! and the last moment before a transaction was invoked to that transaction. Node 2n is the n-th transaction in the order of completion,
//! node 2n + 1 the moment at which it completed.

pub const WW: u8 = 1;
pub const WR: u8 = 2;
pub const RW: u8 = 4;
pub const RW_BY_PREDICATE: u8 = 8;
/// Of a client, or of real time: a graph has one of them at most.
pub const ORDER: u8 = 16;

const ANY_RW: u8 = RW | RW_BY_PREDICATE;

/// Which edges a walk takes.
#[derive(Clone, Copy)]
pub struct Rule {
    pub uses: u8,
    /// No two `rw` follow each other.
    pub alternates: bool,
}

/// An edge, in the list of the node where it begins.
#[derive(Clone, Copy)]
pub struct Step {
    pub to: u32,
    pub kind: u8,
    /// Its index in the list that was given; of no use where a moment is an end of it.
    pub edge: u32,
}

/// Nodes are numbered from 0 in the order of time; `names` has the numbers that they had in the whole graph.
pub struct Graph {
    pub names: Vec<u32>,
    begins: Vec<u32>,
    steps: Vec<Step>,
}

/// Twice the node, and 1 where a walk that alternates came by `rw`.
pub type State = usize;

pub fn node(state: State) -> usize {
    state / 2
}

impl Graph {
    /// The whole graph: `edges` are (source, target, kind, index) by names.
    pub fn new(size: usize, mut edges: Vec<(u32, Step)>) -> Self {
        edges.sort_by_key(|(from, _)| *from);
        let mut begins = vec![0; size + 1];
        for (from, _) in &edges {
            begins[*from as usize + 1] += 1;
        }
        for place in 0..size {
            begins[place + 1] += begins[place];
        }
        Graph { names: (0..size as u32).collect(), begins, steps: edges.into_iter().map(|(_, step)| step).collect() }
    }

    pub fn is_moment(&self, node: usize) -> bool {
        self.names[node] % 2 == 1
    }

    pub fn steps(&self, node: usize) -> &[Step] {
        &self.steps[self.begins[node] as usize..self.begins[node + 1] as usize]
    }

    /// Where this step leads by a rule.
    pub fn take(&self, rule: Rule, state: State, step: &Step) -> Option<State> {
        let by_rw = step.kind & ANY_RW != 0;
        if step.kind & rule.uses == 0 || (by_rw && state % 2 == 1) {
            return None;
        }
        Some(2 * step.to as usize + usize::from(by_rw && rule.alternates))
    }

    /// The same with only these nodes, and the edges between them.
    pub fn restricted(&self, kept: impl Fn(usize) -> bool) -> Self {
        let mut numbers = vec![u32::MAX; self.names.len()];
        let mut names = Vec::new();
        for (place, name) in self.names.iter().enumerate() {
            if kept(place) {
                numbers[place] = names.len() as u32;
                names.push(*name);
            }
        }
        let (mut begins, mut steps) = (Vec::with_capacity(names.len() + 1), Vec::new());
        begins.push(0);
        for place in (0..self.names.len()).filter(|place| numbers[*place] != u32::MAX) {
            let kept = self.steps(place).iter().map(|step| Step { to: numbers[step.to as usize], ..*step });
            steps.extend(kept.filter(|step| step.to != u32::MAX));
            begins.push(steps.len() as u32);
        }
        Graph { names, begins, steps }
    }

    /// The same without nodes that are on no cycle by this rule.
    pub fn on_cycles(&self, rule: Rule) -> Self {
        let components = self.components(rule);
        let mut sizes = vec![0u32; components.len()];
        for component in components.iter().filter(|component| **component != u32::MAX) {
            sizes[*component as usize] += 1;
        }
        let on_one = |state: State| components[state] != u32::MAX && sizes[components[state] as usize] > 1;
        self.restricted(|node| on_one(2 * node) || on_one(2 * node + 1))
    }

    /// The strongly connected component of each state (Tarjan, 1972): no walk leads to one of a higher number.
    ///
    /// It begins with the latest nodes, from which little is left to reach; so the numbers go against time as far as the edges go with it.
    pub fn components(&self, rule: Rule) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let states = 2 * self.names.len();
        let (mut found, mut lowest, mut component) = (vec![NONE; states], vec![NONE; states], vec![NONE; states]);
        let (mut counted, mut components) = (0, 0);
        let mut open: Vec<State> = Vec::new();
        let mut path: Vec<(State, usize)> = Vec::new();
        for root in (0..states).step_by(2).rev() {
            if found[root] != NONE {
                continue;
            }
            path.push((root, 0));
            while let Some((state, taken)) = path.last_mut() {
                let state = *state;
                if *taken == 0 {
                    found[state] = counted;
                    lowest[state] = counted;
                    counted += 1;
                    open.push(state);
                }
                let steps = &self.steps(node(state))[*taken..];
                let next = steps.iter().enumerate().find_map(|(place, step)| {
                    let to = self.take(rule, state, step)?;
                    if found[to] == NONE {
                        return Some((place, to));
                    }
                    if component[to] == NONE {
                        lowest[state] = lowest[state].min(found[to]);
                    }
                    None
                });
                if let Some((place, to)) = next {
                    *taken += place + 1;
                    path.push((to, 0));
                    continue;
                }
                path.pop();
                if let Some((before, _)) = path.last() {
                    lowest[*before] = lowest[*before].min(lowest[state]);
                }
                if lowest[state] == found[state] {
                    while let Some(member) = open.pop() {
                        component[member] = components;
                        if member == state {
                            break;
                        }
                    }
                    components += 1;
                }
            }
        }
        component
    }
}

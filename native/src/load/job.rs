//! A job, as `storeproof.load.wire.request` defines it, and why one is refused.

use std::collections::HashSet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::load::frame::{Framer, HEAD};

/// Clients that the four digits of a write id have room for.
const CLIENTS: usize = 9_998;

const KEYS: [&str; 10] = ["new", "uniform", "oldest", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential", "none"];

/// What decides which template a request is made of.
const FORMS: [&str; 3] = ["key", "chance", "record"];

#[derive(FromPyObject)]
pub struct Slot {
    pub offset: usize,
    pub width: usize,
    pub kind: String,
    pub item: usize,
    pub shift: u64,
}

#[derive(FromPyObject)]
pub struct Template {
    pub request: Vec<u8>,
    pub slots: Vec<Slot>,
    pub below: u64,
    pub id_reply: Option<(usize, usize, String)>,
}

#[derive(FromPyObject)]
pub struct Op {
    pub name: String,
    pub weight: u32,
    pub templates: Vec<Template>,
    pub form: String,
    pub keys: String,
    pub distinct: f64,
    pub batch: usize,
    pub writes: bool,
    pub hit: Vec<i64>,
    pub miss: Vec<i64>,
    pub frames: u32,
    pub then: Option<usize>,
}

#[derive(FromPyObject)]
pub struct Patch {
    pub op: usize,
    pub template: usize,
    pub offset: usize,
    pub data: Vec<u8>,
}

#[derive(FromPyObject)]
pub struct Job {
    pub sockets: Vec<i32>,
    pub clients: Vec<usize>,
    pub protocol: String,
    pub ops: Vec<Op>,
    pub filler: Vec<u8>,
    pub mask: u64,
    pub key_prefix: Vec<u8>,
    pub key_digits: usize,
    pub key_hashed: bool,
    pub known: u64,
    pub positions: Vec<u64>,
    pub removed: Vec<u64>,
    pub indeterminate: HashSet<u64>,
    pub sequence: u64,
    pub seed: u64,
    pub start_ns: u64,
    pub seconds: f64,
    pub patience: f64,
    pub pipeline: usize,
    pub rate: f64,
    pub poisson: bool,
    pub threads: usize,
    pub limit: u64,
    pub log: bool,
    pub theta: f64,
    pub patches: Vec<Vec<Patch>>,
}

/// What is wrong with a job, if anything is.
type Check = Result<(), String>;

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(otherwise()) }
}

impl Job {
    /// Counts of keys that were left out are none; a job that cannot be carried out is refused. No thread is without a connection: its share
    /// of an open loop's requests, or of the limit, would never be sent.
    pub fn validated(mut self) -> PyResult<Self> {
        if self.clients.is_empty() {
            self.clients = (0..self.sockets.len()).collect();
        }
        for counts in [&mut self.positions, &mut self.removed] {
            if counts.is_empty() {
                counts.resize(self.sockets.len(), 0);
            }
        }
        self.check().map_err(PyValueError::new_err)?;
        self.threads = self.threads.min(self.sockets.len());
        Ok(self)
    }

    fn check(&self) -> Check {
        let (here, clients) = (self.sockets.len(), self.positions.len());
        let bearable = |seconds: f64| (0.0..=1e6).contains(&seconds); // false where it is not a number
        ensure((1..=CLIENTS).contains(&here), || format!("from 1 to {CLIENTS} clients, found {here}"))?;
        let numbers: HashSet<usize> = self.clients.iter().copied().collect();
        let numbered = self.clients.len() == here && numbers.len() == here && numbers.iter().all(|number| *number < clients);
        ensure(clients <= CLIENTS && numbered, || {
            "each socket has the number of its client, of all those whose new keys are counted".into()
        })?;
        ensure(Framer::new(&self.protocol).is_some(), || format!("no such protocol: {}", self.protocol))?;
        ensure(self.removed.len() == clients, || "new keys are counted for each client".into())?;
        ensure(self.patches.is_empty() || self.patches.len() == here, || "patches are for each client, or for none".into())?;
        ensure(bearable(self.seconds) && bearable(self.patience), || "seconds and patience are at most a million".into())?;
        ensure((1..=1024).contains(&self.pipeline), || format!("from 1 to 1024 requests in flight, found {}", self.pipeline))?;
        ensure(self.rate.is_finite() && self.rate >= 0.0, || format!("no rate: {}", self.rate))?;
        ensure((1..=64).contains(&self.threads), || format!("from 1 to 64 threads, found {}", self.threads))?;
        ensure(self.filler.len() as u64 == 2 * (self.mask + 1), || "the filler is its block twice".into())?;
        ensure(self.key_prefix.len() <= 32 && self.key_digits <= 20, || "a key of at most 32 characters and 20 digits".into())?;
        ensure(self.ops.iter().any(|op| op.weight > 0), || "no operation has any weight".into())?;
        for op in &self.ops {
            self.check_op(op).map_err(|wrong| format!("{}: {wrong}", op.name))?;
        }
        self.patches.iter().flatten().try_for_each(|patch| self.check_patch(patch))
    }

    fn check_op(&self, op: &Op) -> Check {
        let keys = op.keys.as_str();
        ensure(KEYS.contains(&keys), || format!("keys cannot be `{keys}`"))?;
        ensure(self.known > 0 || matches!(keys, "new" | "oldest" | "none"), || {
            "its keys are drawn from loaded records, and none were loaded".into()
        })?;
        let most_theta = match keys {
            "zipfian" | "latest" => 1.0,
            "zipf" => 100.0,
            _ => f64::INFINITY,
        };
        let drawable = most_theta.is_infinite() || (self.theta > 0.0 && self.theta < most_theta);
        ensure(drawable, || format!("{keys} cannot be drawn with a constant of {}", self.theta))?;
        ensure(FORMS.contains(&op.form.as_str()) && (op.form != "record" || op.batch == 1), || {
            format!("of a batch of {}, templates cannot be chosen by `{}`", op.batch, op.form)
        })?;
        ensure((1..=100_000).contains(&op.batch) && op.frames > 0 && !op.templates.is_empty() && op.weight <= 1_000_000, || {
            "it has a batch, a reply and a template at least".into()
        })?;
        ensure(op.batch == 1 || op.templates.iter().all(|template| template.below == 0), || "keys of a batch have one width".into())?;
        ensure(op.then.is_none_or(|then| self.may_follow(op, then)), || {
            "what follows it has the same keys, no weight, and nothing that follows".into()
        })?;
        op.templates.iter().try_for_each(|template| check_template(template, op.batch))
    }

    /// Whether the operation at this place can be the second half of another one.
    fn may_follow(&self, op: &Op, place: usize) -> bool {
        let next = self.ops.get(place);
        next.is_some_and(|next| next.weight == 0 && next.then.is_none() && next.batch == op.batch && next.keys == op.keys)
    }

    fn check_patch(&self, patch: &Patch) -> Check {
        let request = self.ops.get(patch.op).and_then(|op| op.templates.get(patch.template)).map_or(0, |found| found.request.len());
        let fits = patch.offset.checked_add(patch.data.len()).is_some_and(|end| end <= request);
        ensure(fits, || format!("a patch at {} of operation {} is outside of its template", patch.offset, patch.op))
    }
}

fn check_template(template: &Template, batch: usize) -> Check {
    ensure(!template.request.is_empty(), || "a request of no bytes".into())?;
    if let Some((offset, width, order)) = &template.id_reply {
        let readable = (1..=8).contains(width) && offset.saturating_add(*width) <= HEAD && matches!(order.as_str(), "le" | "be");
        ensure(readable, || format!("the id of a reply cannot be {width} bytes at {offset}, {order}"))?;
    }
    let mut slots: Vec<&Slot> = template.slots.iter().collect();
    slots.sort_by_key(|slot| slot.offset);
    let mut free = 0;
    for Slot { offset, width, kind, item, .. } in slots {
        let wide = match kind.as_str() {
            "key" | "filler" => *width >= 1,
            "key-le" | "key-be" | "id-le" | "id-be" => (1..=8).contains(width),
            "write-id" => *width == 16,
            "write-id-hex" => *width == 32,
            "key-hex" | "filler-hex" => *width >= 2 && width % 2 == 0,
            _ => return Err(format!("no such slot: {kind}")),
        };
        let end = offset.saturating_add(*width);
        ensure(wide && *offset >= free && end <= template.request.len() && *item < batch, || {
            format!("a slot of {width} bytes at {offset} does not fit")
        })?;
        free = end;
    }
    Ok(())
}

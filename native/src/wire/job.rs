//! What a pump is told: `storeproof.load.wire.request`, read and found sound.

use std::collections::HashSet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::wire::frame::Framer;

/// Clients that the four digits of a stamp have room for.
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
    pub unsure: HashSet<u64>,
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

impl Job {
    /// Counts of keys that were left out are none; whatever else cannot be is refused.
    pub fn sound(mut self) -> PyResult<Self> {
        let clients = self.sockets.len();
        for counts in [&mut self.positions, &mut self.removed] {
            if counts.is_empty() {
                counts.resize(clients, 0);
            }
        }
        match self.flaw() {
            None => Ok(self),
            Some(flaw) => Err(PyValueError::new_err(flaw)),
        }
    }

    fn flaw(&self) -> Option<String> {
        let clients = self.sockets.len();
        let said = |wrong: bool, flaw: String| wrong.then_some(flaw);
        let positive = |seconds: f64| seconds.is_finite() && (0.0..=1e6).contains(&seconds);
        said(!(1..=CLIENTS).contains(&clients), format!("from 1 to {CLIENTS} clients, found {clients}"))
            .or_else(|| said(Framer::new(&self.protocol).is_none(), format!("no such protocol: {}", self.protocol)))
            .or_else(|| {
                said(self.positions.len() != clients || self.removed.len() != clients, "new keys are counted for each client".into())
            })
            .or_else(|| said(!self.patches.is_empty() && self.patches.len() != clients, "patches are for each client, or for none".into()))
            .or_else(|| said(!(positive(self.seconds) && positive(self.patience)), "seconds and patience are at most a million".into()))
            .or_else(|| said(!(1..=1024).contains(&self.pipeline), format!("from 1 to 1024 requests in flight, found {}", self.pipeline)))
            .or_else(|| said(!(self.rate.is_finite() && self.rate >= 0.0), format!("no rate: {}", self.rate)))
            .or_else(|| said(!(1..=64).contains(&self.threads), format!("from 1 to 64 threads, found {}", self.threads)))
            .or_else(|| said(self.filler.len() as u64 != 2 * (self.mask + 1), "the filler is its block twice".into()))
            .or_else(|| said(self.key_prefix.len() > 32 || self.key_digits > 20, "a key of at most 32 characters and 20 digits".into()))
            .or_else(|| said(self.ops.iter().all(|op| op.weight == 0), "no operation has any weight".into()))
            .or_else(|| self.ops.iter().find_map(|op| self.flaw_of(op).map(|flaw| format!("{}: {flaw}", op.name))))
            .or_else(|| self.patches.iter().flatten().find_map(|patch| self.flaw_of_patch(patch)))
    }

    fn flaw_of(&self, op: &Op) -> Option<String> {
        if !KEYS.contains(&op.keys.as_str()) {
            return Some(format!("keys cannot be `{}`", op.keys));
        }
        if self.known == 0 && !matches!(op.keys.as_str(), "new" | "oldest" | "none") {
            return Some("its keys are drawn from loaded records, and none were loaded".into());
        }
        if !(self.theta > 0.0 && self.theta < 1.0) && matches!(op.keys.as_str(), "zipfian" | "latest")
            || !(self.theta > 0.0 && self.theta < 100.0) && op.keys == "zipf"
        {
            return Some(format!("{} cannot be drawn with a constant of {}", op.keys, self.theta));
        }
        if !FORMS.contains(&op.form.as_str()) || op.form == "record" && op.batch != 1 {
            return Some(format!("of a batch of {}, templates cannot be chosen by `{}`", op.batch, op.form));
        }
        if !(1..=100_000).contains(&op.batch) || op.frames == 0 || op.templates.is_empty() || op.weight > 1_000_000 {
            return Some("it has a batch, a reply and a template at least".into());
        }
        if let Some(next) = op.then.map(|place| self.ops.get(place)) {
            // Asked about the same keys, and never for itself.
            if !next.is_some_and(|next| next.weight == 0 && next.then.is_none() && next.batch == op.batch && next.keys == op.keys) {
                return Some("what follows it has the same keys, no weight, and nothing that follows".into());
            }
        }
        op.templates.iter().find_map(|template| flaw_of_template(template, op.batch))
    }

    fn flaw_of_patch(&self, patch: &Patch) -> Option<String> {
        let request = self.ops.get(patch.op).and_then(|op| op.templates.get(patch.template)).map_or(0, |found| found.request.len());
        let fits = patch.offset.checked_add(patch.data.len()).is_some_and(|end| end <= request);
        (!fits).then(|| format!("a patch at {} of operation {} is outside of its template", patch.offset, patch.op))
    }
}

fn flaw_of_template(template: &Template, batch: usize) -> Option<String> {
    if template.request.is_empty() {
        return Some("a request of no bytes".into());
    }
    if let Some((offset, width, order)) = &template.id_reply {
        if !(1..=8).contains(width) || offset.saturating_add(*width) > crate::wire::pump::HEAD || !matches!(order.as_str(), "le" | "be") {
            return Some(format!("the id of a reply cannot be {width} bytes at {offset}, {order}"));
        }
    }
    template.slots.iter().find_map(|slot| {
        let fits = slot.offset.checked_add(slot.width).is_some_and(|end| end <= template.request.len());
        let width = match slot.kind.as_str() {
            "key" => slot.width >= 1,
            "key-le" | "key-be" | "id-le" | "id-be" => (1..=8).contains(&slot.width),
            "stamp" => slot.width == 16,
            "stamp-hex" => slot.width == 32,
            "filler" => true,
            "key-hex" | "filler-hex" => slot.width >= 2 && slot.width % 2 == 0,
            _ => return Some(format!("no such slot: {}", slot.kind)),
        };
        (!fits || !width || slot.item >= batch).then(|| format!("a slot of {} bytes at {} does not fit", slot.width, slot.offset))
    })
}

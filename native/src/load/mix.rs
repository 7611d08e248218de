//! The operations of a mix, as one thread carries them out.

use crate::dice::Dice;
use crate::load::distribution::{Draw, below};
use crate::load::job::{Job, Op};
use crate::load::keys::{Keys, OwnKeys};
use crate::load::template::{Author, Request, pick, place_of};

/// Draws in vain before a batch names a key twice.
const TRIES: u32 = 64;

enum Source {
    New,
    Oldest,
    None,
    Existing(Draw),
}

/// What decides which template a request is made of.
enum Form {
    Key,
    Chance,
    Record,
}

/// What a count means.
#[derive(Clone, Copy)]
pub enum Meaning {
    /// This many of the batch's records were there.
    Found(u64),
    /// No answer to what was asked.
    Malformed,
}

/// One operation.
pub struct Operation {
    pub requests: Vec<Request>,
    pub batch: usize,
    pub writes: bool,
    pub frames: u32,
    pub keys: usize,
    /// The operation that is asked about the same keys once this one was answered in full.
    pub then: Option<usize>,
    form: Form,
    distinct: f64,
    hit: Vec<i64>,
    miss: Vec<i64>,
    source: Source,
    /// Weights up to and with its own.
    weights: u64,
}

impl Operation {
    fn new(job: &Job, number: usize, op: &Op, weights: u64, thread: usize) -> Self {
        let source = match op.keys.as_str() {
            "new" => Source::New,
            "oldest" => Source::Oldest,
            keys => {
                Draw::new(keys, job.known, space(job), job.theta, thread as u64, job.threads as u64).map_or(Source::None, Source::Existing)
            }
        };
        Operation {
            requests: Request::all(job, number, op),
            batch: op.batch,
            writes: op.writes,
            frames: op.frames,
            keys: if matches!(source, Source::None) { 0 } else { op.batch },
            then: op.then,
            form: match op.form.as_str() {
                "chance" => Form::Chance,
                "record" => Form::Record,
                _ => Form::Key,
            },
            distinct: op.distinct,
            hit: op.hit.clone(),
            miss: op.miss.clone(),
            source,
            weights,
        }
    }

    /// What a reply with this count means.
    #[inline]
    pub fn meaning(&self, count: i64) -> Meaning {
        let batch = self.batch as u64;
        if self.hit.contains(&count) {
            Meaning::Found(batch)
        } else if self.miss.contains(&count) {
            Meaning::Found(u64::try_from(count).ok().filter(|found| *found < batch).unwrap_or(0))
        } else if self.hit.is_empty() {
            Meaning::Found(batch)
        } else {
            Meaning::Malformed
        }
    }

    /// Draws the keys of a request, as many as `into` has room for.
    #[inline]
    pub fn draw(&mut self, keys: &Keys<'_>, own: &mut OwnKeys, into: &mut [u64]) {
        for item in 0..into.len() {
            let mut key = self.draw_one(keys, own);
            // A write that names a key twice is one record, not two, and a read that does is answered with one by many stores.
            let mut tries = if self.batch > 1 { TRIES } else { 0 };
            while tries > 0 && into[..item].contains(&key) {
                key = self.draw_one(keys, own);
                tries -= 1;
            }
            into[item] = key;
        }
    }

    /// Which template a request about these keys is made of; None where there is none for them.
    #[inline]
    fn template(&self, job: &Job, author: Author, dice: &mut Dice, keys: &[u64]) -> Option<usize> {
        let forms = self.requests.len() as u64;
        match self.form {
            Form::Chance => Some(below(forms, dice) as usize),
            Form::Record => keys.first().map(|key| pick(place_of(job, *key, &author.write_id()), forms)),
            Form::Key => {
                let largest = keys.iter().copied().max().unwrap_or(0); // what holds it holds the others
                self.requests.iter().position(|request| request.is_for(largest))
            }
        }
    }

    /// A request about these keys; None where no template has room for them.
    #[inline]
    pub fn write(&mut self, job: &Job, author: Author, dice: &mut Dice, keys: &[u64]) -> Option<&[u8]> {
        let template = self.template(job, author, dice, keys)?;
        self.requests[template].write(job, author, keys)
    }

    fn draw_one(&mut self, keys: &Keys<'_>, own: &mut OwnKeys) -> u64 {
        match &mut self.source {
            Source::New => keys.new_or_earlier(own, self.distinct),
            Source::Oldest => keys.oldest(own),
            Source::Existing(draw) => keys.existing(draw, &mut own.dice),
            Source::None => 0,
        }
    }
}

/// All of a mix.
pub struct Mix {
    pub operations: Vec<Operation>,
    removes: bool,
    only_removes: bool,
    weights: u64,
}

impl Mix {
    pub fn new(job: &Job, thread: usize) -> Self {
        let mut weights = 0;
        let made = job.ops.iter().enumerate().map(|(number, op)| {
            weights += u64::from(op.weight);
            Operation::new(job, number, op, weights, thread)
        });
        let operations: Vec<Operation> = made.collect();
        let removing = |op: &&Op| op.keys == "oldest" && op.weight > 0;
        let weighty = job.ops.iter().filter(|op| op.weight > 0).count();
        let removers = job.ops.iter().filter(removing).count();
        Mix { operations, removes: removers > 0, only_removes: removers == weighty, weights }
    }

    /// Draws an operation by weight; one that removes only while there is something to remove. None: there is nothing to be done.
    #[inline]
    pub fn choose(&self, keys: &Keys<'_>, own: &mut OwnKeys) -> Option<usize> {
        let any_left = !self.removes || keys.any_left(own);
        if self.only_removes && !any_left {
            return None;
        }
        loop {
            let chosen = self.by_weight(&mut own.dice);
            if any_left || !matches!(self.operations[chosen].source, Source::Oldest) {
                return Some(chosen);
            }
        }
    }

    fn by_weight(&self, dice: &mut Dice) -> usize {
        if self.operations.len() == 1 {
            return 0;
        }
        let drawn = below(self.weights, dice);
        self.operations.iter().position(|op| drawn < op.weights).unwrap_or(0)
    }
}

/// Whether any operation draws keys that another one writes.
pub fn follows(job: &Job) -> bool {
    let any = |these: &[&str]| job.ops.iter().any(|op| op.weight > 0 && these.contains(&op.keys.as_str()));
    any(&["zipfian", "latest", "exponential"]) && (any(&["new", "oldest"]) || job.positions.iter().any(|position| *position > 0))
}

/// YCSB's key space of a Zipfian draw: the records, and twice those that are expected to be inserted. Without a limit of requests these are not
/// known, and it is the records alone.
fn space(job: &Job) -> u64 {
    let (mut all, mut new) = (0.0, 0.0);
    for op in &job.ops {
        all += f64::from(op.weight);
        new += if op.keys == "new" { f64::from(op.weight) * op.distinct } else { 0.0 };
    }
    job.known + (2.0 * job.limit as f64 * new / all) as u64
}

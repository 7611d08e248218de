//! Answers that wait for their time, and the thread that gives them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::prctl;

type Answer = Box<dyn FnOnce() + Send>;

struct Due {
    at: Instant,
    /// Of those that are due at one moment the first that was held is answered first.
    number: u64,
    answer: Answer,
}

impl Ord for Due {
    /// The greatest is taken from a heap first: the earliest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

#[derive(Default)]
struct Queue {
    waiting: BinaryHeap<Due>,
    held: u64,
    /// Nothing waits: neither what is held nor what comes.
    hurried: bool,
}

/// How long before its time an answer is watched for, and not slept for: a virtual machine is woken up to that much too late.
const WATCHED: Duration = Duration::from_micros(50);

#[derive(Clone, Default)]
pub struct Held(Arc<(Mutex<Queue>, Condvar)>);

impl Held {
    /// With a thread, which ends with the process.
    pub fn new(hurried: bool) -> Self {
        let held = Held::default();
        held.hurry(hurried);
        let own = held.clone();
        thread::spawn(move || own.answer_all());
        held
    }

    pub fn hurry(&self, hurried: bool) {
        self.queue().hurried = hurried;
        self.0.1.notify_one();
    }

    /// Give this answer then, or now if that is over.
    pub fn hold(&self, at: Instant, answer: impl FnOnce() + Send + 'static) {
        let mut queue = self.queue();
        if queue.hurried || at <= Instant::now() {
            drop(queue);
            return answer();
        }
        queue.held += 1;
        let number = queue.held;
        queue.waiting.push(Due { at, number, answer: Box::new(answer) });
        if queue.waiting.peek().is_some_and(|first| first.number == number) {
            self.0.1.notify_one();
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.0.lock().expect("no answer panics")
    }

    fn answer_all(&self) {
        // By default the kernel wakes a thread up to 50 µs later than it asked for.
        let _ = prctl::set_timerslack(1);
        let mut queue = self.queue();
        loop {
            let Some(first) = queue.waiting.peek() else {
                queue = self.0.1.wait(queue).expect("no answer panics");
                continue;
            };
            let left = if queue.hurried { Duration::ZERO } else { first.at.saturating_duration_since(Instant::now()) };
            if left > WATCHED {
                queue = self.0.1.wait_timeout(queue, left - WATCHED).expect("no answer panics").0;
            } else if left.is_zero() {
                let due = queue.waiting.pop().expect("it was seen");
                drop(queue);
                (due.answer)();
                queue = self.queue();
            } else {
                drop(queue);
                std::hint::spin_loop();
                queue = self.queue();
            }
        }
    }
}

//! Whether one order of the operations of a key explains every answer: linearizability, by `todc-utils`.
//!
//! The search may take longer than anyone waits, and it can neither be asked to stop nor told how much memory it may take. But it
//! asks the specification at every step, on the thread that it runs on: there it is ended, by unwinding.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History, ProcessId};
use todc_utils::specifications::Specification;

/// What a register holds where there is no record; also what a counter starts from.
const ABSENT: i64 = 0;

/// Operations of one history. The checker goes through all of them at every step: beyond this it is slow even where it need not search.
const MOST: usize = 1_000;

/// Bytes that the checker's memory of what it tried may take.
const MEMORY: usize = 1 << 29;

/// Steps between two looks at the clock.
const LOOK: u64 = 256;

/// What an operation does, and what it was answered; numbers stand for values.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Get { found: i64 },
    Put { value: i64 },
    CompareAndSet { expected: i64, value: i64, done: Option<bool> },
    PutIfAbsent { value: i64, done: Option<bool> },
    Delete { done: Option<bool> },
    Increment { by: i64, sum: Option<i64> },
}

impl Deed {
    /// A deed without an answer may have had any; a `get` without one says nothing and is not taken.
    fn from_python(action: &str, value: i64, expected: i64, answer: Option<i64>) -> PyResult<Self> {
        let done = answer.map(|found| found != 0);
        Ok(match (action, answer) {
            ("get", Some(found)) => Deed::Get { found },
            ("get", None) => return Err(PyValueError::new_err("a get without an answer says nothing: leave it out")),
            ("put", _) => Deed::Put { value },
            ("compare_and_set", _) => Deed::CompareAndSet { expected, value, done },
            ("put_if_absent", _) => Deed::PutIfAbsent { value, done },
            ("delete", _) => Deed::Delete { done },
            ("increment", sum) => Deed::Increment { by: value, sum },
            _ => return Err(PyValueError::new_err(format!("no action of a register or a counter: {action}"))),
        })
    }
}

/// A register with comparisons, and a counter: a number each.
struct Key;

impl Specification for Key {
    type State = i64;
    type Operation = Deed;

    fn init() -> i64 {
        ABSENT
    }

    fn apply(deed: &Deed, state: &i64) -> (bool, i64) {
        look_at_the_clock();
        let conditional =
            |happens: bool, value: i64, done: Option<bool>| (done.is_none_or(|said| said == happens), if happens { value } else { *state });
        match *deed {
            Deed::Get { found } => (found == *state, *state),
            Deed::Put { value } => (true, value),
            Deed::CompareAndSet { expected, value, done } => conditional(*state == expected, value, done),
            Deed::PutIfAbsent { value, done } => conditional(*state == ABSENT, value, done),
            Deed::Delete { done } => conditional(*state != ABSENT, ABSENT, done),
            Deed::Increment { by, sum } => {
                let total = state.wrapping_add(by);
                (sum.is_none_or(|said| said == total), total)
            }
        }
    }
}

/// Ends a search that goes on too long.
struct GaveUp;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static MOST_STEPS: Cell<u64> = const { Cell::new(u64::MAX) };
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn look_at_the_clock() {
    let step = STEPS.get() + 1;
    STEPS.set(step);
    let late = step.is_multiple_of(LOOK) && DEADLINE.get().is_some_and(|deadline| Instant::now() > deadline);
    if late || step > MOST_STEPS.get() {
        resume_unwind(Box::new(GaveUp)); // not `panic!`, which would be printed
    }
}

/// Calls and responses in the order of time. Of equal times the call comes first: only what is strictly later follows.
fn actions(operations: Vec<(Deed, u64, Option<u64>)>) -> Vec<(ProcessId, Action<Deed>)> {
    let mut moments = Vec::with_capacity(2 * operations.len());
    // A process of its own for every operation: one that never ended would else have to end before its client's next.
    for (process, (deed, invoked, completed)) in operations.into_iter().enumerate() {
        moments.push(((invoked, false), (process, Action::Call(deed))));
        // What never ended may take effect at any time, or after everything: then it is as if it had never happened.
        moments.push(((completed.unwrap_or(u64::MAX), true), (process, Action::Response(deed))));
    }
    moments.sort_by_key(|(moment, _)| *moment);
    moments.into_iter().map(|(_, action)| action).collect()
}

fn search(operations: Vec<(Deed, u64, Option<u64>)>, seconds: f64) -> Result<Option<bool>, String> {
    if operations.is_empty() {
        return Ok(Some(true));
    }
    STEPS.set(0);
    MOST_STEPS.set((MEMORY / (2 * operations.len() + 64)) as u64);
    DEADLINE.set(Some(Instant::now() + Duration::from_secs_f64(seconds)));
    let history = History::from_actions(actions(operations));
    match catch_unwind(AssertUnwindSafe(|| WGLChecker::<Key>::is_linearizable(history))) {
        Ok(answer) => Ok(Some(answer)),
        Err(thrown) if thrown.is::<GaveUp>() => Ok(None),
        Err(thrown) => Err(thrown.downcast_ref::<&str>().map_or("the checker panicked".into(), |said| (*said).to_string())),
    }
}

/// (action, value, expected, answer, invoked, completed).
type Asked = (String, i64, i64, Option<i64>, u64, Option<u64>);

/// Whether the history of one key is linearizable; None where the search was given up.
///
/// Values and answers are numbers, 0 is "absent", False or the
/// counter's start; an answer of None may have been any, and what was never completed may have happened or not.
#[pyfunction]
#[pyo3(signature = (operations, seconds))]
fn linearizable(py: Python<'_>, operations: Vec<Asked>, seconds: f64) -> PyResult<Option<bool>> {
    if operations.len() > MOST {
        return Err(PyValueError::new_err(format!("at most {MOST} operations are judged; found {}", operations.len())));
    }
    if !(seconds.is_finite() && seconds > 0.0) {
        return Err(PyValueError::new_err(format!("the limit is a number of seconds above 0; found {seconds}")));
    }
    let mut deeds = Vec::with_capacity(operations.len());
    for (action, value, expected, answer, invoked, completed) in operations {
        if completed.is_some_and(|end| end < invoked) {
            return Err(PyValueError::new_err(format!("{action} ended at {completed:?}, before it was invoked at {invoked}")));
        }
        deeds.push((Deed::from_python(&action, value, expected, answer)?, invoked, completed));
    }
    py.detach(|| search(deeds, seconds)).map_err(PyRuntimeError::new_err)
}

/// Adds this part to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(linearizable, module)?)
}

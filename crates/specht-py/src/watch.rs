//! Long work without the lock of the interpreter, ended by Ctrl-C.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Looks for Ctrl-C, and tells a callable of Python how far the work is; from the thread that called.
pub struct Lookout<'a> {
    pub stop: &'a AtomicBool,
    /// Called with the fraction done.
    pub progress: Option<Py<PyAny>>,
    last: Instant,
    pub error: Option<PyErr>,
}

impl<'a> Lookout<'a> {
    pub fn new(stop: &'a AtomicBool, progress: Option<Py<PyAny>>) -> Self {
        Lookout { stop, progress, last: Instant::now(), error: None }
    }

    /// The work is at this fraction.
    pub fn see(&mut self, part: f64) {
        if self.last.elapsed() < LOOK || self.error.is_some() {
            return;
        }
        self.last = Instant::now();
        let seen = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(call) => call.call1(py, (part,)).map(|_| ()),
                None => Ok(()),
            }
        });
        if let Err(e) = seen {
            self.stop.store(true, Ordering::Relaxed);
            self.error = Some(e);
        }
    }
}

/// Does `work`, which several threads may do, in a thread of its own while this one looks for Ctrl-C. The work gets the flag that ends it
/// and a function to say how far it is.
pub fn apart<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&AtomicBool, &(dyn Fn(f64) + Sync)) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    py.detach(|| {
        let mut lookout = Lookout::new(&stop, progress);
        let part = std::sync::atomic::AtomicU64::new(0);
        let (send, receive) = channel();
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                let say = |x: f64| part.store(x.to_bits(), Ordering::Relaxed);
                let _ = send.send(work(&stop, &say));
            });
            loop {
                match receive.recv_timeout(LOOK) {
                    Ok(result) => return Some(result),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {
                        lookout.see(f64::from_bits(part.load(Ordering::Relaxed)))
                    }
                }
            }
        });
        match (lookout.error, result) {
            (Some(error), _) => Err(error),
            (None, Some(result)) => Ok(result),
            (None, None) => {
                Err(crate::convert::refuse("the work ended without an answer; please report this"))
            }
        }
    })
}

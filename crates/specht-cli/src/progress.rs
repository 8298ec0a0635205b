//! Progress on standard error, only when it is a terminal; and Ctrl-C, which ends a run and keeps what it has.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The flag that Ctrl-C sets. The first Ctrl-C asks the run to end; the second ends the program.
pub fn interrupt() -> &'static AtomicBool {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        #[cfg(not(target_family = "wasm"))]
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
    &INTERRUPTED
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// A line that shows how far something is; silent when standard error is not a terminal, and in the first half second.
pub struct Progress {
    terminal: bool,
    label: String,
    begun: Instant,
    drawn: Option<Instant>,
    calls: u32,
}

impl Progress {
    /// A line with a label.
    pub fn new(label: &str) -> Self {
        Progress {
            terminal: std::io::stderr().is_terminal(),
            label: label.to_string(),
            begun: Instant::now(),
            drawn: None,
            calls: 0,
        }
    }

    /// Show `part` (0 to 1) done; cheap enough to be called after every step.
    pub fn show(&mut self, part: f64, text: impl FnOnce() -> String) {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(64) {
            self.now(part, text);
        }
    }

    /// The same for rare calls.
    pub fn now(&mut self, part: f64, text: impl FnOnce() -> String) {
        if !self.terminal {
            return;
        }
        let now = Instant::now();
        let soon = self.drawn.map_or(Duration::from_millis(500), |_| Duration::from_millis(100));
        if now - self.drawn.unwrap_or(self.begun) < soon {
            return;
        }
        self.drawn = Some(now);
        let full = (part.clamp(0.0, 1.0) * 24.0) as usize;
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(24 - full));
        let _ = write!(std::io::stderr(), "\r\x1b[2K{} {bar} {:3.0} %  {}", self.label, 100.0 * part, text());
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

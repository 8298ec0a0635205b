//! The engine for the browser: a text goes in, a text comes out, both JSON ([`answer`]).
//!
//! The page (`web/play.html`) runs this in a worker. Texts cross in one block of memory: the page asks for [`room`], writes its
//! question there, calls [`ask`], and reads as many bytes as that returns. `web/build` makes one file of page and engine.

mod answers;

use std::cell::RefCell;

pub use answers::answer;

thread_local! {
    /// The question, then the answer.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Room for a text of `length` bytes: its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        room.clear();
        room.resize(length, 0);
        room.as_mut_ptr()
    })
}

/// Answers the question in the room and puts the answer there: its length.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    std::panic::set_hook(Box::new(|info| {
        keep(&format!("sorry, this is a bug in specht: {info}"));
    }));
    let question = ROOM.with_borrow_mut(std::mem::take);
    keep(&answer(&String::from_utf8_lossy(&question), &|part| progress(part)))
}

/// Where the answer is, also that of a question that ended in a panic.
#[unsafe(no_mangle)]
pub extern "C" fn place() -> *const u8 {
    ROOM.with_borrow(|room| room.as_ptr())
}

/// How long the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    ROOM.with_borrow(Vec::len)
}

fn keep(text: &str) -> usize {
    ROOM.with_borrow_mut(|room| {
        room.clear();
        room.extend_from_slice(text.as_bytes());
        room.len()
    })
}

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// The page is told how far it is, 0 to 1.
    safe fn progress(part: f64);
}

#[cfg(not(target_family = "wasm"))]
fn progress(_: f64) {}

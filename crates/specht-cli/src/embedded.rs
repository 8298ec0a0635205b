//! What is compiled into the program: see `build.rs`.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

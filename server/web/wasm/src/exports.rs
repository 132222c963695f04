//! What JavaScript calls. Numbers pass as arguments, bytes through two buffers whose
//! addresses in the module's memory it asks for.
//!
//! To be found by its name a function has to keep it, and `no_mangle` counts as unsafe:
//! two functions of one name would be undefined. All of this crate's are here and in the two
//! files below. No other unsafe code is needed: only JavaScript reads and writes through the
//! addresses.

#![allow(unsafe_code, clippy::missing_safety_doc)]

#[cfg(feature = "play")]
pub mod play;
#[cfg(feature = "replay")]
pub mod replay;

use std::cell::RefCell;

use crate::Page;

thread_local! {
    static PAGE: RefCell<Page> = RefCell::new(Page::default());
}

fn with<T>(act: impl FnOnce(&mut Page) -> T) -> T {
    PAGE.with_borrow_mut(act)
}

/// Makes room for so many bytes of input, and tells where they belong.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with(|page| page.input(length).as_mut_ptr())
}

/// Where the bytes are that the last call gave.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with(|page| page.output().as_ptr())
}

/// How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    with(|page| page.output().len())
}

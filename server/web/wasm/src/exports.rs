//! The functions that JavaScript calls. Numbers pass as arguments. Bytes pass through two buffers,
//! and functions return their addresses in the module's memory.
//!
//! JavaScript finds a function by its name, so the compiler must keep the name. `no_mangle` counts
//! as unsafe, because two functions of one name would be undefined behaviour. All such functions of
//! this crate are in this module and its submodules. No other unsafe code is needed: only
//! JavaScript reads and writes through the addresses.

#![allow(unsafe_code, clippy::missing_safety_doc)]

/// Exports functions that call the methods of [`Page`](crate::Page) of the same names.
#[allow(unused_macros, reason = "a module may neither play nor replay")]
macro_rules! exports {
    ($(
        $(#[$documentation:meta])*
        fn $name:ident($($argument:ident: $kind:ty),*) $(-> $value:ty)?;
    )*) => {
        $(
            $(#[$documentation])*
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $kind),*) $(-> $value)? {
                super::with(|page| page.$name($($argument),*))
            }
        )*
    };
}

#[cfg(feature = "arena")]
pub mod arena;
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

/// Makes room for `length` bytes of input. Returns their address.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with(|page| page.input(length).as_mut_ptr())
}

/// The address of the output of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with(|page| page.output().as_ptr())
}

/// The length of the output of the last call, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    with(|page| page.output().len())
}

//! Tests of whole servers, in this process or as a program, with bots, clients, server browsers,
//! administrators and visitors of the pages. The tests are one program, because each program links
//! the server, and because tests that wait leave the processor to other tests.
//!
//! Tests that must not share a process are programs of their own: tests that measure time, run
//! cargo, or count allocations.

mod addresses;
#[cfg(target_os = "linux")]
mod c_client;
mod deploy;
mod games;
mod guide;
mod joining;
mod loopback;
mod matches;
#[cfg(unix)]
mod operator_pages;
mod overload;
mod page_digests;
#[cfg(target_os = "linux")]
mod pages;
mod recorded_steps;
mod replay;
mod rounds;
#[cfg(target_os = "linux")]
mod server_faults;
#[cfg(unix)]
mod server_process;
mod soak;
mod spectators;

// An example that two modules play.
#[allow(dead_code, reason = "an example has a `main` of its own")]
#[path = "../../../server/examples/sumo.rs"]
mod sumo;

//! Whole servers as their users meet them: in this process or as a program, with bots, clients,
//! browsers of servers, administrators and visitors of the pages. The tests are one program, because
//! each program links the server, and because tests that wait leave the processor to others.
//!
//! Programs of their own are left for what must not share a process: tests that measure time, that
//! run cargo, or that count allocations.

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

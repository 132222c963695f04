use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A gate that a thread passes again and again: the tick thread before every tick, the network
/// thread whenever its event loop turns. While a test holds it shut, the thread hangs there, as a
/// defect would make it hang. It serves tests of how a hang is reported. No option, variable or
/// request can reach it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<()>>);

/// See [`Server::hold_ticks`](crate::Server::hold_ticks) and
/// [`Server::hold_network`](crate::Server::hold_network).
#[doc(hidden)]
#[derive(Debug)]
pub struct ThreadHeld<'a> {
    /// Unlocks the gate when it is dropped.
    _held: MutexGuard<'a, ()>,
}

impl Gate {
    /// Waits while somebody holds the gate shut; takes nanoseconds otherwise.
    pub(crate) fn pass(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Holds the gate shut.
    pub(crate) fn hold(&self) -> ThreadHeld<'_> {
        ThreadHeld { _held: self.0.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

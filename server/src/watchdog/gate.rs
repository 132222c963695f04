use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A gate that the tick thread passes before every tick. While a test holds it shut, the tick
/// thread hangs there, as a defect would make it hang. It serves tests of how a hang is reported.
/// No option, variable or request can reach it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<()>>);

/// See [`Server::hold_ticks`](crate::Server::hold_ticks).
#[doc(hidden)]
#[derive(Debug)]
pub struct TicksHeld<'a> {
    /// Unlocks the gate when it is dropped.
    _held: MutexGuard<'a, ()>,
}

impl Gate {
    /// Waits while somebody holds the gate shut; takes nanoseconds otherwise.
    pub(crate) fn pass(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Holds the gate shut.
    pub(crate) fn hold(&self) -> TicksHeld<'_> {
        TicksHeld { _held: self.0.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

//! All bodies in the world, and how they move.
//!
//! [`entities`] stores the bodies, and [`roles`] says what each one does. [`dynamics`] runs a tick
//! of the rigid bodies: [`contact`] finds where they touch, [`solver`] computes velocities from
//! these contacts, [`guard`] decides how far each body may go, and [`sleep`] leaves out the bodies
//! that rest. [`overload`] makes a tick cheaper when its bodies cost too much. [`driven`] finds the
//! bodies that kinematic bodies push and carry.

pub(crate) mod blocker;
pub(crate) mod contact;
pub(crate) mod driven;
pub(crate) mod dynamics;
pub(crate) mod entities;
pub(crate) mod guard;
pub(crate) mod impulse;
pub(crate) mod near_solids;
pub(crate) mod nearby;
pub(crate) mod overload;
pub(crate) mod roles;
pub(crate) mod sleep;
pub(crate) mod slots;
pub(crate) mod solver;
pub(crate) mod supported;

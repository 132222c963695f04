//! All bodies in the world, and how they move. [`tick`] runs the phases of a tick in order.
//!
//! The modules, each of which depends only on modules above it in this list:
//! - `linear_move`, `armed_move`, `swing`: motions that are known beforehand;
//! - `blocker`, `dynamics`, `mobility`, `near_solids`, `roles`, `slots`: what a body is;
//! - `entities`, `guard`: the bodies by slot, and the only code that gives a body a place;
//! - `contact`, `impulse`: the search for contacts, and the effect of one impulse;
//! - `islands`: which bodies touch each other, directly or through others;
//! - `sleep`: what wakes, and what falls asleep;
//! - `buoyancy`, `driven`, `overload`, `solver`: how liquids lift a body, how fast a kinematic body
//!   moves, how much of the tick a body gets, and where it is to go;
//! - `rounds`: motion under guard, and what stopped bodies do;
//! - `tick`: the phases in order.

pub(crate) mod armed_move;
pub(crate) mod blocker;
pub(crate) mod buoyancy;
pub(crate) mod contact;
pub(crate) mod driven;
pub(crate) mod dynamics;
pub(crate) mod entities;
pub(crate) mod guard;
pub(crate) mod impulse;
pub(crate) mod islands;
pub(crate) mod linear_move;
pub(crate) mod mobility;
pub(crate) mod near_solids;
pub(crate) mod overload;
pub(crate) mod roles;
pub(crate) mod rounds;
pub(crate) mod sleep;
pub(crate) mod slots;
pub(crate) mod solver;
pub(crate) mod swing;
pub(crate) mod tick;

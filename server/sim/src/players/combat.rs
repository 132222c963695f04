//! Weapons and their effects.
//!
//! Three weapons, enough to stress the world: a *ray* that hits at once, a *rocket*
//! that flies straight under guard and explodes where it is stopped, and a
//! *grenade*, a ball that bounces under guard and explodes when its fuse has burnt
//! down. An explosion hurts, pushes and wakes all bodies in plain sight.
//!
//! A ray is subject to lag compensation: it meets the other players where the
//! shooter saw them ([`Command::view_age`](crate::Command)).

mod blast;
mod bounce;
mod context;
mod fire;
mod fly;
mod history;

pub(crate) use context::Combat;
pub(crate) use fire::fire;
pub(crate) use fly::advance_projectiles;
pub(crate) use history::PositionHistory;

//! What bots want: a mind looks at what its client sees and gives the command
//! of the next tick. Minds draw lots only from their own seed, so the same
//! seed in front of the same world acts the same.

mod wander;

pub use wander::Wander;

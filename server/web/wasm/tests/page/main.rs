//! Recordings as the page plays them: branches, the game of an example, and why bodies do not sleep.

mod branch;
mod own_game;
mod why;

//! The game of the module that the server ships.

crate::replay_module!(obsp_game::arena::Arena);

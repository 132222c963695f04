//! Maps and matches without a server, judged by oracles. The tests are one program, because each
//! program links the whole simulation.

mod physics_laws;
mod player_places;
mod shifted_planes;
mod shipped_maps;
mod sim_behaviour;
mod sim_contacts;
mod sim_invariant;
mod sim_pairs;
mod sim_passage;
mod sim_response;
mod sim_stages;
mod trenchbroom;
mod world_editors;
mod world_truth;

use std::fmt::Debug;

use glam::DVec3;
use obsp::model::Model;
use obsp_proto::control::Vitals;
use obsp_sim::{Command, EntityId, World};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::replicated::{Replicated, Subject, Values};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Where a player who waits outside of the world comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Respawn {
    /// Not in this tick.
    Wait,
    /// At the free spawn point of the map that is farthest from all other players.
    SpawnPoint,
    /// At the free place nearest to a point.
    At {
        /// Centre of the player's box, in units.
        position: DVec3,
        /// Heading, 65,536 steps a turn.
        yaw: u16,
    },
}

/// The rules of a game. `self` is what never changes during a match; all that does change
/// is in [`Game::State`].
///
/// In each tick, [`Match`](crate::Match) calls, in this order:
///
/// 1. for each player, in ascending order of slot: [`Game::command`];
/// 2. for each player, in the same order: the player moves, then [`Game::moved`];
/// 3. the bodies move;
/// 4. for each missile, in ascending order of slot: it moves, then [`Game::missile_moved`];
/// 5. [`Game::left_volume`], [`Game::entered`], [`Game::parted`] and [`Game::touched`];
/// 6. [`Game::tick`];
/// 7. for each player outside of the world: [`Game::respawn`].
///
/// Every method is called with the same arguments on every machine, and must do the same
/// there: no clock, no I/O, no iteration over hash maps, no randomness but
/// [`WorldMut::random`].
pub trait Game: Clone + Debug + Send + Sync + 'static {
    /// All of a match that the game changes, as plain data: it is part of the match's digest.
    type State: Clone + Debug + Serialize + DeserializeOwned + Send + 'static;

    /// Its name, by which recordings know it: that of its type, unless it says otherwise.
    fn name(&self) -> &'static str {
        let path = std::any::type_name::<Self>();
        path.rsplit("::").next().unwrap_or(path)
    }

    /// The models that bodies can have, in the order of their ids, each by a name of its own.
    /// Clients have the shipped ones, and fetch the others when they join. One whose bodies are
    /// [missiles](Model::as_missile) says so: nobody shoves them, and only they can be thrown; one whose
    /// bodies the game drives is [kinematic](Model::as_kinematic).
    fn models(&self) -> Vec<Model> {
        obsp::model::shipped()
    }

    /// Sets a match up, before the first player joins. The entities of the map are
    /// `world.map().entities()`.
    fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State;

    /// A player has joined, and waits outside of the world for [`Game::respawn`].
    fn joined(&self, state: &mut Self::State, world: &mut WorldMut<'_>, player: EntityId) {
        let _ = (state, world, player);
    }

    /// A player leaves, and is removed after this.
    fn left(&self, state: &mut Self::State, world: &mut WorldMut<'_>, player: EntityId) {
        let _ = (state, world, player);
    }

    /// A player's command, before anybody moves; the game may change it. The client predicts
    /// with what it sent, so a change of movement is corrected on its screen.
    fn command(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &mut Command,
    ) {
        let _ = (state, world, player, command);
    }

    /// A player has moved by `command`: the time to act, as to shoot.
    fn moved(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        let _ = (state, world, player, command);
    }

    /// A missile, thrown by [`WorldMut::spawn_missile`], has moved. `flies` is false once something
    /// has stopped one that flies straight, or any is out of the world: such a missile stays
    /// where it is until it is removed, as is done here by default.
    fn missile_moved(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        missile: EntityId,
        flies: bool,
    ) {
        let _ = state;
        if !flies {
            // It is there: it has just moved.
            let _ = world.remove(missile);
        }
    }

    /// An entity has entered a volume.
    fn entered(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        volume: VolumeId,
        entity: EntityId,
    ) {
        let _ = (state, world, volume, entity);
    }

    /// An entity has left a volume, or the match.
    fn left_volume(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        volume: VolumeId,
        entity: EntityId,
    ) {
        let _ = (state, world, volume, entity);
    }

    /// Something, which may be a player, has begun to touch an entity that
    /// [`WorldMut::watch`] watches: it is called in the first tick of a touch alone, and again
    /// only after [`Game::parted`]. Bodies that fall asleep go on touching.
    fn touched(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        entity: EntityId,
        by: EntityId,
    ) {
        let _ = (state, world, entity, by);
    }

    /// What touched an entity that [`WorldMut::watch`] watches does so no more: it has moved
    /// away, or either of them is out of the world. A player on foot has parted a quarter of a
    /// second after the last touch, since one who shoves a body touches it in every other tick.
    /// Nothing is told of the touches of a watched entity that is removed.
    fn parted(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        entity: EntityId,
        by: EntityId,
    ) {
        let _ = (state, world, entity, by);
    }

    /// The rest of a tick, after all have moved.
    fn tick(&self, state: &mut Self::State, world: &mut WorldMut<'_>) {
        let _ = (state, world);
    }

    /// Whether a player who is outside of the world comes back in this tick, and where: one
    /// who has joined, was [taken out](WorldMut::take_out), or fell out of the map. A player
    /// who finds no room is asked for again in the next tick.
    fn respawn(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
    ) -> Respawn {
        let _ = (state, world, player);
        Respawn::SpawnPoint
    }

    /// The fields and events of the game's own, which clients are sent.
    fn replicated(&self) -> Replicated {
        Replicated::default()
    }

    /// Sets the values of a subject's fields, after each tick. They are for clients alone:
    /// whatever the game itself needs is in its state.
    fn values(&self, state: &Self::State, world: &World, of: Subject, values: &mut Values<'_>) {
        let _ = (state, world, of, values);
    }

    /// Health and score, as all players are shown them. `None` if there is no such player.
    fn vitals(&self, state: &Self::State, player: EntityId) -> Option<Vitals> {
        let _ = (state, player);
        None
    }
}

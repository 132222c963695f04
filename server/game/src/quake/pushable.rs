//! Boxes that players push about (`func_pushable`, as in Half-Life): bodies made of their brushes,
//! which forces and contacts move as they move every prop.

use glam::DQuat;
use obsp::MapEntity;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use crate::world_mut::WorldMut;

/// A box that players push.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pushable {
    pub(super) body: EntityId,
}

impl Pushable {
    /// `None` if the entity has no model in the match, or there is no room for it.
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let drawn = world.model_of(entity)?;
        // It is often drawn exactly on the floor, so it begins at the nearest free place.
        let body = world.spawn_body_near(drawn.model, drawn.place, DQuat::IDENTITY).ok()?;
        Some(Self { body })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use obsp::model::BodyKind;
    use obsp_sim::Command;

    use super::super::tests::{AllFamilies, Hall, RATE, brush, drawn, map};
    use super::super::{Family, brush_models};
    use crate::any_game::AnyGame;
    use crate::running::RunningMatch;

    const CLASS: (&str, &str) = ("classname", "func_pushable");

    #[test]
    fn a_box_is_pushed_and_comes_to_rest_on_the_floor() {
        let mut hall = Hall::new(&drawn(&[CLASS], &brush([0, -20, 0], [40, 20, 40])));
        let player = hall.player([-60.0, 0.0, 0.0]);
        hall.run(RATE);
        let before = hall.lowest(0);
        assert!(before.z.abs() < 0.1, "it lies on the floor: {before}");
        let walk = Command { forward: 127, ..Command::default() };
        hall.play(2 * RATE, &[(player, walk)]);
        let pushed = hall.lowest(0).x - before.x;
        assert!(pushed > 20.0, "{pushed} units");
        hall.run(3 * RATE);
        let body = hall.game.world.entity(hall.movers()[0]).expect("it is there");
        assert!(body.asleep, "it comes to rest");
    }

    #[test]
    fn a_box_of_several_brushes_falls_and_rests_and_is_saved() {
        let shape = brush([-40, -16, 120], [40, 16, 152]) + &brush([8, -16, 152], [40, 16, 200]);
        let mut hall = Hall::new(&drawn(&[CLASS, ("origin", "0 0 150")], &shape));
        hall.run(20);
        let map = Arc::clone(hall.game.world().map());
        let mut again =
            AllFamilies.load_match(map, &hall.game.save()).expect("the saved match can be loaded");
        for _ in 0..4 * RATE {
            hall.run(1);
            again.step(&[]);
            assert_eq!(again.digest(), hall.game.digest());
        }
        assert!(hall.lowest(0).z.abs() < 0.1, "{}", hall.lowest(0));
    }

    #[test]
    fn a_door_turns_back_from_a_box_in_a_corner_and_a_lift_carries_it() {
        let keys = [("classname", "func_plat"), ("targetname", "lift"), ("height", "80")];
        let lift = drawn(&keys, &brush([0, -64, 84], [128, 64, 100]));
        let load = drawn(&[CLASS], &brush([44, -20, 101], [84, 20, 141]));
        let mut hall = Hall::new(&(lift + &load));
        hall.run(RATE);
        let above = hall.lowest(1).z - hall.lowest(0).z;
        hall.set_off("lift");
        hall.run(2 * RATE);
        assert!(hall.lowest(0).z < 10.0, "the lift is below");
        let below = hall.lowest(1).z - hall.lowest(0).z;
        assert!((above - below).abs() < 0.2, "{above} and {below}");
        assert!(hall.lowest(1).x > 40.0 && hall.lowest(1).x < 48.0);
    }

    #[test]
    fn its_model_is_dynamic_and_those_of_movers_are_kinematic() {
        let floor = brush([-512, -512, -16], [512, 512, 0]);
        let cube = brush([0, 0, 10], [32, 32, 42]);
        for (class, kind) in
            [("func_pushable", BodyKind::Dynamic), ("func_door", BodyKind::Kinematic)]
        {
            let map = map(&floor, &drawn(&[("classname", class)], &cube));
            let models = brush_models(&map, Family::ALL);
            assert_eq!(models.iter().map(|model| model.kind()).collect::<Vec<_>>(), [kind]);
        }
    }
}

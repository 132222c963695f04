//! How items look: generated convex models, and the boxes by which they are picked up.

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp::model::Model;

use super::gift::{Ammunition, Armor, Gift, Gun, Health, Key, Power};

/// The name of the model of a backpack, and half of the sides of the box around it, in units.
const BACKPACK: (&str, DVec3) = ("item_backpack", DVec3::new(9.0, 6.0, 10.0));

/// Largest difference between a ball and its polyhedron, in units.
const ROUNDNESS: f64 = 1.0;

/// Name of the model of a gift, and half of the sides of the box around it, in units. Weapons with
/// the same kind of ammunition look alike.
fn of(gift: Gift) -> (&'static str, DVec3) {
    let (name, half) = match gift {
        Gift::Health(Health::Rotten | Health::Usual) => ("item_health", [10.0, 10.0, 6.0]),
        Gift::Health(Health::Mega) => ("item_megahealth", [14.0, 14.0, 10.0]),
        Gift::Armor(Armor::Green) => ("item_armor1", [6.0, 11.0, 14.0]),
        Gift::Armor(Armor::Yellow) => ("item_armor2", [7.0, 12.0, 15.0]),
        Gift::Armor(Armor::Red) => ("item_armorInv", [8.0, 13.0, 16.0]),
        Gift::Ammunition(Ammunition::Shells, _) => ("item_shells", [8.0, 8.0, 5.0]),
        Gift::Ammunition(Ammunition::Nails, _) => ("item_spikes", [10.0, 7.0, 6.0]),
        Gift::Ammunition(Ammunition::Rockets, _) => ("item_rockets", [12.0, 6.0, 8.0]),
        Gift::Ammunition(Ammunition::Cells, _) => ("item_cells", [6.0, 6.0, 10.0]),
        Gift::Gun(Gun::SuperShotgun) => ("weapon_shells", [20.0, 3.0, 4.0]),
        Gift::Gun(Gun::Nailgun | Gun::SuperNailgun) => ("weapon_spikes", [18.0, 5.0, 5.0]),
        Gift::Gun(Gun::GrenadeLauncher | Gun::RocketLauncher) => {
            ("weapon_rockets", [22.0, 5.0, 6.0])
        }
        Gift::Gun(Gun::Lightning) => ("weapon_cells", [16.0, 6.0, 6.0]),
        Gift::Power(Power::Quad) => ("item_quad", [14.0; 3]),
        Gift::Power(Power::Invulnerability) => ("item_pentagram", [13.0; 3]),
        Gift::Power(Power::Invisibility) => ("item_ring", [11.0; 3]),
        Gift::Power(Power::Suit) => ("item_suit", [9.0, 12.0, 20.0]),
        Gift::Key(Key::Silver) => ("item_key1", [2.0, 8.0, 14.0]),
        Gift::Key(Key::Gold) => ("item_key2", [2.0, 8.0, 15.0]),
    };
    (name, DVec3::from(half))
}

/// The model of a gift.
pub(super) fn model(gift: Gift) -> Option<Model> {
    let (name, half) = of(gift);
    match gift {
        // The corners of the polyhedron lie outside of the ball.
        Gift::Power(Power::Quad | Power::Invulnerability | Power::Invisibility) => {
            Model::ball(name, half.z - ROUNDNESS, ROUNDNESS).ok()
        }
        Gift::Armor(_) | Gift::Gun(_) | Gift::Power(Power::Suit) | Gift::Key(_) => {
            tapered(name, half)
        }
        Gift::Health(_) | Gift::Ammunition(..) => Model::cuboid(name, half).ok(),
    }
}

/// The model of a backpack.
pub(super) fn backpack() -> Option<Model> {
    tapered(BACKPACK.0, BACKPACK.1)
}

/// A box whose top is half as wide as its bottom.
fn tapered(name: &str, half: DVec3) -> Option<Model> {
    let corners = [(1.0, -1.0), (0.5, 1.0)].into_iter().flat_map(|(wide, up)| {
        [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
            .map(|(x, y)| half * DVec3::new(wide * x, wide * y, up))
    });
    Model::convex_hull(name, &corners.collect::<Vec<_>>()).ok()
}

/// The box by which an item is picked up, about its origin, as in Quake.
pub(super) fn bounds(gift: Gift) -> Aabb {
    let (min, max) = match gift {
        Gift::Health(_) | Gift::Ammunition(..) => ([0.0, 0.0, 0.0], [32.0, 32.0, 56.0]),
        Gift::Armor(_) | Gift::Gun(_) => ([-16.0, -16.0, 0.0], [16.0, 16.0, 56.0]),
        Gift::Power(_) | Gift::Key(_) => ([-16.0, -16.0, -24.0], [16.0, 16.0, 32.0]),
    };
    Aabb { min: min.into(), max: max.into() }
}

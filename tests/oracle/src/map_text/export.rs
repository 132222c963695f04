//! The part of a saved map that TrenchBroom exports: all but the layers marked to be omitted.

use super::Entity;

/// The entities of a map, without entities in layers that are omitted from export. If the default
/// layer is omitted, `worldspawn` has no brushes.
pub(super) fn exported(entities: Vec<Entity>) -> Vec<Entity> {
    let kinds: Vec<Kind> = entities.iter().map(Kind::of).collect();
    // Groups in omitted layers are omitted, and so are groups and entities in omitted groups.
    let world = kinds.iter().position(|kind| *kind == Kind::World);
    let world_omitted = world.is_some_and(|world| marked(&entities[world]));
    let mut out: Vec<bool> = entities
        .iter()
        .zip(&kinds)
        .map(|(entity, kind)| match kind {
            Kind::World => world_omitted,
            Kind::Layer => marked(entity),
            Kind::Other => {
                let alone =
                    !has(entity, &entities, "_tb_layer") && !has(entity, &entities, "_tb_group");
                alone && world_omitted
            }
        })
        .collect();
    loop {
        let spread: Vec<usize> = (0..entities.len())
            .filter(|&i| kinds[i] == Kind::Other && !out[i])
            .filter(|&i| {
                let group = container(&entities[i], &entities, "_tb_group");
                let of = group.or_else(|| container(&entities[i], &entities, "_tb_layer"));
                of.is_some_and(|of| out[of])
            })
            .collect();
        if spread.is_empty() {
            break;
        }
        spread.into_iter().for_each(|i| out[i] = true);
    }
    let mut exported = Vec::new();
    for ((mut entity, kind), out) in entities.into_iter().zip(kinds).zip(out) {
        if out {
            entity.brushes.clear();
        }
        if !out || kind == Kind::World {
            exported.push(entity);
        }
    }
    exported
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    World,
    Layer,
    Other,
}

impl Kind {
    fn of(entity: &Entity) -> Self {
        if entity.get("_tb_type") == Some("_tb_layer") {
            Self::Layer
        } else if entity.get("classname").is_some_and(|c| c.eq_ignore_ascii_case("worldspawn")) {
            Self::World
        } else {
            Self::Other
        }
    }
}

fn marked(entity: &Entity) -> bool {
    entity.get("_tb_layer_omit_from_export").is_some_and(|mark| mark.trim() == "1")
}

/// The index of the layer or group that `entity` names by this key.
fn container(entity: &Entity, entities: &[Entity], key: &str) -> Option<usize> {
    let number = entity.get(key)?.trim();
    entities.iter().position(|of| {
        of.get("_tb_type") == Some(key) && of.get("_tb_id").is_some_and(|id| id.trim() == number)
    })
}

fn has(entity: &Entity, entities: &[Entity], key: &str) -> bool {
    container(entity, entities, key).is_some()
}

//! Quake's rules for the contents of a brush.

use super::source::map::{SourceBrush, SourceEntity};

/// The contents of a brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// Solid for every size.
    Solid,
    /// Solid for boxes and bodies, not for the bare point: Quake's clip brushes,
    /// which are in the hulls of boxes and not in that of points.
    Clip,
    /// Part of the static world but not solid: a liquid, a hint.
    Passable,
    /// Not part of the static world; kept with its entity.
    Entity,
}

/// The kind of entity that a brush belongs to. The classes that begin with `func_detail`
/// are read by compilers: detail, wall and fence are solid; illusionary ones are only
/// drawn, like a `func_illusionary`. (Of the 2,182 brushes of `lqdm3` with these classes,
/// 2,162 are solid, 19 illusionary and one is water.)
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The world itself: worldspawn, and the groups that editors and compilers
    /// dissolve into it.
    World,
    /// A brush model that never moves and is always there.
    Wall,
    /// Triggers, movers, illusions.
    Other,
}

fn owner(classname: &str) -> Owner {
    match classname.to_ascii_lowercase().as_str() {
        "worldspawn" | "func_group" | "func_detail" | "func_detail_wall" | "func_detail_fence" => {
            Owner::World
        }
        "func_wall" => Owner::Wall,
        _ => Owner::Other,
    }
}

/// The contents of `brush` of `entity`. As in Quake's compilers the first texture with a
/// meaning decides, and case does not matter:
///
/// - `clip` is solid to boxes only;
/// - `*…` is a liquid and passable, but solid as part of a `func_wall`;
/// - `hint`, `hintskip` and `origin` only guide compilers;
/// - `sky…` is solid, and so is everything else. `skip` and `trigger` have no contents
///   in Quake; they are only not drawn.
pub(super) fn contents(entity: &SourceEntity, brush: &SourceBrush) -> Contents {
    let classname = entity.pairs.iter().rev().find(|(key, _)| key == "classname");
    let owner = owner(classname.map_or("", |(_, value)| value));
    if owner == Owner::Other {
        return Contents::Entity;
    }
    let name = |texture: &str| {
        let name = texture.to_ascii_lowercase();
        match name.as_str() {
            "clip" => Some(Contents::Clip),
            "hint" | "hintskip" | "origin" => Some(Contents::Passable),
            "skip" => None,
            name if name.starts_with('*') && owner == Owner::World => Some(Contents::Passable),
            _ => Some(Contents::Solid),
        }
    };
    brush.faces.iter().find_map(|face| name(&face.texture)).unwrap_or(Contents::Solid)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::compile::source::map::SourceFace;

    fn of(classname: &str, textures: &[&str]) -> Contents {
        let face = |t: &&str| SourceFace { points: [DVec3::ZERO; 3], texture: (*t).into() };
        let brush = SourceBrush { line: 1, faces: textures.iter().map(face).collect() };
        let pairs = vec![("classname".into(), classname.into())];
        contents(&SourceEntity { line: 1, pairs, brushes: vec![] }, &brush)
    }

    #[test]
    fn textures_and_classes_have_their_contents_in_quake() {
        for world in ["worldspawn", "func_group", "func_detail", "FUNC_DETAIL_WALL"] {
            assert_eq!(of(world, &["metal1_1"]), Contents::Solid);
            assert_eq!(of(world, &["SKY4"]), Contents::Solid);
            assert_eq!(of(world, &["Clip"]), Contents::Clip);
            assert_eq!(of(world, &["*lava1", "metal1_1"]), Contents::Passable);
            assert_eq!(of(world, &["skip", "*water0"]), Contents::Passable);
            assert_eq!(of(world, &["skip"]), Contents::Solid);
            assert_eq!(of(world, &["hint", "skip"]), Contents::Passable);
        }
        assert_eq!(of("func_wall", &["*tele3"]), Contents::Solid);
        assert_eq!(of("func_wall", &["clip"]), Contents::Clip);
        for other in [
            "func_detail_illusionary",
            "func_illusionary",
            "func_illusionary_visblocker",
            "trigger_push",
            "func_door",
            "func_plat",
            "func_button",
            "",
        ] {
            assert_eq!(of(other, &["metal1_1"]), Contents::Entity, "{other}");
        }
    }
}

//! The contents of a brush, by the rules of the map's form.
//!
//! Each form has a file with its table, written from that form's own documentation: `quake`,
//! `quake2`, `half_life` and `quake3`. A table gives the meaning of a face. The file's code decides
//! which face counts if the faces of a brush differ. Names are compared without regard to case, and
//! a backslash counts as a slash.
//!
//! A name that is in no table is solid. Some known names mean more in their game than in this
//! world: no ground of this world is slick, and no clip stops only bots. Each such name is reported
//! once, as an [`Unsupported`].

mod flow;
mod half_life;
mod quake;
mod quake2;
mod quake3;
#[cfg(test)]
mod tests;

use super::error::Unsupported;
use super::game_form::GameForm;
use super::source::map::{SourceBrush, SourceEntity, SourceFace};
use crate::map::LiquidKind;

pub(super) use flow::Flow;

/// The contents of a brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// Solid for every size.
    Solid,
    /// Solid for boxes and bodies, but not for the bare point. Quake's clip brushes are in the
    /// hulls of boxes, and not in the hull of points.
    Clip,
    /// Not solid, and swum in.
    Liquid(LiquidKind),
    /// A liquid that carries what is in it.
    Current(LiquidKind, Flow),
    /// Not solid. A hint is part of the static world; an origin brush of the world is not part of
    /// anything.
    Passable,
    /// The middle of the brush is the origin of its entity.
    Origin,
    /// The brush is not part of the static world, and is kept with its entity.
    Entity,
}

/// The contents that a table gives a brush which is part of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Solid,
    Clip,
    Liquid(LiquidKind),
    Current(LiquidKind, Flow),
    Passable,
    /// The brush marks the point about which its entity turns, and is removed from the entity.
    Origin,
    /// The brush only marks a place for compilers, and is removed from its entity.
    Removed,
}

/// The kind of entity that a brush belongs to. Compilers also read the classes that begin with
/// `func_detail`. Of these, detail, wall and fence are solid. Illusionary detail is only drawn,
/// like a `func_illusionary`. (Of the 2,182 brushes of `lqdm3` with these classes, 2,162 are solid,
/// 19 illusionary and one is water.)
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The world itself: worldspawn, and the groups that editors and compilers
    /// dissolve into it.
    World,
    /// A brush model that never moves and is always there.
    Wall,
    /// A brush model of a liquid. Here it is a part of the world, and stays where it is drawn.
    Water,
    /// Triggers, movers, illusions.
    Other,
}

fn owner(form: GameForm, entity: &SourceEntity) -> Owner {
    match entity.get("classname").to_ascii_lowercase().as_str() {
        "worldspawn" | "func_group" | "func_detail" | "func_detail_wall" | "func_detail_fence" => {
            Owner::World
        }
        // A triggered wall comes and goes.
        "func_wall" if form == GameForm::Quake2 && quake2::is_triggered(entity) => Owner::Other,
        "func_wall" => Owner::Wall,
        "func_water" if matches!(form, GameForm::Quake2 | GameForm::HalfLife) => Owner::Water,
        "func_static" if form == GameForm::Quake3 => Owner::Wall,
        _ => Owner::Other,
    }
}

/// The part of a name's or a flag's meaning that this world lacks, as a sentence.
type Reason = &'static str;

const CURRENT: Reason = "only liquids have currents in this world, so the brush moves nobody";
const BOTS: Reason = "nothing in this world stops only bots and monsters, so the brush is left out";
const LADDER: Reason = "only trigger_ladder and func_ladder are ladders: nobody climbs the brush";
const SLICK: Reason = "this world has no slick surfaces";
const PORTAL: Reason = "this world is not divided into areas, so the portal is always open";
const ORIGIN: Reason =
    "the brush marks the axis of an entity that moves; in the static world it is left out";

/// A table's verdict about a brush.
struct Verdict {
    role: Role,
    /// Names and flags whose meaning is not supported in full, each with the missing part.
    unsupported: Vec<(String, Reason)>,
}

/// The contents of `brush` of `entity`, and its names and flags whose meaning is not supported
/// in full, each once.
pub(super) fn contents(
    form: GameForm,
    entity: &SourceEntity,
    brush: &SourceBrush,
) -> (Contents, Vec<Unsupported>) {
    let owner = owner(form, entity);
    let decide = match form {
        GameForm::Quake => quake::verdict,
        GameForm::Quake2 => quake2::verdict,
        GameForm::HalfLife => half_life::verdict,
        GameForm::Quake3 => quake3::verdict,
    };
    let Verdict { role, unsupported: found } = decide(owner, &brush.faces);
    let contents = match (role, owner) {
        (Role::Origin, Owner::Water | Owner::Other) => Contents::Origin,
        (Role::Origin | Role::Removed, _) => Contents::Passable,
        (Role::Liquid(kind), Owner::World | Owner::Wall | Owner::Water) => Contents::Liquid(kind),
        (Role::Current(kind, flow), Owner::World | Owner::Wall | Owner::Water) => {
            Contents::Current(kind, flow)
        }
        // The game decides what triggers and movers do.
        (_, Owner::Water | Owner::Other) => return (Contents::Entity, Vec::new()),
        (Role::Solid, _) => Contents::Solid,
        (Role::Clip, _) => Contents::Clip,
        (Role::Passable, _) => Contents::Passable,
    };
    if owner == Owner::Other {
        return (contents, Vec::new());
    }
    let mut unsupported: Vec<Unsupported> = Vec::new();
    for (name, reason) in found {
        if !unsupported.iter().any(|known| known.name == name) {
            unsupported.push(Unsupported { name, reason, line: brush.line, brushes: 1 });
        }
    }
    (contents, unsupported)
}

/// The kind of a liquid by words in its name.
fn liquid_named(name: &str) -> LiquidKind {
    if name.contains("lava") {
        LiquidKind::Lava
    } else if name.contains("slime") {
        LiquidKind::Slime
    } else {
        LiquidKind::Water
    }
}

/// A name in the form in which names are compared: lower case, with slashes.
pub(super) fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('\\', "/")
}

/// The names of the faces, in the form in which names are compared.
fn names(faces: &[SourceFace]) -> impl Iterator<Item = String> {
    faces.iter().map(|face| folded(&face.texture.name))
}
